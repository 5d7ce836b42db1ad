/* run: one simulated campaign on virtual time.  Its decisions, contexts, rewards and learning are those of a
 * real campaign (journal/fold.h); only the fuzzers and the target are made up. */
#ifndef CAROL_SIM_RUN_H
#define CAROL_SIM_RUN_H

#include "base/err.h"
#include "base/str.h"
#include "journal/fold.h"
#include "sim/gauge.h"
#include "sim/graph.h"
#include "sim/world.h"

#include <stdint.h>

#define RUN_QUARTERS 4

struct run_settings {
    const struct graph *graph;
    const struct strv *fuzzers; /* world_roster */
    const char *scheduler, *params;
    int workers;
    int n_bugs;
    double hardness_s; /* world_settings */
    int64_t budget_ns, turn_ns;
    uint64_t world_seed;        /* obstacles and skills */
    uint64_t seed;              /* of this campaign: scheduler and chance */
    const char *out;            /* write the journal there; NULL: nowhere */
    const char *build, *target; /* of the journal's settings */
};

/* Fixed size, no pointers: it goes from process to process. */
struct run_result {
    uint32_t edges, seed_edges, bugs, crashes;
    uint64_t turns;
    double reward; /* mean */
    struct gauge gauge;
    uint32_t picks[RUN_QUARTERS][WORLD_MAX_FUZZERS];
    uint32_t edges_at[RUN_QUARTERS]; /* at the end of each quarter */
    /* cost, by quarters of the campaign: number and nanoseconds of decisions and of lessons; with a journal
     * its writing is in them */
    uint64_t decisions[RUN_QUARTERS], lessons[RUN_QUARTERS];
    double decide_ns[RUN_QUARTERS], learn_ns[RUN_QUARTERS];
    uint64_t rss_kb[RUN_QUARTERS]; /* memory of the process */
};

CAROL_MUST_CHECK int run_campaign(const struct run_settings *st, struct run_result *out,
                                  struct err *e);

#endif
