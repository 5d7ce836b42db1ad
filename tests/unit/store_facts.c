/* store_facts: facts, learned calls, the clock and the accounts of the slots come back; callbacks keep out of the
 * store. */
#include "store_kit.h"

static const struct store_commit nothing;

static int call_seen(void *arg, uint32_t round, uint32_t caller, uint32_t callee)
{
    buf_printf(arg, "%u:%u>%u ", round, caller, callee);
    return 0;
}

static int no_call(void *arg, uint32_t round, uint32_t caller, uint32_t callee)
{
    (void)round, (void)caller, (void)callee;
    ++*(int *)arg;
    return -EDOM;
}

static void calls_are_learned_once(void **state)
{
    struct fixture *f = *state;
    struct store_turn t = begun(f->s, 1, 0);
    struct store_call first[] = {{10, 20}, {9, 20}}, again[] = {{10, 20}, {10, UINT32_MAX}};
    OK(store_seeds_commit(f->s, &(struct store_commit){.calls = first, .n_calls = 2}, &oops));
    t.state = TURN_COMMITTED, t.round = 1;
    OK(commit(f->s, &t, &(struct store_commit){.calls = again, .n_calls = 2}, &oops));
    reopen(f);
    struct buf b = BUF_INIT(1024);
    int n = 0;
    OK(store_calls(f->s, call_seen, &b, &oops));
    assert_string_equal(b.p, "0:10>20 0:9>20 1:10>4294967295 ");
    assert_int_equal(store_calls(f->s, no_call, &n, &oops), -EDOM);
    assert_int_equal(n, 1);
    buf_free(&b);
}

static void expect_fact(struct store *s, const char *key, const char *want)
{
    char *value;
    OK(store_get(s, key, &value, &oops));
    if (want)
        assert_string_equal(value, want);
    else
        assert_null(value);
    free(value);
}

static void facts_come_back(void **state)
{
    struct fixture *f = *state;
    struct err e = {0};
    expect_fact(f->s, "roster", NULL);
    struct store_fact a[] = {{"roster", "aflpp"}, {"jobs", ""}};
    struct store_fact b = {"roster", "aflpp,mopt"}, c[] = {{"jobs", "3"}, {"seed", NULL}};
    OK(store_put(f->s, a, 2, &oops));
    OK(store_seeds_commit(f->s, &(struct store_commit){.facts = &b, .n_facts = 1}, &oops));
    struct store_turn t = begun(f->s, 1, 0);
    t.state = TURN_COMMITTED, t.round = 1;
    struct store_fact d = {"edges", "7"};
    OK(commit(f->s, &t, &(struct store_commit){.facts = &d, .n_facts = 1}, &oops));
    assert_true(store_put(f->s, c, 2, &e) < 0);
    OK(store_event(f->s, 5, "start", "hello", &oops));
    reopen(f);
    expect_fact(f->s, "roster", "aflpp,mopt");
    expect_fact(f->s, "jobs", "");
    expect_fact(f->s, "edges", "7");
    assert_int_equal(kit_query(f->dir, "SELECT at_ns FROM events WHERE kind = 'start' AND"
                                       " text = 'hello'"),
                     5);
}

static void expect_clock(struct store *s, int64_t want)
{
    struct store_totals all;
    OK(store_totals(s, &all, &oops));
    assert_int_equal(all.elapsed_ns, want);
}

/* Every step that records a time moves the clock, and nothing moves it back. */
static void the_clock_is_never_behind_the_journal(void **state)
{
    struct fixture *f = *state;
    expect_clock(f->s, 0);
    struct store_turn t = begun(f->s, 1, 0); /* at 100 */
    expect_clock(f->s, 100);
    t.parked_ns = 250;
    OK(store_turn_park(f->s, &t, NULL, 0, NULL, &oops));
    expect_clock(f->s, 250);
    t.state = TURN_COMMITTED, t.round = 1, t.end_ns = 300;
    OK(commit(f->s, &t, &nothing, &oops));
    expect_clock(f->s, 300);
    OK(store_clock(f->s, 500, &oops));
    OK(store_clock(f->s, 400, &oops));
    begun(f->s, 2, t.instance); /* at 200 */
    OK(store_rest(f->s, 450, NULL, 0, NULL, 0, "x", &oops));
    reopen(f);
    expect_clock(f->s, 500);
}

