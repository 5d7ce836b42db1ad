/* live: buckets for the crashes of a campaign while it runs, on little time.
 *
 *     live_new(&v, loop, store, &opts, &e);
 *     live_pump(v, elapsed_ns);             // now and then: takes up what waits, as far as the time allows
 *     live_free(v);
 *
 * One input at a time, on the core of the slot that found it; what may be another defect goes first (queue.h).  All of it
 * together takes at most one part in LIVE_SHARE of the campaign's time on all slots, over all its lives.  The share of the
 * first LIVE_AHEAD_NS may be used at once, so that a crash of the first seconds need not wait; the first crash is always
 * run.  What the asan build does not show at the first shot, or not in the share of a minute, is left for
 * `carol triage`.  Nothing of it reaches the scheduler. */
#ifndef CAROL_TRIAGE_LIVE_H
#define CAROL_TRIAGE_LIVE_H

#include "store/store.h"
#include "triage/lab.h"

#define LIVE_SHARE 100
#define LIVE_AHEAD_NS (60 * NS_PER_S)

struct live;

struct live_opts {
    struct lab_opts lab;
    int slots;
    int64_t budget_ns; /* of the campaign; 0: no end */
    void *arg;
    int (*core)(void *arg, int slot); /* that the slot runs on; -1: any */
    /* A crash has its bucket; fresh: no crash of the campaign had it before. */
    void (*bucketed)(void *arg, const struct store_triage *row, bool fresh);
    void (*failed)(void *arg, const struct err *e); /* of the store */
};

/* -ENOENT: there is no asan build. */
CAROL_MUST_CHECK int live_new(struct live **out, struct loop *l, struct store *s,
                              const struct live_opts *o, struct err *e);
void live_pump(struct live *v, int64_t elapsed_ns); /* v may be NULL, here and below */
/* Distinct buckets so far, those of earlier lives included. */
size_t live_defects(const struct live *v);
void live_free(struct live *v);

/* CPU time that all looks together may have taken by then. */
int64_t live_allowance_us(int64_t elapsed_ns, int64_t budget_ns, int slots);

#endif
