/* store_turns: the steps in the life of a turn come back as they went in, and none is done twice or out of order.
 * What a turn found is in store_seeds.c and store_crashes.c. */
#include "store_kit.h"

static const struct store_commit nothing;

struct seen {
    struct store_turn turn[8];
    char decision[8][16];
    int n;
};

static struct seen turns_of(struct store *s, enum turn_order order, int64_t after)
{
    struct seen seen = {0};
    struct store_turns *w;
    struct store_blob d;
    int rc;
    OK(store_turns_open(&w, s, order, after, &oops));
    while ((rc = store_turns_next(w, &seen.turn[seen.n], &d, &oops)) > 0) {
        if (d.size)
            memcpy(seen.decision[seen.n], d.data, d.size);
        seen.n++;
    }
    OK(rc);
    store_turns_close(w);
    return seen;
}

static void expect_state(struct store *s, const char *want)
{
    struct buf b = BUF_INIT(1 << 16);
    OK(store_sched_state(s, &b, &oops));
    assert_int_equal(b.len, strlen(want));
    assert_memory_equal(b.p ? b.p : "", want, b.len);
    buf_free(&b);
}

static void a_turn_comes_back_bit_for_bit(void **state)
{
    struct fixture *f = *state;
    struct inputs none = {0};
    struct store_turn t = {.id = 3, .state = TURN_RUNNING, .arm = 4, .slot = 1, .start_ns = 1};
    t.quota_cycles = 9;
    struct store_claim c = {.decision = "\1\0\2", .decision_size = 3, .fuzzer = "darwin"};
    OK(begin(f->s, &t, &c, &none, &oops));
    assert_int_equal(t.instance, 1);
    struct seen seen = turns_of(f->s, TURNS_BY_ID, 0);
    assert_memory_equal(&seen.turn[0], &t, sizeof t);
    t.parked_ns = 100, t.execs = UINT64_C(1) << 40, t.cycles = 5, t.offered = 6, t.taken = 7;
    t.active_ns = 8, t.park_ns = 9, t.cpu_ns = 10, t.cpu_parked_ns = 11, t.startup_ns = 12;
    t.cycle_ns = 13;
    t.inputs = t.crashes = t.hangs = 99; /* set by parking */
    OK(store_turn_park(f->s, &t, NULL, 0, "cursor 1", &oops));
    assert_int_equal(t.inputs + t.crashes + t.hangs, 0);
    seen = turns_of(f->s, TURNS_BY_ID, 0);
    t.state = TURN_PARKED;
    assert_memory_equal(&seen.turn[0], &t, sizeof t);
    t.state = TURN_COMMITTED;
    t.round = 1, t.at_decision = 4, t.end_ns = 200, t.eval_ns = 15, t.new_edges = 16, t.raw = 1e300;
    t.reward = 0.1, t.rarity = 1.0 / 3, t.sec = 5e-324, t.died = true;
    t.inputs = 17, t.crashes = 18, t.hangs = 19;
    snprintf(t.why, sizeof t.why, "signal 11");
    OK(commit(f->s, &t, &(struct store_commit){.sched = "state", .sched_size = 5}, &oops));
    reopen(f);
    seen = turns_of(f->s, TURNS_BY_ID, 0);
    assert_int_equal(seen.n, 1);
    assert_memory_equal(&seen.turn[0], &t, sizeof t);
    assert_memory_equal(seen.decision[0], "\1\0\2", 3);
    expect_state(f->s, "state");
}

static int park(struct store *s, struct store_turn *t, struct err *e)
{
    return store_turn_park(s, t, NULL, 0, NULL, e);
}

