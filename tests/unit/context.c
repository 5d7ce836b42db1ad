/* context: the 15 signals, by hand and against tests/vectors/oracle.py; Mann-Kendall's golden numbers. */
#include "context/context.h"

#include "base/rng.h"
#include "stats/series.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "vectors.h"

#define SECOND INT64_C(1000000000)
static const struct context_settings day = {.budget_ns = 86400 * SECOND,
                                            .velocity_ns = 120 * SECOND};

/* The numbers of METHOD §20: z of a full window of 84. */
static void golden_mann_kendall(void **state)
{
    (void)state;
    double v[CONTEXT_WINDOW];
    for (int i = 0; i < CONTEXT_WINDOW; i++)
        v[i] = i;
    assert_true(fabs(stats_mann_kendall(v, CONTEXT_WINDOW) - 13.4629) < 5e-5);
    memset(v, 0, sizeof v);
    assert_true(stats_mann_kendall(v, CONTEXT_WINDOW) == 0);
    v[83] = 1;
    assert_true(fabs(stats_mann_kendall(v, CONTEXT_WINDOW) - 1.6909) < 5e-5);
    int ones = 1;
    while (stats_mann_kendall(v, CONTEXT_WINDOW) <= 3.5)
        v[CONTEXT_WINDOW - ++ones] = 1;
    assert_int_equal(ones, 5);
    assert_true(fabs(stats_mann_kendall(v, CONTEXT_WINDOW) - 3.7243) < 5e-5);
    for (int i = 0; i < CONTEXT_WINDOW; i++)
        v[i] = -i;
    assert_true(fabs(stats_mann_kendall(v, CONTEXT_WINDOW) + 13.4629) < 5e-5);
}

static void before_the_first_turn(void **state)
{
    (void)state;
    struct context *c = context_new(2, &day);
    double x[SIGNAL_COUNT];
    context_read(c, 0, 0, x);
    for (int i = 0; i < SIGNAL_COUNT; i++)
        assert_true(x[i] == (i == SIGNAL_SINCE_RUN || i == SIGNAL_UNC));
    context_dispatched(c, 0, 0);
    context_read(c, 0, SECOND, x);
    assert_true(x[SIGNAL_SINCE_RUN] == 0);
    context_voided(c, 0);
    context_read(c, 0, 2 * SECOND, x);
    assert_true(x[SIGNAL_SINCE_RUN] == 1);
    assert_true(x[SIGNAL_ELAPSED] == 2.0 / 86400);
    context_read(c, 1, 86400 * SECOND * 3, x);
    assert_true(x[SIGNAL_ELAPSED] == 1);
    context_free(c);
}

static void two_turns_by_hand(void **state)
{
    (void)state;
    struct context *c = context_new(1, &day);
    double x[SIGNAL_COUNT];
    struct context_outcome o = {.end_ns = 100 * SECOND,
                                .reward = 0.25,
                                .new_edges = 10,
                                .rarity = 0.5,
                                .sec = 1,
                                .crashes = 1};
    context_dispatched(c, 0, 0);
    context_completed(c, 0, &o);
    context_read(c, 0, 200 * SECOND, x);
    assert_true(x[SIGNAL_WIN_MEAN] == 0.25 && x[SIGNAL_WIN_VAR] == 0 && x[SIGNAL_SLOPE] == 0);
    assert_true(x[SIGNAL_HORIZON] == 1 && x[SIGNAL_HORIZON2] == 1 && x[SIGNAL_HORIZON8] == 1);
    expect_close(x[SIGNAL_COV_VELOCITY], 1 - exp(-0.1), "velocity", 0);
    assert_true(x[SIGNAL_SINCE_RUN] == 0.5 && x[SIGNAL_SINCE_IMPROVE] == 0);
    expect_close(x[SIGNAL_RARITY], 0.15, "rarity", 0);
    expect_close(x[SIGNAL_SEC], 0.3, "sec", 0);
    expect_close(x[SIGNAL_BUG], 0.3 * (1 - exp(-1)), "bug", 0);
    expect_close(x[SIGNAL_UNC], sqrt(0.5), "unc", 0);

    o = (struct context_outcome){.end_ns = 221 * SECOND, .reward = 0.75};
    context_completed(c, 0, &o);
    context_read(c, 0, 221 * SECOND, x);
    assert_true(x[SIGNAL_WIN_MEAN] == 0.5 && x[SIGNAL_WIN_VAR] == 0.125);
    assert_true(x[SIGNAL_SLOPE] == 0.5);
    assert_true(x[SIGNAL_COV_VELOCITY] == 0); /* the ten edges are 121 s old */
    assert_true(x[SIGNAL_MK_Z] == 0);         /* S = 1, continuity takes it */
    expect_close(x[SIGNAL_SINCE_IMPROVE], 1.0 / 84, "since improve", 1);
    expect_close(x[SIGNAL_RARITY], 0.7 * 0.15, "rarity", 1);
    context_free(c);
}

/* (T - 120 s, T] holds its end and not its beginning; 0/0 of time_since_run is 1. */
static void limits_of_the_clocks(void **state)
{
    (void)state;
    struct context *c = context_new(1, &day);
    double x[SIGNAL_COUNT];
    context_completed(c, 0, &(struct context_outcome){.end_ns = 0, .new_edges = 1});
    context_read(c, 0, 0, x);
    assert_true(x[SIGNAL_SINCE_RUN] == 1);
    expect_close(x[SIGNAL_COV_VELOCITY], 1 - exp(-1), "velocity", 0);
    context_completed(c, 0, &(struct context_outcome){.end_ns = 120 * SECOND - 1});
    context_read(c, 0, 120 * SECOND, x);
    expect_close(x[SIGNAL_COV_VELOCITY], 1 - exp(-1 / (120 - 1e-9)), "velocity", 1);
    context_completed(c, 0, &(struct context_outcome){.end_ns = 120 * SECOND});
    context_read(c, 0, 120 * SECOND, x);
    assert_true(x[SIGNAL_COV_VELOCITY] == 0);
    context_free(c);
}

