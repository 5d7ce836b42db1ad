/* contextual: Method II against an independent computation (tests/vectors/contextual.py), its parts, its
 * bounds, and that a decision allocates nothing. */
#include "base/rng.h"
#include "sched/features.h"
#include "sched/linear.h"
#include "sched/sched.h"
#include "sched/schedulers.h"

#include <errno.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sched_saved.h"
#include "vectors.h"

/* --- against the oracle ------------------------------------------------------------------------------ */

static void some_signals(struct rng *rng, int t, int turns, double v[SIGNAL_COUNT])
{
    for (int k = 0; k < SIGNAL_COUNT - 1; k++)
        v[k] = rng_unit(rng);
    double square = v[13] * v[13];
    v[10] *= 1000;
    v[11] = 7;
    v[12] *= 1e-7;
    v[13] = (square * square) * (square * square);
    v[14] = (double)t / turns;
}

static void check_scores(struct vectors *v, const struct decision *d)
{
    for (int i = 0; i < d->n_arms; i++) {
        const struct decision_arm *a = &d->arm[i];
        expect_close(a->standardised[13], vectors_real(v), "standardised", (int64_t)d->t);
        expect_close(a->mean, vectors_real(v), "mean", (int64_t)d->t);
        expect_close(a->width, vectors_real(v), "width", (int64_t)d->t);
        expect_close(a->noise, vectors_real(v), "noise", (int64_t)d->t);
        expect_close(a->draw, vectors_real(v), "draw", (int64_t)d->t);
    }
}

static bool at_scores(const struct vectors *v)
{
    const char *p = v->at + strspn(v->at, " \n");
    return strncmp(p, "scores", 6) == 0;
}

/* Turns complete late and out of order; what it says and what it chooses must be the oracle's. */
static int check_campaign(struct vectors *v)
{
    uint64_t seed = (uint64_t)vectors_int(v);
    int arms = (int)vectors_int(v), turns = (int)vectors_int(v), n = 0, checked = 0;
    const char *params = vectors_word(v);
    struct sched *s = world_sched("contextual", arms, seed, *params == '-' ? NULL : params);
    struct decision *flying = calloc(8, sizeof *flying), d;
    struct rng world;
    rng_stream(&world, seed, "world");
    for (int t = 1; t <= turns; t++) {
        double signals[SCHED_MAX_ARMS][SIGNAL_COUNT];
        for (int i = 0; i < arms; i++)
            some_signals(&world, t, turns, signals[i]);
        uint64_t dropped = rng_below(&world, 5) ? 0 : 1ull << rng_below(&world, (uint64_t)arms);
        decision_ask(&d, arms, (uint64_t)t, 0, t, dropped);
        for (int i = 0; i < arms; i++)
            memcpy(d.arm[i].signals, signals[i], sizeof signals[i]);
        sched_pick(s, &d);
        assert_int_equal(d.choice, vectors_int(v));
        if (at_scores(v)) {
            vectors_word(v);
            check_scores(v, &d);
            checked++;
        }
        if (d.choice >= 0)
            flying[n++] = d;
        while (n > 6 || (n && rng_below(&world, 2))) {
            int at = (int)rng_below(&world, (uint64_t)n);
            double reward = rng_below(&world, 2) ? rng_unit(&world) : 0;
            struct decision done = flying[at];
            memmove(flying + at, flying + at + 1, (size_t)(--n - at) * sizeof *flying);
            sched_learn(s, &done, &(struct sched_outcome){.reward = reward});
        }
    }
    sched_free(s);
    free(flying);
    return checked;
}

static void the_oracle_agrees(void **state)
{
    (void)state;
    struct vectors v;
    int campaigns = 0, checked = 0;
    vectors_open(&v, "contextual.txt");
    for (char *word; (word = vectors_word(&v)); campaigns++) {
        assert_string_equal(word, "campaign");
        checked += check_campaign(&v);
    }
    assert_int_equal(campaigns, 16);
    assert_true(checked > 200);
    vectors_close(&v);
}

