/* store_turns: turns, transactions, crashes and facts come back from the store as they went in. */
#include "store_kit.h"

struct seen {
    struct store_turn turn[8];
    char decision[8][16];
    int n;
};

static int see(void *arg, const struct store_turn *t, const void *d, size_t n, struct err *e)
{
    (void)e;
    struct seen *s = arg;
    s->turn[s->n] = *t;
    if (n)
        memcpy(s->decision[s->n], d, n);
    s->n++;
    return 0;
}

static void a_turn_comes_back_bit_for_bit(void **state)
{
    struct fixture *f = *state;
    int64_t inst;
    OK(store_add_instance(f->s, "darwin", 0, &inst, &oops));
    struct store_turn t = {
        .id = 3, .arm = 4, .slot = 1, .instance = inst, .start_ns = 1, .quota_cycles = 9};
    OK(store_turn_begin(f->s, &t, "\1\0\2", 3, &oops));
    struct store_turn u = t;
    u.state = TURN_PARKED;
    u.parked_ns = 100, u.execs = UINT64_C(1) << 40, u.cycles = 5, u.offered = 6, u.taken = 7;
    u.active_ns = 8, u.park_ns = 9, u.cpu_ns = 10, u.cpu_parked_ns = 11, u.crashes = 12,
    u.hangs = 13, u.inputs = 14;
    OK(store_turn_parked(f->s, &u, "cursor 1", &oops));
    u.state = TURN_COMMITTED;
    u.round = 1, u.at_decision = 4, u.end_ns = 200, u.eval_ns = 15, u.new_edges = 16, u.raw = 1e300;
    u.reward = 0.1, u.rarity = 1.0 / 3, u.sec = 5e-324, u.died = true;
    snprintf(u.why, sizeof u.why, "signal 11");
    OK(store_turn_commit(f->s, &u, "state", 5, &oops));
    reopen(f);
    struct seen seen = {0};
    OK(store_turns(f->s, TURNS_BY_ID, see, &seen, &oops));
    assert_int_equal(seen.n, 1);
    assert_memory_equal(&seen.turn[0], &u, sizeof u);
    assert_memory_equal(seen.decision[0], "\1\0\2", 3);
    size_t n;
    char *sched = store_sched_state(f->s, &n);
    assert_int_equal(n, 5);
    assert_memory_equal(sched, "state", 5);
    free(sched);
    struct store_instance *rows;
    OK(store_instances(f->s, &rows, &n, &oops));
    assert_string_equal(rows[0].cursor, "cursor 1");
    store_instances_free(rows, n);
}

static void turns_only_move_forward(void **state)
{
    struct fixture *f = *state;
    int64_t inst;
    struct err e = {0};
    size_t n;
    assert_null(store_sched_state(f->s, &n));
    OK(store_add_instance(f->s, "darwin", 0, &inst, &oops));
    for (int64_t id = 1; id <= 3; id++)
        begin_turn(f->s, id, inst);
    struct store_turn t = {.id = 2, .instance = inst, .state = TURN_COMMITTED, .round = 1};
    OK(store_turn_commit(f->s, &t, "s2", 2, &oops));
    t = (struct store_turn){.id = 1, .instance = inst, .state = TURN_VOID, .round = 2};
    OK(store_turn_commit(f->s, &t, NULL, 0, &oops));
    assert_true(store_turn_commit(f->s, &t, NULL, 0, &e) < 0);
    assert_true(store_turn_parked(f->s, &t, NULL, &e) < 0);
    t = (struct store_turn){.id = 3, .instance = inst, .state = TURN_COMMITTED, .round = 2};
    assert_true(store_turn_commit(f->s, &t, "s3", 2, &e) < 0); /* round 2 is taken */
    t.id = 4;
    assert_true(store_turn_commit(f->s, &t, "s3", 2, &e) < 0); /* never began */
    assert_true(store_turn_begin(f->s, &(struct store_turn){.id = 2}, "", 0, &e) < 0);
    struct seen by = {0};
    OK(store_turns(f->s, TURNS_BY_ROUND, see, &by, &oops));
    assert_int_equal(by.n, 2);
    assert_int_equal(by.turn[0].id, 2);
    assert_int_equal(by.turn[1].state, TURN_VOID);
    char *sched = store_sched_state(f->s, &n);
    assert_int_equal(n, 2);
    assert_memory_equal(sched, "s2", 2);
    free(sched);
}

static void late_turns_have_numbers_of_their_own(void **state)
{
    struct fixture *f = *state;
    int64_t inst;
    struct err e = {0};
    OK(store_add_instance(f->s, "darwin", 0, &inst, &oops));
    begin_turn(f->s, 1, inst);
    struct store_turn a = {.instance = inst}, b = {.instance = inst};
    OK(store_late_begin(f->s, &a, &oops));
    OK(store_late_begin(f->s, &b, &oops));
    assert_int_equal(a.id, -1);
    assert_int_equal(b.id, -2);
    add(f->s, "late", inst, a.id, NULL);
    a.inputs = 1;
    OK(store_turn_parked(f->s, &a, "cursor 2", &oops));
    reopen(f);
    struct seen open = {0}, by_id = {0}, by_round = {0};
    OK(store_turns(f->s, TURNS_LATE_OPEN, see, &open, &oops));
    assert_int_equal(open.n, 2);
    assert_memory_equal(&open.turn[0], &a, sizeof a);
    a.round = 1;
    OK(store_turn_commit(f->s, &a, "s", 1, &oops));
    assert_true(store_turn_commit(f->s, &a, NULL, 0, &e) < 0);
    OK(store_turns(f->s, TURNS_BY_ID, see, &by_id, &oops));
    assert_int_equal(by_id.n, 1);
    assert_int_equal(by_id.turn[0].id, 1);
    OK(store_turns(f->s, TURNS_BY_ROUND, see, &by_round, &oops));
    assert_int_equal(by_round.n, 1);
    assert_int_equal(by_round.turn[0].state, TURN_LATE);
    expect_seeds(f->s, -1, "late,");
}

