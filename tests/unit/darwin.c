/* darwin: the operators one by one, and the evolution generation by generation. */
#include "../../runtime/ctl/darwin_core.h"
#include "../../runtime/ctl/dict.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define ROUNDS 20000
#define ROOM 70000

static const struct darwin_context plain = {.queue_cycle = 3};
static uint8_t before[ROOM], after[ROOM];

static void fill(size_t n)
{
    for (size_t i = 0; i < n; i++)
        before[i] = after[i] = (uint8_t)(i * 7 + 13);
}

/* Number of differing bytes, and the first and last of them. */
static size_t differences(size_t n, size_t *first, size_t *last)
{
    size_t count = 0;
    *first = *last = 0;
    for (size_t i = 0; i < n; i++)
        if (before[i] != after[i]) {
            if (!count++)
                *first = i;
            *last = i;
        }
    return count;
}

static void flip_inverts_one_bit_anywhere(void **state)
{
    (void)state;
    struct darwin_rng r = {1};
    bool seen[8 * 8] = {0};
    size_t f, l, hit = 0;
    for (int i = 0; i < ROUNDS; i++) {
        fill(8);
        assert_int_equal(darwin_apply(&r, DARWIN_FLIP_BIT, after, 8, ROOM, &plain), 8);
        assert_int_equal(differences(8, &f, &l), 1);
        unsigned x = before[f] ^ after[f];
        assert_int_equal(x & (x - 1), 0);
        seen[f * 8 + (size_t)__builtin_ctz(x)] = true;
    }
    for (size_t i = 0; i < 64; i++)
        hit += seen[i];
    assert_int_equal(hit, 64);
}

static bool is_interesting(int64_t v, int64_t low, int64_t high)
{
    static const int64_t all[] = {-128,   -1,    0,      1,     16,        32,        64,
                                  100,    127,   -32768, -129,  128,       255,       256,
                                  512,    1000,  1024,   4096,  32767,     INT32_MIN, -100663046,
                                  -32769, 32768, 65535,  65536, 100663045, INT32_MAX};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i] == v && v >= low && v <= high)
            return true;
    return false;
}

static void interesting_sets_known_values_in_both_orders(void **state)
{
    (void)state;
    struct darwin_rng r = {2};
    int little = 0, big = 0;
    for (int i = 0; i < ROUNDS; i++) {
        memset(after, 0x55, 4);
        darwin_apply(&r, DARWIN_INTERESTING_8, after, 1, ROOM, &plain);
        assert_true(is_interesting((int8_t)after[0], -128, 127));
        int16_t a16 = (int16_t)0x5555, b16;
        darwin_apply(&r, DARWIN_INTERESTING_16, (uint8_t *)&a16, 2, ROOM, &plain);
        b16 = (int16_t)__builtin_bswap16((uint16_t)a16);
        assert_true(is_interesting(a16, -32768, 32767) || is_interesting(b16, -32768, 32767));
        little += a16 == 1000;
        big += b16 == 1000;
        int32_t a32 = 0x55555555;
        darwin_apply(&r, DARWIN_INTERESTING_32, (uint8_t *)&a32, 4, ROOM, &plain);
        assert_true(
            is_interesting(a32, INT32_MIN, INT32_MAX) ||
            is_interesting((int32_t)__builtin_bswap32((uint32_t)a32), INT32_MIN, INT32_MAX));
    }
    assert_true(little > 0 && big > 0);
}

/* Deltas of width bytes are 1..35, each of them seen, with the sign of the operator. */
static void check_arithmetic(unsigned op, unsigned width, bool subtract)
{
    struct darwin_rng r = {3 + op};
    bool seen[36] = {0};
    int orders = 0;
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t start = 0x80808080u, v = start;
        assert_int_equal(darwin_apply(&r, op, (uint8_t *)&v, width, ROOM, &plain), width);
        uint32_t mask = width == 4 ? UINT32_MAX : (1u << 8 * width) - 1;
        uint32_t swapped = width == 4   ? __builtin_bswap32(v)
                           : width == 2 ? __builtin_bswap16((uint16_t)v)
                                        : v;
        uint32_t d = (subtract ? start - v : v - start) & mask;
        uint32_t e = (subtract ? start - swapped : swapped - start) & mask;
        uint32_t delta = d >= 1 && d <= 35 ? d : e;
        orders |= d == delta ? 1 : 2;
        assert_in_range(delta, 1, 35);
        seen[delta] = true;
    }
    for (int i = 1; i <= 35; i++)
        assert_true(seen[i]);
    assert_int_equal(orders, width == 1 ? 1 : 3);
}