/* --- the parts ---------------------------------------------------------------------------------------- */

static void the_standardiser_is_exact_and_clamps(void **state)
{
    (void)state;
    struct standard s = {0};
    double x[FEATURES_X] PAIR_ALIGNED, raw[500][SIGNAL_COUNT], none[FEATURES_X] = {0};
    struct rng rng;
    rng_seed(&rng, 4);
    for (int n = 0; n < 500; n++) {
        for (int k = 0; k < SIGNAL_COUNT; k++)
            raw[n][k] = k == 3 ? 0.25 : 1e6 * (k == 4) + rng_normal(&rng) * (k == 5 ? 1e-7 : k + 1);
        standard_apply(&s, raw[n], 5, x);
        if (n < 2)
            assert_memory_equal(x, none, sizeof x); /* below two values */
        for (int k = 0; n >= 2 && k < SIGNAL_COUNT; k++) {
            double mean = 0, sum = 0; /* in two passes */
            for (int i = 0; i < n; i++)
                mean += raw[i][k] / n;
            for (int i = 0; i < n; i++)
                sum += (raw[i][k] - mean) * (raw[i][k] - mean);
            double want = sum / (n - 1) < 1e-12 ? 0 : (raw[n][k] - mean) / sqrt(sum / (n - 1));
            want = want > 5 ? 5 : want < -5 ? -5 : want;
            assert_true(fabs(x[k] - want) < 1e-7);
            assert_true(k != 3 || x[k] == 0);
            assert_true(k != 5 || x[k] == 0);
        }
        standard_add(&s, raw[n]);
    }
    raw[0][0] = 1e30;
    raw[0][1] = -1e30;
    standard_apply(&s, raw[0], 5, x);
    assert_true(x[0] == 5 && x[1] == -5);
}

/* A column is at most sqrt(2/D) = 0.354, and the length of phi at most sqrt(3). */
static void the_features_are_bounded(void **state)
{
    (void)state;
    struct features f;
    struct rng rng;
    rng_seed(&rng, 5);
    for (int columns = 1; columns <= FEATURES_COLUMNS; columns++) {
        features_draw(&f, &rng, columns, SIGNAL_COUNT, 4);
        double bound = sqrt(2.0 / columns);
        assert_true(columns < 16 || fabs(bound - 0.354) < 0.0005);
        for (int i = 0; i < 2000; i++) {
            double x[FEATURES_X] PAIR_ALIGNED = {0}, phi[FEATURES_PHI] PAIR_ALIGNED, square = 0;
            for (int k = 0; k < SIGNAL_COUNT; k++)
                x[k] = 10 * rng_unit(&rng) - 5;
            features_map(&f, x, phi);
            for (int j = 0; j < FEATURES_COLUMNS; j++) {
                double angle = f.phase[j];
                for (int k = 0; k < SIGNAL_COUNT; k++)
                    angle += f.omega[k][j] * x[k];
                assert_true(fabs(phi[j]) <= bound);
                assert_true(j < columns ? fabs(phi[j] - bound * cos(angle)) < 1e-14 : phi[j] == 0);
                square += phi[j] * phi[j];
            }
            assert_true(phi[16] == 1 && phi[17] == 0 && square + 1 <= 3 + 1e-12);
        }
    }
}

/* A rank-deficient history with next to no ridge: still positive, still finite. */
static void the_regression_is_robust(void **state)
{
    (void)state;
    struct linear m;
    double phi[LINEAR_PADDED] PAIR_ALIGNED = {0}, width;
    linear_init(&m, 1e-6);
    for (int i = 0; i < LINEAR_DIM; i++)
        phi[i] = 1;
    for (int n = 0; n < 100000; n++)
        linear_add(&m, phi, 1);
    linear_solve(&m);
    assert_true(fabs(linear_predict(&m, phi, &width) - 1) < 1e-3);
    assert_true(isfinite(width) && width > 0 && width < 0.01);
    phi[0] = -1;
    linear_predict(&m, phi, &width);
    assert_true(isfinite(width) && width > 1);
}

