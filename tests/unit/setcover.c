/* setcover: against every subset of small instances, and against the rule of the header followed step by step. */
#include "corpus/setcover.h"

#include "base/die.h"
#include "base/rng.h"
#include "eval/edges.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MOST 10 /* sets: 1024 subsets */
#define EDGES 20

static uint32_t bits[MOST];
static struct setcover_set sets[MOST];
static struct buf coded[MOST];

static void set_up(size_t i, uint32_t members, double cost)
{
    struct edges s;
    uint64_t word = members;
    edges_from_bits(&s, &word, EDGES);
    buf_free(&coded[i]);
    coded[i] = (struct buf)BUF_INIT(4096);
    edges_encode(&s, &coded[i]);
    edges_free(&s);
    bits[i] = members;
    sets[i] = (struct setcover_set){coded[i].p, coded[i].len, cost};
}

static uint32_t union_of(size_t n, uint32_t subset)
{
    uint32_t all = 0;
    for (size_t i = 0; i < n; i++)
        all |= subset >> i & 1 ? bits[i] : 0;
    return all;
}

static double cost_of(size_t n, uint32_t subset)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += subset >> i & 1 ? sets[i].cost : 0;
    return sum;
}

static double cheapest(size_t n)
{
    uint32_t whole = union_of(n, (1u << n) - 1);
    double best = cost_of(n, (1u << n) - 1);
    for (uint32_t s = 0; s < 1u << n; s++)
        if (union_of(n, s) == whole && cost_of(n, s) < best)
            best = cost_of(n, s);
    return best;
}

static double harmonic(uint32_t n)
{
    double h = 0;
    for (; n; n--)
        h += 1.0 / n;
    return h;
}

static uint32_t largest(size_t n)
{
    int most = 0;
    for (size_t i = 0; i < n; i++)
        most = __builtin_popcount(bits[i]) > most ? __builtin_popcount(bits[i]) : most;
    return (uint32_t)most;
}

/* The greedy rule without a heap, then the pruning without counters. */
static uint32_t by_the_rule(size_t n)
{
    uint32_t covered = 0, chosen = 0, order[MOST], k = 0;
    for (;;) {
        int best = -1;
        double price = 0;
        for (size_t i = 0; i < n; i++) {
            int gain = __builtin_popcount(bits[i] & ~covered);
            if (gain && (best < 0 || sets[i].cost / gain < price)) {
                best = (int)i;
                price = sets[i].cost / gain;
            }
        }
        if (best < 0)
            break;
        covered |= bits[best];
        chosen |= 1u << best;
        order[k++] = (uint32_t)best;
    }
    for (bool tried[MOST] = {0};;) {
        int dearest = -1;
        for (uint32_t i = 0; i < k; i++)
            if (!tried[i] && (dearest < 0 || sets[order[i]].cost >= sets[order[dearest]].cost))
                dearest = (int)i;
        if (dearest < 0)
            return chosen;
        tried[dearest] = true;
        uint32_t without = chosen & ~(1u << order[dearest]);
        if (union_of(n, without) == covered)
            chosen = without;
    }
}

static void check(size_t n)
{
    struct setcover s;
    struct err e = {0};
    uint32_t chosen = 0, before = 0;
    assert_int_equal(setcover_find(&s, sets, n, EDGES, &e), 0);
    for (size_t i = 0; i < s.n; i++) {
        uint32_t its = bits[s.v[i].set];
        assert_int_equal(s.v[i].fresh, __builtin_popcount(its & ~before));
        before |= its;
        chosen |= 1u << s.v[i].set;
    }
    uint32_t whole = union_of(n, (1u << n) - 1);
    assert_int_equal(before, whole);
    assert_int_equal(s.covered, __builtin_popcount(whole));
    assert_int_equal(__builtin_popcount(chosen), s.n);
    assert_int_equal(chosen, by_the_rule(n));
    for (size_t i = 0; i < s.n; i++)
        assert_int_not_equal(union_of(n, chosen & ~(1u << s.v[i].set)), whole);
    assert_true(cost_of(n, chosen) <= cheapest(n) * harmonic(largest(n)) + 1e-9);
    setcover_free(&s);
}

static void test_random_instances(void **state)
{
    struct rng r;
    (void)state;
    rng_seed(&r, 14);
    for (int round = 0; round < 400; round++) {
        size_t n = 1 + rng_below(&r, MOST);
        for (size_t i = 0; i < n; i++) {
            uint32_t members = (uint32_t)rng_u64(&r) & (uint32_t)rng_u64(&r) & ((1u << EDGES) - 1);
            set_up(i, round % 7 ? members : members & 0x1f, 1 + (double)rng_below(&r, 8) / 2);
        }
        check(n);
    }
}

/* Two dear halves that greedy takes early are dropped when what it takes later covers them. */
static void test_needless_ones_are_dropped(void **state)
{
    struct setcover s;
    struct err e = {0};
    (void)state;
    set_up(0, 0x0ff, 4);   /* 0.5 an edge: first */
    set_up(1, 0x10f, 2.6); /* one new edge each: both are needed, and cover the first one */
    set_up(2, 0x2f0, 2.6);
    check(3);
    assert_int_equal(setcover_find(&s, sets, 3, EDGES, &e), 0);
    assert_int_equal(s.n, 2);
    setcover_free(&s);
}

static void test_nothing(void **state)
{
    struct setcover s;
    struct err e = {0};
    (void)state;
    assert_int_equal(setcover_find(&s, sets, 0, EDGES, &e), 0);
    assert_int_equal(s.n + s.covered, 0);
    setcover_free(&s);
    set_up(0, 0, 1);
    check(1);
}

static void test_edges_of_another_build(void **state)
{
    struct setcover s;
    struct err e = {0};
    (void)state;
    set_up(0, 1u << 19, 1);
    assert_true(setcover_find(&s, sets, 1, 19, &e) < 0);
    assert_int_equal(e.exit, ERR_EXIT_USAGE);
    assert_null(s.v);
}

static int free_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < MOST; i++)
        buf_free(&coded[i]);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_instances),
        cmocka_unit_test(test_needless_ones_are_dropped),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_edges_of_another_build),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, free_all);
}
