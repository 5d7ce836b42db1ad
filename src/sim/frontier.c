/* frontier: levels of edges and the draw of the next one to open.  Knows no fuzzer and no time. */
#include "sim/frontier.h"

#include "base/det.h"
#include "base/die.h"

#include <stdlib.h>

void frontier_init(struct frontier *f, const struct world *w, int fuzzer)
{
    uint32_t n = w->graph->table->n_edges;
    *f = (struct frontier){.level_of = w->level[fuzzer]};
    f->place = xmalloc((n + 1) * sizeof *f->place);
    for (uint32_t i = 0; i < n; i++)
        f->place[i] = GRAPH_NONE;
}

void frontier_free(struct frontier *f)
{
    for (int i = 0; i < WORLD_LEVELS; i++)
        free(f->level[i].edges);
    free(f->place);
    *f = (struct frontier){0};
}

void frontier_add(struct frontier *f, uint32_t edge)
{
    struct frontier_level *b = &f->level[f->level_of[edge]];
    if (b->n == b->cap) {
        b->cap = b->cap ? 2 * b->cap : 32;
        b->edges = xrealloc(b->edges, b->cap * sizeof *b->edges);
    }
    f->place[edge] = b->n;
    b->edges[b->n++] = edge;
}

void frontier_remove(struct frontier *f, uint32_t edge)
{
    struct frontier_level *b = &f->level[f->level_of[edge]];
    uint32_t last = b->edges[--b->n];
    b->edges[f->place[edge]] = last;
    f->place[last] = f->place[edge];
    f->place[edge] = GRAPH_NONE;
}

/* Exponential clocks: the first of many rings after an exponential time of the summed rate, and is each
 * with probability in proportion to its own. */
uint32_t frontier_next(const struct frontier *f, const double rate[WORLD_LEVELS], struct rng *r,
                       double *seconds)
{
    double upto[WORLD_LEVELS], total = 0;
    for (int i = 0; i < WORLD_LEVELS; i++)
        upto[i] = total += f->level[i].n * rate[i];
    if (total <= 0)
        return GRAPH_NONE;
    *seconds = -det_log(1 - rng_unit(r)) / total;
    double x = rng_unit(r) * total;
    int at = 0;
    while (at < WORLD_LEVELS - 1 && (x >= upto[at] || !f->level[at].n))
        at++;
    while (!f->level[at].n) /* rounding at the very end */
        at--;
    return f->level[at].edges[rng_below(r, f->level[at].n)];
}
