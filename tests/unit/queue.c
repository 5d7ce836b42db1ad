/* queue: which crash is looked at next while a campaign runs, and for how much time. */
#include "triage/queue.h"

#include "eval/edges.h"
#include "triage/live.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* What the neutral build would say: crash i covers the first of these edges, up to a 0. */
#define CRASHES 4096
static uint32_t covers[CRASHES][8];
static bool unmeasured[CRASHES];
static int asked;

static int fake_edges(void *arg, int64_t crash, struct buf *out, struct err *e)
{
    (void)arg, (void)e;
    struct edges s = {.ids = covers[crash]};
    asked++;
    while (s.n < 8 && s.ids[s.n])
        s.n++;
    if (unmeasured[crash])
        return 0;
    edges_encode(&s, out);
    return 1;
}

static struct queue *q;

static int setup(void **state)
{
    (void)state;
    memset(covers, 0, sizeof covers);
    memset(unmeasured, 0, sizeof unmeasured);
    q = queue_new();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    queue_free(q);
    return 0;
}

static void add(int64_t id, int signal, int64_t parent, const char *name)
{
    struct store_crash c = {
        .id = id, .signal = signal, .parent = parent, .name = name, .slot = (int)(id % 7)};
    queue_add(q, &c);
}

static int64_t take(void)
{
    struct waiting w = {0};
    struct err e = {0};
    int rc = queue_take(q, fake_edges, NULL, &w, &e);
    assert_true(rc >= 0);
    if (rc)
        assert_int_equal(w.slot, w.id % 7);
    return rc ? w.id : 0;
}

#define COVER(id, ...)                                                                             \
    memcpy(covers[id], (uint32_t[]){__VA_ARGS__}, sizeof(uint32_t[]){__VA_ARGS__})

static void an_empty_one_says_so(void **state)
{
    (void)state;
    assert_int_equal(take(), 0);
    add(1, 11, 0, "");
    assert_int_equal(queue_size(q), 1);
    assert_int_equal(take(), 1);
    assert_int_equal(queue_size(q), 0);
    assert_int_equal(take(), 0);
}

/* Thousands are more than are asked about for one. */
static void nor_does_a_crowd(void **state)
{
    (void)state;
    for (int i = 1; i <= 4000; i++) {
        COVER(i, 1, 2, 3, 4);
        add(i, 11, 7, "");
    }
    assert_int_equal(take(), 1);
    COVER(4001, 1, 90);
    add(4001, 11, 7, "");
    assert_int_equal(take(), 4001);
    for (int i = 2; i <= 4000; i++)
        assert_true(take() > 1);
    assert_int_equal(take(), 0);
}

/* Hundreds of crashes of one defect wait; one of another, the youngest, waits for the first of them alone. */
static void a_burst_does_not_keep_another_defect_waiting(void **state)
{
    (void)state;
    for (int i = 1; i <= 500; i++) {
        COVER(i, 1, 2, 3 + (uint32_t)(i % 2));
        add(i, 11, 7, "");
    }
    assert_int_equal(take(), 1); /* all are as new: the oldest */
    COVER(501, 1, 2, 90, 91);
    add(501, 11, 7, "");
    assert_int_equal(take(), 501);
    assert_int_equal(take(), 2); /* with an edge that number 1 did not have */
    assert_int_equal(take(), 3); /* nothing is new any more: by age */
    assert_int_equal(take(), 4);
    assert_int_equal(queue_size(q), 496);
}

static void most_new_edges_go_first(void **state)
{
    (void)state;
    COVER(1, 1, 2);
    COVER(2, 1, 2, 3, 4, 5);
    COVER(3, 1, 9, 10, 11);
    for (int i = 1; i <= 3; i++)
        add(i, 11, 7, "");
    assert_int_equal(take(), 2);
    assert_int_equal(take(), 3);
    assert_int_equal(take(), 1);
}

static void another_signal_goes_before_edges(void **state)
{
    (void)state;
    COVER(1, 1, 2);
    COVER(2, 1, 2, 3, 4, 5);
    COVER(3, 1, 2);
    add(1, 11, 7, "");
    assert_int_equal(take(), 1);
    add(2, 11, 7, "");
    add(3, 8, 7, "");
    assert_int_equal(take(), 3);
    assert_int_equal(take(), 2);
}

