/* rate: estimates, widths and draws against an independent computation; what it does in a scripted campaign. */
#include "base/det.h"
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
#define TURN_S 5
enum { LEVEL, TURNS, FLYING, IDLE, SIGNALS_ADD }; /* of phi */

static struct sched *make(int arms, int workers, int64_t turn_ns, uint64_t seed, const char *params)
{
    struct sched_settings st = {.n_arms = arms,
                                .arms = world_roster,
                                .workers = workers,
                                .seed = seed,
                                .turn_ns = turn_ns,
                                .params = params};
    struct sched *s;
    struct err e = {0};
    if (sched_new(&s, "rate", &st, &e) < 0)
        fail_msg("%s", e.msg);
    return s;
}

static void ask(struct sched *s, uint64_t t, int worker, struct decision *d)
{
    decision_ask(d, s->n_arms, t, worker, (int64_t)t * SECOND, 0);
    sched_pick(s, d);
}

static void learn(struct sched *s, const struct decision *d, double seconds, uint32_t edges)
{
    sched_learn(s, d,
                &(struct sched_outcome){.cost_ns = (int64_t)(seconds * 1e9), .new_edges = edges});
}

/* A completed turn of that fuzzer, whoever was asked for. */
static void teach(struct sched *s, int arm, double seconds, uint32_t edges)
{
    learn(s, &(struct decision){.n_arms = s->n_arms, .choice = arm}, seconds, edges);
}

/* --- the oracle ------------------------------------------------------------------------------------ */

static void check_row(struct vectors *v, const struct decision *d)
{
    const struct decision_arm *row = &d->arm[vectors_int(v)];
    int64_t t = (int64_t)d->t;
    expect_close(row->mean, vectors_real(v), "log rate", t);
    expect_close(row->width, vectors_real(v), "width", t);
    expect_close(row->noise, vectors_real(v), "noise", t);
    expect_close(row->draw, vectors_real(v), "draw", t);
    expect_close(row->phi[LEVEL], vectors_real(v), "level", t);
    expect_close(row->phi[TURNS], vectors_real(v), "turns", t);
    expect_close(row->phi[FLYING], vectors_real(v), "flying", t);
    expect_close(row->phi[IDLE], vectors_real(v), "idle", t);
    expect_close(row->phi[SIGNALS_ADD], vectors_real(v), "what signals add", t);
}

/* A question, and what follows it in the file: each fuzzer's signals, if they count, and its row. */
static void check_pick(struct vectors *v, struct sched *s, bool signals, struct decision *d)
{
    uint64_t t = (uint64_t)vectors_int(v);
    int worker = (int)vectors_int(v);
    int64_t now = vectors_int(v);
    decision_ask(d, s->n_arms, t, worker, now, (uint64_t)vectors_int(v));
    int choice = (int)vectors_int(v);
    for (int i = 0; signals && i < s->n_arms;
         i++) { /* first the signals: a pick needs all of them */
        assert_string_equal(vectors_word(v), "signals");
        assert_int_equal(vectors_int(v), i);
        for (int k = 0; k < SIGNAL_COUNT; k++)
            d->arm[i].signals[k] = vectors_real(v);
    }
    sched_pick(s, d);
    assert_int_equal(d->choice, choice);
    for (int i = 0; i < s->n_arms; i++) {
        assert_string_equal(vectors_word(v), "row");
        check_row(v, d);
    }
}

static void the_oracle_agrees(void **state)
{
    (void)state;
    static struct decision asked[160];
    struct vectors v;
    struct sched *s = NULL;
    int picks = 0;
    bool signals = false;
    vectors_open(&v, "rate.txt");
    for (char *word; (word = vectors_word(&v));) {
        if (strcmp(word, "rate") == 0) {
            int arms = (int)vectors_int(&v);
            uint64_t seed = (uint64_t)vectors_int(&v);
            int workers = (int)vectors_int(&v);
            int64_t turn_ns = vectors_int(&v);
            const char *params = vectors_word(&v);
            signals = strstr(params, "context=full") != NULL;
            sched_free(s);
            s = make(arms, workers, turn_ns, seed, params);
        } else if (strcmp(word, "pick") == 0) {
            struct decision d;
            check_pick(&v, s, signals, &d);
            asked[d.t] = d;
            picks++;
        } else if (strcmp(word, "learn") == 0) {
            const struct decision *d = &asked[vectors_int(&v)];
            struct sched_outcome o = {.cost_ns = vectors_int(&v)};
            o.new_edges = (uint32_t)vectors_int(&v);
            o.died = vectors_int(&v);
            sched_learn(s, d, &o);
        } else {
            fail_msg("rate.txt: what is %s?", word);
        }
    }
    assert_int_equal(picks, 442);
    sched_free(s);
    vectors_close(&v);
}

