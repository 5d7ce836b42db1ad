/* graph: successors, roots and reachability of a neutral table.  Invents nothing but the callers of
 * functions that are called through pointers; what stands in the way is world.c. */
#include "sim/graph.h"

#include "base/die.h"
#include "base/rng.h"

#include <stdlib.h>

static void guess_callers(struct graph *g)
{
    const struct table *t = g->table;
    uint32_t n = 0, *sites = xcalloc(t->n_edges + 1, sizeof *sites);
    struct rng r;
    rng_stream(&r, t->layout, "indirect callers");
    for (uint32_t i = 0; i < t->n_edges;
         i++) /* where functions without a known caller may be called */
        if (t->edges[i].ind && !(t->edges[i].flags & EDGE_DEAD))
            sites[n++] = i;
    g->guess = xcalloc(t->n_edges + 1, sizeof *g->guess);
    for (uint32_t i = 0; i < t->n_edges; i++) {
        const struct table_edge *e = &t->edges[i];
        bool orphan = (e->flags & EDGE_ENTRY) && !e->pred_n && e->depth != 0;
        g->guess[i] = orphan && n ? sites[rng_below(&r, n)] : GRAPH_NONE;
    }
    free(sites);
}

/* Calls fn for every way (from, to) of the graph; dead blocks have none. */
static void each_way(struct graph *g, void (*fn)(struct graph *g, uint32_t from, uint32_t to))
{
    const struct table *t = g->table;
    for (uint32_t i = 0; i < t->n_edges; i++) {
        const struct table_edge *e = &t->edges[i];
        if (e->flags & EDGE_DEAD)
            continue;
        for (uint32_t p = 0; p < e->pred_n; p++)
            fn(g, t->preds[e->pred_off + p], i);
        if (g->guess[i] != GRAPH_NONE)
            fn(g, g->guess[i], i);
    }
}

static void count_way(struct graph *g, uint32_t from, uint32_t to)
{
    (void)to;
    g->succ_off[from + 1]++;
}

/* Fills from the end of each run; succ_off[from + 1] is its end until all are placed. */
static void place_way(struct graph *g, uint32_t from, uint32_t to)
{
    g->succ[--g->succ_off[from + 1]] = to;
}

static void find_successors(struct graph *g)
{
    uint32_t n = g->table->n_edges;
    g->succ_off = xcalloc(n + 2, sizeof *g->succ_off);
    each_way(g, count_way);
    for (uint32_t i = 0; i < n; i++)
        g->succ_off[i + 1] += g->succ_off[i];
    uint32_t total = g->succ_off[n];
    g->succ = xcalloc(total + 1, sizeof *g->succ);
    each_way(g, place_way);
    for (uint32_t i = 0; i < n; i++) /* ends have become starts */
        g->succ_off[i] = g->succ_off[i + 1];
    g->succ_off[n] = total;
}

/* Entries that nobody calls at depth 0: LLVMFuzzerTestOneInput or main; else the first block there is. */
static void find_roots(struct graph *g)
{
    const struct table *t = g->table;
    g->roots = xcalloc(t->n_edges + 1, sizeof *g->roots);
    for (uint32_t i = 0; i < t->n_edges; i++)
        if ((t->edges[i].flags & EDGE_ENTRY) && t->edges[i].depth == 0)
            g->roots[g->n_roots++] = i;
    if (!g->n_roots)
        g->roots[g->n_roots++] = 0;
}

static void find_reachable(struct graph *g)
{
    uint32_t n = g->table->n_edges, *todo = xcalloc(n + 1, sizeof *todo), have = 0;
    g->reachable = xcalloc(n + 1, sizeof *g->reachable);
    for (uint32_t i = 0; i < g->n_roots; i++) {
        todo[have++] = g->roots[i];
        g->reachable[g->roots[i]] = true;
    }
    for (uint32_t at = 0; at < have; at++) {
        uint32_t e = todo[at];
        for (uint32_t i = g->succ_off[e]; i < g->succ_off[e + 1]; i++)
            if (!g->reachable[g->succ[i]]) {
                g->reachable[g->succ[i]] = true;
                todo[have++] = g->succ[i];
            }
    }
    g->n_reachable = have;
    free(todo);
}

void graph_of(struct graph *g, const struct table *t)
{
    *g = (struct graph){.table = t};
    guess_callers(g);
    find_successors(g);
    find_roots(g);
    find_reachable(g);
}

void graph_free(struct graph *g)
{
    table_free(&g->own);
    free(g->succ_off);
    free(g->succ);
    free(g->guess);
    free(g->roots);
    free(g->reachable);
    *g = (struct graph){0};
}
