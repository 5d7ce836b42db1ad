/* live_private: what fuzzer/instance.c keeps to itself, and the pieces it is made of. */
#ifndef CAROL_FUZZER_LIVE_PRIVATE_H
#define CAROL_FUZZER_LIVE_PRIVATE_H

#include "fuzzer/live.h"
#include "fuzzer/output.h"

struct live_private {
    struct output out;
    int event_fd;
    int cpu; /* pinned to; -1: not */
    struct timer cap, least, attach, stopping, later;
    enum instance_event later_event;
    bool ready;         /* start-up is over, maybe several turns after it began */
    bool turn_asked;    /* a turn was asked for before it was ready */
    bool stopped;       /* by SIGSTOP */
    unsigned by_signal; /* how often that was needed */
    uint32_t faults;
    uint64_t quota_at; /* `least` fired: the turn ends when the page has counted so many cycles */
    int64_t cap_ns, resumed_at, asked_at; /* resumed_at 0: no turn, or not ready for it yet */
    int64_t starting_at;      /* start-up goes on since then; 0: it is over, or waits for a turn */
    int64_t startup_ns;       /* what start-up took so far and no report has shown */
    int64_t stopped_at;       /* of the last SIGSTOP */
    int64_t cpu0, cpu_parked; /* CPU time used at the last resume and at the last park */
    uint64_t execs0, cycles0, taken0, offered0;
    int64_t cycles_ns0;
};

CAROL_MUST_CHECK int live_open(struct instance **out, struct loop *l, const struct arm *arm,
                               const struct instance_opts *o, struct err *e);
void live_kill_now(struct live *lv);

/* fuzzer/surroundings.c */
void live_environment(struct live *lv, const char *argv0, const struct strv *extra,
                      struct strv *out);
CAROL_MUST_CHECK int live_fresh_tmp(struct live *lv, struct err *e);

/* fuzzer/opts.c: a copy that owns its strings; dir is made and becomes absolute. */
CAROL_MUST_CHECK int live_copy_opts(struct instance_opts *to, const struct instance_opts *from,
                                    struct err *e);
void live_free_opts(struct instance_opts *o);

#endif
