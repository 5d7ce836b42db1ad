/* frontier: buckets of edges and the draw of the next one to open.  Knows no fuzzer and no time. */
#include "sim/frontier.h"

#include "base/det.h"
#include "base/die.h"

#include <stdlib.h>

void frontier_init(struct frontier *f, const struct world *w)
{
    uint32_t n = w->graph->table->n_edges;
    *f = (struct frontier){.bucket_of = w->bucket};
    f->place = xmalloc((n + 1) * sizeof *f->place);
    for (uint32_t i = 0; i < n; i++)
        f->place[i] = GRAPH_NONE;
}

void frontier_free(struct frontier *f)
{
    for (int i = 0; i < WORLD_BUCKETS; i++)
        free(f->bucket[i].edges);
    free(f->place);
    *f = (struct frontier){0};
}

void frontier_add(struct frontier *f, uint32_t edge)
{
    struct frontier_bucket *b = &f->bucket[f->bucket_of[edge]];
    if (b->n == b->cap) {
        b->cap = b->cap ? 2 * b->cap : 32;
        b->edges = xrealloc(b->edges, b->cap * sizeof *b->edges);
    }
    f->place[edge] = b->n;
    b->edges[b->n++] = edge;
}

void frontier_remove(struct frontier *f, uint32_t edge)
{
    struct frontier_bucket *b = &f->bucket[f->bucket_of[edge]];
    uint32_t last = b->edges[--b->n];
    b->edges[f->place[edge]] = last;
    f->place[last] = f->place[edge];
    f->place[edge] = GRAPH_NONE;
}

/* Exponential clocks: the first of many rings after an exponential time of the summed rate, and is each
 * with probability in proportion to its own. */
uint32_t frontier_next(const struct frontier *f, const double rate[WORLD_BUCKETS], struct rng *r,
                       double *seconds)
{
    double upto[WORLD_BUCKETS], total = 0;
    for (int i = 0; i < WORLD_BUCKETS; i++)
        upto[i] = total += f->bucket[i].n * rate[i];
    if (total <= 0)
        return GRAPH_NONE;
    *seconds = -det_log(1 - rng_unit(r)) / total;
    double x = rng_unit(r) * total;
    int at = 0;
    while (at < WORLD_BUCKETS - 1 && (x >= upto[at] || !f->bucket[at].n))
        at++;
    while (!f->bucket[at].n) /* rounding at the very end */
        at--;
    return f->bucket[at].edges[rng_below(r, f->bucket[at].n)];
}
