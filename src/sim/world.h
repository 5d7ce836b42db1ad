/* world: what stands in the way of the fuzzers of one simulated campaign, and how good each is at it.
 *
 * Every edge is free (whoever reaches its predecessor reaches it) or behind an obstacle.  A fuzzer working
 * for s seconds opens an edge at the frontier with probability 1 - exp(-rate * s), and
 *
 *     rate = skill * luck / hardness
 *
 * where hardness is the same for all obstacles, skill the fuzzer's for the obstacle's kind, and luck belongs
 * to this fuzzer and this obstacle: what one does not open in a day another opens in a minute.  So a fuzzer
 * soon has taken what is easy for it, and new ground, whoever opened it, is worth most when it is fresh.
 * Kinds gather in regions (neighbouring functions).  Bugs are extra obstacles behind some edges.  The
 * assumptions and where the numbers come from: docs/SIMULATION.md.  The same seed gives the same world. */
#ifndef CAROL_SIM_WORLD_H
#define CAROL_SIM_WORLD_H

#include "base/str.h"
#include "sim/graph.h"

#include <stdbool.h>
#include <stdint.h>

/* One row per kind of obstacle: identifier, name. */
#define WORLD_KINDS(X)                                                                             \
    X(MAGIC, "magic")         /* comparison with several fixed bytes */                            \
    X(CHECKSUM, "checksum")   /* a value computed from other bytes */                              \
    X(NESTING, "nesting")     /* a state only reached step by step */                              \
    X(COUNT, "count")         /* many repetitions, long fields */                                  \
    X(STRUCTURE, "structure") /* a well-formed whole of several parts */                           \
    X(RANGE, "range")         /* single bytes, boundary values */

enum world_kind {
#define WORLD_ENUM(id, name) KIND_##id,
    WORLD_KINDS(WORLD_ENUM)
#undef WORLD_ENUM
        WORLD_KIND_COUNT
};
#define WORLD_LEVELS 64 /* of rates, evenly spaced in the logarithm: once a second to never */
#define WORLD_MAX_BUGS 64
#define WORLD_MAX_FUZZERS 64

struct world_fuzzer {
    char name[16];
    double skill[WORLD_KIND_COUNT]; /* logarithms, once the world is made */
    double cycle_s;                 /* mean length of one internal cycle */
    double speed;                   /* executions per second */
    double echoes; /* inputs per 120 s that it publishes although they open nothing */
};

struct world_bug {
    uint32_t site;                  /* edge that reaches it */
    double rate[WORLD_MAX_FUZZERS]; /* triggers per second, once there */
};

struct world {
    const struct graph *graph;
    bool *barred;                      /* per edge: there is an obstacle */
    uint8_t *level[WORLD_MAX_FUZZERS]; /* per fuzzer and barred edge: how fast it opens */
    double rate[WORLD_LEVELS];         /* openings per second */
    int n_fuzzers, n_bugs;
    struct world_fuzzer fuzzer[WORLD_MAX_FUZZERS];
    struct world_bug bug[WORLD_MAX_BUGS];
};

/* Roster of K fuzzers: K = 6 has the names and characters of the real ones, else f1..fK. */
void world_roster(struct strv *names, int k);
struct world_settings {
    int fuzzers, bugs;
    double
        hardness_s; /* one core's mean time for an obstacle at skill and luck 1; 0: the default */
    uint64_t seed;
};
#define WORLD_HARDNESS_S 13500.0
void world_make(struct world *w, const struct graph *g, const struct world_settings *st);
void world_free(struct world *w);

#endif
