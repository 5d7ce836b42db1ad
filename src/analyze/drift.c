/* drift: does what is learned in the first half of a campaign hold in the second?  The error of that split against the
 * errors of random halves of the same turns. */
#include "analyze/analyze.h"
#include "analyze/fit.h"
#include "analyze/shuffle.h"
#include "base/die.h"
#include "stats/holm.h"
#include "stats/paired.h"
#include "stats/ranks.h"
#include "stats/series.h"

#include <math.h>
#include <stdlib.h>

#define SPLITS 200
#define LEAST_TURNS 40
#define LEVEL 0.95

struct answer {
    bool earned; /* some turn did */
    bool enough; /* turns */
    double ordered, limit,
        middle; /* errors: of the split by order; percentile and median of the random ones */
};

/* Fitted on the first half of `order`, scored on the rest. */
static double error_of(const struct story *l, const size_t *order, struct moments *m,
                       struct linear *model)
{
    size_t half = l->n_turns / 2;
    double error = 0;
    for (int k = 0; k < l->arms; k++)
        m[k] = (struct moments){0};
    for (size_t i = 0; i < half; i++) {
        const struct story_turn *t = &l->turns[order[i]];
        double phi[LINEAR_PADDED];
        fit_phi(story_x(l, t), phi);
        moments_add(&m[t->arm], phi, t->reward, 1);
    }
    for (int k = 0; k < l->arms; k++)
        fit(&model[k], &m[k], FIT_RIDGE, NULL);
    for (size_t i = half; i < l->n_turns; i++) {
        const struct story_turn *t = &l->turns[order[i]];
        double off = t->reward - fit_predict(model[t->arm].theta, story_x(l, t));
        error += off * off;
    }
    return error / (double)(l->n_turns - half);
}

static int split(void *arg, const struct story *l, size_t camp, void *result, struct err *e)
{
    struct answer *a = result;
    struct rng rng;
    double random[SPLITS];
    (void)arg;
    (void)camp;
    (void)e;
    a->enough = l->n_turns >= LEAST_TURNS;
    for (size_t i = 0; i < l->n_turns; i++)
        a->earned |= l->turns[i].reward > 0;
    if (!a->enough || !a->earned)
        return 0;
    size_t *order = xcalloc(l->n_turns, sizeof *order);
    struct moments *m = xcalloc((size_t)l->arms, sizeof *m);
    struct linear *model = xcalloc((size_t)l->arms, sizeof *model);
    rng_stream(&rng, l->camp->seed, "analyze.drift");
    for (size_t i = 0; i < l->n_turns; i++)
        order[i] = i;
    a->ordered = error_of(l, order, m, model);
    for (int i = 0; i < SPLITS; i++) {
        shuffle(&rng, order, l->n_turns);
        random[i] = error_of(l, order, m, model);
    }
    qsort(random, SPLITS, sizeof *random, ranks_order);
    a->limit = stats_quantile(random, SPLITS, LEVEL);
    a->middle = stats_quantile(random, SPLITS, 0.5);
    free(model);
    free(m);
    free(order);
    return 0;
}

struct sum {
    uint64_t n, fails;
    double ratio, p, p_holm;
};

static void sum_up(const struct study *s, const struct answer *a, size_t target, struct sum *t)
{
    double *ratio = xcalloc(s->n, sizeof *ratio);
    size_t ratios = 0;
    *t = (struct sum){.ratio = NAN, .p = NAN};
    for (size_t c = 0; c < s->n; c++) {
        if (s->camps[c].target != target || !a[c].enough || !a[c].earned)
            continue;
        t->n++;
        t->fails += a[c].ordered > a[c].limit;
        if (a[c].middle > 0)
            ratio[ratios++] = a[c].ordered / a[c].middle;
    }
    if (ratios)
        t->ratio = stats_median(ratio, (int)ratios);
    if (t->n)
        t->p = stats_binomial(t->fails, t->n, 1 - LEVEL);
    free(ratio);
}

static void put_targets(const struct study *s, const struct answer *a, struct grids *out)
{
    static const struct grid_column columns[] = {{"target", GRID_TEXT}, {"campaigns", GRID_COUNT},
                                                 {"fails", GRID_COUNT}, {"fails_pct", 1},
                                                 {"error_ratio", 3},    {"p", GRID_P},
                                                 {"p_holm", GRID_P}};
    struct grid *g = grid_add(out, "drift", GRID_COLUMNS(columns),
                              "campaigns whose first half does not describe the second");
    g->drawn = "fails_pct";
    struct sum *t = xcalloc(s->targets.n, sizeof *t);
    for (size_t i = 0; i < s->targets.n; i++)
        sum_up(s, a, i, &t[i]);
    stats_holm_fields(&t->p, &t->p_holm, s->targets.n, sizeof *t);
    for (size_t i = 0; i < s->targets.n; i++) {
        grid_text(g, "%s", s->targets.v[i]);
        double n = (double)t[i].n, fails = (double)t[i].fails;
        GRID_NUMBERS(g, n, fails, n > 0 ? 100 * fails / n : NAN, t[i].ratio, t[i].p, t[i].p_holm);
    }
    grid_note(g,
              "a campaign fails when a model fitted on its first half has a larger error on its "
              "second than %.0f %% of %d random halves of "
              "its turns; by chance 5 %% fail; error ratio: that error over the median of the "
              "random ones, at the median campaign",
              100 * LEVEL, SPLITS);
    grid_note(g,
              "p: exact binomial, more failures than 5 %%; p holm: Holm over the targets; "
              "per-fuzzer ridge, lambda 10; campaigns below "
              "%d turns or without any reward are left out; one failure among few campaigns is no "
              "drift",
              LEAST_TURNS);
    grid_note(g, "an error ratio far below 1: the second half earns so little that any model is "
                 "right about it, and no failure says nothing of drift");
    free(t);
}

static void put_campaigns(const struct study *s, const struct answer *a, struct grids *out)
{
    static const struct grid_column columns[] = {
        {"campaign", GRID_TEXT}, {"target", GRID_TEXT}, {"ordered_error", 6},
        {"random_error", 6},     {"limit", 6},          {"says", GRID_TEXT}};
    struct grid *g = grid_add(out, "campaigns", GRID_COLUMNS(columns), "each campaign");
    g->detail = s->n > 20;
    for (size_t c = 0; c < s->n; c++) {
        bool can = a[c].enough && a[c].earned;
        grid_text(g, "%s", s->camps[c].out);
        grid_text(g, "%s", study_target(s, c));
        grid_real(g, can ? a[c].ordered : NAN);
        grid_real(g, can ? a[c].middle : NAN);
        grid_real(g, can ? a[c].limit : NAN);
        grid_text(g, "%s",
                  !a[c].enough                ? "too few turns"
                  : !a[c].earned              ? "no rewards"
                  : a[c].ordered > a[c].limit ? "drift"
                                              : "none seen");
    }
}

int analyze_drift(const struct study *s, struct grids *out, struct err *e)
{
    struct answer *a = xcalloc(s->n, sizeof *a);
    int rc = study_each(s, sizeof *a, split, NULL, a, e);
    size_t usable = 0;
    for (size_t c = 0; c < s->n; c++)
        usable += a[c].enough && a[c].earned;
    if (rc == 0 && !usable)
        rc = err_usage(e, "too little data: no campaign has %d turns and some reward among them",
                       LEAST_TURNS);
    if (rc == 0) {
        put_targets(s, a, out);
        put_campaigns(s, a, out);
    }
    free(a);
    return rc;
}
