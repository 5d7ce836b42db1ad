/* play: the state of one simulated campaign's target, and what a fuzzer finds in one turn on it.
 *
 *     play_init(&p, &world, seed);
 *     play_seeds(&p, &turn);                      // the initial inputs
 *     play_turn(&p, &who, seconds, &turn);        // drawn at dispatch, from what is known then ...
 *     play_settle(&p, &turn);                     // ... and known to everybody when it is committed
 *
 * Turns of several workers are drawn from the same state and settled in any order: two may open the same
 * edge, as in a real campaign. */
#ifndef CAROL_SIM_PLAY_H
#define CAROL_SIM_PLAY_H

#include "eval/edges.h"
#include "sim/frontier.h"

/* One fuzzer process of the simulation. */
struct play_instance {
    int arm, number;
    int64_t row;     /* in the journal; 0: not there yet */
    uint64_t bugs;   /* bit per bug it has triggered: it saves each once */
    uint64_t shared; /* inputs shared when it last started a turn */
    uint64_t own;    /* of those that came after, its own */
    bool started;
};

struct play_input {
    uint32_t from, n;  /* its edges: ids[from..from+n) */
    uint32_t opened;   /* the edge it was published for; GRAPH_NONE: an echo */
    uint32_t built_on; /* the edge before that; GRAPH_NONE: none */
    int bug;           /* it crashes with this bug; -1: it does not */
    double at_s;       /* when, since the turn began */
};

struct play_opened {
    uint32_t edge, parent;
    double at_s;
};

struct play_turn { /* grows, is used again; play_turn_free at the end */
    struct play_input *inputs;
    struct play_opened *opened;
    uint32_t *ids;
    struct edges *sets; /* of inputs, point into ids */
    size_t n_inputs, cap_inputs, n_opened, cap_opened, n_ids, cap_ids, cap_sets;
    uint32_t crashes;
};

struct play {
    const struct world *world;
    struct frontier *frontier; /* per fuzzer: the same edges, each at its own level */
    int arm;                   /* whose view it is, between turns the last one's */
    struct rng rng;
    bool *known;      /* covered, by committed turns */
    uint32_t *parent; /* of every edge known or at the frontier: the edge it was reached from */
    uint32_t *covered, n_covered;
    uint64_t *stamp; /* per edge: the last view that opened it */
    uint64_t view;
    uint32_t *added; /* edges the view at hand put to the frontier */
    size_t n_added, cap_added;
    uint64_t bugs; /* bit per bug whose site is known */
};

void play_init(struct play *p, const struct world *w, uint64_t seed);
void play_free(struct play *p);
void play_seeds(struct play *p, struct play_turn *t);
void play_turn(struct play *p, struct play_instance *who, double seconds, struct play_turn *t);
void play_settle(struct play *p, const struct play_turn *t);
void play_turn_free(struct play_turn *t);

#endif
