/* turn: what one fuzzer finds in one turn, drawn from the frontier as it is at dispatch.  Rewards nobody and
 * tells nobody: that is run.c's. */
#include "sim/play.h"

#include "base/det.h"
#include "base/die.h"
#include "sched/sched.h"

#include <stdlib.h>

#define TRACE_MAX 48 /* of an input's way to its edge, this much is in its trace */
#define SEEDS 4
#define SEED_OPENS 0.5 /* a seed passes an obstacle with this probability */
#define SEED_COVERS 20 /* at most one in so many reachable edges */
#define SEED_LEAST 100 /* and at least one in so many */

void play_init(struct play *p, const struct world *w, uint64_t seed)
{
    uint32_t n = w->graph->table->n_edges + 1;
    *p = (struct play){.world = w};
    p->frontier = xcalloc((size_t)w->n_fuzzers, sizeof *p->frontier);
    for (int i = 0; i < w->n_fuzzers; i++)
        frontier_init(&p->frontier[i], w, i);
    rng_stream(&p->rng, seed, "turns");
    p->known = xcalloc(n, sizeof *p->known);
    p->parent = xcalloc(n, sizeof *p->parent);
    p->covered = xcalloc(n, sizeof *p->covered);
    p->stamp = xcalloc(n, sizeof *p->stamp);
}

void play_free(struct play *p)
{
    for (int i = 0; i < p->world->n_fuzzers; i++)
        frontier_free(&p->frontier[i]);
    free(p->frontier);
    free(p->known);
    free(p->parent);
    free(p->covered);
    free(p->stamp);
    free(p->added);
    *p = (struct play){0};
}

void play_turn_free(struct play_turn *t)
{
    free(t->inputs);
    free(t->opened);
    free(t->ids);
    free(t->sets);
    *t = (struct play_turn){0};
}

/* --- inputs ----------------------------------------------------------------------------------- */

static void put_id(struct play_turn *t, uint32_t id)
{
    XGROW(t->ids, t->n_ids, t->cap_ids);
    t->ids[t->n_ids++] = id;
}

static struct play_input *begin_input(struct play_turn *t, uint32_t opened, uint32_t built_on,
                                      double at_s)
{
    XGROW(t->inputs, t->n_inputs, t->cap_inputs);
    struct play_input *in = &t->inputs[t->n_inputs++];
    *in = (struct play_input){.from = (uint32_t)t->n_ids,
                              .opened = opened,
                              .built_on = built_on,
                              .bug = -1,
                              .at_s = at_s};
    return in;
}

/* The last part of the way to an edge, the edge itself not included. */
static void put_way(const struct play *p, struct play_turn *t, uint32_t edge)
{
    for (int i = 0; i < TRACE_MAX && (edge = p->parent[edge]) != GRAPH_NONE; i++)
        put_id(t, edge);
}

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Ascending, each once: the form of an edge set. */
static void end_input(struct play_turn *t)
{
    struct play_input *in = &t->inputs[t->n_inputs - 1];
    uint32_t *ids = t->ids + in->from, n = (uint32_t)t->n_ids - in->from, kept = 0;
    qsort(ids, n, sizeof *ids, ascending);
    for (uint32_t i = 0; i < n; i++)
        if (!kept || ids[kept - 1] != ids[i])
            ids[kept++] = ids[i];
    in->n = kept;
    t->n_ids = in->from + kept;
}

static void make_sets(struct play_turn *t)
{
    if (t->cap_sets < t->n_inputs) {
        t->cap_sets = t->cap_inputs;
        t->sets = xrealloc(t->sets, t->cap_sets * sizeof *t->sets);
    }
    for (size_t i = 0; i < t->n_inputs; i++)
        t->sets[i] = (struct edges){t->ids + t->inputs[i].from, t->inputs[i].n};
}

static void clear(struct play_turn *t)
{
    t->n_inputs = t->n_opened = t->n_ids = 0;
    t->crashes = 0;
}

/* --- a view: what is known, and what this turn opens ------------------------------------------ */

