/* shares: autofz and legion against tests/vectors/shares.py, at any size; what both say and refuse.  By
 * hand: deal.c, autofz.c, legion.c. */
#include "base/die.h"
#include "base/rng.h"
#include "base/str.h"
#include "sched/params.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "shares_kit.h"
#include "vectors.h"

#define PICKS 2334 /* in shares.txt */

/* --- the oracle ---------------------------------------------------------------------------- */

/* A campaign of shares.txt being told. */
struct tale {
    struct sched *s;
    bool legion;
    struct table table;
    struct ledger map;
    struct decision *d; /* of every pick */
    size_t n, cap;
    double rows[SCHED_MAX_ARMS][4];
};

static void tale_end(struct tale *t)
{
    if (t->s && t->legion)
        ledger_free(&t->map);
    sched_free(t->s);
    free(t->table.funcs);
    free(t->table.edges);
    free(t->d);
    *t = (struct tale){0};
}

static void tale_make(struct tale *t, struct vectors *v, bool legion)
{
    tale_end(t);
    uint64_t seed = (uint64_t)vectors_int(v);
    int arms = (int)vectors_int(v), workers = (int)vectors_int(v);
    int64_t turn_ns = vectors_int(v);
    char *opts = xstrdup(vectors_word(v));
    t->legion = legion;
    if (legion) {
        assert_string_equal(vectors_word(v), "table");
        t->table.n_funcs = (uint32_t)vectors_int(v);
        t->table.funcs = xcalloc(t->table.n_funcs, sizeof *t->table.funcs);
        for (uint32_t i = 0; i < t->table.n_funcs; i++)
            t->table.funcs[i].depth = (uint16_t)vectors_int(v);
        t->table.n_edges = (uint32_t)vectors_int(v);
        t->table.edges = xcalloc(t->table.n_edges, sizeof *t->table.edges);
        for (uint32_t i = 0; i < t->table.n_edges; i++) {
            t->table.edges[i].func = (uint32_t)vectors_int(v);
            t->table.edges[i].depth = t->table.funcs[t->table.edges[i].func].depth;
        }
        ledger_init(&t->map, &t->table);
    }
    t->s = make_seeded(legion ? "legion" : "autofz", seed, arms, workers, turn_ns,
                       strcmp(opts, "-") ? opts : NULL, &t->table);
    free(opts);
}

static struct edges *read_sets(struct vectors *v, size_t *n)
{
    *n = (size_t)vectors_int(v);
    struct edges *sets = xcalloc(*n + 1, sizeof *sets);
    for (size_t i = 0; i < *n; i++) {
        sets[i].n = (uint32_t)vectors_int(v);
        sets[i].ids = xcalloc(sets[i].n + 1, sizeof *sets[i].ids);
        for (uint32_t k = 0; k < sets[i].n; k++)
            sets[i].ids[k] = (uint32_t)vectors_int(v);
    }
    return sets;
}

static void free_sets(struct edges *sets, size_t n)
{
    for (size_t i = 0; i < n; i++)
        edges_free(&sets[i]);
    free(sets);
}

/* What it notes in phi, of the chosen arm. */
static void check_facts(const struct tale *t, const struct decision *d, struct vectors *v)
{
    static const char *const autofz[] = {"phase", "theta", "round", "winner"};
    static const char *const legion[] = {"round", "R", "units"};
    for (int k = 0; k < (t->legion ? 3 : 4); k++)
        expect_close(d->arm[d->choice].phi[k], vectors_real(v), (t->legion ? legion : autofz)[k],
                     (int64_t)t->n);
}