static void arithmetic_moves_by_1_to_35(void **state)
{
    (void)state;
    check_arithmetic(DARWIN_SUB_8, 1, true);
    check_arithmetic(DARWIN_ADD_8, 1, false);
    check_arithmetic(DARWIN_SUB_16, 2, true);
    check_arithmetic(DARWIN_ADD_16, 2, false);
    check_arithmetic(DARWIN_SUB_32, 4, true);
    check_arithmetic(DARWIN_ADD_32, 4, false);
}

static void wide_operators_leave_short_inputs_alone(void **state)
{
    (void)state;
    struct darwin_rng r = {4};
    static const unsigned two[] = {DARWIN_INTERESTING_16, DARWIN_SUB_16,   DARWIN_ADD_16,
                                   DARWIN_DELETE,         DARWIN_DELETE_2, DARWIN_OVERWRITE},
                          four[] = {DARWIN_INTERESTING_32, DARWIN_SUB_32, DARWIN_ADD_32};
    uint8_t buf[3];
    for (int i = 0; i < 100; i++) {
        for (size_t k = 0; k < 6; k++) {
            buf[0] = 0x5a;
            assert_int_equal(darwin_apply(&r, two[k], buf, 1, sizeof buf, &plain), 1);
            assert_int_equal(buf[0], 0x5a);
        }
        for (size_t k = 0; k < 3; k++) {
            memcpy(buf, "abc", 3);
            assert_int_equal(darwin_apply(&r, four[k], buf, 3, sizeof buf, &plain), 3);
            assert_memory_equal(buf, "abc", 3);
        }
    }
}

static void xor_always_changes_one_byte(void **state)
{
    (void)state;
    struct darwin_rng r = {5};
    size_t f, l;
    for (int i = 0; i < ROUNDS; i++) {
        fill(16);
        darwin_apply(&r, DARWIN_XOR, after, 16, ROOM, &plain);
        assert_int_equal(differences(16, &f, &l), 1);
    }
}

static void delete_removes_one_block(void **state)
{
    (void)state;
    struct darwin_rng r = {6};
    for (int i = 0; i < ROUNDS; i++) {
        unsigned op = i % 2 ? DARWIN_DELETE : DARWIN_DELETE_2;
        size_t n = 2 + (size_t)i % 250;
        fill(n);
        size_t m = darwin_apply(&r, op, after, n, ROOM, &plain), cut = 0;
        assert_in_range(m, 1, n - 1);
        while (cut < m && before[cut] == after[cut])
            cut++;
        assert_memory_equal(after + cut, before + cut + (n - m), m - cut);
    }
}

/* after = before with a block inserted: either a copy of a block of before or one byte repeated. */
static void clone_inserts_a_copy_or_a_run(void **state)
{
    (void)state;
    struct darwin_rng r = {7};
    int runs = 0, copies = 0;
    for (int i = 0; i < 3000; i++) {
        size_t n = 200;
        fill(n);
        size_t m = darwin_apply(&r, DARWIN_CLONE, after, n, ROOM, &plain), len = m - n, at = 0;
        assert_true(m > n && len <= 32768);
        while (at < n && before[at] == after[at])
            at++;
        bool found = false;
        for (size_t to = 0; to <= at && !found; to++) {
            if (memcmp(after + to + len, before + to, n - to) != 0)
                continue;
            bool run = true;
            for (size_t k = 1; k < len && run; k++)
                run = after[to + k] == after[to];
            bool copy = len <= n && memmem(before, n, after + to, len);
            found = run || copy;
            runs += run && len > 1 && found;
            copies += copy && !run;
        }
        assert_true(found);
    }
    assert_true(copies > runs && runs > 300);
    fill(200);
    assert_int_equal(darwin_apply(&r, DARWIN_CLONE, after, 200, 200 + 32768, &plain), 200);
}

static void overwrite_keeps_the_length(void **state)
{
    (void)state;
    struct darwin_rng r = {8};
    int changed = 0;
    size_t f, l;
    for (int i = 0; i < ROUNDS; i++) {
        fill(100);
        assert_int_equal(darwin_apply(&r, DARWIN_OVERWRITE, after, 100, 100, &plain), 100);
        changed += differences(100, &f, &l) > 0;
    }
    assert_true(changed > ROUNDS / 2);
}

static void first_pass_uses_short_blocks_only(void **state)
{
    (void)state;
    struct darwin_rng r = {9};
    struct darwin_context first = {.queue_cycle = 1};
    size_t longest = 0, later = 0;
    for (int i = 0; i < ROUNDS; i++) {
        fill(40000);
        size_t a = 40000 - darwin_apply(&r, DARWIN_DELETE, after, 40000, ROOM, &first);
        longest = a > longest ? a : longest;
        if (i < 500) {
            fill(40000);
            size_t b = 40000 - darwin_apply(&r, DARWIN_DELETE, after, 40000, ROOM, &plain);
            later = b > later ? b : later;
        }
    }
    assert_int_equal(longest, 32);
    assert_true(later > 1500 && later <= 32768);
}

