/* ledger: the coverage map and the three rewards, by hand and against tests/vectors/oracle.py. */
#include "reward/ledger.h"

#include "base/die.h"
#include "base/rng.h"
#include "reward/reward.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "vectors.h"

/* --- by hand ------------------------------------------------------------------------------- */

/* 0 -> 1, 2; 1 -> 3; 2 -> 3; 4 is an entry nobody calls as far as the table knows; 5 follows 4. */
static uint32_t preds[] = {0, 0, 1, 2, 4};
static struct table_edge blocks[] = {
    {.pred_off = 0, .pred_n = 0, .succ_n = 2},
    {.pred_off = 0, .pred_n = 1, .succ_n = 1, .mem = 2},
    {.pred_off = 1, .pred_n = 1, .succ_n = 1, .mem = 1, .memw = 3},
    {.pred_off = 2, .pred_n = 2, .succ_n = 0},
    {.pred_off = 0, .pred_n = 0, .succ_n = 1, .flags = EDGE_ENTRY},
    {.pred_off = 4, .pred_n = 1, .succ_n = 0},
};
static const struct table table = {.n_edges = 6, .n_preds = 5, .edges = blocks, .preds = preds};

#define SET(...) {.ids = (uint32_t[]){__VA_ARGS__}, .n = sizeof((uint32_t[]){__VA_ARGS__}) / 4}

static void a_small_campaign_by_hand(void **state)
{
    (void)state;
    struct ledger l;
    struct gain g;
    ledger_init(&l, &table);
    ledger_add_seeds(&l, (struct edges[]){SET(0), SET(0)}, 2);
    assert_int_equal(l.covered, 1);
    assert_int_equal(l.hits[0], 2);
    assert_int_equal(l.first_fuzzer[0], -1);

    /* Round 3: block 1 from block 0 (round 0): 3 - 0; block 3 from 1 of the same round: 0. */
    ledger_add_turn(&l, 3, 2, (struct edges[]){SET(0, 1), SET(1, 3)}, 2, &g);
    assert_int_equal(g.fresh.n, 2);
    assert_int_equal(g.touched.n, 3);
    assert_true(g.interval == 3);
    assert_true(g.frontier == 1); /* block 0 has two ways out and was known; block 1 was not */
    expect_close(g.rarity, (1 / log(4) + 1 / log(3)) / 2, "rarity", 3);
    expect_close(g.rarity_density, (1 / log(5) + 1 / log(4) + 1 / log(3)) / 3, "density", 3);
    expect_close(g.sec, 1 - exp(-1), "sec", 3); /* two calls in two new blocks */
    assert_int_equal(l.first_round[3], 3);
    assert_int_equal(l.first_fuzzer[3], 2);
    gain_free(&g);

    /* Round 5: an entry without known callers adds nothing and is counted; its follower 5 - 5. */
    ledger_add_turn(&l, 5, 0, (struct edges[]){SET(4, 5)}, 1, &g);
    assert_true(g.interval == 0);
    assert_int_equal(l.no_predecessor, 1);
    gain_free(&g);

    /* Nothing new: no rarity, no security, but a density. */
    ledger_add_turn(&l, 6, 1, (struct edges[]){SET(0)}, 1, &g);
    assert_int_equal(g.fresh.n, 0);
    assert_true(g.rarity == 0 && g.sec == 0 && g.interval == 0);
    expect_close(g.rarity_density, 1 / log(6), "density", 6);
    gain_free(&g);
    ledger_add_turn(&l, 7, 1, NULL, 0, &g);
    assert_true(g.rarity_density == 0);
    gain_free(&g);
    ledger_free(&l);
}

static void a_path_is_new_once(void **state)
{
    (void)state;
    struct ledger l;
    struct gain g;
    ledger_init(&l, &table);
    ledger_add_seeds(&l, (struct edges[]){SET(0), SET(0, 1), SET(0)}, 3);
    assert_int_equal(l.paths.n, 2);
    ledger_add_turn(&l, 1, 0, (struct edges[]){SET(0, 1), SET(1), SET(0, 2), SET(1), {0}}, 5, &g);
    assert_int_equal(g.new_paths, 2); /* an input that ran into nothing took none */
    gain_free(&g);
    ledger_add_turn(&l, 2, 1, (struct edges[]){SET(1), SET(0, 2)}, 2,
                    &g); /* whoever took it first */
    assert_int_equal(g.new_paths, 0);
    gain_free(&g);
    assert_int_equal(l.paths.n, 4);
    ledger_free(&l);
}

/* All sets of some of 17 edges: every one is new once, and they stay known while the table grows. */
static void many_paths_stay_apart(void **state)
{
    (void)state;
    struct paths p = {0};
    for (int again = 0; again < 2; again++)
        for (uint64_t bits = 1; bits < 1u << 17; bits++) {
            uint32_t ids[17];
            struct edges s = {.ids = ids};
            for (uint32_t i = 0; i < 17; i++)
                if (bits >> i & 1)
                    ids[s.n++] = i;
            assert_int_equal(paths_add(&p, &s), !again);
        }
    assert_int_equal(p.n, (1u << 17) - 1);
    assert_true(p.cap * 8 <= 22 * p.n);
    paths_free(&p);
}

