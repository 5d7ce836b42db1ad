/* store_crashes: crashes and hangs, saved by a fuzzer or seen on the neutral build only, are kept once each, with who
 * found them. */
#include "store_kit.h"

static struct store_find bad(enum store_find_kind kind, const char *text, int signal, bool measured)
{
    struct store_find x = find(text);
    x.kind = kind;
    x.signal = signal;
    x.measure = measured;
    return x;
}

static void crashes_and_hangs_are_kept_apart(void **state)
{
    struct fixture *f = *state;
    struct store_turn t = begun(f->s, 1, 0), u = begun(f->s, 2, t.instance);
    int64_t seed = add(f->s, "seed");
    struct store_find finds[] = {
        {.kind = STORE_FIND_ENTRY, .entry = 3, .seed = seed},
        bad(STORE_FIND_CRASH, "boom", 6, true),
        bad(STORE_FIND_CRASH, "boom", 11, true),
        bad(STORE_FIND_HANG, "boom", 0, false),
        bad(STORE_FIND_HANG, "slow", 0, true),
        bad(STORE_FIND_ECHO, "seed", 5, false),
        bad(STORE_FIND_CRASH, "quiet", 4, false),
    };
    finds[1].parent_entry = 3;
    finds[1].entry = 4; /* not of its corpus: no parent of others */
    OK(store_turn_park(f->s, &t, finds, 7, NULL, &oops));
    assert_int_equal(t.crashes, 3); /* an echo is not its own */
    assert_int_equal(t.hangs, 2);
    assert_int_equal(t.inputs, 2);
    assert_true(finds[1].fresh_crash);
    assert_true(finds[1].fresh);
    assert_false(finds[2].fresh_crash);
    assert_int_equal(finds[2].seed, finds[1].seed);
    assert_true(finds[3].fresh_crash);
    assert_int_equal(finds[3].seed, 0);
    assert_true(finds[4].fresh);
    assert_true(finds[5].fresh_crash);
    struct store_find next = find("of 4");
    next.parent_entry = 4;
    OK(store_turn_park(f->s, &u, &next, 1, NULL, &oops));
    reopen(f);
    expect_seeds(f->s, 1, "boom,slow,");
    expect_crashes(f->s, 0,
                   "crash boom arm 1 sig 6 turn 1 parent 1 boom 0;"
                   "hang boom arm 1 sig 0 turn 1 parent 0 boom 0;"
                   "hang slow arm 1 sig 0 turn 1 parent 0 slow 0;"
                   "crash seed arm 1 sig 5 turn 1 parent 0 seed 0;"
                   "crash quiet arm 1 sig 4 turn 1 parent 0 quiet 0;");
    expect_crashes(f->s, 4, "crash quiet arm 1 sig 4 turn 1 parent 0 quiet 0;");
    assert_int_equal(kit_query(f->dir, "SELECT count(parent) FROM seeds WHERE turn = 2"), 0);
    struct store_totals all;
    OK(store_totals(f->s, &all, &oops));
    assert_int_equal(all.crashes, 3);
    assert_int_equal(all.hangs, 2);
    assert_int_equal(all.seeds, 4);
}

static int check_crash(void *arg, const struct store_crash *c, struct err *e)
{
    (void)e;
    struct digest d;
    hash_bytes("boom", 4, &d);
    assert_true(digest_equal(&c->hash, &d));
    assert_int_equal(c->id, 2);
    assert_int_equal(c->instance, 1);
    assert_int_equal(c->found_ns, 7);
    assert_memory_equal(c->data, "boom", 4);
    ++*(int *)arg;
    return 0;
}

static void a_crash_is_got_by_its_number(void **state)
{
    struct fixture *f = *state;
    int calls = 0;
    struct err e = {0};
    struct store_turn t = begun(f->s, 1, 0);
    struct store_find finds[] = {bad(STORE_FIND_HANG, "boom", 0, true),
                                 bad(STORE_FIND_CRASH, "boom", 6, true),
                                 bad(STORE_FIND_HANG, "slow", 0, true)};
    OK(store_turn_park(f->s, &t, finds, 3, NULL, &oops));
    OK(store_crash_get(f->s, 2, check_crash, &calls, &oops));
    assert_int_equal(store_crash_get(f->s, 4, check_crash, &calls, &e), -ENOENT);
    assert_int_equal(calls, 1);
    bool known = false;
    OK(store_crash_known(f->s, finds[1].seed, &known, &oops));
    assert_true(known);
    OK(store_crash_known(f->s, finds[2].seed, &known, &oops)); /* a hang is none */
    assert_false(known);
    OK(store_crash_known(f->s, 99, &known, &oops));
    assert_false(known);
}

