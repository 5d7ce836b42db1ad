/* run: runs the campaigns of a suite: as many at a time as fit on the cores, each on cores of its own, until
 * each has used its CPU time.
 *
 * All CPU time of a contender's process tree counts: of its fuzzers and targets, and of a supervisor and an
 * evaluator where there are some, for the user pays for it.  What the oracle knows when the budget is used is the
 * result; what a contender does while it ends does not count.
 *
 * Nothing survives: contenders run in cages.  A campaign is done when its result.json is there; one that was
 * interrupted is run again from its start. */
#ifndef CAROL_BENCH_RUN_H
#define CAROL_BENCH_RUN_H

#include "base/err.h"
#include "bench/suite.h"

#include <stdbool.h>
#include <stddef.h>

struct bench_opts {
    enum {
        KEEP_RESULTS = 0,
        KEEP_JOURNALS, /* and the journals of Carol's contenders, without inputs */
        KEEP_ALL,      /* everything that the contenders wrote */
    } keep;
    size_t part, parts; /* part 1 of 3, say: every third campaign; parts 0: all */
};

struct bench_summary {
    size_t planned, before, done, failed; /* campaigns: all; done before, done now, failed now */
    size_t elsewhere;                     /* neither done nor of our part */
    size_t absent;                        /* of targets whose source cannot be had here */
    bool interrupted;
};

/* 0 also when campaigns failed or somebody interrupted it: see the summary. */
CAROL_MUST_CHECK int bench_run(const struct suite *s, const struct bench_opts *o,
                               struct bench_summary *sum, struct err *e);

#endif
