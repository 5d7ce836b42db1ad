/* stats: every statistic against SciPy and enumeration (tests/vectors/stats.py), and what must hold of them
 * whatever the numbers are.  The paper's tables are in stats_paper.c. */
#include "base/rng.h"
#include "stats/blocks.h"
#include "stats/bootstrap.h"
#include "stats/holm.h"
#include "stats/paired.h"
#include "stats/permute.h"
#include "stats/series.h"
#include "stats/survival.h"
#include "stats/tail.h"
#include "stats/trend.h"
#include "stats/twosample.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "vectors.h"

#define MOST 2500

static double x[MOST], y[MOST];
static struct lifetime lx[MOST], ly[MOST];

/* Relative, so that small p-values count; NaN equals NaN. */
static void expect(double got, double want, const char *what, int where)
{
    if (isnan(got) && isnan(want))
        return;
    if (!(fabs(got - want) <= 1e-10 * fabs(want) + 1e-300))
        fail_msg("%s at line %d: %.17g, expected %.17g", what, where, got, want);
}

/* Where terms cancel: the largest of them is the measure. */
static void expect_of(double got, double want, double size, const char *what, int where)
{
    if (isnan(got) && isnan(want))
        return;
    if (!(fabs(got - want) <= 1e-10 * fabs(want) + 1e-13 * size))
        fail_msg("%s at line %d: %.17g, expected %.17g", what, where, got, want);
}

static size_t read_group(struct vectors *v, double *to)
{
    size_t n = (size_t)vectors_int(v);
    assert_true(n <= MOST);
    for (size_t i = 0; i < n; i++)
        to[i] = vectors_real(v);
    return n;
}

static size_t read_lifetimes(struct vectors *v, struct lifetime *to)
{
    size_t n = (size_t)vectors_int(v);
    assert_true(n <= MOST);
    for (size_t i = 0; i < n; i++) {
        to[i].time = vectors_real(v);
        to[i].event = vectors_int(v) == 1;
    }
    return n;
}

static double largest(const double *v, size_t n)
{
    double size = 0;
    for (size_t i = 0; i < n; i++)
        size = fmax(size, fabs(v[i]));
    return size;
}

static void check_mwu(struct vectors *v, int line)
{
    struct mwu r;
    size_t n = read_group(v, x), m = read_group(v, y);
    stats_mwu(x, n, y, m, &r);
    expect(r.u, vectors_real(v), "U", line);
    expect(r.p, vectors_real(v), "p", line);
    double exact = vectors_real(v);
    if (exact >= 0)
        expect(r.p_exact, exact, "p_exact", line);
    double a12 = vectors_real(v);
    expect(r.a12, a12, "a12", line);
    expect(stats_a12(x, n, y, m), a12, "a12 alone", line);
}

static void check_resolution(struct vectors *v, int line)
{
    struct resolution r;
    size_t n = read_group(v, x), m = read_group(v, y);
    assert_int_equal(stats_resolution(x, n, y, m, vectors_real(v), &r), 0);
    expect_of(r.difference, vectors_real(v), 100, "difference", line);
    expect(r.p, vectors_real(v), "p", line);
    expect(r.least, vectors_real(v), "resolution", line);
}

static void check_sign(struct vectors *v, int line)
{
    uint64_t wins = (uint64_t)vectors_int(v), losses = (uint64_t)vectors_int(v);
    expect(stats_sign(wins, losses), vectors_real(v), "sign", line);
}

static void check_holm(struct vectors *v, int line)
{
    size_t n = read_group(v, x);
    stats_holm(x, n, y);
    for (size_t i = 0; i < n; i++)
        expect(y[i], vectors_real(v), "holm", line);
}

static void check_wilcoxon(struct vectors *v, int line)
{
    struct wilcoxon r;
    stats_wilcoxon(x, read_group(v, x), &r);
    expect(r.w, vectors_real(v), "W", line);
    expect(r.p, vectors_real(v), "p", line);
    double exact = vectors_real(v);
    if (exact >= 0)
        expect(r.p_exact, exact, "p_exact", line);
    else
        assert_true(isnan(r.p_exact));
}

