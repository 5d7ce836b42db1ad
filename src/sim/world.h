/* world: what stands in the way of the fuzzers of one simulated campaign, and how good each is at it.
 *
 * Every edge is free (whoever reaches its predecessor reaches it) or behind an obstacle of one kind and one
 * level of hardness.  A fuzzer working for s seconds opens an edge at the frontier with probability
 * 1 - exp(-skill * ease * s): skill is the fuzzer's for that kind, ease the level's.  Kinds gather in
 * regions (neighbouring functions), so opening a region means work for whoever is good at its kind, until
 * it dries up.  Bugs are extra obstacles behind some edges.  The assumptions and where the numbers come
 * from: docs/SIMULATION.md.  The same seed gives the same world. */
#ifndef CAROL_SIM_WORLD_H
#define CAROL_SIM_WORLD_H

#include "base/str.h"
#include "sim/graph.h"

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
#define WORLD_LEVELS 16
#define WORLD_BUCKETS (WORLD_KIND_COUNT * WORLD_LEVELS)
#define WORLD_FREE 255 /* bucket of an edge without obstacle */
#define WORLD_MAX_BUGS 64
#define WORLD_MAX_FUZZERS 64

struct world_fuzzer {
    char name[16];
    double skill[WORLD_KIND_COUNT];
    double cycle_s; /* mean length of one internal cycle */
    double speed;   /* executions per second */
    double echoes;  /* inputs per 120 s that it publishes although they open nothing */
};

struct world_bug {
    uint32_t site; /* edge that reaches it */
    uint8_t bucket;
};

struct world {
    const struct graph *graph;
    uint8_t *bucket; /* per edge: kind * WORLD_LEVELS + level, or WORLD_FREE */
    int n_fuzzers, n_bugs;
    struct world_fuzzer fuzzer[WORLD_MAX_FUZZERS];
    double rate[WORLD_MAX_FUZZERS][WORLD_BUCKETS]; /* openings per second */
    struct world_bug bug[WORLD_MAX_BUGS];
};

/* Roster of K fuzzers: K = 6 has the names and characters of the real ones, else f1..fK. */
void world_roster(struct strv *names, int k);
struct world_settings {
    int fuzzers, bugs;
    double
        hardest_s; /* one core's mean time for the hardest obstacle at skill 1; 0: WORLD_HARDEST_S */
    uint64_t seed;
};
#define WORLD_HARDEST_S 9.3e6 /* about 108 days; the easiest takes 10 s */
void world_make(struct world *w, const struct graph *g, const struct world_settings *st);
void world_free(struct world *w);

#endif
