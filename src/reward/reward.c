/* reward: names of the rewards, their raw values and running bounds.  Knows nothing of turns or fuzzers. */
#include "reward/reward.h"

#include <string.h>

static const char *const names[] = {
    [REWARD_COVERAGE_INTERVAL] = "coverage_interval",
    [REWARD_FRONTIER_BRANCH] = "frontier_branch",
    [REWARD_RARITY_DENSITY] = "rarity_density",
};

enum reward_kind reward_kind_of(const char *name)
{
    for (int k = REWARD_COVERAGE_INTERVAL; k <= REWARD_RARITY_DENSITY; k++)
        if (strcmp(name, names[k]) == 0)
            return (enum reward_kind)k;
    return REWARD_NONE;
}

const char *reward_kind_name(enum reward_kind k)
{
    return k >= REWARD_COVERAGE_INTERVAL && k <= REWARD_RARITY_DENSITY ? names[k] : "unknown";
}

double reward_raw(enum reward_kind k, const struct gain *g)
{
    switch (k) {
    case REWARD_COVERAGE_INTERVAL: return g->interval;
    case REWARD_FRONTIER_BRANCH: return g->frontier;
    case REWARD_RARITY_DENSITY: return g->rarity_density;
    case REWARD_NONE: break;
    }
    return 0;
}

double reward_normalise(struct reward_bounds *b, double raw)
{
    if (raw < b->lo)
        b->lo = raw;
    if (raw > b->hi)
        b->hi = raw;
    return b->hi > b->lo ? (raw - b->lo) / (b->hi - b->lo) : 0;
}
