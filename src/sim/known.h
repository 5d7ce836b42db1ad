/* known: fuzzers whose expected rewards are known.  Which scheduler finds the best one, and which notices
 * when it is the best no longer?
 *
 * A run has K fuzzers and W workers who take turns: a reward is learned when its worker is free again, W
 * decisions later.  The expected rewards of a run are drawn evenly in the logarithm from KNOWN_LEAST to
 * KNOWN_MOST; a turn earns nothing with probability 1 - KNOWN_EARNING and else a random part of 1 with
 * the expectation that makes up for it.  At half time the order turns round: the best becomes the worst, the
 * second best the second worst.  Range and probability are those of the paper's figure of two fuzzers
 * and of the target on which most turns earned something (0.40). */
#ifndef CAROL_SIM_KNOWN_H
#define CAROL_SIM_KNOWN_H

#include "base/err.h"
#include "stats/estimate.h"

#include <stdint.h>

#define KNOWN_LEAST 0.02
#define KNOWN_MOST 0.4
#define KNOWN_EARNING 0.4
#define KNOWN_QUARTERS 4
#define KNOWN_MAX_FUZZERS 64
#define KNOWN_MAX_WORKERS 256

struct known_settings {
    const char *spec; /* NAME[/key=value...] */
    const char *params;
    int fuzzers, workers, turns, runs;
    uint64_t seed; /* run i has the same fuzzers under every scheduler */
};

struct known_result {                       /* over the runs, by quarter of the turns */
    struct estimate reward[KNOWN_QUARTERS]; /* per turn */
    struct estimate best[KNOWN_QUARTERS];   /* share of decisions for the best fuzzer */
    struct estimate top[KNOWN_QUARTERS];    /* share of the fuzzer that was chosen most */
    struct estimate change[KNOWN_QUARTERS]; /* share of decisions unlike the one before */
    struct estimate could;                  /* expected reward of the best fuzzer */
    struct estimate equal;                  /* expected reward of all in turn */
    double locked; /* share of runs without a change after the first quarter */
};

CAROL_MUST_CHECK int known_run(const struct known_settings *st, struct known_result *out,
                               struct err *e);

#endif
