/* prop1: plays Proposition 1 with a scheduler as it is.  Knows no target and no coverage. */
#include "sim/prop1.h"

#include "base/die.h"
#include "base/rng.h"
#include "base/str.h"
#include "sim/bandit.h"
#include "sim/batch.h"

#include <stdlib.h>
#include <string.h>

static const char *const arms[] = {"one", "two", NULL};

struct game {
    struct bandit *b;
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

/* One turn, its reward. */
static double play(struct game *g, int64_t now)
{
    struct decision d;
    bandit_ask(g->b, 0, now, &d);
    for (int a = 0; g->informed && a < 2; a++)
        d.arm[a].signals[PROP1_SIGNAL] = g->z[a];
    bandit_pick(g->b, &d);
    bool pays = d.choice == 0 ? g->z[0] : g->z[1];
    double reward = pays ? 1 : 0.5;
    bandit_pay(g->b, now + BANDIT_TURN_NS, &d, reward, pays ? 2 : 1);
    toss(g);
    return reward;
}

static int one_run(const struct prop1_settings *st, const char *name, const char *params,
                   bool informed, uint64_t seed, double means[2], struct err *e)
{
    struct bandit_settings bs = {.scheduler = name,
                                 .params = params,
                                 .n_arms = 2,
                                 .arms = arms,
                                 .workers = 1,
                                 .budget_ns = st->turns * BANDIT_TURN_NS,
                                 .seed = seed};
    struct game g = {.informed = informed};
    int late = st->turns / 4 ? st->turns / 4 : 1;
    int rc = bandit_new(&g.b, &bs, e);
    if (rc < 0)
        return rc;
    rng_stream(&g.coins, seed, "coins");
    toss(&g);
    means[0] = means[1] = 0;
    for (int t = 0; t < st->turns; t++) {
        double r = play(&g, t * BANDIT_TURN_NS);
        means[0] += r / st->turns;
        means[1] += t >= st->turns - late ? r / late : 0;
    }
    bandit_free(g.b);
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
