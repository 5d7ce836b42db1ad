/* phase: Method I against an independent computation, and the figures that the paper derives from it. */
#include "base/die.h"
#include "sched/sched.h"
#include "sched/schedulers.h"
#include "stats/series.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sched_world.h"
#include "vectors.h"

enum { ROTTING, HORIZON_OR_SLOPE, BONUS, Z, REWARDS, FULL, DUE };

static void learn(struct sched *s, int arm, double reward)
{
    sched_learn(s, &(struct decision){.n_arms = s->n_arms, .choice = arm},
                &(struct sched_outcome){.reward = reward});
}

static int pick_at(struct sched *s, uint64_t t, uint64_t dropped, struct decision *d)
{
    decision_ask(d, s->n_arms, t, 0, 0, dropped);
    sched_pick(s, d);
    return d->choice;
}

static void expect_near(double got, double want, double by, const char *what)
{
    if (!(fabs(got - want) <= by))
        fail_msg("%s: %.9g, expected %.9g", what, got, want);
}

/* --- vectors ------------------------------------------------------------------------------- */

static void check_row(struct vectors *v, const struct decision *d)
{
    const struct decision_arm *row = &d->arm[vectors_int(v)];
    int64_t t = (int64_t)d->t;
    expect_close(row->mean, vectors_real(v), "index", t);
    expect_close(row->width, vectors_real(v), "width", t);
    expect_close(row->noise, vectors_real(v), "noise", t);
    expect_close(row->draw, vectors_real(v), "draw", t);
    assert_true(row->phi[ROTTING] == vectors_real(v));
    expect_close(row->phi[HORIZON_OR_SLOPE], vectors_real(v), "horizon or slope", t);
    expect_close(row->phi[BONUS], vectors_real(v), "bonus", t);
    expect_close(row->phi[Z], vectors_real(v), "z", t);
    assert_true(row->phi[FULL] == vectors_real(v));
}

static void check_pick(struct vectors *v, struct sched *s, struct decision *d)
{
    uint64_t t = (uint64_t)vectors_int(v), dropped = (uint64_t)vectors_int(v);
    pick_at(s, t, dropped, d);
    assert_int_equal(d->choice, vectors_int(v));
    int due = (int)vectors_int(v);
    if (d->choice >= 0)
        assert_int_equal(d->arm[d->choice].phi[DUE], due);
}

static void the_oracle_agrees(void **state)
{
    (void)state;
    struct vectors v;
    struct sched *s = NULL;
    struct decision d = {0};
    int picks = 0, rows = 0;
    vectors_open(&v, "phase.txt");
    for (char *word; (word = vectors_word(&v));) {
        if (strcmp(word, "phase") == 0) {
            int arms = (int)vectors_int(&v);
            uint64_t seed = (uint64_t)vectors_int(&v);
            sched_free(s);
            s = world_sched("phase", arms, seed, vectors_word(&v));
        } else if (strcmp(word, "pick") == 0) {
            check_pick(&v, s, &d);
            picks++;
        } else if (strcmp(word, "row") == 0) {
            check_row(&v, &d);
            rows++;
        } else if (strcmp(word, "learn") == 0) {
            int arm = (int)vectors_int(&v);
            learn(s, arm, vectors_real(&v));
        } else {
            fail_msg("phase.txt: what is %s?", word);
        }
    }
    assert_int_equal(picks, 1700);
    assert_true(rows > 1500);
    sched_free(s);
    vectors_close(&v);
}

/* --- the paper's figures --------------------------------------------------------------------- */

/* A window whose last h rewards average 1 above its last two, and no other horizon comes near: as far
 * apart as two means of rewards in [0, 1] could ever be.  (The rewards themselves leave [0, 1].) */
static void fill_for_horizon(struct sched *s, int arm, int h)
{
    int half = h == 84 ? 64 : h / 2, upper = h - half;
    for (int back = 84; back >= 1; back--) {
        double x = back > h ? -100 : back > half ? (h + 10.0 * (half - 2)) / upper : -10;
        learn(s, arm, back <= 2 ? 0 : x);
    }
}