static void a_learned_call_is_a_predecessor(void **state)
{
    (void)state;
    struct ledger l;
    struct gain g;
    ledger_init(&l, &table);
    ledger_add_seeds(&l, (struct edges[]){SET(0, 1)}, 1);
    assert_int_equal(ledger_learn_call(&l, 1, 4), 1);
    assert_int_equal(ledger_learn_call(&l, 1, 4), 0);
    assert_int_equal(ledger_learn_call(&l, 0, 1), 0); /* in the table already */
    assert_int_equal(ledger_learn_call(&l, 0, 6), 0); /* no such block */
    assert_int_equal(ledger_learn_call(&l, 6, 0), 0);
    ledger_add_turn(&l, 2, 0, (struct edges[]){SET(4)}, 1, &g);
    assert_true(g.interval == 2);
    assert_int_equal(l.no_predecessor, 0);
    gain_free(&g);
    ledger_free(&l);
}

static void rewards_keep_their_bounds(void **state)
{
    (void)state;
    struct reward_bounds b = {0};
    assert_true(reward_normalise(&b, 0) == 0);
    assert_true(reward_normalise(&b, 4) == 1);
    assert_true(reward_normalise(&b, 1) == 0.25);
    assert_true(reward_normalise(&b, 8) == 1);
    assert_true(reward_normalise(&b, 4) == 0.5);
    assert_true(reward_normalise(&b, -8) == 0);
    assert_true(reward_normalise(&b, 0) == 0.5);
    assert_int_equal(reward_kind_of("coverage_interval"), REWARD_COVERAGE_INTERVAL);
    assert_int_equal(reward_kind_of("frontier_branch"), REWARD_FRONTIER_BRANCH);
    assert_int_equal(reward_kind_of("rarity_density"), REWARD_RARITY_DENSITY);
    assert_int_equal(reward_kind_of("none"), REWARD_NONE);
    assert_int_equal(reward_kind_of("bugs"), REWARD_NONE);
}

/* --- vectors ------------------------------------------------------------------------------- */

struct run {
    struct table table;
    struct ledger ledger;
    struct gain gain;
    struct reward_bounds bounds[3];
    uint32_t turn;
    int turns; /* seen in the whole file */
    bool open;
};

static void read_table(struct vectors *v, struct table *t)
{
    *t = (struct table){.n_edges = (uint32_t)vectors_int(v)};
    t->edges = xcalloc(t->n_edges, sizeof *t->edges);
    for (uint32_t i = 0; i < t->n_edges; i++) {
        assert_string_equal(vectors_word(v), "block");
        struct table_edge *e = &t->edges[i];
        e->succ_n = (uint32_t)vectors_int(v);
        e->mem = (uint16_t)vectors_int(v);
        e->memw = (uint16_t)vectors_int(v);
        e->pred_n = (uint32_t)vectors_int(v);
        e->pred_off = t->n_preds;
        t->preds = xrealloc(t->preds, (t->n_preds + e->pred_n + 1) * sizeof *t->preds);
        for (uint32_t j = 0; j < e->pred_n; j++)
            t->preds[t->n_preds++] = (uint32_t)vectors_int(v);
    }
}

static struct edges read_set(struct vectors *v)
{
    struct edges s = {.n = (uint32_t)vectors_int(v)};
    s.ids = xcalloc(s.n + 1, sizeof *s.ids);
    for (uint32_t i = 0; i < s.n; i++)
        s.ids[i] = (uint32_t)vectors_int(v);
    return s;
}

static struct edges *read_inputs(struct vectors *v, size_t n)
{
    struct edges *sets = xcalloc(n + 1, sizeof *sets);
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(vectors_word(v), "input");
        sets[i] = read_set(v);
    }
    return sets;
}

static void free_inputs(struct edges *sets, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(sets[i].ids);
    free(sets);
}

static void expect_set(struct vectors *v, const struct edges *got)
{
    struct edges want = read_set(v);
    assert_int_equal(got->n, want.n);
    if (want.n)
        assert_memory_equal(got->ids, want.ids, want.n * sizeof *want.ids);
    free(want.ids);
}

static void run_turn(struct vectors *v, struct run *r)
{
    r->turn = (uint32_t)vectors_int(v);
    int fuzzer = (int)vectors_int(v);
    size_t n = (size_t)vectors_int(v);
    struct edges *sets = read_inputs(v, n);
    gain_free(&r->gain);
    ledger_add_turn(&r->ledger, r->turn, fuzzer, sets, n, &r->gain);
    free_inputs(sets, n);
    r->turns++;
}

static void check_gain(struct vectors *v, struct run *r)
{
    const struct gain *g = &r->gain;
    assert_true(g->interval == vectors_real(v));
    assert_true(g->frontier == vectors_real(v));
    expect_close(g->rarity_density, vectors_real(v), "rarity density", r->turn);
    expect_close(g->rarity, vectors_real(v), "rarity", r->turn);
    expect_close(g->sec, vectors_real(v), "sec", r->turn);
}