/* --- the scheduler ------------------------------------------------------------------------------------ */

static void ask(struct decision *d, int arms, struct rng *rng, uint64_t dropped)
{
    static uint64_t t;
    t++;
    decision_ask(d, arms, t, 0, (int64_t)t, dropped);
    for (int i = 0; i < arms; i++)
        for (int k = 0; rng && k < SIGNAL_COUNT; k++)
            d->arm[i].signals[k] = rng_unit(rng);
}

/* The figures of METHOD §20. */
static void the_golden_widths(void **state)
{
    (void)state;
    struct decision d;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct sched *s = world_sched("contextual", 6, seed, NULL);
        ask(&d, 6, NULL, 0);
        sched_pick(s, &d);
        assert_true(d.arm[0].width >= 0.31622 && d.arm[0].width <= 0.54773);
        for (int i = 1; i < 6; i++)
            assert_true(d.arm[i].width == d.arm[0].width && d.arm[i].mean == 0);
        sched_free(s);
    }
    struct sched *s = world_sched("contextual", 1, 1, "context=intercept");
    for (int n = 0; n <= 100; n++) {
        ask(&d, 1, NULL, 0);
        sched_pick(s, &d);
        assert_true(fabs(d.arm[0].width - 1 / sqrt(10 + n)) < 1e-15);
        assert_true(fabs(d.arm[0].mean - 0.5 * n / (10 + n)) < 1e-15);
        sched_learn(s, &d, &(struct sched_outcome){.reward = 0.5});
    }
    assert_true(fabs(d.arm[0].width - 0.0953) < 0.00005); /* n = 100 */
    sched_free(s);
}

/* METHOD R44: in the order that the seed draws, the dropped ones later; no noise is drawn. */
static void warm_up_is_in_the_drawn_order(void **state)
{
    (void)state;
    struct decision d;
    struct sched *s = world_sched("contextual", 5, 3, NULL);
    int order[SCHED_MAX_ARMS];
    const int expected[] = {0, 1, 3, 4, 2}; /* places in the order */
    choose_order(3, 5, order);
    for (int i = 0; i < 5; i++) {
        ask(&d, 5, NULL, i < 4 ? 1u << order[2] : 0);
        sched_pick(s, &d);
        assert_int_equal(d.choice, order[expected[i]]);
        for (int k = 0; k < 5; k++)
            assert_true(d.arm[k].noise == 0 && d.arm[k].draw == 0 && d.arm[k].phi[16] == 1);
    }
    ask(&d, 5, NULL, 0);
    sched_pick(s, &d);
    assert_true(d.arm[0].noise != 0 && d.arm[0].noise != d.arm[1].noise);
    sched_free(s);
}

/* METHOD R45: without exploration and data all predictions are 0: everyone must get about the same. */
static void ties_are_broken_by_lot(void **state)
{
    (void)state;
    struct decision d;
    int count[4] = {0};
    struct sched *s = world_sched("contextual", 4, 3, "explore=0,warmup=0");
    for (int i = 0; i < 4000; i++) {
        ask(&d, 4, NULL, 0);
        sched_pick(s, &d);
        count[d.choice]++;
    }
    for (int i = 0; i < 4; i++)
        assert_true(count[i] > 850 && count[i] < 1150);
    sched_free(s);
}

/* The phi of the decision is the phi of the update, whatever was learned in between. */
static void a_late_reward_counts_with_its_own_phi(void **state)
{
    (void)state;
    struct rng rng;
    struct decision d[40], probe;
    rng_seed(&rng, 9);
    struct sched *s = world_sched("contextual", 1, 3, NULL);
    struct linear m;
    linear_init(&m, 10);
    for (int i = 0; i < 40; i++) {
        ask(&d[i], 1, &rng, 0);
        sched_pick(s, &d[i]);
        if (i < 20) /* the first half completes at once, the other late and backwards */
            sched_learn(s, &d[i], &(struct sched_outcome){.reward = 0.01 * i});
    }
    for (int i = 39; i >= 20; i--)
        sched_learn(s, &d[i], &(struct sched_outcome){.reward = 0.01 * i});
    for (int i = 0; i < 40; i++)
        linear_add(&m, d[i].arm[0].phi, 0.01 * i);
    linear_solve(&m);
    ask(&probe, 1, &rng, 0);
    sched_pick(s, &probe);
    double phi[LINEAR_PADDED] PAIR_ALIGNED = {0}, width;
    memcpy(phi, probe.arm[0].phi, sizeof probe.arm[0].phi);
    assert_true(fabs(linear_predict(&m, phi, &width) - probe.arm[0].mean) < 1e-14);
    assert_true(fabs(width - probe.arm[0].width) < 1e-14);
    sched_free(s);
}