static double winning_horizon(struct sched *s, uint64_t t)
{
    struct decision d;
    pick_at(s, t, 0, &d);
    assert_true(d.arm[0].phi[ROTTING] == 1);
    return d.arm[0].phi[HORIZON_OR_SLOPE];
}

static void rungs_retire(void **state)
{
    (void)state;
    const struct {
        int h;
        uint64_t turn; /* the first at which h = 2 wins whatever the rewards */
    } rungs[] = {{84, 17}, {64, 20}, {32, 36}, {16, 120}, {8, 2981}};
    for (size_t i = 0; i < sizeof rungs / sizeof *rungs; i++) {
        struct sched *s = world_sched("phase", 1, 1, "tau=100");
        fill_for_horizon(s, 0, rungs[i].h);
        assert_true(winning_horizon(s, rungs[i].turn - 1) == rungs[i].h);
        assert_true(winning_horizon(s, rungs[i].turn) == 2);
        sched_free(s);
    }
    struct sched *s = world_sched("phase", 1, 1, "tau=100");
    fill_for_horizon(s, 0, 4);
    assert_true(winning_horizon(s, 13000000000) == 4);
    assert_true(winning_horizon(s, 14000000000) == 2);
    sched_free(s);
}

static void margins_between_rungs(void **state)
{
    (void)state;
    const struct {
        uint64_t t;
        double eight, four;
    } at[] = {{1440, 0.953, 0.559}, {4320, 1.023, 0.599}};
    for (int i = 0; i < 2; i++) {
        struct sched *s = world_sched("phase", 3, 1, "tau=100");
        struct decision d;
        for (int k = 0; k < 84; k++) {
            learn(s, 0, 0);                    /* all alike: 2 wins */
            learn(s, 1, k == 84 - 8 ? 99 : 0); /* only 8 and longer see it, 8 best */
            learn(s, 2, k == 84 - 4 ? 99 : 0);
        }
        pick_at(s, at[i].t, 0, &d);
        assert_true(d.arm[0].phi[HORIZON_OR_SLOPE] == 2);
        assert_true(d.arm[1].phi[HORIZON_OR_SLOPE] == 8);
        assert_true(d.arm[2].phi[HORIZON_OR_SLOPE] == 4);
        expect_near(d.arm[0].phi[BONUS] - d.arm[1].phi[BONUS], at[i].eight, 5e-4, "h = 8");
        expect_near(d.arm[0].phi[BONUS] - d.arm[2].phi[BONUS], at[i].four, 5e-4, "h = 4");
        sched_free(s);
    }
}

static void bonus_of_the_rotting(void **state)
{
    (void)state;
    const struct {
        uint64_t t;
        double bonus;
    } at[] = {{100, 1.517}, {504, 1.764}, {4320, 2.046}};
    struct sched *s = world_sched("phase", 2, 1, NULL);
    for (int k = 0; k < 84; k++)
        learn(s, 0, 0);
    learn(s, 1, 0);
    for (int i = 0; i < 3; i++) {
        struct decision d;
        pick_at(s, at[i].t, 0, &d);
        expect_near(d.arm[0].phi[BONUS], at[i].bonus, 5e-4, "bonus");
        assert_true(d.arm[0].mean == d.arm[0].phi[BONUS]);
        assert_true(d.arm[0].phi[ROTTING] == 1 && d.arm[1].phi[ROTTING] == 0);
    }
    sched_free(s);
}

static double width_after(const double *rewards, int n)
{
    struct sched *s = world_sched("phase", 1, 1, NULL);
    struct decision d;
    for (int i = 0; i < n; i++)
        learn(s, 0, rewards[i]);
    pick_at(s, 1, 0, &d);
    double width = d.arm[0].width;
    assert_true(d.arm[0].draw == d.arm[0].mean + d.arm[0].noise * width);
    sched_free(s);
    return width;
}

/* 0.408 bounds the draw's scale before the first reward and from the fourth on, not between. */
static void scale_of_the_draw(void **state)
{
    (void)state;
    const double wild[] = {0, 1, 0, 1, 0, 1, 0, 1, 1};
    expect_near(width_after(wild, 0), 0.408, 5e-4, "no reward");
    expect_near(width_after(wild, 1), sqrt(1.0 / 6), 1e-15, "one reward");
    assert_true(width_after(wild, 2) > 0.5);
    for (int n = 4; n <= 9; n++)
        assert_true(width_after(wild, n) < 0.408);
    expect_near(width_after(wild, 4), sqrt(1.0 / 12 + 1.0 / 48), 1e-15, "four");
}