/* --- a campaign on libxml2 ------------------------------------------------------------------------- */

enum { AFLPP, DARWIN, HONGGFUZZ, MOPT, LAFINTEL, RADAMSA, FUZZERS };

/* New edges per second of each fuzzer, in the middle of each quarter of 600 s, as measured. */
static const double measured[FUZZERS][4] = {
    [AFLPP] = {190, 5.9, 5.8, 0.8},    [DARWIN] = {40, 0.3, 1.6, 0.1},
    [HONGGFUZZ] = {62, 17, 14.8, 3.3}, [MOPT] = {5.7, 2.5, 0.3, 0.7},
    [LAFINTEL] = {7.6, 0.2, 0.3, 0.4}, [RADAMSA] = {0.7, 0.02, 0.1, 0.02},
};

struct course {                     /* of a campaign, or of many */
    double seconds[FUZZERS], whole; /* slot time of each fuzzer, and of all */
    double edges;                   /* in all */
    double aflpp_early,
        in_the_lead; /* part of the first quarter; part of the others that honggfuzz had */
};

static double at_time(int arm, double s)
{
    double q = (s - 75) / 150;
    q = q < 0 ? 0 : q > 2.999 ? 2.999 : q;
    int i = (int)q;
    return det_exp(det_log(measured[arm][i]) * (1 - (q - i)) +
                   det_log(measured[arm][i + 1]) * (q - i));
}

/* Turns of 5 s, the first of a fuzzer after 5 s of start-up; half an e-fold of noise. */
static void play_libxml2(const char *scheduler, uint64_t seed, struct course *c)
{
    struct sched_settings st = {.n_arms = FUZZERS,
                                .arms = world_roster,
                                .workers = 1,
                                .seed = seed,
                                .turn_ns = TURN_S * SECOND};
    struct sched *s;
    struct rng rng;
    bool started[FUZZERS] = {false};
    double now = 0;
    assert_int_equal(sched_new(&s, scheduler, &st, NULL), 0);
    rng_seed(&rng, 1000 + seed);
    for (uint64_t t = 1; now < 600; t++) {
        struct decision d;
        decision_ask(&d, FUZZERS, t, 0, (int64_t)(now * 1e9), 0);
        sched_pick(s, &d);
        double cost = started[d.choice] ? TURN_S : 2 * TURN_S;
        double found =
            at_time(d.choice, now) * TURN_S * det_exp(0.5 * rng_normal(&rng)) + rng_unit(&rng);
        started[d.choice] = true;
        c->seconds[d.choice] += cost;
        c->whole += cost;
        c->edges += floor(found);
        c->aflpp_early += now < 150 && d.choice == AFLPP ? cost : 0;
        c->in_the_lead += now >= 150 && d.choice == HONGGFUZZ ? cost : 0;
        now += cost;
        sched_learn(s, &d,
                    &(struct sched_outcome){.cost_ns = (int64_t)(cost * 1e9),
                                            .reward = found < 2000 ? found / 2000 : 1,
                                            .new_edges = (uint32_t)found});
    }
    sched_free(s);
}

static struct course libxml2(const char *scheduler)
{
    struct course c = {0};
    for (uint64_t seed = 0; seed < 100; seed++)
        play_libxml2(scheduler, seed, &c);
    return c;
}

static void time_goes_where_edges_are(void **state)
{
    (void)state;
    struct course c = libxml2("rate"), equal = libxml2("equal"), learner = libxml2("contextual");
    const double n = 100;
    assert_true(c.edges > 1.9 * equal.edges);
    assert_true(c.edges > 1.6 * learner.edges);
    assert_true(c.seconds[RADAMSA] < 0.03 * c.whole); /* two thirds of it its one start */
    assert_true(c.seconds[LAFINTEL] + c.seconds[MOPT] < 0.12 * c.whole);
    assert_true(c.aflpp_early / n > 40);  /* s of 150, in which nobody else comes near; equal: 25 */
    assert_true(c.in_the_lead / n > 200); /* s of 450, in which honggfuzz leads; equal: 75 */
}