static const char *const kinds[] = {
    NULL,          "explore=0",      "context=intercept",  "context=intercept,icpt.width=common",
    "form=linear", "rank=3",         "models=shared",      "ridge=100",
    "gamma=0.995", "features=3",     "rank=2,form=linear", "rank=1,gamma=0.9,models=shared",
    "warmup=3",    "sigma=1,clamp=2"};
#define N_KINDS ((int)(sizeof kinds / sizeof *kinds))

/* Every ablation, also around a refit of the projection. */
static void saved_state_is_the_whole_state(void **state)
{
    (void)state;
    for (int k = 0; k < N_KINDS; k++)
        for (int cut = 0; cut < 90; cut += cut < 20 ? 5 : 7) {
            struct sched *both[] = {world_sched("contextual", 3, 5, kinds[k]),
                                    world_sched("contextual", 3, 5, kinds[k])};
            expect_saved(both, cut);
        }
}

static void a_decision_allocates_nothing(void **state)
{
    (void)state;
    for (int k = 0; k < N_KINDS; k++) {
        struct sched *s = world_sched("contextual", 6, 5, kinds[k]);
        struct world w;
        struct decision d;
        world_start(&w, 6, 1);
        for (int i = 0; i < 60; i++)
            world_step(&w, &s, 1);
        for (int i = 0; i < 50; i++) {
            ask(&d, 6, &w.rng, 0);
            struct mallinfo2 before = mallinfo2();
            sched_pick(s, &d);
            for (int j = 0; j < SIGNAL_COUNT; j++)
                sched_without(s, &d, (enum signal_id)j);
            struct mallinfo2 after = mallinfo2();
            assert_memory_equal(&before, &after, sizeof after);
        }
        sched_free(s);
        world_end(&w);
    }
}

/* Which arm stands where does not matter: the roster turned round, the signals with it, gives the same
 * predictions in the new order (the noise is by place, so the choice is made by hand). */
static void arms_are_treated_alike(void **state)
{
    (void)state;
    for (int k = 0; k < N_KINDS; k++) {
        if (kinds[k] && strstr(kinds[k], "rank")) /* sums over the arms: equal but for rounding */
            continue;
        struct sched *a = world_sched("contextual", 5, 8, kinds[k]);
        struct sched *b = world_sched("contextual", 5, 8, kinds[k]);
        struct rng rng;
        rng_seed(&rng, 3);
        for (int t = 0; t < 60; t++) {
            struct decision da, db;
            ask(&da, 5, &rng, 0);
            db = da;
            for (int i = 0; i < 5; i++)
                db.arm[i] = da.arm[4 - i];
            sched_pick(a, &da);
            sched_pick(b, &db);
            for (int i = 0; i < 5; i++) {
                assert_true(da.arm[i].mean == db.arm[4 - i].mean);
                assert_true(da.arm[i].width == db.arm[4 - i].width);
            }
            struct sched_outcome o = {.reward = rng_unit(&rng)};
            da.choice = t % 5;
            db.choice = 4 - t % 5;
            sched_learn(a, &da, &o);
            sched_learn(b, &db, &o);
        }
        sched_free(a);
        sched_free(b);
    }
}

/* One signal decides the reward: leaving it out changes choices, leaving out the others hardly does; and
 * asking changes nothing. */