/* The frontier of the fuzzer whose view it is; outside a view all hold the same edges. */
static struct frontier *mine(const struct play *p)
{
    return &p->frontier[p->arm];
}

static bool seen(const struct play *p, uint32_t edge)
{
    return p->known[edge] || p->stamp[edge] == p->view;
}

static void note_open(struct play *p, struct play_turn *t, uint32_t edge)
{
    p->stamp[edge] = p->view;
    XGROW(t->opened, t->n_opened, t->cap_opened);
    t->opened[t->n_opened++] = (struct play_opened){
        .edge = edge, .parent = p->parent[edge], .at_s = t->inputs[t->n_inputs - 1].at_s};
    put_id(t, edge);
}

/* Open an edge and all that comes free with it; new obstacles go to the view's frontier. */
static void open_edge(struct play *p, struct play_turn *t, uint32_t edge)
{
    const struct graph *g = p->world->graph;
    size_t at = t->n_opened;
    note_open(p, t, edge);
    for (; at < t->n_opened; at++) {
        uint32_t e = t->opened[at].edge;
        for (uint32_t i = g->succ_off[e]; i < g->succ_off[e + 1]; i++) {
            uint32_t s = g->succ[i];
            if (seen(p, s) || frontier_has(mine(p), s))
                continue;
            p->parent[s] = e;
            if (!p->world->barred[s]) {
                note_open(p, t, s);
                continue;
            }
            frontier_add(mine(p), s);
            XGROW(p->added, p->n_added, p->cap_added);
            p->added[p->n_added++] = s;
        }
    }
}

/* The frontier as it was before the view. */
static void close_view(struct play *p, const struct play_turn *t)
{
    for (size_t i = 0; i < p->n_added; i++)
        if (frontier_has(mine(p), p->added[i]))
            frontier_remove(mine(p), p->added[i]);
        else
            p->stamp[p->added[i]] = 0; /* opened, but not from the common frontier */
    for (size_t i = 0; i < t->n_opened; i++) {
        uint32_t e = t->opened[i].edge;
        if (p->stamp[e] == p->view && p->world->barred[e] && !p->known[e])
            frontier_add(mine(p), e);
    }
    p->n_added = 0;
}

static void draw_openings(struct play *p, double seconds, struct play_turn *t)
{
    double now = 0, wait = 0;
    for (;;) {
        uint32_t e = frontier_next(mine(p), p->world->rate, &p->rng, &wait);
        now += wait;
        if (e == GRAPH_NONE || now > seconds)
            return;
        begin_input(t, e, p->parent[e], now);
        put_way(p, t, e);
        frontier_remove(mine(p), e);
        open_edge(p, t, e);
        end_input(t);
    }
}

/* When this turn reached the site of a bug; negative: it did not. */
static double reached_at(const struct play *p, const struct play_turn *t, int bug)
{
    uint32_t site = p->world->bug[bug].site;
    if (p->bugs >> bug & 1)
        return 0;
    for (size_t i = 0; i < t->n_opened; i++)
        if (t->opened[i].edge == site)
            return t->opened[i].at_s;
    return -1;
}

static void draw_crashes(struct play *p, struct play_instance *who, double seconds,
                         struct play_turn *t)
{
    for (int b = 0; b < p->world->n_bugs; b++) {
        if (who->bugs >> b & 1)
            continue;
        double from = reached_at(p, t, b);
        if (from < 0)
            continue;
        double rate = p->world->bug[b].rate[who->arm];
        double at = from - det_log(1 - rng_unit(&p->rng)) / rate;
        if (at > seconds)
            continue;
        uint32_t site = p->world->bug[b].site;
        begin_input(t, site, p->parent[site], at)->bug = b;
        put_way(p, t, site);
        put_id(t, site);
        end_input(t);
        who->bugs |= UINT64_C(1) << b;
        t->crashes++;
    }
}