static void check_pick(struct tale *t, struct vectors *v)
{
    if (t->n == t->cap)
        t->d = xrealloc(t->d, (t->cap = t->cap ? 2 * t->cap : 64) * sizeof *t->d);
    struct decision *d = &t->d[t->n++];
    int64_t now = vectors_int(v);
    decision_ask(d, t->s->n_arms, t->n, 0, now, (uint64_t)vectors_int(v));
    sched_tick(t->s, now, t->legion ? &t->map : NULL);
    sched_pick(t->s, d);
    int64_t choice = vectors_int(v), turn_ns = vectors_int(v);
    if (d->choice != choice || d->turn_ns != turn_ns)
        fail_msg("pick %zu of %s at %lld: arm %d for %lld, expected %lld for %lld", t->n,
                 t->s->ops->name, (long long)now, d->choice, (long long)d->turn_ns,
                 (long long)choice, (long long)turn_ns);
    check_facts(t, d, v);
    bool rows = strcmp(vectors_word(v), "rows") == 0;
    for (int i = 0; i < d->n_arms; i++) {
        for (int k = 0; rows && k < 4; k++)
            t->rows[i][k] = vectors_real(v);
        expect_close(d->arm[i].mean, t->rows[i][0], "mean", (int64_t)t->n);
        expect_close(d->arm[i].width, t->rows[i][1], "width", (int64_t)t->n);
        expect_close(d->arm[i].noise, t->rows[i][2], "noise", (int64_t)t->n);
        expect_close(d->arm[i].draw, t->rows[i][3], "draw", (int64_t)t->n);
    }
}

static void tell_done(struct tale *t, struct vectors *v)
{
    const struct decision *d = &t->d[vectors_int(v)];
    struct sched_outcome o = {.now_ns = vectors_int(v)};
    o.new_edges = (uint32_t)vectors_int(v);
    o.crashes = (uint32_t)vectors_int(v);
    struct gain g = {0};
    size_t n;
    struct edges *sets = read_sets(v, &n);
    sched_tick(t->s, o.now_ns, t->legion ? &t->map : NULL);
    if (t->legion) {
        static uint32_t round;
        ledger_add_turn(&t->map, ++round, d->choice, sets, n, &g);
        assert_int_equal(g.fresh.n, o.new_edges);
        o.gain = &g;
    }
    sched_learn(t->s, d, &o);
    gain_free(&g);
    free_sets(sets, n);
}

static void tell_seeds(struct tale *t, struct vectors *v)
{
    size_t n;
    struct edges *sets = read_sets(v, &n);
    ledger_add_seeds(&t->map, sets, n);
    free_sets(sets, n);
}

static void check_whole(struct vectors *v)
{
    uint64_t seed = (uint64_t)vectors_int(v);
    int slots = (int)vectors_int(v), n = (int)vectors_int(v), cores[SCHED_MAX_ARMS];
    uint64_t weight[SCHED_MAX_ARMS];
    for (int i = 0; i < n; i++)
        weight[i] = (uint64_t)vectors_int(v);
    for (int i = 0; i < n; i++)
        cores[i] = (int)vectors_int(v);
    expect_cores(seed, weight, n, slots, cores);
}

static void the_oracle_agrees(void **state)
{
    (void)state;
    struct tale tale = {0}, *t = &tale;
    struct vectors v;
    int picks = 0, cores = 0;
    vectors_open(&v, "shares.txt");
    for (char *word; (word = vectors_word(&v));) {
        if (strcmp(word, "whole") == 0) {
            check_whole(&v);
            cores++;
        } else if (strcmp(word, "pick") == 0) {
            check_pick(t, &v);
            picks++;
        } else if (strcmp(word, "done") == 0) {
            tell_done(t, &v);
        } else if (strcmp(word, "seeds") == 0) {
            tell_seeds(t, &v);
        } else {
            assert_true(strcmp(word, "autofz") == 0 || strcmp(word, "legion") == 0);
            tale_make(t, &v, strcmp(word, "legion") == 0);
        }
    }
    assert_int_equal(cores, 307);
    assert_int_equal(picks, PICKS);
    tale_end(t);
    vectors_close(&v);
}

/* --- any size ------------------------------------------------------------------------------ */