static void the_signal_that_matters_is_found(void **state)
{
    (void)state;
    struct rng rng;
    struct decision d;
    int changed[SIGNAL_COUNT] = {0};
    rng_seed(&rng, 12);
    struct sched *s = world_sched("contextual", 4, 2, "form=linear");
    for (int t = 0; t < 600; t++) {
        struct buf before = BUF_INIT(1 << 20), after = BUF_INIT(1 << 20);
        ask(&d, 4, &rng, 0);
        sched_pick(s, &d);
        sched_save(s, &before);
        for (int k = 0; t >= 200 && k < SIGNAL_COUNT; k++)
            changed[k] += sched_without(s, &d, (enum signal_id)k) != d.choice;
        sched_save(s, &after);
        assert_memory_equal(before.p, after.p, before.len);
        buf_free(&before);
        buf_free(&after);
        double reward = d.arm[d.choice].signals[SIGNAL_RARITY];
        sched_learn(s, &d, &(struct sched_outcome){.reward = reward});
    }
    for (int k = 0; k < SIGNAL_COUNT; k++)
        if (k != SIGNAL_RARITY && 3 * changed[k] >= changed[SIGNAL_RARITY])
            fail_msg("%s changed %d choices, g_rarity %d", signal_name((enum signal_id)k),
                     changed[k], changed[SIGNAL_RARITY]);
    assert_true(changed[SIGNAL_RARITY] > 100);
    sched_free(s);
}

static void the_words_say_what_happened(void **state)
{
    (void)state;
    struct rng rng;
    struct decision d;
    struct buf b = BUF_INIT(1 << 12);
    rng_seed(&rng, 12);
    struct sched *s = world_sched("contextual", 2, 2, NULL);
    int exploring = 0;
    for (int t = 0; t < 200; t++) {
        ask(&d, 2, &rng, 0);
        sched_pick(s, &d);
        int other = 1 - d.choice;
        buf_clear(&b);
        s->ops->why(&d, world_roster, &b);
        assert_true((t < 2) == (strstr(b.p, "warm-up") != NULL));
        bool explored = d.arm[other].mean > d.arm[d.choice].mean;
        assert_true(t < 2 || explored == (strstr(b.p, "without exploration") != NULL));
        exploring += explored;
        sched_learn(s, &d, &(struct sched_outcome){.reward = d.choice ? 0.6 : 0.4});
    }
    assert_true(exploring > 5);
    ask(&d, 2, &rng, 1);
    sched_pick(s, &d);
    buf_clear(&b);
    s->ops->why(&d, world_roster, &b);
    assert_string_equal(b.p, "darwin is the only fuzzer that can run");
    sched_free(s);
    buf_free(&b);
}

static void options_are_checked(void **state)
{
    (void)state;
    const char *const wrong[] = {
        "ridge=0",    "rank=16",      "features=17", "gamma=1.1",
        "form=cubic", "context=half", "lambda=1",    "rank=3,context=intercept"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct sched_settings st = {.n_arms = 2, .arms = world_roster, .params = wrong[i]};
        struct sched *s;
        struct err e = {0};
        assert_true(sched_new(&s, "contextual", &st, &e) < 0);
        assert_int_equal(e.exit, ERR_EXIT_USAGE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oracle_agrees),
        cmocka_unit_test(the_standardiser_is_exact_and_clamps),
        cmocka_unit_test(the_features_are_bounded),
        cmocka_unit_test(the_regression_is_robust),
        cmocka_unit_test(the_golden_widths),
        cmocka_unit_test(warm_up_is_in_the_drawn_order),
        cmocka_unit_test(ties_are_broken_by_lot),
        cmocka_unit_test(a_late_reward_counts_with_its_own_phi),
        cmocka_unit_test(saved_state_is_the_whole_state),
        cmocka_unit_test(a_decision_allocates_nothing),
        cmocka_unit_test(arms_are_treated_alike),
        cmocka_unit_test(the_signal_that_matters_is_found),
        cmocka_unit_test(the_words_say_what_happened),
        cmocka_unit_test(options_are_checked),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