static void check_kendall(struct vectors *v, int line)
{
    struct kendall r;
    size_t n = read_group(v, x);
    read_group(v, y);
    stats_kendall(x, y, n, &r);
    expect(r.tau, vectors_real(v), "tau", line);
    expect(r.p, vectors_real(v), "p", line);
}

static void check_sen(struct vectors *v, int line)
{
    struct sen_line r;
    size_t n = read_group(v, x);
    read_group(v, y);
    stats_sen_line(x, y, n, &r);
    double slope = vectors_real(v), size = largest(y, n) + fabs(slope) * largest(x, n);
    expect(r.slope, slope, "slope", line);
    expect_of(r.intercept, vectors_real(v), size, "intercept", line);
    expect(r.low, vectors_real(v), "low", line);
    expect(r.high, vectors_real(v), "high", line);
}

static void check_mann_kendall(struct vectors *v, int line)
{
    int n = (int)read_group(v, x);
    double z = stats_mann_kendall(x, n);
    expect(z, vectors_real(v), "z", line);
    expect(tail_normal(z), vectors_real(v), "p", line);
    expect(stats_theil_sen(x, n), vectors_real(v), "slope", line);
}

/* SciPy keeps a step for every time, with or without an event, as we do. */
static void check_km(struct vectors *v, int line)
{
    struct km k;
    stats_km(lx, read_lifetimes(v, lx), &k);
    assert_int_equal(k.n, vectors_int(v));
    for (size_t i = 0; i < k.n; i++) {
        expect(k.step[i].time, vectors_real(v), "time", line);
        expect_of(k.step[i].survival, vectors_real(v), 1, "survival", line);
    }
    expect(stats_km_median(&k), vectors_real(v), "median", line);
    double until = vectors_real(v);
    expect(stats_km_rmst(&k, until), vectors_real(v), "rmst", line);
    km_free(&k);
}

static void check_logrank(struct vectors *v, int line)
{
    struct logrank r;
    size_t n = read_lifetimes(v, lx), m = read_lifetimes(v, ly);
    stats_logrank(lx, n, ly, m, &r);
    expect_of(r.chi2, vectors_real(v), 1, "chi2", line);
    expect(r.p, vectors_real(v), "p", line);
}

static void check_friedman(struct vectors *v, int line)
{
    size_t k = (size_t)vectors_int(v), n = (size_t)vectors_int(v);
    const double *value[BLOCKS_GROUPS_MAX];
    double rank[BLOCKS_GROUPS_MAX];
    struct friedman r;
    assert_true(k * n <= MOST);
    for (size_t i = 0; i < k * n; i++)
        x[i] = vectors_real(v);
    for (size_t g = 0; g < k; g++)
        value[g] = x + g * n;
    stats_friedman(value, k, n, 0.05, rank, &r);
    for (size_t g = 0; g < k; g++)
        expect(rank[g], vectors_real(v), "rank", line);
    expect_of(r.chi2, vectors_real(v), 1, "chi2", line);
    expect(r.p, vectors_real(v), "p", line);
    expect(stats_nemenyi(rank[0] - rank[1], k, n), vectors_real(v), "nemenyi", line);
    expect(stats_nemenyi(r.cd, k, n), 0.05, "critical difference", line);
}

static void check_bootstrap(struct vectors *v, int line)
{
    struct bootstrap r;
    size_t n = read_group(v, x), m = read_group(v, y);
    struct bootstrap_settings s = {.median = vectors_int(v) == 1};
    s.level = vectors_real(v);
    s.resamples = (size_t)vectors_int(v);
    s.seed = (uint64_t)vectors_int(v);
    stats_bootstrap(x, n, y, m, &s, &r);
    expect_of(r.value, vectors_real(v), 10, "value", line);
    expect_of(r.low, vectors_real(v), 10, "low", line);
    expect_of(r.high, vectors_real(v), 10, "high", line);
}