/* How many of 400 campaigns start a second fuzzer now, the first having found `then` edges in each of four turns
 * and after that `now` edges in each of `more`. */
static int second_starts(uint32_t then, uint32_t now, int more)
{
    int n = 0;
    for (uint64_t seed = 0; seed < 400; seed++) {
        struct sched *s = make(6, 1, TURN_S * SECOND, seed, NULL);
        struct decision d;
        for (int i = 0; i < 4 + more; i++)
            teach(s, 2, TURN_S, i < 4 ? then : now);
        ask(s, 1, 0, &d);
        n += d.choice != 2;
        sched_free(s);
    }
    return n;
}

static void others_are_started_when_one_flags(void **state)
{
    (void)state;
    int steady = second_starts(1000, 1000, 4);
    assert_in_range(steady, 20, 80);        /* a turn in five at most */
    int flags = second_starts(1000, 50, 3); /* it fell a moment ago, */
    assert_true(flags > 3 * steady);
    assert_true(second_starts(1000, 50, 10) < flags / 2); /* or is like that now */
    assert_true(second_starts(0, 0, 0) > 200);            /* nothing to lose */
    assert_in_range(second_starts(1000000, 1000000, 4), steady - 4, steady + 4); /* no scale */
}

/* Fuzzers started in 200 campaigns after so many turns; all find the same in every turn. */
static int started_after(int turns)
{
    int n = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct sched *s = make(6, 1, TURN_S * SECOND, seed, NULL);
        unsigned ran = 0;
        for (int t = 1; t <= turns; t++) {
            struct decision d;
            ask(s, (uint64_t)t, 0, &d);
            n += !(ran >> d.choice & 1);
            ran |= 1u << d.choice;
            learn(s, &d, TURN_S, 1000);
        }
        sched_free(s);
    }
    return n;
}

static void they_are_started_one_by_one(void **state)
{
    (void)state;
    assert_int_equal(started_after(1), 200);
    struct sched *s = make(6, 1, TURN_S * SECOND, 5, NULL);
    struct decision d;
    ask(s, 1, 0, &d);
    assert_int_equal(d.choice, 0); /* in the order of the roster */
    sched_free(s);
    assert_true(started_after(3) < 200 * 3 / 2); /* not all in the first seconds */
    assert_true(started_after(6) < 200 * 2);
    assert_int_equal(started_after(1000), 200 * 6); /* but nobody is forgotten */
}

/* Turns until the fuzzer runs again, the other ones finding so many edges in each. */
static int turns_until(struct sched *s, int arm, uint64_t *t, uint32_t edges)
{
    struct decision d;
    for (int n = 0;; n++) {
        ask(s, ++*t, 0, &d);
        learn(s, &d, TURN_S, d.choice == arm ? 500 : edges);
        if (d.choice == arm || n == 1000)
            return n;
    }
}

/* Honggfuzz had been good.  While aflpp is better it waits; when aflpp falls behind what honggfuzz was last
 * seen to bring, it comes back, and being good again it stays. */
static void one_that_recovers_comes_back(void **state)
{
    (void)state;
    double waited_good = 0, waited_bad = 0, stays = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct sched *s = make(2, 1, TURN_S * SECOND, seed, NULL);
        uint64_t t = 0;
        for (int i = 0; i < 4; i++) {
            teach(s, 1, TURN_S, 20); /* poor at the time */
            teach(s, 0, TURN_S, 2000);
        }
        waited_good += turns_until(s, 1, &t, 2000);
        for (int i = 0; i < 4; i++)
            teach(s, 1, TURN_S, 20);
        waited_bad += turns_until(s, 1, &t, 2);
        for (int i = 0; i < 10; i++) {
            struct decision d;
            ask(s, ++t, 0, &d);
            learn(s, &d, TURN_S, d.choice == 1 ? 500 : 2);
            stays += d.choice == 1;
        }
        sched_free(s);
    }
    assert_true(waited_bad / 200 < 20);
    assert_true(waited_good > 8 * waited_bad);
    assert_true(stays / 200 > 9);
}

/* --- parts ----------------------------------------------------------------------------------------- */