static void tokens_overwrite_and_insert(void **state)
{
    (void)state;
    struct darwin_rng r = {10};
    const struct darwin_token tokens[] = {{(const uint8_t *)"AAAA", 4}, {(const uint8_t *)"BB", 2}};
    struct darwin_context c = {.queue_cycle = 1, .tokens = tokens, .n_tokens = 2};
    for (int i = 0; i < ROUNDS; i++) {
        fill(10);
        assert_int_equal(darwin_apply(&r, DARWIN_TOKEN_OVERWRITE, after, 10, ROOM, &c), 10);
        assert_true(memmem(after, 10, "AAAA", 4) || memmem(after, 10, "BB", 2));
        fill(10);
        size_t n = darwin_apply(&r, DARWIN_TOKEN_INSERT, after, 10, ROOM, &c);
        assert_true(n == 14 ? memmem(after, n, "AAAA", 4) != NULL
                            : n == 12 && memmem(after, n, "BB", 2));
    }
    fill(3);
    c.n_tokens = 1;
    assert_int_equal(darwin_apply(&r, DARWIN_TOKEN_OVERWRITE, after, 3, ROOM, &c), 3);
    assert_memory_equal(after, before, 3);
    assert_int_equal(darwin_apply(&r, DARWIN_TOKEN_INSERT, after, 3, 7, &c), 3);
}

static void stacking_is_a_power_of_two(void **state)
{
    (void)state;
    struct darwin_rng r = {11};
    unsigned seen = 0;
    for (int i = 0; i < ROUNDS; i++)
        seen |= darwin_stacking(&r);
    assert_int_equal(seen, 2 | 4 | 8 | 16 | 32 | 64 | 128);
}

static void splice_takes_the_tail_of_the_other(void **state)
{
    (void)state;
    struct darwin_rng r = {12};
    for (int i = 0; i < ROUNDS; i++) {
        uint8_t buf[32] = "xxABCDEFyy";
        size_t n = darwin_splice(&r, buf, 10, sizeof buf, (const uint8_t *)"xxabcdefyyLONGER", 16);
        assert_int_equal(n, 16);
        assert_memory_equal(buf + 8, "yyLONGER", 8);
        size_t k = 2;
        while (k < 8 && buf[k] >= 'A' && buf[k] <= 'Z')
            k++;
        for (; k < 8; k++)
            assert_in_range(buf[k], 'a', 'z');
    }
    uint8_t same[8] = "abcdefg";
    assert_int_equal(darwin_splice(&r, same, 7, 8, (const uint8_t *)"abcXefg", 7), 7);
    assert_memory_equal(same, "abcdefg", 7); /* they differ in one byte only */
}

static void selection_walks_to_the_next_set_bit(void **state)
{
    (void)state;
    struct darwin d;
    darwin_init(&d, DARWIN_OPERATORS, 13);
    int count[DARWIN_OPERATORS] = {0};
    memset(d.child, 0, sizeof d.child);
    d.child[0][4] = d.child[0][5] = true;
    for (int i = 0; i < 15000; i++)
        count[darwin_select(&d)]++;
    /* 4 is reached from 14 of 15 starts, 5 from one */
    assert_int_equal(count[4] + count[5], 15000);
    assert_in_range(count[5], 700, 1300);
    memset(d.child, 0, sizeof d.child);
    memset(count, 0, sizeof count);
    for (int i = 0; i < 15000; i++)
        count[darwin_select(&d)]++;
    for (int i = 0; i < DARWIN_OPERATORS; i++)
        assert_true(count[i] > 500);
}

static unsigned distance(const bool *a, const bool *b, unsigned from)
{
    unsigned n = 0;
    for (unsigned i = from; i < DARWIN_OPERATORS; i++)
        n += a[i] != b[i];
    return n;
}

static void children_are_one_bit_from_their_parent(void **state)
{
    (void)state;
    struct darwin d;
    bool slot0[DARWIN_CHILDREN];
    darwin_init(&d, DARWIN_OPERATORS, 14);
    for (int i = 0; i < 400; i++) {
        for (unsigned k = 0; k < DARWIN_CHILDREN; k++)
            slot0[k] = d.child[k][0];
        darwin_evaluate(&d, 0);
        const bool *child = d.child[d.at_child], *parent = d.parent[d.at_parent];
        bool gene0 = child[0] != slot0[d.at_child];
        /* one inversion; gene 0 comes from the slot, not from the parent */
        assert_int_equal(distance(child, parent, 1) + gene0, 1);
    }
}

