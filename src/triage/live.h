/* live: buckets for the crashes of a campaign while it runs, on little time.
 *
 *     live_new(&v, loop, store, &opts, &e);
 *     live_found(v, cpu);                   // a slot on that core found a crash; it is in the store
 *     live_pump(v, elapsed_ns * slots);     // now and then: takes up what waits, as far as the time allows
 *     live_free(v);
 *
 * One input at a time, on the core of the slot that found it, in order.  All of it together takes at most one part in
 * LIVE_SHARE of the campaign's time; the first is always run.  What the asan build does not show at the first shot is
 * left for `carol triage`.  Nothing of it reaches the scheduler. */
#ifndef CAROL_TRIAGE_LIVE_H
#define CAROL_TRIAGE_LIVE_H

#include "store/store.h"
#include "triage/lab.h"

#define LIVE_SHARE 100

struct live;

struct live_opts {
    struct lab_opts lab;
    void *arg;
    /* A crash has its bucket; fresh: no crash of the campaign had it before. */
    void (*bucketed)(void *arg, const struct store_triage *row, bool fresh);
    void (*failed)(void *arg, const struct err *e); /* of the store */
};

/* -ENOENT: there is no asan build. */
CAROL_MUST_CHECK int live_new(struct live **out, struct loop *l, struct store *s,
                              const struct live_opts *o, struct err *e);
void live_found(struct live *v, int cpu); /* v may be NULL, here and below */
void live_pump(struct live *v, int64_t campaign_ns);
/* Distinct buckets so far, those of earlier lives included. */
size_t live_defects(const struct live *v);
int64_t live_cpu_us(const struct live *v);
void live_free(struct live *v);

#endif