/* What only the neutral build shows is found when its turn is committed. */
static void a_commit_keeps_neutral_crashes(void **state)
{
    struct fixture *f = *state;
    struct store_turn t = begun(f->s, 1, 0);
    struct store_find finds[] = {find("c"), find("h"), bad(STORE_FIND_CRASH, "own", 6, true),
                                 find("q"), find("fine")};
    finds[0].parent = add(f->s, "p");
    OK(store_turn_park(f->s, &t, finds, 5, NULL, &oops));
    struct store_result r[] = {
        {.seed = finds[0].seed, .status = 2, .signal = 11, .crash = true, .fresh = false},
        {.seed = finds[1].seed, .status = 3, .crash = true, .hang = true},
        {.seed = finds[2].seed, .status = 2, .signal = 4, .crash = true, .fresh = true},
        {.seed = finds[3].seed, .quarantine = true, .share = true},
        {.seed = finds[4].seed, .status = 1, .share = true},
    };
    t.state = TURN_COMMITTED, t.round = 1;
    OK(commit(f->s, &t, &(struct store_commit){.results = r, .n = 5}, &oops));
    assert_true(r[0].fresh);
    assert_true(r[1].fresh);
    assert_false(r[2].fresh); /* kept when it was parked, with the signal its fuzzer saw */
    expect_crashes(f->s, 0,
                   "crash own arm 1 sig 6 turn 1 parent 0 own 0;"
                   "crash c arm 1 sig 11 turn 1 parent 1 c 1;"
                   "hang h arm 1 sig 0 turn 1 parent 0 h 1;");
    struct inputs in = {0};
    OK(store_first_shared(f->s, 9, &in, &oops));
    expect_inputs(&in, "fine,"); /* what is in quarantine is given to nobody */
    assert_int_equal(kit_query(f->dir, "SELECT state FROM seeds WHERE name = 'q'"),
                     SEED_QUARANTINED);
    assert_int_equal(kit_query(f->dir, "SELECT round FROM seeds WHERE name = 'q'"), 1);
}

static void results_are_of_seeds_that_are_there(void **state)
{
    struct fixture *f = *state;
    struct err e = {0};
    int64_t p = add(f->s, "p");
    struct store_result r[] = {{.seed = p, .crash = true, .signal = 6}, {.seed = 77}};
    struct store_commit c = {.results = r, .n = 2};
    assert_int_equal(store_seeds_commit(f->s, &c, &e), -ENOENT);
    r[1].quarantine = true;
    assert_int_equal(store_seeds_commit(f->s, &c, &e), -ENOENT);
    expect_crashes(f->s, 0, "");
    c.n = 1;
    OK(store_seeds_commit(f->s, &c, &oops)); /* an initial seed: of no arm */
    expect_crashes(f->s, 0, "crash p arm -1 sig 6 turn 0 parent 0 p 1;");
}

static int seen(void *arg, const struct store_crash *c, struct err *e)
{
    (void)c;
    (void)e;
    ++*(int *)arg;
    return 0;
}

static void a_crash_without_its_hash_is_damage(void **state)
{
    struct fixture *f = *state;
    int n = 0;
    struct store_result r = {.seed = add(f->s, "p"), .crash = true, .signal = 6};
    OK(store_seeds_commit(f->s, &(struct store_commit){.results = &r, .n = 1}, &oops));
    OK(store_crash_get(f->s, 1, seen, &n, &oops));
    assert_int_equal(kit_exec(f->dir, "UPDATE crashes SET hash = x'00'"), 1);
    assert_int_equal(store_crash_get(f->s, 1, seen, &n, &oops), -EUCLEAN);
    assert_non_null(strstr(oops.msg, "crash 1 has no hash"));
    assert_int_equal(kit_exec(f->dir, "UPDATE crashes SET hash = x''"), 1);
    assert_int_equal(store_crash_get(f->s, 1, seen, &n, &oops), -EUCLEAN);
    assert_int_equal(n, 1);
}

static int see_slot(void *arg, const struct store_crash *c, struct err *e)
{
    (void)e;
    *(int *)arg = c->slot;
    return 0;
}

/* Where it was found, and what it covers once it is measured. */
static void a_crash_knows_its_slot_and_its_edges(void **state)
{
    struct fixture *f = *state;
    struct store_turn t = begun(f->s, 1, 0);
    struct store_find x = bad(STORE_FIND_CRASH, "boom", 11, true);
    struct buf b = BUF_INIT(64);
    int slot = 0;
    int64_t seed = add(f->s, "given");
    struct store_result given = {.seed = seed, .crash = true};
    OK(store_seeds_commit(f->s, &(struct store_commit){.results = &given, .n = 1}, &oops));
    OK(store_turn_park(f->s, &t, &x, 1, NULL, &oops));
    OK(store_crash_get(f->s, 1, see_slot, &slot, &oops));
    assert_int_equal(slot, -1); /* the user's */
    OK(store_crash_get(f->s, 2, see_slot, &slot, &oops));
    assert_int_equal(slot, 2);
    assert_int_equal(store_crash_edges(f->s, 2, &b, &oops), 0); /* parked, not measured */
    struct store_result r = {.seed = x.seed, .edges = "\1\2", .edges_size = 2};
    t.state = TURN_COMMITTED, t.round = 1;
    OK(commit(f->s, &t, &(struct store_commit){.results = &r, .n = 1}, &oops));
    assert_int_equal(store_crash_edges(f->s, 2, &b, &oops), 1);
    assert_int_equal(b.len, 2);
    assert_memory_equal(b.p, "\1\2", 2);
    assert_int_equal(store_crash_edges(f->s, 99, &b, &oops), 0);
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(crashes_and_hangs_are_kept_apart),   TEST(a_crash_is_got_by_its_number),
        TEST(a_commit_keeps_neutral_crashes),     TEST(results_are_of_seeds_that_are_there),
        TEST(a_crash_without_its_hash_is_damage), TEST(a_crash_knows_its_slot_and_its_edges),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
