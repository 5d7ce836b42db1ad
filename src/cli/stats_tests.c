/* stats_tests: the tests of `carol stats`: what each takes and what it answers.  The mathematics is in
 * src/stats. */
#include "base/die.h"
#include "cli/stats.h"
#include "stats/blocks.h"
#include "stats/bootstrap.h"
#include "stats/holm.h"
#include "stats/paired.h"
#include "stats/series.h"
#include "stats/survival.h"
#include "stats/tail.h"
#include "stats/trend.h"
#include "stats/twosample.h"

#include <math.h>
#include <stdlib.h>

#define MOST_DRAWS 2e9 /* of a bootstrap; some ten seconds */

/* JSON has no NaN: what there is not is null. */
static json_t *number(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

static void set(json_t *o, const char *key, double v)
{
    json_object_set_new(o, key, number(v));
}

static void set_count(json_t *o, const char *key, size_t n)
{
    json_object_set_new(o, key, json_integer((json_int_t)n));
}

static json_t *list(const double *v, size_t n)
{
    json_t *l = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(l, number(v[i]));
    return l;
}

/* What every answer has. */
static void answer(json_t *o, double statistic, double p, size_t n)
{
    set(o, "statistic", statistic);
    set(o, "p", p);
    set_count(o, "n", n);
}

static void set_sizes(json_t *o, const struct stats_args *a)
{
    json_t *l = json_array();
    for (size_t i = 0; i < a->n; i++)
        json_array_append_new(l, json_integer((json_int_t)a->group[i].n));
    json_object_set_new(o, "sizes", l);
}

static int same_length(const struct stats_args *a, size_t least, size_t most, struct err *e)
{
    size_t n = a->group[0].n;
    for (size_t i = 1; i < a->n; i++)
        if (a->group[i].n != n)
            return err_usage(
                e, "the values belong together, but group 1 has %zu and group %zu has %zu", n,
                i + 1, a->group[i].n);
    if (n < least)
        return err_usage(e, "at least %zu values are needed, there is %zu", least, n);
    if (n > most)
        return err_usage(e, "at most %zu values can be compared pair by pair, there are %zu", most,
                         n);
    return 0;
}

static int run_mwu(const struct stats_args *a, json_t *o, struct err *e)
{
    (void)e;
    struct mwu r;
    stats_mwu(a->group[0].v, a->group[0].n, a->group[1].v, a->group[1].n, &r);
    answer(o, r.u, r.p, a->group[0].n + a->group[1].n);
    set_sizes(o, a);
    set(o, "p_exact", r.p_exact);
    set(o, "z", r.z);
    set(o, "a12", r.a12);
    json_object_set_new(o, "effect", json_string(stats_a12_word(r.a12)));
    return 0;
}

static int run_a12(const struct stats_args *a, json_t *o, struct err *e)
{
    (void)e;
    double a12 = stats_a12(a->group[0].v, a->group[0].n, a->group[1].v, a->group[1].n);
    answer(o, a12, NAN, a->group[0].n + a->group[1].n);
    set_sizes(o, a);
    set(o, "a12", a12);
    json_object_set_new(o, "effect", json_string(stats_a12_word(a12)));
    return 0;
}

static int run_holm(const struct stats_args *a, json_t *o, struct err *e)
{
    const struct stats_group *g = &a->group[0];
    double least = 1, *adjusted = xmalloc(g->n * sizeof *adjusted);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < g->n; i++)
        if (g->v[i] < 0 || g->v[i] > 1)
            rc = err_usage(e, "%g is not a p-value: these are from 0 to 1", g->v[i]);
    if (rc == 0) {
        stats_holm(g->v, g->n, adjusted);
        for (size_t i = 0; i < g->n; i++)
            least = fmin(least, adjusted[i]);
        answer(o, NAN, least, g->n);
        json_object_set_new(o, "adjusted", list(adjusted, g->n));
    }
    free(adjusted);
    return rc;
}

static int run_sign(const struct stats_args *a, json_t *o, struct err *e)
{
    for (size_t i = 0; i < 2; i++) {
        double v = a->group[i].v[0];
        if (a->group[i].n != 1 || v < 0 || v != floor(v) || v > SIGN_MOST / 2)
            return err_usage(
                e, "'%.40s' is not a count: two are wanted, WINS and LOSSES, from 0 to %d",
                a->group[i].name, SIGN_MOST / 2);
    }
    size_t wins = (size_t)a->group[0].v[0], losses = (size_t)a->group[1].v[0];
    answer(o, (double)wins, stats_sign(wins, losses), wins + losses);
    return 0;
}

static int run_resolution(const struct stats_args *a, json_t *o, struct err *e)
{
    struct resolution r;
    if (stats_resolution(a->group[0].v, a->group[0].n, a->group[1].v, a->group[1].n, a->alpha, &r) <
        0)
        return err_usage(
            e, "these values can be dealt out with too many different sums; round them, or "
               "take fewer");
    answer(o, r.difference, r.p, a->group[0].n + a->group[1].n);
    set_sizes(o, a);
    set(o, "resolution", r.least);
    set(o, "alpha", a->alpha);
    json_object_set_new(o, "resolved", json_boolean(r.p <= a->alpha + 1e-12));
    return 0;
}

