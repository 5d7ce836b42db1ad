/* tally: the numbers people look at that follow from completed turns: a pure fold.  The live screen, `carol
 * status` and the report use this same one, so they cannot disagree.  What is not a fold over turns (how many
 * inputs are stored, where the time of a slot went, who was dropped) is in journal/status.h. */
#ifndef CAROL_JOURNAL_TALLY_H
#define CAROL_JOURNAL_TALLY_H

#include "context/context.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

/* Coverage over time in few points: when time runs out of them their distance doubles. */
#define CURVE_POINTS 60
struct curve {
    int64_t step_ns;
    uint32_t point[CURVE_POINTS];
    int n;
};
/* At that moment (monotone in time) it is this much; start: what it was before the first point. */
void curve_add(struct curve *c, int64_t now_ns, uint32_t value, uint32_t start);

/* The last moments in which executions became known: they do in lumps, when a turn completes. */
#define PACE_MOMENTS 16
struct pace {
    struct {
        int64_t ns; /* campaign time */
        uint64_t execs;
    } at[PACE_MOMENTS]; /* the oldest first; about a second apart where turns complete faster */
    int n;
};

struct tally_arm {
    char name[32];
    uint64_t turns, execs, cycles, offered, taken, exports, first_edges, crashes, hangs, deaths;
    int64_t startup_ns, active_ns;
    int64_t cycle_ns; /* of its completed cycles */
    int64_t owed_ns;  /* what its turns were shorter than asked (METHOD §2) */
    double last_reward;
};

struct tally {
    int n_arms;
    struct tally_arm arm[CONTEXT_MAX_ARMS];
    uint64_t turns, execs;
    uint32_t edges, edges_total, seed_edges;
    uint64_t no_predecessor; /* new edges without a known predecessor: they earned nothing */
    int64_t last_new_ns;     /* campaign time of the last new edge */
    int64_t budget_ns;
    struct curve curve;
    struct pace pace;
};

void tally_add_turn(struct tally *t, const struct store_turn *row);
/* A fuzzer's part of the time all fuzzers were active, 0..1. */
double tally_share(const struct tally *t, int arm);
/* Executions per second of campaign time, all slots: since the start; and lately, between the first and the last
 * moment of the pace. */
double tally_rate(const struct tally *t, int64_t elapsed_ns);
double tally_rate_recent(const struct tally *t);
/* The position of a fuzzer in the roster; -1: it is not in it. */
int tally_find(const struct tally *t, const char *fuzzer);

#endif