/* One hour of W workers; every question has an answer that can run, and a length. */
static void an_hour(struct sched *s, int workers, const struct ledger *map)
{
    static struct decision running[256];
    struct gain g = {0};
    struct rng rng;
    rng_seed(&rng, (uint64_t)workers);
    for (int64_t now = 0; now < 3600 * S; now += 120 * S)
        for (int w = 0; w < workers; w++) {
            struct decision *d = &running[w];
            sched_tick(s, now, map);
            if (now)
                sched_learn(s, d,
                            &(struct sched_outcome){.now_ns = now,
                                                    .new_edges = (uint32_t)rng_below(&rng, 30),
                                                    .gain = &g});
            uint64_t dropped = rng_below(&rng, 50) ? 0 : 1 & (uint64_t)(s->n_arms > 1);
            decision_ask(d, s->n_arms, 1, w, now, dropped);
            sched_pick(s, d);
            assert_in_range(d->choice, 0, s->n_arms - 1);
            assert_true(decision_may(d, d->choice));
            assert_in_range(d->turn_ns, 30 * S, 120 * S);
            assert_true(d->arm[d->choice].draw > 0);
        }
}

static void any_number_of_arms_and_workers(void **state)
{
    (void)state;
    struct table_edge edges[70] = {{.depth = 0}};
    struct table_func funcs[1] = {{.depth = 0}};
    struct table t = {.n_edges = 70, .n_funcs = 1, .edges = edges, .funcs = funcs};
    struct ledger map;
    ledger_init(&map, &t);
    const int sizes[] = {1, 2, 3, 6, 7, 31, 63, 64};
    for (int k = 0; k < 8; k++)
        for (int w = 1; w <= 256; w += w < 8 ? 1 : 31)
            for (int which = 0; which < 3; which++) {
                struct sched *s = make(which ? "legion" : "autofz", sizes[k], w, 0,
                                       which == 2 ? "monitor=on" : NULL, &t);
                an_hour(s, w, &map);
                sched_free(s);
            }
    ledger_free(&map);
}

static void it_says_why(void **state)
{
    (void)state;
    const char *const names[] = {"autofz", "legion"};
    const char *const says[][2] = {{"preparation of round 0", "focus of round 0: f0 won"},
                                   {"in the first round", "its share is"}};
    for (int k = 0; k < 2; k++) {
        struct sched *s = make(names[k], 3, 3, 0, NULL, NULL);
        struct buf b = BUF_INIT(4096);
        struct decision d = ask(s, 0, 0);
        s->ops->why(&d, roster, &b);
        assert_non_null(strstr(b.p, says[k][0]));
        finish(s, &d, 10 * S, 500);
        d = ask(s, k ? 600 * S : 100 * S, 0);
        buf_clear(&b);
        s->ops->why(&d, roster, &b);
        if (!strstr(b.p, says[k][1]))
            fail_msg("%s", b.p);
        d.choice = -1;
        buf_clear(&b);
        s->ops->why(&d, roster, &b);
        assert_int_equal(b.len, 0);
        buf_free(&b);
        sched_free(s);
    }
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    const char *const wrong[][2] = {
        {"autofz", "prep=0s"},      {"autofz", "theta=-1"},  {"autofz", "decrease=2"},
        {"autofz", "aimd=maybe"},   {"legion", "units=all"}, {"legion", "monitor"},
        {"legion", "round=0.001s"}, {"legion", "prep=30s"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct sched_settings st = {
            .n_arms = 2, .arms = roster, .workers = 2, .params = wrong[i][1]};
        struct sched *s;
        struct err e = {0};
        assert_true(sched_new(&s, wrong[i][0], &st, &e) < 0);
        assert_int_equal(e.exit, ERR_EXIT_USAGE);
        assert_null(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oracle_agrees),
        cmocka_unit_test(any_number_of_arms_and_workers),
        cmocka_unit_test(it_says_why),
        cmocka_unit_test(wrong_options_are_refused),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