static int run_wilcoxon(const struct stats_args *a, json_t *o, struct err *e)
{
    const struct stats_group *x = &a->group[0];
    struct wilcoxon r;
    int rc = same_length(a, 1, SIZE_MAX, e);
    if (rc < 0)
        return rc;
    double *d = xmalloc(x->n * sizeof *d);
    for (size_t i = 0; i < x->n; i++)
        d[i] = x->v[i] - (a->n > 1 ? a->group[1].v[i] : 0);
    stats_wilcoxon(d, x->n, &r);
    free(d);
    answer(o, r.w, r.p, r.n);
    set_count(o, "zeros", r.zeros);
    set(o, "p_exact", r.p_exact);
    set(o, "z", r.z);
    set(o, "w_plus", r.w_plus);
    return 0;
}

static int run_kendall(const struct stats_args *a, json_t *o, struct err *e)
{
    struct kendall r;
    int rc = same_length(a, 2, SERIES_PAIRS_MAX, e);
    if (rc < 0)
        return rc;
    stats_kendall(a->group[0].v, a->group[1].v, a->group[0].n, &r);
    answer(o, r.tau, r.p, a->group[0].n);
    set(o, "tau", r.tau);
    json_object_set_new(o, "exact", json_boolean(r.exact));
    return 0;
}

static int run_mann_kendall(const struct stats_args *a, json_t *o, struct err *e)
{
    const struct stats_group *g = &a->group[0];
    int rc = same_length(a, 2, SERIES_PAIRS_MAX, e);
    if (rc < 0)
        return rc;
    double z = stats_mann_kendall(g->v, (int)g->n);
    answer(o, z, tail_normal(z), g->n);
    set(o, "slope", stats_theil_sen(g->v, (int)g->n));
    return 0;
}

/* Y over 0, 1, ..., or Y over X. */
static int run_theil_sen(const struct stats_args *a, json_t *o, struct err *e)
{
    const struct stats_group *y = &a->group[a->n - 1];
    struct sen_line r;
    int rc = same_length(a, 2, SERIES_PAIRS_MAX, e);
    if (rc < 0)
        return rc;
    double *x = xmalloc(y->n * sizeof *x);
    for (size_t i = 0; i < y->n; i++)
        x[i] = a->n > 1 ? a->group[0].v[i] : (double)i;
    stats_sen_line(x, y->v, y->n, &r);
    free(x);
    answer(o, r.slope, NAN, y->n);
    set(o, "slope", r.slope);
    set(o, "intercept", r.intercept);
    set(o, "low", r.low);
    set(o, "high", r.high);
    return 0;
}

static json_t *curve(const struct km *k)
{
    json_t *l = json_array();
    for (size_t i = 0; i < k->n; i++) {
        const struct km_step *s = &k->step[i];
        json_array_append_new(l, json_pack("{s:f,s:I,s:I,s:I,s:f}", "time", s->time, "at_risk",
                                           (json_int_t)s->at_risk, "events", (json_int_t)s->events,
                                           "censored", (json_int_t)s->censored, "survival",
                                           s->survival));
    }
    return l;
}

static struct lifetime *lifetimes(const struct stats_group *g)
{
    struct lifetime *x = xmalloc(g->n * sizeof *x);
    for (size_t i = 0; i < g->n; i++)
        x[i] = (struct lifetime){g->v[i], !g->longer[i]};
    return x;
}

static void add_curves(const struct km *k, size_t n, double until, json_t *o)
{
    json_t *events = json_array(), *medians = json_array(), *rmst = json_array();
    json_t *curves = json_array();
    for (size_t i = 0; i < n; i++) {
        json_array_append_new(events, json_integer((json_int_t)k[i].events));
        json_array_append_new(medians, number(stats_km_median(&k[i])));
        json_array_append_new(rmst, number(stats_km_rmst(&k[i], until)));
        json_array_append_new(curves, curve(&k[i]));
    }
    json_object_set_new(o, "events", events);
    json_object_set_new(o, "medians", medians);
    json_object_set_new(o, "rmst", rmst);
    set(o, "until", until);
    json_object_set_new(o, "curves", curves);
}

static int run_km(const struct stats_args *a, json_t *o, struct err *e)
{
    struct lifetime *x[2] = {NULL, NULL};
    struct km k[2] = {{0}, {0}};
    struct logrank r = {.chi2 = NAN, .p = NAN};
    double shortest = INFINITY;
    size_t n = 0;
    int rc = 0;
    for (size_t i = 0; i < a->n; i++) {
        x[i] = lifetimes(&a->group[i]);
        stats_km(x[i], a->group[i].n, &k[i]);
        shortest = fmin(shortest, k[i].last);
        n += a->group[i].n;
    }
    if (a->until > shortest)
        rc = err_usage(e, "--until %g is beyond the last time that every group has, %g", a->until,
                       shortest);
    if (a->n > 1)
        stats_logrank(x[0], a->group[0].n, x[1], a->group[1].n, &r);
    answer(o, r.chi2, r.p, n);
    set_sizes(o, a);
    add_curves(k, a->n, isnan(a->until) ? shortest : a->until, o);
    for (size_t i = 0; i < 2; i++) {
        km_free(&k[i]);
        free(x[i]);
    }
    return rc;
}