static void origin_and_place_decide_where_edges_do_not(void **state)
{
    (void)state;
    const char *here = "SIGSEGV.PC.1.STACK.2.CODE.1.ADDR.0.INSTR.x",
               *there = "SIGSEGV.PC.1.STACK.3.CODE.1.ADDR.0.INSTR.x",
               *same = "SIGSEGV.PC.1.STACK.2.CODE.1.ADDR.8.INSTR.x";
    add(1, 11, 7, here);
    assert_int_equal(take(), 1);
    add(2, 11, 7, same); /* only the address differs */
    add(3, 11, 7, there);
    add(4, 11, 8, same);
    assert_int_equal(take(), 3);
    assert_int_equal(take(), 4);
    assert_int_equal(take(), 2);
    add(5, 11, 9, "id:000001,sig:11,src:000007");
    add(6, 11, 9, "id:000002,sig:11,src:000007");
    assert_int_equal(take(), 5); /* afl-fuzz's names are numbers */
}

/* The turn that found it is not evaluated yet. */
static void what_is_not_measured_waits_behind_what_is_new(void **state)
{
    (void)state;
    COVER(1, 1, 2);
    COVER(2, 1, 2);
    COVER(3, 1, 2, 60);
    unmeasured[2] = unmeasured[3] = true;
    add(1, 11, 7, "");
    add(2, 11, 7, "");
    add(3, 11, 7, "");
    assert_int_equal(take(), 1);
    unmeasured[3] = false;
    assert_int_equal(take(), 3); /* now its edge is known */
    assert_int_equal(take(), 2); /* and one that never is measured comes, too */
    assert_int_equal(take(), 0);
}

static void all_come_once_and_little_is_read_for_each(void **state)
{
    (void)state;
    bool seen[CRASHES] = {0};
    int n = 0;
    for (int i = 1; i < CRASHES; i++) {
        COVER(i, (uint32_t)(i * 7919 % 1000 + 1), 2000 + (uint32_t)(i % 3));
        unmeasured[i] = i % 5 == 0;
        add(i, 11, i % 50, "");
    }
    asked = 0;
    for (int64_t id; (id = take()); n++) {
        assert_false(seen[id]);
        seen[id] = true;
        assert_true(asked <= (n < 4 ? 2 : 1) * 1024 + 64 + 1); /* new ones at first */
        asked = 0;
    }
    assert_int_equal(n, CRASHES - 1);
}

static void a_damaged_set_of_edges_is_an_error(void **state)
{
    (void)state;
    struct waiting w;
    struct err e = {0};
    COVER(1, 5, 4); /* not ascending */
    add(1, 11, 0, "");
    assert_true(queue_take(q, fake_edges, NULL, &w, &e) < 0);
}

/* One percent of the time on all slots; the share of the first minute at once, if there will be one. */
static void the_allowance_is_a_hundredth(void **state)
{
    (void)state;
    assert_int_equal(live_allowance_us(3600 * NS_PER_S, 0, 1), 36000000);
    assert_int_equal(live_allowance_us(3600 * NS_PER_S, 7200 * NS_PER_S, 4), 4 * 36000000);
    assert_int_equal(live_allowance_us(0, 0, 1), 600000);
    assert_int_equal(live_allowance_us(59 * NS_PER_S, 600 * NS_PER_S, 2), 1200000);
    assert_int_equal(live_allowance_us(0, 10 * NS_PER_S, 1), 100000);
    assert_int_equal(live_allowance_us(30 * NS_PER_S, 10 * NS_PER_S, 1), 300000);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(an_empty_one_says_so),
        CASE(a_burst_does_not_keep_another_defect_waiting),
        CASE(nor_does_a_crowd),
        CASE(most_new_edges_go_first),
        CASE(another_signal_goes_before_edges),
        CASE(origin_and_place_decide_where_edges_do_not),
        CASE(what_is_not_measured_waits_behind_what_is_new),
        CASE(all_come_once_and_little_is_read_for_each),
        CASE(a_damaged_set_of_edges_is_an_error),
        CASE(the_allowance_is_a_hundredth),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
