/* deal: shares of the cores as a sequence of choices (METHOD R47, R48).
 *
 * Weights become whole cores that sum to the number of slots by largest remainder (ties: the larger
 * weight, then the first in the order that the seed draws), in whole numbers throughout, so that a tie is
 * a tie.  The slots lie in that order too; decision k of an assignment takes slot k mod slots, so that
 * every `slots` decisions in a row give each arm exactly its cores.
 *
 *     deal_init(&d, n_arms, seed);
 *     deal_start(&d, weight, workers);     // a new assignment: from slot 0
 *     arm = deal_next(&d, dropped);        // each decision
 *
 * Arms that cannot run: the first question with another set of them deals the same weights among the rest,
 * or equal ones if none of these has any, and starts again at slot 0. */
#ifndef CAROL_SCHED_DEAL_H
#define CAROL_SCHED_DEAL_H

#include "sched/sched.h"
#include "sched/wire.h"

#define DEAL_ONE_EACH 0      /* as many slots as there are arms that can run */
#define DEAL_MAX_SLOTS 65535 /* and weights up to this, so that their product is exact: */
#define DEAL_MAX_WEIGHT (UINT64_C(1) << 41)

struct deal {
    int n_arms;
    int order[SCHED_MAX_ARMS]; /* choose_order */
    int asked;                 /* slots asked for, or DEAL_ONE_EACH */
    uint64_t weight[SCHED_MAX_ARMS];
    uint64_t dropped; /* dealt without these */
    int next;         /* slot of the next decision */
    /* Follow from the above. */
    int slots;
    double share[SCHED_MAX_ARMS]; /* of all cores, 0..1 */
    int cores[SCHED_MAX_ARMS];    /* the same in whole slots */
};

/* Every arm one slot, none dropped. */
void deal_init(struct deal *d, int n_arms, uint64_t seed);
/* weight NULL: all the same.  Heavier than DEAL_MAX_WEIGHT counts as that. */
void deal_start(struct deal *d, const uint64_t *weight, int slots);
/* From here on without these arms; false, and nothing changes, if that leaves none. */
bool deal_without(struct deal *d, uint64_t dropped);
/* The same, and the arm whose turn it is; -1: none is left. */
int deal_next(struct deal *d, uint64_t dropped);
static inline bool deal_may(const struct deal *d, int arm)
{
    return !(d->dropped >> arm & 1);
}
/* The cores of an arm among so many workers; a whole number if there are as many slots as workers. */
static inline double deal_cores(const struct deal *d, int arm, int workers)
{
    return (double)d->cores[arm] * workers / d->slots;
}

void deal_save(const struct deal *d, struct buf *out);

#endif
