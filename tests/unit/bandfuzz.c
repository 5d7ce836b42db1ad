/* bandfuzz: posteriors, draws and resets, against an independent computation and against theory. */
#include "base/die.h"
#include "sched/sched.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sched_saved.h"
#include "vectors.h"

#define SECOND INT64_C(1000000000)

static void learn(struct sched *s, int arm, int64_t now_s, double reward)
{
    sched_tick(s, now_s * SECOND, NULL);
    sched_learn(s, &(struct decision){.n_arms = s->n_arms, .choice = arm},
                &(struct sched_outcome){.now_ns = now_s * SECOND, .reward = reward});
}

static int pick_at(struct sched *s, uint64_t t, int64_t now_s, uint64_t dropped, struct decision *d)
{
    decision_ask(d, s->n_arms, t, 0, now_s * SECOND, dropped);
    sched_tick(s, now_s * SECOND, NULL);
    sched_pick(s, d);
    return d->choice;
}

static void expect_posterior(struct sched *s, int64_t now_s, int arm, double alpha, double beta)
{
    struct decision d;
    pick_at(s, 1, now_s, 0, &d);
    if (!(fabs(d.arm[arm].phi[0] - alpha) < 1e-12 && fabs(d.arm[arm].phi[1] - beta) < 1e-12))
        fail_msg("at %lld s: Beta(%g, %g), expected Beta(%g, %g)", (long long)now_s,
                 d.arm[arm].phi[0], d.arm[arm].phi[1], alpha, beta);
}

static void check_row(struct vectors *v, const struct decision *d)
{
    const struct decision_arm *row = &d->arm[vectors_int(v)];
    int64_t t = (int64_t)d->t;
    expect_close(row->mean, vectors_real(v), "mean", t);
    expect_close(row->width, vectors_real(v), "sd", t);
    expect_close(row->draw, vectors_real(v), "draw", t);
    expect_close(row->phi[0], vectors_real(v), "alpha", t);
    expect_close(row->phi[1], vectors_real(v), "beta", t);
}

static void the_oracle_agrees(void **state)
{
    (void)state;
    struct vectors v;
    struct sched *s = NULL;
    struct decision d = {0};
    int picks = 0;
    vectors_open(&v, "bandfuzz.txt");
    for (char *word; (word = vectors_word(&v));) {
        if (strcmp(word, "bandfuzz") == 0) {
            int arms = (int)vectors_int(&v);
            uint64_t seed = (uint64_t)vectors_int(&v);
            sched_free(s);
            s = world_sched("bandfuzz", arms, seed, vectors_word(&v));
        } else if (strcmp(word, "pick") == 0) {
            uint64_t t = (uint64_t)vectors_int(&v);
            int64_t now = vectors_int(&v);
            pick_at(s, t, now, (uint64_t)vectors_int(&v), &d);
            assert_int_equal(d.choice, vectors_int(&v));
            picks++;
        } else if (strcmp(word, "row") == 0) {
            check_row(&v, &d);
        } else if (strcmp(word, "learn") == 0) {
            int arm = (int)vectors_int(&v);
            int64_t now = vectors_int(&v);
            learn(s, arm, now, vectors_real(&v));
        } else {
            fail_msg("bandfuzz.txt: what is %s?", word);
        }
    }
    assert_int_equal(picks, 352);
    sched_free(s);
    vectors_close(&v);
}

/* --- draws against theory -------------------------------------------------------------------- */

/* The fourth central moment of Beta(a, b), from its excess kurtosis. */
static double fourth_moment(double a, double b, double variance)
{
    double n = a + b;
    double excess =
        6 * ((a - b) * (a - b) * (n + 1) - a * b * (n + 2)) / (a * b * (n + 2) * (n + 3));
    return (excess + 3) * variance * variance;
}

