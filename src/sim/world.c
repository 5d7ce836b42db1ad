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
#define LUCK 3.0      /* of one fuzzer with one obstacle: log-normal around 1 */
#define FASTEST 1.0   /* openings per second at level 0 */
#define STEP 0.36     /* from level to level (log): the last is once in 200 years */
#define BUG_EASIEST_S 10.0
#define BUG_HARDEST_S 2e15

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

static void make_fuzzers(struct world *w, uint64_t seed)
{
    struct rng r;
    rng_stream(&r, seed, "fuzzers");
    for (int i = 0; i < w->n_fuzzers; i++) {
        struct world_fuzzer *f = &w->fuzzer[i];
        if (w->n_fuzzers == REAL)
            *f = real[i];
        else
            invent(f, &r, i);
        for (int k = 0; k < WORLD_KIND_COUNT; k++)
            f->skill[k] = det_log(f->skill[k]) / 2 + AFFINITY * rng_normal(&r);
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

/* Logarithm of the rate at which a fuzzer opens an obstacle of this kind and hardness. */
static double draw_rate(const struct world *w, int fuzzer, int kind, double log_s, struct rng *r)
{
    return w->fuzzer[fuzzer].skill[kind] + LUCK * rng_normal(r) - log_s;
}

static uint8_t level_of(double log_rate)
{
    double l = (det_log(FASTEST) - log_rate) / STEP + 0.5;
    return l < 0 ? 0 : l < WORLD_LEVELS ? (uint8_t)l : WORLD_LEVELS - 1;
}

static void make_obstacles(struct world *w, const uint8_t *dominant, double hardness_s,
                           struct rng *r)
{
    const struct table *t = w->graph->table;
    double log_s = det_log(hardness_s);
    w->barred = xcalloc(t->n_edges + 1, sizeof *w->barred);
    for (int f = 0; f < w->n_fuzzers; f++)
        w->level[f] = xcalloc(t->n_edges + 1, sizeof *w->level[f]);
    for (int l = 0; l < WORLD_LEVELS; l++)
        w->rate[l] = FASTEST * det_exp(-STEP * l);
    for (uint32_t i = 0; i < t->n_edges; i++) {
        w->barred[i] = rng_unit(r) >= FREE_SHARE && !must_follow(t, i);
        if (!w->barred[i])
            continue;
        int kind = kind_at(r, dominant, t->edges[i].func);
        for (int f = 0; f < w->n_fuzzers; f++)
            w->level[f][i] = level_of(draw_rate(w, f, kind, log_s, r));
    }
}

static void make_bugs(struct world *w, const uint8_t *dominant, struct rng *r)
{
    const struct graph *g = w->graph;
    double low = det_log(BUG_EASIEST_S), high = det_log(BUG_HARDEST_S);
    for (int i = 0; i < w->n_bugs; i++) {
        struct world_bug *b = &w->bug[i];
        do
            b->site = (uint32_t)rng_below(r, g->table->n_edges);
        while (!g->reachable[b->site]);
        int kind = kind_at(r, dominant, g->table->edges[b->site].func);
        double log_s = low + (high - low) * rng_unit(r);
        for (int f = 0; f < w->n_fuzzers; f++)
            b->rate[f] = det_exp(draw_rate(w, f, kind, log_s, r));
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
    make_fuzzers(w, seed);
    make_obstacles(w, dominant, st->hardness_s > 0 ? st->hardness_s : WORLD_HARDNESS_S, &r);
    make_bugs(w, dominant, &r);
    free(dominant);
}

void world_free(struct world *w)
{
    free(w->barred);
    for (int i = 0; i < w->n_fuzzers; i++)
        free(w->level[i]);
    *w = (struct world){0};
}