/* Inputs a fuzzer finds interesting by its own measure and the neutral build does not. */
static void draw_echoes(struct play *p, double mean, double seconds, struct play_turn *t)
{
    double limit = det_exp(-mean), x = rng_unit(&p->rng);
    for (int n = 0; x > limit && n < 64; n++, x *= rng_unit(&p->rng)) {
        uint32_t e = p->covered[rng_below(&p->rng, p->n_covered)];
        begin_input(t, GRAPH_NONE, p->parent[e], seconds * rng_unit(&p->rng));
        put_way(p, t, e);
        put_id(t, e);
        end_input(t);
    }
}

void play_turn(struct play *p, struct play_instance *who, double seconds, struct play_turn *t)
{
    p->view++;
    p->arm = who->arm;
    clear(t);
    draw_openings(p, seconds, t);
    draw_crashes(p, who, seconds, t);
    draw_echoes(p, p->world->fuzzer[who->arm].echoes * seconds / SCHED_TURN_S, seconds, t);
    close_view(p, t);
    make_sets(t);
}

/* --- what becomes known ----------------------------------------------------------------------- */

static void know(struct play *p, const struct play_opened *o)
{
    if (frontier_has(mine(p), o->edge))
        for (int i = 0; i < p->world->n_fuzzers; i++)
            frontier_remove(&p->frontier[i], o->edge);
    p->known[o->edge] = true;
    p->parent[o->edge] = o->parent;
    p->covered[p->n_covered++] = o->edge;
}

static void widen(struct play *p, uint32_t edge)
{
    const struct graph *g = p->world->graph;
    for (uint32_t i = g->succ_off[edge]; i < g->succ_off[edge + 1]; i++) {
        uint32_t s = g->succ[i];
        if (p->known[s] || frontier_has(mine(p), s))
            continue;
        BUG_ON(!p->world->barred[s]); /* a view is closed under what is free */
        p->parent[s] = edge;
        for (int k = 0; k < p->world->n_fuzzers; k++)
            frontier_add(&p->frontier[k], s);
    }
}

void play_settle(struct play *p, const struct play_turn *t)
{
    uint32_t before = p->n_covered;
    for (size_t i = 0; i < t->n_opened; i++)
        if (!p->known[t->opened[i].edge])
            know(p, &t->opened[i]);
    for (uint32_t i = before; i < p->n_covered; i++)
        widen(p, p->covered[i]);
    for (int b = 0; b < p->world->n_bugs; b++)
        p->bugs |= (uint64_t)p->known[p->world->bug[b].site] << b;
}

/* --- the initial inputs ----------------------------------------------------------------------- */

static void pass(struct play *p, struct play_turn *t, uint32_t edge)
{
    frontier_remove(mine(p), edge);
    open_edge(p, t, edge);
}

/* Through everything free and some of the obstacles.  If that leads nowhere, through what stands in the
 * way, as it comes: somebody made this file for the target, it is not turned away at the door. */
static void walk(struct play *p, struct play_turn *t)
{
    const struct world *w = p->world;
    size_t first = t->n_opened, most = w->graph->n_reachable / SEED_COVERS + 1,
           least = w->graph->n_reachable / SEED_LEAST + 1;
    for (uint32_t i = 0; i < w->graph->n_roots; i++) {
        p->parent[w->graph->roots[i]] = GRAPH_NONE;
        if (!seen(p, w->graph->roots[i]))
            open_edge(p, t, w->graph->roots[i]);
    }
    for (size_t i = 0; i < p->n_added && t->n_opened - first < most; i++)
        if (rng_unit(&p->rng) < SEED_OPENS)
            pass(p, t, p->added[i]);
    for (size_t i = 0; i < p->n_added && t->n_opened - first < least; i++)
        if (frontier_has(mine(p), p->added[i]))
            pass(p, t, p->added[i]);
}

void play_seeds(struct play *p, struct play_turn *t)
{
    clear(t);
    for (int i = 0; i < SEEDS; i++) {
        p->view++;
        begin_input(t, GRAPH_NONE, GRAPH_NONE, 0);
        walk(p, t);
        for (size_t k = 0; k < p->n_added; k++)
            if (frontier_has(mine(p), p->added[k]))
                frontier_remove(mine(p), p->added[k]);
        p->n_added = 0;
        end_input(t);
    }
    make_sets(t);
}