static void a_generation_is_four_children(void **state)
{
    (void)state;
    struct darwin d;
    darwin_init(&d, DARWIN_OPERATORS, 15);
    for (unsigned g = 0; g < 12; g++) {
        assert_int_equal(d.at_parent, g % DARWIN_PARENTS);
        assert_int_equal(d.generations, g);
        for (unsigned c = 0; c < DARWIN_CHILDREN; c++) {
            assert_int_equal(d.at_child, c);
            darwin_evaluate(&d, 0);
        }
    }
}

static void only_a_strictly_better_child_replaces_its_parent(void **state)
{
    (void)state;
    struct darwin d;
    bool old[DARWIN_OPERATORS_DICT], best[DARWIN_OPERATORS_DICT];
    darwin_init(&d, DARWIN_OPERATORS, 16);
    memcpy(old, d.parent[0], sizeof old);
    for (int c = 0; c < 4; c++) /* all 0: not better than the stored 0 */
        darwin_evaluate(&d, 0);
    assert_memory_equal(d.parent[0], old, sizeof old);
    darwin_evaluate(&d, 0);
    memcpy(best, d.child[1], sizeof best); /* the first of the two best */
    darwin_evaluate(&d, 1);
    darwin_evaluate(&d, 0);
    darwin_evaluate(&d, 1);
    assert_memory_equal(d.parent[1], best, sizeof best);
    assert_int_equal(d.parent_fitness[1], 1);
    assert_int_equal(d.best_parent, 1);
    for (int c = 0; c < 4 * 4; c++)
        darwin_evaluate(&d, 0);
    assert_int_equal(d.at_parent, 1);
    for (int c = 0; c < 4; c++) /* 1 again: equal, not better: the parent stays for ever */
        darwin_evaluate(&d, 1);
    assert_memory_equal(d.parent[1], best, sizeof best);
    assert_int_equal(d.parent_fitness[1], 1);
}

static void the_same_seed_gives_the_same_run(void **state)
{
    (void)state;
    struct darwin a, b;
    darwin_init(&a, DARWIN_OPERATORS_DICT, 17);
    darwin_init(&b, DARWIN_OPERATORS_DICT, 17);
    for (unsigned i = 0; i < 1000; i++) {
        assert_int_equal(darwin_select(&a), darwin_select(&b));
        darwin_evaluate(&a, i % 7 == 0);
        darwin_evaluate(&b, i % 7 == 0);
    }
    assert_memory_equal(&a, &b, sizeof a);
}

static void dictionaries_are_read(void **state)
{
    (void)state;
    static struct dict d;
    char path[] = "/tmp/carol-dict-XXXXXX";
    static const char text[] =
        "# comment \"no\"\nkey=\"a\\x00b\"\n\"plain\"\nk2@3=\"q\\\"\\\\\"\nbad=\"\\q\"\n"
        "open=\"never closed\nempty=\"\"\n";
    int fd = mkstemp(path);
    assert_int_equal(write(fd, text, sizeof text - 1), sizeof text - 1);
    close(fd);
    assert_int_equal(dict_read(&d, path), 3);
    assert_int_equal(d.tokens[0].size, 3);
    assert_memory_equal(d.tokens[0].data, "a\0b", 3);
    assert_memory_equal(d.tokens[1].data, "plain", 5);
    assert_int_equal(d.tokens[2].size, 3);
    assert_memory_equal(d.tokens[2].data, "q\"\\", 3);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flip_inverts_one_bit_anywhere),
        cmocka_unit_test(interesting_sets_known_values_in_both_orders),
        cmocka_unit_test(arithmetic_moves_by_1_to_35),
        cmocka_unit_test(wide_operators_leave_short_inputs_alone),
        cmocka_unit_test(xor_always_changes_one_byte),
        cmocka_unit_test(delete_removes_one_block),
        cmocka_unit_test(clone_inserts_a_copy_or_a_run),
        cmocka_unit_test(overwrite_keeps_the_length),
        cmocka_unit_test(first_pass_uses_short_blocks_only),
        cmocka_unit_test(tokens_overwrite_and_insert),
        cmocka_unit_test(stacking_is_a_power_of_two),
        cmocka_unit_test(splice_takes_the_tail_of_the_other),
        cmocka_unit_test(selection_walks_to_the_next_set_bit),
        cmocka_unit_test(children_are_one_bit_from_their_parent),
        cmocka_unit_test(a_generation_is_four_children),
        cmocka_unit_test(only_a_strictly_better_child_replaces_its_parent),
        cmocka_unit_test(the_same_seed_gives_the_same_run),
        cmocka_unit_test(dictionaries_are_read),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
