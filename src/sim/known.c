/* known: plays schedulers against fuzzers of known worth.  Knows no target and no coverage. */
#include "sim/known.h"

#include "base/det.h"
#include "base/die.h"
#include "base/rng.h"
#include "base/str.h"
#include "sim/bandit.h"
#include "sim/batch.h"

#include <stdlib.h>
#include <string.h>

#define EDGES_AT_MOST 20 /* new edges of a turn that earns 1; only the context sees them */

struct count {
    int decisions, best, changes;
    int picks[KNOWN_MAX_FUZZERS];
    double reward;
};

struct game {
    const struct known_settings *st;
    struct bandit *b;
    struct rng rng;
    double worth[KNOWN_MAX_FUZZERS]; /* of the first half, falling */
    int place[KNOWN_MAX_FUZZERS];    /* of each fuzzer in it */
    struct decision running[KNOWN_MAX_WORKERS];
    struct count quarter[KNOWN_QUARTERS];
    int last;
};

static int falling(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x > y ? -1 : x < y;
}

static void deal(struct game *g, uint64_t seed)
{
    int k = g->st->fuzzers;
    rng_stream(&g->rng, seed, "known");
    for (int i = 0; i < k; i++) {
        double u = rng_unit(&g->rng);
        g->worth[i] = KNOWN_LEAST * det_exp(u * det_log(KNOWN_MOST / KNOWN_LEAST));
        g->place[i] = i;
    }
    qsort(g->worth, (size_t)k, sizeof *g->worth, falling);
    for (int i = k - 1; i > 0; i--) {
        int j = (int)rng_below(&g->rng, (uint64_t)i + 1), t = g->place[i];
        g->place[i] = g->place[j];
        g->place[j] = t;
    }
}

/* Rank of a fuzzer at turn t, 0: the best. */
static int rank_at(const struct game *g, int arm, int t)
{
    return t < g->st->turns / 2 ? g->place[arm] : g->st->fuzzers - 1 - g->place[arm];
}

static double earn(struct game *g, int arm, int t)
{
    double u = rng_unit(&g->rng), part = rng_unit(&g->rng);
    if (u >= KNOWN_EARNING)
        return 0;
    double power = KNOWN_EARNING / g->worth[rank_at(g, arm, t)] - 1;
    return det_exp(power * det_log(1 - part)); /* expectation 1 / (1 + power) */
}

static struct count *quarter_of(struct game *g, int t)
{
    return &g->quarter[(int64_t)t * KNOWN_QUARTERS / g->st->turns];
}

/* Turn t: its worker has ended the turn it had before, which is paid now, and asks for the next. */
static void turn(struct game *g, int t)
{
    int w = t % g->st->workers;
    int64_t now = (int64_t)t * BANDIT_TURN_NS / g->st->workers;
    struct decision *d = &g->running[w];
    if (t >= g->st->workers) {
        int before = t - g->st->workers;
        double r = earn(g, d->choice, before);
        quarter_of(g, before)->reward += r;
        bandit_pay(g->b, now, d, r, r > 0 ? 1 + (uint32_t)(EDGES_AT_MOST * r) : 0);
    }
    if (t >= g->st->turns)
        return;
    bandit_ask(g->b, w, now, d);
    bandit_pick(g->b, d);
    struct count *q = quarter_of(g, t);
    q->decisions++;
    q->picks[d->choice]++;
    q->best += rank_at(g, d->choice, t) == 0;
    q->changes += g->last >= 0 && d->choice != g->last;
    g->last = d->choice;
}

static int one_run(struct game *g, const char *name, const char *params, uint64_t seed,
                   struct err *e)
{
    const struct known_settings *st = g->st;
    struct strv arms = {0};
    for (int i = 0; i < st->fuzzers; i++)
        strv_addf(&arms, "f%d", i + 1);
    struct bandit_settings bs = {.scheduler = name,
                                 .params = params,
                                 .n_arms = st->fuzzers,
                                 .arms = (const char *const *)arms.v,
                                 .workers = st->workers,
                                 .budget_ns = st->turns * BANDIT_TURN_NS / st->workers,
                                 .seed = seed};
    int rc = bandit_new(&g->b, &bs, e);
    memset(g->quarter, 0, sizeof g->quarter);
    g->last = -1;
    deal(g, seed);
    for (int t = 0; rc == 0 && t < st->turns + st->workers; t++)
        turn(g, t);
    if (rc == 0)
        bandit_free(g->b);
    strv_free(&arms);
    return rc;
}

/* --- over the runs ------------------------------------------------------------------------------- */

struct series { /* a number per run, by quarter; could and equal: one */
    double *reward, *best, *top, *change, *could, *equal;
};

static void note(const struct game *g, struct series *s, size_t run, size_t runs, int *locked)
{
    int k = g->st->fuzzers, late = 0;
    for (int q = 0; q < KNOWN_QUARTERS; q++) {
        const struct count *t = &g->quarter[q];
        size_t at = (size_t)q * runs + run;
        int most = 0;
        for (int i = 0; i < k; i++)
            most = t->picks[i] > most ? t->picks[i] : most;
        s->reward[at] = t->reward / t->decisions;
        s->best[at] = (double)t->best / t->decisions;
        s->top[at] = (double)most / t->decisions;
        s->change[at] = (double)t->changes / t->decisions;
        late += q ? t->changes : 0;
    }
    *locked += late == 0;
    s->could[run] = g->worth[0];
    for (int i = 0; i < k; i++)
        s->equal[run] += g->worth[i] / k;
}

static void conclude(const struct series *s, size_t runs, int locked, struct known_result *out)
{
    for (size_t q = 0; q < KNOWN_QUARTERS; q++) {
        out->reward[q] = estimate_of(s->reward + q * runs, runs);
        out->best[q] = estimate_of(s->best + q * runs, runs);
        out->top[q] = estimate_of(s->top + q * runs, runs);
        out->change[q] = estimate_of(s->change + q * runs, runs);
    }
    out->could = estimate_of(s->could, runs);
    out->equal = estimate_of(s->equal, runs);
    out->locked = (double)locked / (double)runs;
}

int known_run(const struct known_settings *st, struct known_result *out, struct err *e)
{
    size_t runs = (size_t)st->runs, part = KNOWN_QUARTERS * runs;
    char *name, *params;
    double *all = xcalloc(4 * part + 2 * runs, sizeof *all);
    struct series s = {
        all, all + part, all + 2 * part, all + 3 * part, all + 4 * part, all + 4 * part + runs};
    struct game *g = xcalloc(1, sizeof *g);
    int rc = 0, locked = 0;
    g->st = st;
    batch_spec(st->spec, st->params, &name, &params);
    for (size_t i = 0; rc == 0 && i < runs; i++) {
        rc = one_run(g, name, params, st->seed + i, e);
        if (rc == 0)
            note(g, &s, i, runs, &locked);
    }
    if (rc == 0)
        conclude(&s, runs, locked, out);
    free(g);
    free(all);
    free(name);
    free(params);
    return rc;
}