static void check_range(struct vectors *v, int line)
{
    int k = (int)vectors_int(v);
    double q = vectors_real(v);
    expect(tail_range(q, k), vectors_real(v), "range", line);
}

static void check_point(struct vectors *v, int line)
{
    int k = (int)vectors_int(v);
    double p = vectors_real(v);
    expect(tail_range_point(p, k), vectors_real(v), "point", line);
}

static void check_student(struct vectors *v, int line)
{
    int df = (int)vectors_int(v);
    double p = vectors_real(v);
    expect(tail_student_point(p, df), vectors_real(v), "student", line);
}

static void check_chi2(struct vectors *v, int line)
{
    int df = (int)vectors_int(v);
    double value = vectors_real(v);
    expect(tail_chi2(value, df), vectors_real(v), "chi2", line);
}

static void check_binomial(struct vectors *v, int line)
{
    uint64_t k = (uint64_t)vectors_int(v), n = (uint64_t)vectors_int(v);
    double p = vectors_real(v);
    expect(stats_binomial(k, n, p), vectors_real(v), "binomial", line);
}

static void the_oracle_agrees(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        void (*check)(struct vectors *v, int line);
        int lines;
    } sections[] = {
        {"mwu", check_mwu, 222},
        {"resolution", check_resolution, 72},
        {"sign", check_sign, 14},
        {"holm", check_holm, 20},
        {"wilcoxon", check_wilcoxon, 41},
        {"kendall", check_kendall, 190},
        {"sen", check_sen, 184},
        {"mann-kendall", check_mann_kendall, 36},
        {"km", check_km, 45},
        {"logrank", check_logrank, 45},
        {"friedman", check_friedman, 36},
        {"range", check_range, 35},
        {"point", check_point, 20},
        {"chi2", check_chi2, 42},
        {"bootstrap", check_bootstrap, 40},
        {"binomial", check_binomial, 33},
        {"student", check_student, 32},
    };
    enum { SECTIONS = sizeof sections / sizeof *sections };
    int seen[SECTIONS] = {0}, line = 0;
    struct vectors v;
    vectors_open(&v, "stats.txt");
    for (char *word; (word = vectors_word(&v));) {
        size_t i = 0;
        while (i < SECTIONS && strcmp(sections[i].name, word) != 0)
            i++;
        if (i == SECTIONS)
            fail_msg("stats.txt: what is %s?", word);
        sections[i].check(&v, ++line);
        seen[i]++;
    }
    for (size_t i = 0; i < SECTIONS; i++)
        assert_int_equal(seen[i], sections[i].lines);
    vectors_close(&v);
}

/* --- what must hold of any numbers ------------------------------------------------------------ */

/* Few different values now and then, so that there are ties. */
static size_t draw(struct rng *rng, double *to, size_t most)
{
    size_t n = 1 + rng_below(rng, most);
    uint64_t steps = rng_below(rng, 3) ? 1 + rng_below(rng, 8) : UINT64_C(1) << 40;
    for (size_t i = 0; i < n; i++)
        to[i] = (double)rng_below(rng, steps) / 4 - 1;
    return n;
}

static void swapping_the_groups_mirrors(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 1);
    for (int i = 0; i < 300; i++) {
        size_t n = draw(&rng, x, 9), m = draw(&rng, y, 9);
        struct mwu a, b;
        struct resolution r, s;
        stats_mwu(x, n, y, m, &a);
        stats_mwu(y, m, x, n, &b);
        assert_true(a.a12 == 1 - b.a12 || fabs(a.a12 + b.a12 - 1) < 1e-15);
        assert_true(a.u + b.u == (double)(n * m));
        assert_true(a.p == b.p && a.z == -b.z);
        expect(a.p_exact, b.p_exact, "p_exact", i);
        assert_int_equal(stats_resolution(x, n, y, m, 0.1, &r), 0);
        assert_int_equal(stats_resolution(y, m, x, n, 0.1, &s), 0);
        expect(r.p, s.p, "p", i);
        expect(r.least, s.least, "resolution", i);
        assert_true(a.p >= 0 && a.p <= 1 && a.p_exact > 0 && a.p_exact <= 1 && r.p > 0 && r.p <= 1);
    }
}

