/* tally: the numbers people look at, a fold over turns.  The live screen and `carol status` use this
 * same fold, so they cannot disagree. */
#ifndef CAROL_CAMPAIGN_TALLY_H
#define CAROL_CAMPAIGN_TALLY_H

#include "base/err.h"
#include "context/context.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

struct tally_arm {
    char name[32];
    uint64_t turns, execs, cycles, offered, taken, exports, first_edges, crashes, hangs, deaths;
    int64_t active_ns;
    double last_reward;
    bool dropped;
    char why[128]; /* dropped: the reason */
};

#define TALLY_POINTS 60
#define TALLY_SLOTS 256 /* the most a campaign has */

struct tally {
    int n_arms;
    struct tally_arm arm[CONTEXT_MAX_ARMS];
    uint64_t turns, execs;
    uint64_t seeds, crashes, hangs; /* distinct inputs: counted where they are stored */
    uint32_t edges, edges_total, seed_edges;
    uint64_t no_predecessor; /* new edges without a known predecessor: they earned nothing */
    int64_t last_new_ns;     /* campaign time of the last new edge */
    int64_t elapsed_ns, budget_ns;
    int n_slots;
    struct store_slot slot[TALLY_SLOTS];
    /* coverage over time, for the sparkline: TALLY_POINTS equal steps of time */
    int64_t step_ns;
    uint32_t point[TALLY_POINTS];
    int n_points;
};

void tally_add_turn(struct tally *t, const struct store_turn *row);
/* Note the coverage at a moment (monotone in time). */
void tally_point(struct tally *t, int64_t now_ns);
/* The whole fold from a store opened for reading. */
CAROL_MUST_CHECK int tally_load(struct tally *t, struct store *s, struct err *e);

#endif