static void check_moments(double reward, int turns)
{
    enum { PICKS = 500 };
    const double n = PICKS * SCHED_MAX_ARMS;
    struct sched *s = world_sched("bandfuzz", SCHED_MAX_ARMS, 11, NULL);
    struct decision d;
    double sum = 0, squares = 0, a = 1 + turns * reward, b = 1 + turns * (1 - reward);
    double mean = a / (a + b), variance = a * b / ((a + b) * (a + b) * (a + b + 1));
    for (int i = 0; i < turns * SCHED_MAX_ARMS; i++)
        learn(s, i % SCHED_MAX_ARMS, 0, reward);
    for (uint64_t t = 1; t <= PICKS; t++) {
        pick_at(s, t, 0, 0, &d);
        for (int i = 0; i < SCHED_MAX_ARMS; i++) {
            double off = d.arm[i].draw - mean;
            assert_true(d.arm[i].draw >= 0 && d.arm[i].draw <= 1);
            sum += off;
            squares += off * off;
        }
    }
    expect_close(d.arm[0].mean, mean, "mean", turns);
    expect_close(d.arm[0].width, sqrt(variance), "sd", turns);
    /* Four standard errors each: a false alarm in 16,000 seeds, and this seed is fixed. */
    if (fabs(sum / n) > 4 * sqrt(variance / n))
        fail_msg("Beta(%g, %g): the mean is off by %g", a, b, sum / n);
    double error = sqrt((fourth_moment(a, b, variance) - variance * variance) / n);
    if (fabs(squares / n - variance) > 4 * error)
        fail_msg("Beta(%g, %g): variance %g, expected %g", a, b, squares / n, variance);
    sched_free(s);
}

static void draws_have_their_moments(void **state)
{
    (void)state;
    check_moments(0.5, 0);
    check_moments(0.25, 3);
    check_moments(0, 50);
    check_moments(1, 40);
    check_moments(0.01, 60);
}

/* --- resets ---------------------------------------------------------------------------------- */

static void every_two_hours_it_starts_again(void **state)
{
    (void)state;
    struct sched *s = world_sched("bandfuzz", 2, 1, NULL);
    struct decision flying;
    learn(s, 0, 10, 0.25);
    expect_posterior(s, 7199, 0, 1.25, 1.75);
    pick_at(s, 2, 7199, 2, &flying);
    assert_int_equal(flying.choice, 0);
    sched_tick(s, 7200 * SECOND, NULL);
    expect_posterior(s, 7200, 0, 1, 1);
    sched_learn(s, &flying, &(struct sched_outcome){.reward = 0.75}); /* counts in the new one */
    expect_posterior(s, 7205, 0, 1.75, 1.25);
    expect_posterior(s, 14399, 0, 1.75, 1.25);
    expect_posterior(s, 50000, 0, 1, 1); /* several at once */
    learn(s, 1, 57599, 1);
    expect_posterior(s, 57599, 1, 2, 1);
    learn(s, 1, 57600, 0); /* the tick of its own completion comes first */
    expect_posterior(s, 57600, 1, 1, 2);
    sched_free(s);
}

static void the_reset_follows_the_turn(void **state)
{
    (void)state;
    struct sched_settings st = {.n_arms = 1, .arms = world_roster, .turn_ns = 12 * SECOND};
    struct sched *s;
    assert_int_equal(sched_new(&s, "bandfuzz", &st, NULL), 0);
    learn(s, 0, 719, 1);
    expect_posterior(s, 719, 0, 2, 1);
    expect_posterior(s, 720, 0, 1, 1);
    sched_free(s);
    st.params = "reset=30s";
    assert_int_equal(sched_new(&s, "bandfuzz", &st, NULL), 0);
    learn(s, 0, 29, 1);
    expect_posterior(s, 29, 0, 2, 1);
    expect_posterior(s, 30, 0, 1, 1);
    sched_free(s);
    s = world_sched("bandfuzz", 1, 1, "reset=0s");
    learn(s, 0, 1, 1);
    expect_posterior(s, 1000000, 0, 2, 1);
    sched_free(s);
}

/* --- what it chooses ------------------------------------------------------------------------- */

/* A day of 4,320 decisions, each rewarded by its fuzzer's entry. */
static void one_day(const double *reward, int arms, const char *params, int *count)
{
    struct sched *s = world_sched("bandfuzz", arms, 21, params);
    struct decision d;
    for (uint64_t t = 1; t <= 4320; t++) {
        int64_t now = (int64_t)(t - 1) * 20;
        count[pick_at(s, t, now, 0, &d)]++;
        learn(s, d.choice, now, reward[d.choice]);
    }
    sched_free(s);
}