static void turns_only_move_forward(void **state)
{
    struct fixture *f = *state;
    struct err e = {0};
    struct inputs none = {0};
    expect_state(f->s, "");
    struct store_turn t1 = begun(f->s, 1, 0), t2 = begun(f->s, 2, t1.instance);
    struct store_turn t3 = begun(f->s, 3, t1.instance);
    OK(park(f->s, &t2, &oops));
    assert_int_equal(park(f->s, &t2, &e), -EINVAL); /* once */
    t2.state = TURN_COMMITTED, t2.round = 1;
    OK(commit(f->s, &t2, &(struct store_commit){.sched = "s2", .sched_size = 2}, &oops));
    t1.state = TURN_VOID;
    OK(park(f->s, &t1, &oops)); /* found running after a kill: void from now on, */
    assert_int_equal(turns_of(f->s, TURNS_BY_ID, 0).turn[0].state, TURN_VOID);
    assert_int_equal(park(f->s, &t1, &e), -EINVAL);
    t1.round = 2;
    OK(commit(f->s, &t1, &nothing, &oops)); /* its seeds are measured, nothing is learned */
    assert_int_equal(commit(f->s, &t1, &nothing, &e), -EINVAL);
    assert_int_equal(park(f->s, &t1, &e), -EINVAL);
    t3.state = TURN_COMMITTED, t3.round = 2;
    struct store_commit s3 = {.sched = "s3", .sched_size = 2};
    assert_true(commit(f->s, &t3, &s3, &e) < 0); /* round 2 is taken */
    t3.id = 4;
    assert_int_equal(commit(f->s, &t3, &s3, &e), -EINVAL); /* never began */
    t2.round = 0;
    struct store_claim c = {.decision = "", .fuzzer = "aflpp", .number = 9};
    assert_true(begin(f->s, &t2, &c, &none, &e) < 0); /* a number is used once */
    expect_state(f->s, "s2");
    struct store_totals all;
    OK(store_totals(f->s, &all, &oops));
    assert_int_equal(all.decisions, 3);
}

/* One find that cannot be kept is none kept: the turn is still running. */
static void what_is_named_must_be_there(void **state)
{
    struct fixture *f = *state;
    struct err e = {0};
    struct store_turn t = begun(f->s, 1, 0);
    struct store_find finds[] = {find("a"), find("b")};
    finds[1].parent = 999;
    assert_int_equal(store_turn_park(f->s, &t, finds, 2, NULL, &e), -EINVAL);
    expect_seeds(f->s, 1, "");
    assert_int_equal(turns_of(f->s, TURNS_BY_ID, 0).turn[0].state, TURN_RUNNING);
    finds[1].parent = 0;
    OK(store_turn_park(f->s, &t, finds, 2, NULL, &oops));
    expect_seeds(f->s, 1, "a,b,");
    assert_int_equal(t.inputs, 2);
}

static void turns_come_from_where_one_stands(void **state)
{
    struct fixture *f = *state;
    int64_t instance = 0;
    for (int64_t id = 1; id <= 4; id++) {
        struct store_turn t = begun(f->s, id, instance);
        instance = t.instance;
        t.state = TURN_COMMITTED, t.round = (uint32_t)(5 - id);
        if (id != 2)
            OK(commit(f->s, &t, &nothing, &oops));
    }
    struct seen by_id = turns_of(f->s, TURNS_BY_ID, 1);
    assert_int_equal(by_id.n, 3);
    assert_int_equal(by_id.turn[0].id, 2);
    assert_int_equal(by_id.turn[2].id, 4);
    assert_string_equal(by_id.decision[0], "decision");
    assert_int_equal(turns_of(f->s, TURNS_BY_ID, 4).n, 0);
    struct seen by_round = turns_of(f->s, TURNS_BY_ROUND, 0); /* rounds 1, 2, 4 */
    assert_int_equal(by_round.n, 3);
    assert_int_equal(by_round.turn[0].id, 4);
    assert_int_equal(by_round.turn[2].id, 1);
    by_round = turns_of(f->s, TURNS_BY_ROUND, 2);
    assert_int_equal(by_round.n, 1);
    assert_int_equal(by_round.turn[0].round, 4);
}

/* Two readers of one order at once, with other reads and a write between their steps. */
static void walks_do_not_disturb_each_other(void **state)
{
    struct fixture *f = *state;
    struct store_turns *a, *b;
    struct store_turn t;
    int64_t instance = begun(f->s, 1, 0).instance;
    begun(f->s, 2, instance);
    OK(store_turns_open(&a, f->s, TURNS_BY_ID, 0, &oops));
    OK(store_turns_open(&b, f->s, TURNS_BY_ID, 1, &oops));
    assert_int_equal(store_turns_next(b, &t, NULL, &oops), 1);
    assert_int_equal(t.id, 2);
    store_turns_close(b);
    assert_int_equal(store_turns_next(a, &t, NULL, &oops), 1);
    assert_int_equal(t.id, 1);
    OK(store_put(f->s, &(struct store_fact){"k", "v"}, 1, &oops));
    expect_seeds(f->s, 1, "");
    assert_int_equal(store_turns_next(a, &t, NULL, &oops), 1);
    assert_int_equal(t.id, 2);
    assert_int_equal(store_turns_next(a, &t, NULL, &oops), 0);
    store_turns_close(a);
    store_turns_close(NULL);
}

