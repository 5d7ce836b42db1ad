/* world: draws obstacles, skills and bugs from a seed.  Plays nothing. */
#include "sim/world.h"

#include "base/det.h"
#include "base/die.h"
#include "base/rng.h"

#include <stdio.h>
#include <stdlib.h>

#define REGION_FUNCTIONS 12 /* neighbouring functions that share a dominant kind */
#define REGION_DOMINANCE 0.65
#define FREE_SHARE 0.75
#define AFFINITY 0.35 /* how much a fuzzer's skill differs from target to target (log) */
#define EASIEST 0.1   /* openings per second at level 0 and skill 1 */
#define BUG_LEVEL_MIN 7
#define BUG_LEVELS 6

/* Characters in the spirit of what the engines did on small targets: comparison splitting (lafintel) and
 * comparison feedback (honggfuzz) open magic values, radamsa repeats and rearranges, mopt and darwin
 * dig into nested states, nobody is good at checksums.  docs/SIMULATION.md says more. */
static const struct world_fuzzer real[] = {
    {"aflpp", {0.30, 0.10, 0.80, 0.60, 0.50, 1.00}, 7, 9000, 2},
    {"darwin", {0.20, 0.10, 0.90, 0.70, 0.50, 1.10}, 8, 8500, 2},
    {"honggfuzz", {0.80, 0.20, 0.60, 0.50, 0.30, 0.80}, 5, 7000, 3},
    {"mopt", {0.20, 0.10, 1.00, 0.60, 0.70, 0.90}, 7, 9000, 2},
    {"lafintel", {1.50, 0.40, 0.50, 0.40, 0.30, 0.80}, 9, 7500, 3},
    {"radamsa", {0.05, 0.02, 0.10, 1.50, 1.00, 0.10}, 12, 900, 1},
};
#define REAL ((int)(sizeof real / sizeof *real))
#define MEAN_SKILL 3.3 /* sum over the kinds of the average of the above */

void world_roster(struct strv *names, int k)
{
    for (int i = 0; i < k; i++)
        if (k == REAL)
            strv_add(names, real[i].name);
        else
            strv_addf(names, "f%d", i + 1);
}

/* Skills of a fuzzer nobody knows: parts of one whole, few large and many small. */
static void invent(struct world_fuzzer *f, struct rng *r, int i)
{
    double sum = 0;
    for (int k = 0; k < WORLD_KIND_COUNT; k++) {
        double x = -det_log(1 - rng_unit(r));
        sum += f->skill[k] = x * x;
    }
    for (int k = 0; k < WORLD_KIND_COUNT; k++)
        f->skill[k] *= MEAN_SKILL / sum;
    snprintf(f->name, sizeof f->name, "f%d", i + 1);
    f->cycle_s = 4 + 8 * rng_unit(r);
    f->speed = 1000 + 8000 * rng_unit(r);
    f->echoes = 1 + 2 * rng_unit(r);
}

/* Openings per second at skill 1: levels are evenly spaced in the logarithm. */
static double ease(int level, double hardest_s)
{
    return EASIEST * det_exp(-det_log(hardest_s * EASIEST) * level / (WORLD_LEVELS - 1));
}

static void make_fuzzers(struct world *w, double hardest_s, uint64_t seed)
{
    struct rng r;
    rng_stream(&r, seed, "fuzzers");
    for (int i = 0; i < w->n_fuzzers; i++) {
        struct world_fuzzer *f = &w->fuzzer[i];
        if (w->n_fuzzers == REAL)
            *f = real[i];
        else
            invent(f, &r, i);
        for (int k = 0; k < WORLD_KIND_COUNT; k++) {
            f->skill[k] *= det_exp(AFFINITY * rng_normal(&r));
            for (int l = 0; l < WORLD_LEVELS; l++)
                w->rate[i][k * WORLD_LEVELS + l] = f->skill[k] * ease(l, hardest_s);
        }
    }
}

static int kind_at(struct rng *r, const uint8_t *dominant, uint32_t func)
{
    if (rng_unit(r) < REGION_DOMINANCE)
        return dominant[func / REGION_FUNCTIONS];
    return (int)rng_below(r, WORLD_KIND_COUNT);
}

/* A block whose only way in has no other way out runs whenever that one does. */
static bool must_follow(const struct table *t, uint32_t i)
{
    const struct table_edge *e = &t->edges[i];
    return e->pred_n == 1 && t->edges[t->preds[e->pred_off]].succ_n == 1;
}

static void make_obstacles(struct world *w, const uint8_t *dominant, struct rng *r)
{
    const struct table *t = w->graph->table;
    w->bucket = xmalloc(t->n_edges + 1);
    for (uint32_t i = 0; i < t->n_edges; i++) {
        bool open = rng_unit(r) < FREE_SHARE;
        int kind = kind_at(r, dominant, t->edges[i].func);
        int level = (int)rng_below(r, WORLD_LEVELS);
        w->bucket[i] =
            open || must_follow(t, i) ? WORLD_FREE : (uint8_t)(kind * WORLD_LEVELS + level);
    }
}

static void make_bugs(struct world *w, const uint8_t *dominant, struct rng *r)
{
    const struct graph *g = w->graph;
    for (int i = 0; i < w->n_bugs; i++) {
        uint32_t site;
        do
            site = (uint32_t)rng_below(r, g->table->n_edges);
        while (!g->reachable[site]);
        int kind = kind_at(r, dominant, g->table->edges[site].func);
        int level = BUG_LEVEL_MIN + (int)rng_below(r, BUG_LEVELS);
        w->bug[i] = (struct world_bug){site, (uint8_t)(kind * WORLD_LEVELS + level)};
    }
}

void world_make(struct world *w, const struct graph *g, const struct world_settings *st)
{
    int k = st->fuzzers, n_bugs = st->bugs;
    uint64_t seed = st->seed;
    BUG_ON(k < 1 || k > WORLD_MAX_FUZZERS || n_bugs < 0 || n_bugs > WORLD_MAX_BUGS);
    *w = (struct world){.graph = g, .n_fuzzers = k, .n_bugs = n_bugs};
    uint32_t regions = g->table->n_funcs / REGION_FUNCTIONS + 1;
    uint8_t *dominant = xmalloc(regions);
    struct rng r;
    rng_stream(&r, seed, "obstacles");
    for (uint32_t i = 0; i < regions; i++)
        dominant[i] = (uint8_t)rng_below(&r, WORLD_KIND_COUNT);
    make_fuzzers(w, st->hardest_s > 0 ? st->hardest_s : WORLD_HARDEST_S, seed);
    make_obstacles(w, dominant, &r);
    make_bugs(w, dominant, &r);
    free(dominant);
}

void world_free(struct world *w)
{
    free(w->bucket);
    *w = (struct world){0};
}
