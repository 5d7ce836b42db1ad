/* prop1: plays Proposition 1 with a scheduler as it is.  Knows no target and no coverage. */
#include "sim/prop1.h"

#include "base/die.h"
#include "base/rng.h"
#include "base/str.h"
#include "context/context.h"
#include "proc/loop.h"
#include "sched/sched.h"
#include "sim/batch.h"

#include <stdlib.h>
#include <string.h>

#define TURN_NS (SCHED_TURN_S * NS_PER_S)

static const char *const arms[] = {"one", "two", NULL};

/* A target that has nothing to cover, for schedulers that look at the map. */
static struct table_edge no_edge = {.flags = EDGE_ENTRY};
static uint32_t no_pred;
static struct table_func no_func = {.name = "none"};
static const struct table empty = {.n_modules = 1,
                                   .n_edges = 1,
                                   .n_funcs = 1,
                                   .edges = &no_edge,
                                   .preds = &no_pred,
                                   .funcs = &no_func};

struct game {
    struct sched *s;
    struct context *c;
    struct ledger map;
    struct rng coins;
    bool z[2]; /* ground opened for each fuzzer in the turn before */
    bool informed;
};

static void toss(struct game *g)
{
    uint64_t x = rng_u64(&g->coins);
    g->z[0] = x >> 63;
    g->z[1] = x >> 62 & 1;
}

static void ask(struct game *g, uint64_t t, int64_t now, struct decision *d)
{
    decision_ask(d, 2, t, 0, now, 0);
    for (int a = 0; a < 2; a++) {
        context_read(g->c, a, now, d->arm[a].signals);
        if (g->informed)
            d->arm[a].signals[PROP1_SIGNAL] = g->z[a];
    }
    sched_tick(g->s, now, &g->map);
    sched_pick(g->s, d);
}

/* One turn, its reward. */
static double play(struct game *g, uint64_t t)
{
    struct decision d;
    int64_t now = (int64_t)(t - 1) * TURN_NS;
    ask(g, t, now, &d);
    bool pays = d.choice == 0 ? g->z[0] : g->z[1];
    double reward = pays ? 1 : 0.5;
    uint32_t edges = pays ? 2 : 1;
    now += TURN_NS;
    context_dispatched(g->c, d.choice, now - TURN_NS);
    struct context_outcome co = {.end_ns = now, .reward = reward, .new_edges = edges};
    context_completed(g->c, d.choice, &co);
    sched_tick(g->s, now, &g->map);
    sched_learn(g->s, &d,
                &(struct sched_outcome){.now_ns = now, .reward = reward, .new_edges = edges});
    toss(g);
    return reward;
}

static int one_run(const struct prop1_settings *st, const char *name, const char *params,
                   bool informed, uint64_t seed, double means[2], struct err *e)
{
    struct sched_settings ss = {.n_arms = 2,
                                .arms = arms,
                                .workers = 1,
                                .seed = seed,
                                .turn_ns = TURN_NS,
                                .params = params,
                                .table = &empty};
    struct context_settings cs = {.budget_ns = st->turns * TURN_NS, .velocity_ns = TURN_NS};
    struct game g = {.informed = informed};
    int late = st->turns / 4 ? st->turns / 4 : 1;
    int rc = sched_new(&g.s, name, &ss, e);
    if (rc < 0)
        return rc;
    g.c = context_new(2, &cs);
    ledger_init(&g.map, &empty);
    rng_stream(&g.coins, seed, "coins");
    toss(&g);
    means[0] = means[1] = 0;
    for (int t = 1; t <= st->turns; t++) {
        double r = play(&g, (uint64_t)t);
        means[0] += r / st->turns;
        means[1] += t > st->turns - late ? r / late : 0;
    }
    ledger_free(&g.map);
    context_free(g.c);
    sched_free(g.s);
    return 0;
}

int prop1_run(const struct prop1_settings *st, struct prop1_result *out, struct err *e)
{
    char *spec = xstrdup(st->spec), *name, *params;
    out->informed = str_ends(spec, "+z");
    if (out->informed)
        spec[strlen(spec) - 2] = '\0';
    batch_spec(spec, st->params, &name, &params);
    double *all = xcalloc((size_t)st->runs, sizeof *all),
           *late = xcalloc((size_t)st->runs, sizeof *late);
    int rc = 0;
    for (int i = 0; rc == 0 && i < st->runs; i++) {
        double means[2] = {0};
        rc = one_run(st, name, params, out->informed, st->seed + (uint64_t)i, means, e);
        all[i] = means[0];
        late[i] = means[1];
    }
    out->all = estimate_of(all, (size_t)st->runs);
    out->late = estimate_of(late, (size_t)st->runs);
    free(all);
    free(late);
    free(spec);
    free(name);
    free(params);
    return rc;
}