static void trend_of_a_window(void **state)
{
    (void)state;
    double x[84];
    for (int i = 0; i < 84; i++)
        x[i] = i;
    expect_near(stats_mann_kendall(x, 84), 13.4629, 5e-5, "rising");
    expect_near(stats_theil_sen(x, 84), 1, 0, "slope");
    expect_near(stats_residual_variance(x, 84, 1), 0, 0, "residuals");
    memset(x, 0, sizeof x);
    expect_near(stats_mann_kendall(x, 84), 0, 0, "zeros");
    x[83] = 1;
    expect_near(stats_mann_kendall(x, 84), 1.6909, 5e-5, "one");
    expect_near(stats_theil_sen(x, 84), 0, 0, "slope of an outlier");
    x[82] = x[81] = x[80] = x[79] = 1;
    expect_near(stats_mann_kendall(x, 84), 3.7243, 5e-5, "five");
    const double even[] = {0, 1,
                           5}; /* slopes 1, 4, 2.5; then with a fourth: 0, 1, 4, 2.5, -5, -0.5 */
    expect_near(stats_theil_sen(even, 3), 2.5, 0, "odd number of slopes");
    const double four[] = {0, 1, 5, 0};
    expect_near(stats_theil_sen(four, 4), 0.5, 0, "even number of slopes");
    expect_near(stats_theil_sen(four, 1), 0, 0, "one value");
}

/* The fewest trailing ones after zeros that turn the verdict are five. */
static void verdict_turns_at_five(void **state)
{
    (void)state;
    struct sched *s = world_sched("phase", 2, 1, NULL);
    struct decision d;
    for (int k = 0; k < 83; k++) {
        learn(s, 0, k >= 83 - 4);
        learn(s, 1, k >= 83 - 3);
    }
    pick_at(s, 9, 0, &d);
    assert_true(d.arm[0].phi[ROTTING] == 0 && d.arm[0].phi[FULL] == 0 && d.arm[0].phi[Z] == 0);
    learn(s, 0, 1);
    learn(s, 1, 1);
    pick_at(s, 10, 0, &d);
    assert_true(d.arm[0].phi[FULL] == 1 && d.arm[0].phi[ROTTING] == 0 && d.arm[0].phi[Z] > 3.5);
    assert_true(d.arm[1].phi[FULL] == 1 && d.arm[1].phi[ROTTING] == 1 && d.arm[1].phi[Z] > 2.9);
    sched_free(s);
}

/* --- how it is asked ------------------------------------------------------------------------- */

static void warmup_in_the_drawn_order(void **state)
{
    (void)state;
    struct sched *s = world_sched("phase", 4, 1, NULL);
    struct decision d;
    int o[SCHED_MAX_ARMS];
    choose_order(1, 4, o);
    assert_int_equal(pick_at(s, 1, 1u << o[0], &d), o[1]); /* the first cannot run yet */
    assert_int_equal(pick_at(s, 2, 1u << o[0], &d), o[2]);
    assert_int_equal(pick_at(s, 3, 15, &d), -1);
    assert_int_equal(pick_at(s, 4, 0, &d), o[0]);
    assert_int_equal(pick_at(s, 5, 0, &d), o[3]);
    for (uint64_t t = 6; t < 40; t++) { /* no reward yet: 1/2 for all */
        pick_at(s, t, 0, &d);
        assert_true(d.arm[d.choice].phi[DUE] == 0);
        assert_true(d.arm[d.choice].mean == 0.5 + d.arm[d.choice].phi[BONUS]);
        for (int a = 0; a < 4; a++)
            assert_true(d.arm[a].draw <= d.arm[d.choice].draw);
    }
    sched_free(s);
    s = world_sched("phase", 3, 1, "warmup=2");
    choose_order(1, 3, o);
    for (int i = 0; i < 6; i++)
        assert_int_equal(pick_at(s, (uint64_t)i + 1, 0, &d), o[i % 3]);
    sched_free(s);
    s = world_sched("phase", 3, 1, NULL);
    learn(s, o[0], 0.5); /* had its turn from another scheduler, in a replay */
    assert_int_equal(pick_at(s, 1, 0, &d), o[1]);
    sched_free(s);
}