static void late_turns_have_numbers_of_their_own(void **state)
{
    struct fixture *f = *state;
    struct err e = {0};
    struct store_totals all;
    int64_t instance = begun(f->s, 1, 0).instance;
    struct store_turn a = {.state = TURN_LATE, .instance = instance, .parked_ns = 150}, b = a;
    struct store_find finds[] = {find("late"), find("later")};
    OK(store_turn_park(f->s, &a, finds, 2, "cursor 2", &oops));
    OK(store_turn_park(f->s, &b, NULL, 0, NULL, &oops));
    assert_int_equal(a.id, -1);
    assert_int_equal(a.inputs, 2);
    assert_int_equal(b.id, -2);
    reopen(f);
    struct seen open = turns_of(f->s, TURNS_LATE_OPEN, 0);
    assert_int_equal(open.n, 2);
    assert_memory_equal(&open.turn[0], &a, sizeof a);
    assert_int_equal(open.turn[1].id, -2);
    assert_int_equal(turns_of(f->s, TURNS_LATE_OPEN, -1).turn[0].id, -2);
    a.round = 1;
    OK(commit(f->s, &a, &(struct store_commit){.sched = "s", .sched_size = 1}, &oops));
    assert_int_equal(commit(f->s, &a, &nothing, &e), -EINVAL);
    open = turns_of(f->s, TURNS_LATE_OPEN, 0);
    assert_int_equal(open.n, 1);
    assert_int_equal(open.turn[0].id, -2);
    struct seen by_id = turns_of(f->s, TURNS_BY_ID, -9);
    assert_int_equal(by_id.n, 1);
    assert_int_equal(by_id.turn[0].id, 1);
    struct seen by_round = turns_of(f->s, TURNS_BY_ROUND, 0);
    assert_int_equal(by_round.n, 1);
    assert_int_equal(by_round.turn[0].state, TURN_LATE);
    assert_string_equal(by_round.decision[0], "");
    expect_seeds(f->s, -1, "late,later,");
    OK(store_totals(f->s, &all, &oops));
    assert_int_equal(all.decisions, 1);
    assert_int_equal(all.elapsed_ns, 150);
}

static void late_finds_alone_are_no_decisions(void **state)
{
    struct fixture *f = *state;
    struct store_totals all;
    struct store_turn t = {.state = TURN_LATE};
    OK(park(f->s, &t, &oops));
    OK(store_totals(f->s, &all, &oops));
    assert_int_equal(t.id, -1);
    assert_int_equal(all.decisions, 0);
}

/* --- what a caller must not do -------------------------------------------------------------- */

static void begin_without_the_order(struct store *s)
{
    struct inputs in = {0};
    struct store_turn t = {.id = 9};
    OK(store_turn_begin(s, &t, &(struct store_claim){.decision = "", .fuzzer = "x"}, &in, &oops));
}

static void commit_without_the_order(struct store *s)
{
    struct store_turn t = {.id = 1, .state = TURN_COMMITTED, .round = 1, .instance = 1};
    OK(store_turn_commit(s, &t, &nothing, &oops));
}

static void begin_when_it_was_left(struct store *s)
{
    OK(store_order_take(s, &oops));
    store_order_leave(s);
    begin_without_the_order(s);
}

static void take_it_twice(struct store *s)
{
    OK(store_order_take(s, &oops));
    OK(store_order_take(s, &oops));
}

static void commit_as_running(struct store *s)
{
    struct store_turn t = {.id = 1, .state = TURN_PARKED, .round = 1, .instance = 1};
    OK(commit(s, &t, &nothing, &oops));
}

static void decisions_and_commits_need_the_order(void **state)
{
    struct fixture *f = *state;
    begun(f->s, 1, 0);
    kit_expect_bug(f, STORE_RESUME, begin_without_the_order);
    kit_expect_bug(f, STORE_RESUME, commit_without_the_order);
    kit_expect_bug(f, STORE_RESUME, begin_when_it_was_left);
    kit_expect_bug(f, STORE_RESUME, take_it_twice);
    kit_expect_bug(f, STORE_RESUME, commit_as_running);
    begun(f->s, 2, 1); /* nothing of all that was written */
    assert_int_equal(turns_of(f->s, TURNS_BY_ID, 0).n, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_turn_comes_back_bit_for_bit),     TEST(turns_only_move_forward),
        TEST(turns_come_from_where_one_stands),  TEST(what_is_named_must_be_there),
        TEST(walks_do_not_disturb_each_other),   TEST(late_turns_have_numbers_of_their_own),
        TEST(late_finds_alone_are_no_decisions), TEST(decisions_and_commits_need_the_order),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