static double bent(double v)
{
    return v * v * v + 5 * v - 40;
}

static void only_the_order_counts(void **state)
{
    (void)state;
    static double fx[MOST], fy[MOST];
    struct rng rng;
    rng_seed(&rng, 2);
    for (int i = 0; i < 300; i++) {
        size_t n = 1 + draw(&rng, x, 11), m = draw(&rng, y, 12);
        x[n - 1] = m > 6;
        for (size_t j = 0; j < n; j++)
            fx[j] = bent(x[j]);
        for (size_t j = 0; j < m; j++)
            fy[j] = bent(y[j]);
        struct mwu a, b;
        stats_mwu(x, n, y, m, &a);
        stats_mwu(fx, n, fy, m, &b);
        assert_memory_equal(&a, &b, sizeof a);
        assert_true(stats_mann_kendall(x, (int)n) == stats_mann_kendall(fx, (int)n));
        struct kendall k, l;
        for (size_t j = m; j < n; j++) /* as many as there are x */
            fy[j] = y[j] = 0;
        stats_kendall(x, y, n, &k);
        stats_kendall(fx, y, n, &l);
        assert_true((isnan(k.tau) && isnan(l.tau)) || (k.tau == l.tau && k.p == l.p));
    }
}

static void negative_differences_mirror(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 3);
    for (int i = 0; i < 200; i++) {
        size_t n = draw(&rng, x, 20);
        for (size_t j = 0; j < n; j++)
            y[j] = -x[j];
        struct wilcoxon a, b;
        stats_wilcoxon(x, n, &a);
        stats_wilcoxon(y, n, &b);
        assert_true(a.w == b.w && a.p == b.p && a.z == -b.z && a.p_exact == b.p_exact);
        assert_true(a.n + a.zeros == n &&
                    a.w + fmax(a.w_plus, b.w_plus) == (double)(a.n * (a.n + 1)) / 2);
    }
    for (uint64_t w = 0; w < 40; w++)
        for (uint64_t l = 0; l < 40; l++)
            assert_true(stats_sign(w, l) == stats_sign(l, w));
}

/* Larger p stay larger, none falls, and one more test never makes any smaller. */
static void holm_keeps_the_order(void **state)
{
    (void)state;
    double more[20];
    struct rng rng;
    rng_seed(&rng, 4);
    for (int i = 0; i < 300; i++) {
        size_t n = 1 + rng_below(&rng, 19);
        for (size_t j = 0; j < n; j++)
            x[j] = rng_below(&rng, 4) ? rng_unit(&rng) * rng_unit(&rng) : 0.02;
        stats_holm(x, n, y);
        stats_holm(x, n - 1, more);
        for (size_t j = 0; j < n; j++) {
            assert_true(y[j] >= x[j] && y[j] <= 1);
            assert_true(j == n - 1 || y[j] >= more[j]);
            for (size_t k = 0; k < n; k++)
                assert_true(x[j] > x[k] || y[j] <= y[k]);
        }
    }
}

static void probabilities_add_up(void **state)
{
    (void)state;
    struct rng rng;
    struct permute d;
    rng_seed(&rng, 5);
    for (int i = 0; i < 200; i++) {
        size_t n = draw(&rng, x, 14), drawn = rng_below(&rng, n + 1);
        double p = 0, mean = 0, want = 0;
        assert_int_equal(permute_sums(x, n, drawn, &d), 0);
        for (size_t j = 0; j < d.n; j++) {
            assert_true(j == 0 || d.sum[j] > d.sum[j - 1]);
            p += d.p[j];
            mean += d.p[j] * d.sum[j];
        }
        for (size_t j = 0; j < n; j++)
            want += x[j] * (double)drawn / (double)n;
        expect(p, 1, "sum", i);
        expect_of(mean, want, largest(x, n) * (double)n, "mean", i);
        permute_free(&d);
    }
}