static void the_window_forgets(void **state)
{
    (void)state;
    struct context *c = context_new(1, &day);
    double x[SIGNAL_COUNT];
    for (int i = 0; i < 200; i++)
        context_completed(c, 0, &(struct context_outcome){.end_ns = i, .reward = i});
    context_read(c, 0, 200, x); /* it holds 116, 117, ..., 199 */
    assert_true(x[SIGNAL_WIN_MEAN] == 157.5 && x[SIGNAL_WIN_VAR] == 595);
    expect_close(x[SIGNAL_SLOPE], 1, "slope", 200);
    expect_close(x[SIGNAL_HORIZON2], 198.5 / 157.5, "horizon2", 200);
    context_free(c);
}

/* --- vectors ------------------------------------------------------------------------------- */

static void check_series(struct vectors *v, int64_t number)
{
    double x[CONTEXT_WINDOW];
    int n = (int)vectors_int(v);
    for (int i = 0; i < n; i++)
        x[i] = vectors_real(v);
    assert_string_equal(vectors_word(v), "stats");
    expect_close(stats_mean(x, n), vectors_real(v), "mean", number);
    expect_close(stats_variance(x, n), vectors_real(v), "variance", number);
    expect_close(stats_slope(x, n), vectors_real(v), "slope", number);
    expect_close(stats_mann_kendall(x, n), vectors_real(v), "mann-kendall", number);
}

static struct context *read_settings(struct vectors *v)
{
    int arms = (int)vectors_int(v);
    struct context_settings s = {.budget_ns = vectors_int(v)};
    s.velocity_ns = vectors_int(v);
    return context_new(arms, &s);
}

static void complete(struct vectors *v, struct context *c)
{
    int arm = (int)vectors_int(v);
    struct context_outcome o = {.end_ns = vectors_int(v)};
    o.reward = vectors_real(v);
    o.new_edges = (uint32_t)vectors_int(v);
    o.rarity = vectors_real(v);
    o.sec = vectors_real(v);
    o.crashes = (uint32_t)vectors_int(v);
    context_completed(c, arm, &o);
}

static void check_read(struct vectors *v, const struct context *c, int64_t number)
{
    int arm = (int)vectors_int(v);
    double x[SIGNAL_COUNT];
    context_read(c, arm, vectors_int(v), x);
    for (int i = 0; i < SIGNAL_COUNT; i++)
        expect_close(x[i], vectors_real(v), signal_name((enum signal_id)i), number);
}

static void the_oracle_agrees(void **state)
{
    (void)state;
    struct vectors v;
    struct context *c = NULL;
    int series = 0, reads = 0;
    vectors_open(&v, "context.txt");
    for (char *word; (word = vectors_word(&v));) {
        if (strcmp(word, "series") == 0) {
            check_series(&v, series++);
        } else if (strcmp(word, "context") == 0) {
            context_free(c);
            c = read_settings(&v);
        } else if (strcmp(word, "dispatch") == 0) {
            int arm = (int)vectors_int(&v);
            context_dispatched(c, arm, vectors_int(&v));
        } else if (strcmp(word, "void") == 0) {
            context_voided(c, (int)vectors_int(&v));
        } else if (strcmp(word, "complete") == 0) {
            complete(&v, c);
        } else if (strcmp(word, "read") == 0) {
            check_read(&v, c, reads++);
        } else {
            fail_msg("context.txt: what is %s?", word);
        }
    }
    assert_int_equal(series, 55);
    assert_true(reads > 400);
    context_free(c);
    vectors_close(&v);
}

/* The same events, also when others happen in between on other arms: the same bits. */
static void arms_are_independent_and_the_fold_repeats(void **state)
{
    (void)state;
    struct context *a = context_new(1, &day), *b = context_new(2, &day);
    struct rng rng;
    rng_seed(&rng, 3);
    for (int i = 1; i < 500; i++) {
        struct context_outcome o = {.end_ns = i * 7 * SECOND,
                                    .reward = rng_unit(&rng),
                                    .new_edges = (uint32_t)rng_below(&rng, 3),
                                    .rarity = 0.5};
        context_dispatched(a, 0, o.end_ns - SECOND);
        context_dispatched(b, 1, o.end_ns - SECOND);
        context_completed(b, 0, &(struct context_outcome){.end_ns = o.end_ns, .reward = 1});
        context_completed(a, 0, &o);
        context_completed(b, 1, &o);
        double x[SIGNAL_COUNT], y[SIGNAL_COUNT];
        context_read(a, 0, o.end_ns + 5, x);
        context_read(b, 1, o.end_ns + 5, y);
        assert_memory_equal(x, y, sizeof x);
    }
    context_free(a);
    context_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_mann_kendall),
        cmocka_unit_test(before_the_first_turn),
        cmocka_unit_test(two_turns_by_hand),
        cmocka_unit_test(limits_of_the_clocks),
        cmocka_unit_test(the_window_forgets),
        cmocka_unit_test(the_oracle_agrees),
        cmocka_unit_test(arms_are_independent_and_the_fold_repeats),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