static void check_rewards(struct vectors *v, struct run *r)
{
    for (int k = 0; k < 3; k++) {
        enum reward_kind kind = (enum reward_kind)(REWARD_COVERAGE_INTERVAL + k);
        double got = reward_normalise(&r->bounds[k], reward_raw(kind, &r->gain));
        expect_close(got, vectors_real(v), k ? k == 1 ? "frontier" : "density" : "interval",
                     r->turn);
    }
}

static void check_edges(struct vectors *v, struct run *r)
{
    for (uint32_t i = 0; i < r->table.n_edges; i++) {
        if (i)
            assert_string_equal(vectors_word(v), "edge");
        int64_t round = vectors_int(v), fuzzer = vectors_int(v);
        assert_int_equal(r->ledger.first_round[i], round < 0 ? LEDGER_NEVER : (uint32_t)round);
        assert_int_equal(r->ledger.first_fuzzer[i], fuzzer);
        assert_int_equal(r->ledger.hits[i], vectors_int(v));
    }
}

static void begin(struct vectors *v, struct run *r)
{
    read_table(v, &r->table);
    ledger_init(&r->ledger, &r->table);
    memset(r->bounds, 0, sizeof r->bounds);
    r->open = true;
}

static void end(struct vectors *v, struct run *r)
{
    assert_int_equal(r->ledger.covered, vectors_int(v));
    assert_int_equal(r->ledger.no_predecessor, vectors_int(v));
    gain_free(&r->gain);
    ledger_free(&r->ledger);
    free(r->table.edges);
    free(r->table.preds);
    r->open = false;
}

static void step(struct vectors *v, struct run *r, const char *word)
{
    if (strcmp(word, "table") == 0) {
        begin(v, r);
    } else if (strcmp(word, "seeds") == 0) {
        size_t n = (size_t)vectors_int(v);
        struct edges *sets = read_inputs(v, n);
        ledger_add_seeds(&r->ledger, sets, n);
        free_inputs(sets, n);
    } else if (strcmp(word, "call") == 0) {
        uint32_t caller = (uint32_t)vectors_int(v), callee = (uint32_t)vectors_int(v);
        assert_int_equal(ledger_learn_call(&r->ledger, caller, callee), vectors_int(v));
    } else if (strcmp(word, "turn") == 0) {
        run_turn(v, r);
    } else if (strcmp(word, "fresh") == 0) {
        expect_set(v, &r->gain.fresh);
    } else if (strcmp(word, "touched") == 0) {
        expect_set(v, &r->gain.touched);
    } else if (strcmp(word, "gain") == 0) {
        check_gain(v, r);
    } else if (strcmp(word, "reward") == 0) {
        check_rewards(v, r);
    } else if (strcmp(word, "edge") == 0) {
        check_edges(v, r);
    } else if (strcmp(word, "end") == 0) {
        end(v, r);
    } else {
        fail_msg("ledger.txt: what is %s?", word);
    }
}

static void the_oracle_agrees(void **state)
{
    (void)state;
    struct vectors v;
    struct run r = {0};
    vectors_open(&v, "ledger.txt");
    for (char *word; (word = vectors_word(&v));)
        step(&v, &r, word);
    assert_false(r.open);
    assert_int_equal(r.turns, 80);
    vectors_close(&v);
}

/* --- properties ---------------------------------------------------------------------------- */

/* Two folds of the same random campaign are equal in every bit, whatever the order of inputs. */
static void folding_is_deterministic(void **state)
{
    (void)state;
    struct ledger a, b;
    struct rng rng;
    rng_seed(&rng, 11);
    ledger_init(&a, &table);
    ledger_init(&b, &table);
    for (uint32_t t = 1; t < 200; t++) {
        uint32_t ids[2] = {(uint32_t)rng_below(&rng, 6), (uint32_t)rng_below(&rng, 6)};
        struct edges one = {.ids = &ids[0], .n = 1}, two = {.ids = &ids[1], .n = 1};
        struct gain g, h;
        ledger_add_turn(&a, t, 1, (struct edges[]){one, two}, 2, &g);
        ledger_add_turn(&b, t, 1, (struct edges[]){two, one}, 2, &h);
        size_t numbers = sizeof g - offsetof(struct gain, interval);
        assert_memory_equal(&g.interval, &h.interval, numbers);
        assert_int_equal(g.fresh.n, h.fresh.n);
        gain_free(&g);
        gain_free(&h);
    }
    assert_memory_equal(a.hits, b.hits, 6 * sizeof *a.hits);
    assert_memory_equal(a.first_round, b.first_round, 6 * sizeof *a.first_round);
    ledger_free(&a);
    ledger_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_campaign_by_hand),
        cmocka_unit_test(a_path_is_new_once),
        cmocka_unit_test(many_paths_stay_apart),
        cmocka_unit_test(a_learned_call_is_a_predecessor),
        cmocka_unit_test(rewards_keep_their_bounds),
        cmocka_unit_test(the_oracle_agrees),
        cmocka_unit_test(folding_is_deterministic),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