static void nothing_to_learn_is_near_uniform(void **state)
{
    (void)state;
    const double none[6] = {0}, hardly[6] = {1e-4, 0, 0, 0, 0, 2e-4};
    int a[6] = {0}, b[6] = {0};
    one_day(none, 6, NULL, a);
    one_day(hardly, 6, NULL, b);
    for (int i = 0; i < 6; i++) {
        assert_in_range(a[i], 620, 820); /* 720 each */
        assert_in_range(b[i], 620, 820);
    }
}

static void the_best_gets_most(void **state)
{
    (void)state;
    const double reward[4] = {0.1, 0.6, 0.2, 0.1};
    const char *const updates[] = {"update=fractional", "bandfuzz.update=bernoulli"};
    for (int i = 0; i < 2; i++) {
        int count[4] = {0};
        one_day(reward, 4, updates[i], count);
        assert_true(count[1] > 3500);
        for (int k = 0; k < 4; k++)
            assert_true(count[k] >= 12); /* after each reset everybody is tried again */
    }
}

/* A coin per reward: whole successes, as many as the rewards promise; the draws do not notice. */
static void bernoulli_counts_coins(void **state)
{
    (void)state;
    struct sched *s = world_sched("bandfuzz", 1, 5, "update=bernoulli,reset=0s");
    struct sched *t = world_sched("bandfuzz", 1, 5, "reset=0s");
    struct decision d, e;
    pick_at(s, 1, 0, 0, &d);
    pick_at(t, 1, 0, 0, &e);
    assert_true(d.arm[0].draw == e.arm[0].draw);
    for (int i = 0; i < 10000; i++)
        learn(s, 0, 0, 0.3);
    for (int i = 0; i < 100; i++) { /* sure things */
        learn(s, 0, 0, 0);
        learn(s, 0, 0, 1);
    }
    pick_at(s, 2, 0, 0, &d);
    double alpha = d.arm[0].phi[0], beta = d.arm[0].phi[1];
    assert_true(alpha == floor(alpha) && alpha + beta == 2 + 10200);
    assert_true(fabs(alpha - 1 - 100 - 3000) < 4 * 46); /* sd 45.8 */
    sched_free(s);
    sched_free(t);
}

/* Posteriors that were reset before anything was learned look like those of the start; the saved state
 * still tells them apart, or the next reset would come at once. */
static void the_reset_is_saved(void **state)
{
    (void)state;
    struct sched *s = world_sched("bandfuzz", 1, 1, NULL), *t = world_sched("bandfuzz", 1, 1, NULL);
    sched_tick(s, 7199 * INT64_C(1000000000), NULL);
    assert_true(saves_alike(s, t));
    sched_tick(s, 7200 * INT64_C(1000000000), NULL);
    assert_false(saves_alike(s, t));
    sched_free(s);
    sched_free(t);
}

static void words_say_why(void **state)
{
    (void)state;
    struct sched *s = world_sched("bandfuzz", 2, 1, NULL);
    struct decision d;
    struct buf b = BUF_INIT(1 << 16);
    for (int i = 0; i < 40; i++) {
        learn(s, 1, 15000, 1);
        learn(s, 0, 15000, 0);
    }
    assert_int_equal(pick_at(s, 9, 15000, 0, &d), 1);
    s->ops->why(&d, world_roster, &b);
    assert_non_null(strstr(b.p, "darwin drew 0.9"));
    assert_non_null(strstr(b.p, "Beta(41.00, 1.00), mean 0.9762"));
    assert_non_null(strstr(b.p, "Next came: aflpp drew 0.0"));
    assert_non_null(strstr(b.p, "reset 2 times"));
    buf_free(&b);
    sched_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oracle_agrees),
        cmocka_unit_test(draws_have_their_moments),
        cmocka_unit_test(every_two_hours_it_starts_again),
        cmocka_unit_test(the_reset_follows_the_turn),
        cmocka_unit_test(nothing_to_learn_is_near_uniform),
        cmocka_unit_test(the_best_gets_most),
        cmocka_unit_test(bernoulli_counts_coins),
        cmocka_unit_test(the_reset_is_saved),
        cmocka_unit_test(words_say_why),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