static json_t *nemenyi_pairs(const double *rank, size_t k, size_t n)
{
    json_t *l = json_array();
    for (size_t i = 0; i < k; i++)
        for (size_t j = i + 1; j < k; j++)
            json_array_append_new(l, json_pack("{s:I,s:I,s:f,s:f}", "a", (json_int_t)i + 1, "b",
                                               (json_int_t)j + 1, "difference", rank[i] - rank[j],
                                               "p", stats_nemenyi(rank[i] - rank[j], k, n)));
    return l;
}

static int run_friedman(const struct stats_args *a, json_t *o, struct err *e)
{
    const double *value[BLOCKS_GROUPS_MAX];
    double rank[BLOCKS_GROUPS_MAX];
    struct friedman r;
    int rc = same_length(a, 1, SIZE_MAX, e);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < a->n; i++)
        value[i] = a->group[i].v;
    stats_friedman(value, a->n, a->group[0].n, a->alpha, rank, &r);
    answer(o, r.chi2, r.p, a->group[0].n);
    json_object_set_new(o, "ranks", list(rank, a->n));
    set(o, "cd", r.cd);
    set(o, "alpha", a->alpha);
    json_object_set_new(o, "pairs", nemenyi_pairs(rank, a->n, a->group[0].n));
    return 0;
}

static int run_bootstrap(const struct stats_args *a, json_t *o, struct err *e)
{
    const struct stats_group *x = &a->group[0], none = {0}, *y = a->n > 1 ? &a->group[1] : &none;
    struct bootstrap_settings s = {a->median, a->level, a->resamples, a->seed};
    struct bootstrap r;
    if ((double)(x->n + y->n) * (double)a->resamples > MOST_DRAWS)
        return err_usage(e,
                         "%zu values in %zu resamples would take long; say fewer with --resamples",
                         x->n + y->n, (size_t)a->resamples);
    stats_bootstrap(x->v, x->n, y->v, y->n, &s, &r);
    answer(o, r.value, NAN, x->n + y->n);
    set_sizes(o, a);
    json_object_set_new(o, "of", json_string(a->median ? "median" : "mean"));
    set(o, "low", r.low);
    set(o, "high", r.high);
    set(o, "level", a->level);
    set_count(o, "resamples", a->resamples);
    return 0;
}

const struct stats_test stats_tests[] = {
    {"mwu", "X Y", "Mann-Whitney U of two independent groups", 2, 2, false, "",
     "U: pairs in which X is the larger, ties half",
     "two-sided, normal approximation with tie and continuity corrections", run_mwu},
    {"a12", "X Y", "Vargha and Delaney's effect size", 2, 2, false, "", "", "", run_a12},
    {"holm", "P", "Holm's correction of several p-values", 1, 1, false, "", "",
     "of the hypothesis that there is nothing in any", run_holm},
    {"sign", "WINS LOSSES", "the exact sign test", 2, 2, false, "", "wins", "two-sided, exact",
     run_sign},
    {"resolution", "X Y", "the smallest difference of means that permutation resolves", 2, 2, false,
     "a", "difference of the means, X less Y",
     "two-sided, of that difference, counted over all permutations", run_resolution},
    {"wilcoxon", "X [Y]", "Wilcoxon's signed ranks of differences, or of pairs", 1, 2, false, "",
     "the smaller rank sum", "two-sided; normal beyond 50 differences or with ties", run_wilcoxon},
    {"kendall", "X Y", "Kendall's tau-b of pairs", 2, 2, false, "", "", "two-sided", run_kendall},
    {"mann-kendall", "X", "whether a series rises or falls", 1, 1, false, "",
     "z with tie and continuity corrections", "two-sided, by z", run_mann_kendall},
    {"theil-sen", "[X] Y", "the median slope of Y, over X or over 0, 1, 2, ...", 1, 2, false, "",
     "", "", run_theil_sen},
    {"km", "X [Y]", "Kaplan-Meier and log-rank; '7+' is a time censored at 7", 1, 2, true, "u",
     "log-rank chi-square", "that both groups are alike", run_km},
    {"friedman", "X Y ...", "Friedman's test of contenders, Nemenyi's critical difference", 2,
     BLOCKS_GROUPS_MAX, false, "a", "chi-square with tie correction", "that all are alike",
     run_friedman},
    {"bootstrap", "X [Y]", "interval of a mean or median, or of a difference of two", 1, 2, false,
     "b", "mean or median, or X's less Y's", "", run_bootstrap},
    {0},
};
