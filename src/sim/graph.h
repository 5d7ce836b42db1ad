/* graph: the program of a simulation: a neutral table and the ways through it.
 *
 *     graph_synthetic(&g, 20000, seed);         // or: graph_of(&g, &table) for a real target's table
 *     graph_write(&g, "OUT/build", &e);         // a build directory that manifest_load accepts
 *     graph_free(&g);
 *
 * A real table knows no callers of functions that are only called through pointers; such a function gets
 * one caller here (`guess`), and a campaign learns that call at run time, as a real one does. */
#ifndef CAROL_SIM_GRAPH_H
#define CAROL_SIM_GRAPH_H

#include "base/err.h"
#include "target/table.h"

#include <stdbool.h>
#include <stdint.h>

#define GRAPH_NONE UINT32_MAX
#define GRAPH_TARGET "simulated" /* name of a synthetic target */

struct graph { /* not to be copied: table may be its own */
    const struct table *table;
    struct table own;          /* of a synthetic graph */
    uint32_t *succ_off, *succ; /* edges that may follow edge i: succ[succ_off[i]..succ_off[i+1]) */
    uint32_t *guess;           /* the guessed caller of an entry; GRAPH_NONE: none needed */
    uint32_t *roots;           /* edges every input covers */
    uint32_t n_roots, n_reachable; /* reachable from the roots */
    bool *reachable;
};

/* The same numbers give the same graph, bit for bit. */
void graph_synthetic(struct graph *g, uint32_t n_edges, uint64_t seed);
/* Ways through a table, which must outlive it. */
void graph_of(struct graph *g, const struct table *t);
void graph_free(struct graph *g);
/* A build directory with the table of a synthetic graph and a manifest that says simulated. */
CAROL_MUST_CHECK int graph_write(const struct graph *g, const char *dir, struct err *e);

#endif
