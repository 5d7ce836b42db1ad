/* reward: one turn's gain -> a number in [0,1], by one of three definitions and running campaign-wide
 * min-max bounds (METHOD §6).  Pure functions. */
#ifndef CAROL_REWARD_REWARD_H
#define CAROL_REWARD_REWARD_H

#include "reward/ledger.h"

enum reward_kind {
    REWARD_NONE = 0,
    REWARD_COVERAGE_INTERVAL,
    REWARD_FRONTIER_BRANCH,
    REWARD_RARITY_DENSITY
};

enum reward_kind reward_kind_of(const char *name); /* REWARD_NONE: no such reward */
const char *reward_kind_name(enum reward_kind k);

/* lo = hi = 0 at the start; never shrink. */
struct reward_bounds {
    double lo, hi;
};

double reward_raw(enum reward_kind k, const struct gain *g);
/* Include raw in the bounds, then (raw - lo)/(hi - lo); 0 while hi == lo. */
double reward_normalise(struct reward_bounds *b, double raw);

#endif