static double level_of(const char *params, double seconds, uint32_t edges, bool died)
{
    struct sched *s = make(2, 1, TURN_S * SECOND, 1, params);
    struct decision d;
    sched_learn(s, &(struct decision){.n_arms = 2, .choice = 1},
                &(struct sched_outcome){
                    .cost_ns = (int64_t)(seconds * 1e9), .new_edges = edges, .died = died});
    ask(s, 1, 0, &d);
    double level = d.arm[1].mean;
    sched_free(s);
    return level;
}

static void a_turn_counts_by_its_whole_time(void **state)
{
    (void)state;
    expect_close(level_of(NULL, 5, 100, false), log(100.5 / 5), "a turn", 1);
    expect_close(level_of(NULL, 20, 100, false), log(100.5 / 20), "start-up counts", 1);
    expect_close(level_of(NULL, 5, 0, false), log(0.5 / 5), "nothing found", 1);
    expect_close(level_of(NULL, 0.05, 0, false), log(0.5 / 5), "nothing found, soon", 1);
    expect_close(level_of(NULL, 0, 0, false), log(0.5 / 5), "nothing found at once", 1);
    expect_close(level_of(NULL, 0.05, 10, false), log(10.005 / 0.05), "a short turn", 1);
    expect_close(level_of(NULL, 0.05, 10, true), log(10.5 / 5), "a death", 1);
    expect_close(level_of(NULL, 9, 10, true), log(10.5 / 9), "a late death", 1);
}

/* The reward is no part of it. */
static void only_edges_and_time_count(void **state)
{
    (void)state;
    struct sched *a = make(3, 1, TURN_S * SECOND, 1, NULL),
                 *b = make(3, 1, TURN_S * SECOND, 1, NULL);
    for (uint64_t t = 1; t < 60; t++) {
        struct decision d, e;
        ask(a, t, 0, &d);
        ask(b, t, 0, &e);
        assert_false(decision_differs(&d, &e, world_roster, &(struct decision_diff){0}));
        struct sched_outcome o = {.cost_ns = 7 * SECOND, .new_edges = (uint32_t)(t * 13 % 7)};
        sched_learn(a, &d, &o);
        o.reward = 1;
        sched_learn(b, &e, &o);
    }
    sched_free(a);
    sched_free(b);
}

/* A turn in flight narrows the width as if it were done, and leaves the estimate alone; when it completes, or
 * its worker asks again because it will never complete, it is in flight no longer. */
static void turns_in_flight_count(void **state)
{
    (void)state;
    struct sched *s = make(1, 3, TURN_S * SECOND, 1, "noise=1,idle=0");
    struct decision d[4];
    teach(s, 0, TURN_S, 10);
    ask(s, 1, 0, &d[0]);
    ask(s, 2, 1, &d[1]);
    ask(s, 3, 2, &d[2]);
    expect_close(d[0].arm[0].width, 1, "none in flight", 1);
    expect_close(d[1].arm[0].width, sqrt(1.0 / 2), "one", 2);
    expect_close(d[2].arm[0].width, sqrt(1.0 / 3), "two", 3);
    assert_true(d[2].arm[0].mean == d[0].arm[0].mean);
    ask(s, 4, 1, &d[3]); /* the second was voided */
    expect_close(d[3].arm[0].width, sqrt(1.0 / 3), "two again", 4);
    learn(s, &d[1], TURN_S, 10); /* an old one: that of the worker's new turn stays */
    learn(s, &d[0], TURN_S, 10);
    ask(s, 5, 0, &d[0]);
    expect_close(d[0].arm[0].phi[FLYING], 2, "in flight", 5);
    sched_free(s);
}

/* --- signals --------------------------------------------------------------------------------------- */

/* Two fuzzers alike, but when a signal of a fuzzer is 1 it finds 20 times as much as when it is 0.  Returns how
 * often the one with the better signal was chosen in the last 200 of 400 turns, of those where they differ. */
