/* gauge: what the paper measured of its real campaigns, measured on a simulated one: how fast rewards
 * fall, how many turns earn anything, whether the ranking of fuzzers lasts, and how often the choice
 * changes.  A world is believed as far as these agree (docs/SIMULATION.md).
 *
 *     struct gauge g = {.last = -1};
 *     gauge_decision(&g, choice, t > n_arms);            // every decision
 *     gauge_turn(&g, arm, end/budget, raw, reward);      // every completed turn
 *     gauge_read(&g, n_arms, &reading);
 */
#ifndef CAROL_SIM_GAUGE_H
#define CAROL_SIM_GAUGE_H

#include "sim/world.h"

#define GAUGE_TENTHS 10

struct gauge_rate {
    uint32_t turns;
    double raw; /* sum */
};

/* Fixed size, no pointers: it goes from process to process. */
struct gauge {
    /* by half of the campaign, and by odd and even turns of the fuzzer in that half */
    struct gauge_rate rate[2][2][WORLD_MAX_FUZZERS];
    uint32_t turns[2], earning[2]; /* by half: all, and those with a reward above 0 */
    uint32_t in_tenth[GAUGE_TENTHS];
    double reward[GAUGE_TENTHS]; /* sums by tenth */
    int last;                    /* choice before; -1: none */
    uint32_t decisions, changes; /* after the warm-up */
};

struct gauge_reading {
    double
        retained; /* median over fuzzers of the raw rate of the second half by that of the first */
    double falling;  /* share of fuzzers whose raw rate fell */
    int pairs;       /* fuzzers that had turns in both halves and a rate in the first */
    double earning;  /* share of the second half's turns with a reward above 0 */
    double lasting;  /* Kendall's tau-b of the fuzzers' raw rates in the two halves */
    double itself;   /* the same of odd and even turns within a half, mean of both halves */
    bool ranked;     /* there was something to rank for both */
    double changing; /* share of decisions after the warm-up that differ from the one before */
    double tenth[GAUGE_TENTHS]; /* mean reward */
};

void gauge_decision(struct gauge *g, int choice, bool after_warmup);
/* at: when it was completed, as a part of the campaign. */
void gauge_turn(struct gauge *g, int arm, double at, double raw, double reward);
void gauge_read(const struct gauge *g, int n_arms, struct gauge_reading *r);

#endif