/* Numbers without a common unit have too many sums: an answer in bounded time and memory all the same. */
static void what_is_too_much_is_said(void **state)
{
    (void)state;
    struct rng rng;
    struct permute d;
    struct resolution r;
    struct mwu u;
    rng_seed(&rng, 6);
    for (size_t i = 0; i < MOST; i++) {
        x[i] = rng_normal(&rng);
        y[i] = rng_normal(&rng);
    }
    assert_int_equal(permute_sums(x, 40, 20, &d), -E2BIG);
    assert_true(d.n == 0 && !d.sum && !d.p);
    assert_int_equal(stats_resolution(x, 20, y, 20, 0.05, &r), -E2BIG);
    stats_mwu(x, MOST, y, MOST, &u);
    assert_true(isnan(u.p_exact) && u.p > 0 && u.p <= 1);
}

/* A tenth of the unit, written in binary, must not split sums that are equal. */
static void tenths_are_a_unit(void **state)
{
    (void)state;
    struct permute d;
    const double tenths[] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
    assert_int_equal(permute_sums(tenths, 6, 3, &d), 0);
    assert_int_equal(d.n, 10); /* 0.6 to 1.5 */
    permute_free(&d);
}

static void an_interval_repeats_from_its_seed(void **state)
{
    (void)state;
    const double v[] = {1, 5, 2, 8, 9, 4, 4, 7};
    struct bootstrap_settings s = {.level = 0.95, .resamples = 500, .seed = 9};
    struct bootstrap a, b, c;
    stats_bootstrap(v, 8, NULL, 0, &s, &a);
    stats_bootstrap(v, 8, NULL, 0, &s, &b);
    s.seed = 10;
    stats_bootstrap(v, 8, NULL, 0, &s, &c);
    assert_memory_equal(&a, &b, sizeof a);
    assert_true(a.low != c.low || a.high != c.high);
    assert_true(a.low < a.value && a.value < a.high);
}

/* Fields of structs: those without a p take no part. */
static void holm_of_fields_leaves_out_what_is_not_there(void **state)
{
    (void)state;
    struct {
        int other;
        double p, adjusted;
    } row[] = {{1, 0.04, 0}, {2, NAN, 0}, {3, 0.01, 0}, {4, 0.5, 0}};
    const double p[] = {0.04, 0.01, 0.5};
    double adjusted[3];
    stats_holm(p, 3, adjusted);
    stats_holm_fields(&row->p, &row->adjusted, 4, sizeof *row);
    assert_true(row[0].adjusted == adjusted[0] && row[2].adjusted == adjusted[1] &&
                row[3].adjusted == adjusted[2] && isnan(row[1].adjusted) && row[3].other == 4);
}

/* As numpy.percentile has them. */
static void quantiles_lie_between_the_values(void **state)
{
    (void)state;
    const double v[] = {1, 2, 4, 8};
    assert_true(stats_quantile(v, 4, 0) == 1 && stats_quantile(v, 4, 1) == 8);
    assert_true(stats_quantile(v, 4, 0.5) == 3 && stats_quantile(v, 4, 0.25) == 1.75);
    assert_true(stats_quantile(v, 1, 0.95) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oracle_agrees),
        cmocka_unit_test(swapping_the_groups_mirrors),
        cmocka_unit_test(only_the_order_counts),
        cmocka_unit_test(negative_differences_mirror),
        cmocka_unit_test(holm_keeps_the_order),
        cmocka_unit_test(holm_of_fields_leaves_out_what_is_not_there),
        cmocka_unit_test(quantiles_lie_between_the_values),
        cmocka_unit_test(probabilities_add_up),
        cmocka_unit_test(what_is_too_much_is_said),
        cmocka_unit_test(tenths_are_a_unit),
        cmocka_unit_test(an_interval_repeats_from_its_seed),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