static double follows_the_signal(const char *params, double *decided)
{
    double right = 0, differ = 0, changed = 0;
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct sched *s = make(2, 1, TURN_S * SECOND, seed, params);
        struct rng rng;
        rng_seed(&rng, seed);
        for (uint64_t t = 1; t <= 400; t++) {
            struct decision d;
            decision_ask(&d, 2, t, 0, (int64_t)t * SECOND, 0);
            for (int i = 0; i < 2; i++)
                for (int k = 0; k < SIGNAL_COUNT; k++)
                    d.arm[i].signals[k] =
                        k == SIGNAL_RARITY ? (double)rng_below(&rng, 2) : rng_unit(&rng);
            sched_pick(s, &d);
            double mine = d.arm[d.choice].signals[SIGNAL_RARITY];
            if (t > 200 && d.arm[0].signals[SIGNAL_RARITY] != d.arm[1].signals[SIGNAL_RARITY]) {
                differ++;
                right += mine;
                changed += sched_without(s, &d, SIGNAL_RARITY) != d.choice;
            }
            assert_true(sched_without(s, &d, SIGNAL_WIN_MEAN) >= 0);
            learn(s, &d, TURN_S, mine > 0 ? 400 : 20);
        }
        sched_free(s);
    }
    *decided = changed / differ;
    return right / differ;
}

static void signals_are_factors_of_the_rate(void **state)
{
    (void)state;
    double decided, undecided;
    assert_true(follows_the_signal("context=full", &decided) > 0.9);
    assert_true(decided > 0.3);
    assert_true(fabs(follows_the_signal(NULL, &undecided) - 0.5) < 0.1);
    assert_true(undecided == 0);
    struct sched *sees = make(2, 1, TURN_S * SECOND, 1, "context=full"),
                 *blind = make(2, 1, TURN_S * SECOND, 1, NULL);
    assert_true(sched_reads_signals(sees) && !sched_reads_signals(blind));
    sched_free(sees);
    sched_free(blind);
}

/* --- state and words ------------------------------------------------------------------------------- */

/* With signals; without, tests/unit/sched.c does it. */
static void saved_state_is_the_whole_state(void **state)
{
    (void)state;
    for (int cut = 0; cut < 60; cut += 7) {
        struct sched *both[] = {world_sched("rate", 5, 9, "context=full"),
                                world_sched("rate", 5, 9, "context=full")};
        expect_saved(both, cut);
    }
}

static void expect_words(struct sched *s, const struct decision *d, const char *first,
                         const char *second)
{
    struct buf b = BUF_INIT(1 << 16);
    s->ops->why(d, world_roster, &b);
    if (!strstr(b.p, first) || (second && !strstr(b.p, second)))
        fail_msg("\"%s\" does not say \"%s\" and \"%s\"", b.p, first, second ? second : "");
    buf_free(&b);
}

static void words_say_why(void **state)
{
    (void)state;
    struct sched *s = make(2, 1, TURN_S * SECOND, 1, "explore=0,noise=1,idle=0.25");
    struct decision d;
    for (int i = 0; i < 4; i++)
        teach(s, 1, TURN_S, 500);
    ask(s, 1, 0, &d);
    assert_int_equal(d.choice, 1);
    expect_words(s, &d, "darwin, 100 new edges a second, give or take a factor of 2.38",
                 "Next came: aflpp, untried and assumed at 35.4 ");
    expect_words(s, &d, "after 4 turns of others", NULL);
    decision_ask(&d, 2, 2, 0, 0, 1);
    sched_pick(s, &d);
    expect_words(s, &d, "darwin, 100", "Nobody else could run");
    decision_ask(&d, 2, 3, 0, 0, 3);
    sched_pick(s, &d);
    expect_words(s, &d, "no fuzzer can run", NULL);
    sched_free(s);
    s = make(2, 1, TURN_S * SECOND, 1, NULL);
    ask(s, 1, 0, &d);
    expect_words(s, &d, "untried and assumed at 0.1 new edges a second",
                 "the roster's order decided");
    sched_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oracle_agrees),
        cmocka_unit_test(time_goes_where_edges_are),
        cmocka_unit_test(others_are_started_when_one_flags),
        cmocka_unit_test(they_are_started_one_by_one),
        cmocka_unit_test(one_that_recovers_comes_back),
        cmocka_unit_test(a_turn_counts_by_its_whole_time),
        cmocka_unit_test(only_edges_and_time_count),
        cmocka_unit_test(turns_in_flight_count),
        cmocka_unit_test(signals_are_factors_of_the_rate),
        cmocka_unit_test(saved_state_is_the_whole_state),
        cmocka_unit_test(words_say_why),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