static bool slot_is(const struct store_slot *a, const struct store_slot *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static void a_rest_closes_the_accounts(void **state)
{
    struct fixture *f = *state;
    const struct store_slot one = {1, 2, 3, 4, 10}, two = {5, 6, 7, 8, 26};
    struct store_slot got[4], all[2] = {two, one};
    struct store_turn t = begun(f->s, 1, 0); /* in slot 2 */
    int n;
    OK(store_slots(f->s, got, 4, &n, &oops));
    assert_int_equal(n, 0);
    t.state = TURN_COMMITTED, t.round = 1;
    OK(commit(f->s, &t, &(struct store_commit){.account = &one}, &oops));
    OK(store_slots(f->s, got, 4, &n, &oops));
    assert_int_equal(n, 3);
    assert_true(slot_is(&got[2], &one));
    struct store_fact fact = {"stopped", "budget"};
    OK(store_rest(f->s, 900, all, 2, &fact, 1, "budget used", &oops));
    reopen(f);
    OK(store_slots(f->s, got, 4, &n, &oops));
    assert_int_equal(n, 3);
    assert_true(slot_is(&got[0], &two));
    assert_true(slot_is(&got[1], &one));
    assert_true(slot_is(&got[2], &one));
    expect_fact(f->s, "stopped", "budget");
    expect_clock(f->s, 900);
    assert_int_equal(kit_query(f->dir, "SELECT at_ns FROM events WHERE kind = 'end' AND"
                                       " text = 'budget used'"),
                     900);
}

/* --- callbacks ------------------------------------------------------------------------------ */

static struct store *outer;
static struct store_turns *walk;

static int reads(void *arg, const struct store_seed *r, struct err *e)
{
    (void)arg, (void)r;
    struct store_totals all;
    return store_totals(outer, &all, e);
}

static int writes(void *arg, const struct store_crash *r, struct err *e)
{
    (void)arg, (void)r;
    return store_clock(outer, 5, e);
}

static int steps(void *arg, const struct store_seed *r, struct err *e)
{
    (void)arg, (void)r;
    struct store_turn t;
    return store_turns_next(walk, &t, NULL, e);
}

static int calls_back(void *arg, uint32_t round, uint32_t caller, uint32_t callee)
{
    (void)arg, (void)round, (void)caller, (void)callee;
    return store_clock(outer, 5, &oops);
}

static void come_back_from_seeds(struct store *s)
{
    outer = s;
    OK(store_turn_seeds(s, 0, reads, NULL, &oops));
}

static void come_back_from_results(struct store *s)
{
    outer = s;
    OK(store_turn_results(s, 0, reads, NULL, &oops));
}

static void come_back_from_a_seed(struct store *s)
{
    outer = s;
    OK(store_turns_open(&walk, s, TURNS_BY_ID, 0, &oops));
    OK(store_seed_get(s, 1, steps, NULL, &oops));
}

static void come_back_from_crashes(struct store *s)
{
    outer = s;
    OK(store_crashes(s, 0, writes, NULL, &oops));
}

static void come_back_from_a_crash(struct store *s)
{
    outer = s;
    OK(store_crash_get(s, 1, writes, NULL, &oops));
}

static void come_back_from_calls(struct store *s)
{
    outer = s;
    OK(store_calls(s, calls_back, NULL, &oops));
}

static void callbacks_must_not_come_back(void **state)
{
    struct fixture *f = *state;
    struct store_result r = {.seed = add(f->s, "a"), .crash = true};
    struct store_call call = {1, 2};
    struct store_commit c = {.results = &r, .n = 1, .calls = &call, .n_calls = 1};
    OK(store_seeds_commit(f->s, &c, &oops));
    kit_expect_bug(f, STORE_RESUME, come_back_from_seeds);
    kit_expect_bug(f, STORE_RESUME, come_back_from_results);
    kit_expect_bug(f, STORE_RESUME, come_back_from_a_seed);
    kit_expect_bug(f, STORE_RESUME, come_back_from_crashes);
    kit_expect_bug(f, STORE_RESUME, come_back_from_a_crash);
    kit_expect_bug(f, STORE_RESUME, come_back_from_calls);
    expect_clock(f->s, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(calls_are_learned_once),
        TEST(facts_come_back),
        TEST(the_clock_is_never_behind_the_journal),
        TEST(a_rest_closes_the_accounts),
        TEST(callbacks_must_not_come_back),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