/* Without noise and with equal rewards nothing but the tie decides, and nobody is favoured. */
static void ties_favour_nobody(void **state)
{
    (void)state;
    int count[5] = {0};
    struct sched *s = world_sched("phase", 5, 3, "alpha=0,warmup=0");
    struct decision d;
    for (uint64_t t = 1; t <= 10000; t++)
        count[pick_at(s, t, 1 << 2, &d)]++;
    assert_int_equal(count[2], 0);
    for (int i = 0; i < 5; i++) /* sd 43 */
        assert_true(i == 2 || abs(count[i] - 2500) < 5 * 43);
    sched_free(s);
}

/* Rewards stand in the order they came, whatever the order of the dispatches; a dispatch alone
 * changes no estimate. */
static void order_is_that_of_completion(void **state)
{
    (void)state;
    struct sched *s = world_sched("phase", 1, 1, NULL);
    struct decision d[3], now;
    for (uint64_t t = 1; t <= 3; t++)
        pick_at(s, t, 0, &d[t - 1]);
    assert_true(d[2].arm[0].mean == 0.5 + d[2].arm[0].phi[BONUS]);
    assert_true(d[2].arm[0].width == d[0].arm[0].width);
    const double rewards[] = {0.9, 0.5, 0.1}; /* of the third, the first, the second */
    const int order[] = {2, 0, 1};
    for (int i = 0; i < 3; i++)
        sched_learn(s, &d[order[i]], &(struct sched_outcome){.reward = rewards[i]});
    pick_at(s, 4, 0, &now);
    expect_near(now.arm[0].phi[HORIZON_OR_SLOPE], -0.4, 1e-15, "slope");
    assert_true(now.arm[0].phi[REWARDS] == 3);
    sched_free(s);
}

static void expect_refused_option(const char *params, const char *says)
{
    struct sched_settings st = {.n_arms = 2, .arms = world_roster, .params = params};
    struct sched *s;
    struct err e = {0};
    assert_true(sched_new(&s, "phase", &st, &e) < 0);
    if (!strstr(e.msg, says))
        fail_msg("%s: \"%s\" does not say \"%s\"", params, e.msg, says);
}

static void options_are_checked(void **state)
{
    (void)state;
    expect_refused_option("window=85", "window");
    expect_refused_option("window=1", "window");
    expect_refused_option("window=2.5", "whole");
    expect_refused_option("alpha=-1", "alpha");
    expect_refused_option("tau=high", "tau");
    expect_refused_option("warm=1", "window, tau, alpha, warmup");
}

static void words_say_why(void **state)
{
    (void)state;
    struct sched *s = world_sched("phase", 2, 1, "warmup=0");
    struct decision d;
    struct buf b = BUF_INIT(1 << 16);
    for (int i = 0; i < 84; i++)
        learn(s, 1, 0.25);
    learn(s, 0, 0.5);
    assert_int_equal(pick_at(s, 4320, 0, &d), 1);
    s->ops->why(&d, world_roster, &b);
    assert_non_null(strstr(b.p,
                           "darwin is rotting (Mann-Kendall z = 0.00): the mean of its last 2 is "
                           "0.250, bonus 2.046"));
    assert_non_null(strstr(b.p, "aflpp is rising (1 reward, its window is not full): mean 0.500"));
    buf_free(&b);
    sched_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oracle_agrees),     cmocka_unit_test(rungs_retire),
        cmocka_unit_test(margins_between_rungs), cmocka_unit_test(bonus_of_the_rotting),
        cmocka_unit_test(scale_of_the_draw),     cmocka_unit_test(trend_of_a_window),
        cmocka_unit_test(verdict_turns_at_five), cmocka_unit_test(warmup_in_the_drawn_order),
        cmocka_unit_test(ties_favour_nobody),    cmocka_unit_test(order_is_that_of_completion),
        cmocka_unit_test(options_are_checked),   cmocka_unit_test(words_say_why),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
