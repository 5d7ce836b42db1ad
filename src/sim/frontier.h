/* frontier: the edges that can be opened next, by how fast one fuzzer opens them.
 *
 * Because edges of one level open at the same rate, drawing the next opening of a turn costs one pass over
 * the levels, however many edges there are. */
#ifndef CAROL_SIM_FRONTIER_H
#define CAROL_SIM_FRONTIER_H

#include "base/rng.h"
#include "sim/world.h"

struct frontier_level {
    uint32_t *edges;
    uint32_t n, cap;
};

struct frontier {
    struct frontier_level level[WORLD_LEVELS];
    const uint8_t *level_of; /* the world's, for this fuzzer */
    uint32_t *place;         /* per edge: its place in its level; GRAPH_NONE: not at the frontier */
};

void frontier_init(struct frontier *f, const struct world *w, int fuzzer);
void frontier_free(struct frontier *f);
static inline bool frontier_has(const struct frontier *f, uint32_t edge)
{
    return f->place[edge] != GRAPH_NONE;
}
void frontier_add(struct frontier *f, uint32_t edge); /* not there, not free */
void frontier_remove(struct frontier *f, uint32_t edge);
/* Seconds until the next opening at these rates and which edge it is; GRAPH_NONE: none, ever. */
uint32_t frontier_next(const struct frontier *f, const double rate[WORLD_LEVELS], struct rng *r,
                       double *seconds);

#endif