static void a_transaction_is_all_or_nothing(void **state)
{
    struct fixture *f = *state;
    OK(store_begin(f->s, &oops));
    add(f->s, "a", 0, 0, NULL);
    store_rollback(f->s);
    expect_seeds(f->s, 0, "");
    int64_t inst;
    OK(store_begin(f->s, &oops));
    OK(store_add_instance(f->s, "x", 0, &inst, &oops));
    begin_turn(f->s, 1, inst); /* works inside a transaction, too */
    add(f->s, "b", inst, 1, NULL);
    OK(store_commit(f->s, &oops));
    reopen(f);
    expect_seeds(f->s, 1, "b,");
}

/* --- the rest ------------------------------------------------------------------------------- */

static int crash_seen(void *arg, const struct store_crash *c, struct err *e)
{
    (void)e;
    struct buf *b = arg;
    buf_printf(b, "%s %.*s arm %d sig %d turn %d %s %d;", c->hang ? "hang" : "crash", (int)c->size,
               (const char *)c->data, c->arm, c->signal, (int)c->turn, c->name, c->by_eval);
    return 0;
}

static void crashes_and_hangs_are_kept_apart(void **state)
{
    struct fixture *f = *state;
    struct store_crash c = {.data = "boom", .size = 4, .arm = 2, .signal = 6, .name = "id:0"};
    bool fresh;
    OK(store_add_crash(f->s, &c, &fresh, &oops));
    assert_true(fresh);
    OK(store_add_crash(f->s, &c, &fresh, &oops));
    assert_false(fresh);
    c.hang = true;
    c.by_eval = true;
    OK(store_add_crash(f->s, &c, &fresh, &oops));
    assert_true(fresh);
    struct buf b = BUF_INIT(1024);
    OK(store_crashes(f->s, crash_seen, &b, &oops));
    assert_string_equal(b.p, "crash boom arm 2 sig 6 turn 0 id:0 0;"
                             "hang boom arm 2 sig 6 turn 0 id:0 1;");
    buf_free(&b);
}

static int call_seen(void *arg, uint32_t round, uint32_t caller, uint32_t callee)
{
    buf_printf(arg, "%u:%u>%u ", round, caller, callee);
    return 0;
}

static void facts_and_totals(void **state)
{
    struct fixture *f = *state;
    assert_null(store_get(f->s, "roster"));
    OK(store_set(f->s, "roster", "aflpp", &oops));
    OK(store_set(f->s, "roster", "aflpp,mopt", &oops));
    OK(store_event(f->s, 5, "start", "hello", &oops));
    OK(store_call(f->s, 1, 10, 20, &oops));
    OK(store_call(f->s, 2, 9, 20, &oops));
    OK(store_call(f->s, 3, 10, 20, &oops));
    OK(store_clock(f->s, 500, &oops));
    OK(store_clock(f->s, 400, &oops)); /* a clock set back changes nothing */
    OK(store_slot_put(f->s, 1, &(struct store_slot){1, 2, 3, 6}, &oops));
    OK(store_slot_put(f->s, 0, &(struct store_slot){4, 5, 6, 15}, &oops));
    done(f->s, add(f->s, "a", 0, 0, NULL), true);
    add(f->s, "b", 0, 0, NULL);
    struct store_turn t = {.id = 1};
    OK(store_turn_begin(f->s, &t, "", 0, &oops));
    t.state = TURN_COMMITTED, t.round = 1, t.execs = 1000, t.new_edges = 3;
    OK(store_turn_commit(f->s, &t, NULL, 0, &oops));
    reopen(f);
    char *roster = store_get(f->s, "roster");
    assert_string_equal(roster, "aflpp,mopt");
    free(roster);
    struct buf b = BUF_INIT(1024);
    OK(store_calls(f->s, call_seen, &b, &oops));
    assert_string_equal(b.p, "1:10>20 2:9>20 ");
    buf_free(&b);
    struct store_slot slots[4];
    assert_int_equal(store_slots(f->s, slots, 4), 2);
    assert_int_equal(slots[0].fuzz_ns, 4);
    assert_int_equal(slots[1].wall_ns, 6);
    struct store_totals all;
    OK(store_totals(f->s, &all, &oops));
    assert_int_equal(all.elapsed_ns, 500);
    assert_int_equal(all.seeds, 2);
    assert_int_equal(all.shared, 1);
    assert_int_equal(all.turns, 1);
    assert_int_equal(all.execs, 1000);
    assert_int_equal(all.edges_events, 3);
    assert_int_equal(all.crashes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_turn_comes_back_bit_for_bit),        TEST(turns_only_move_forward),
        TEST(late_turns_have_numbers_of_their_own), TEST(a_transaction_is_all_or_nothing),
        TEST(crashes_and_hangs_are_kept_apart),     TEST(facts_and_totals),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
