/* store_steps: every call into the database fails once.  A step of which one failed left nothing behind and can be
 * done again; a read of which one failed says so and never that there is nothing. */
#include "store_fail.h"
#include "store_kit.h"

/* --- a record with something of everything -------------------------------------------------- */

enum { PLAIN = 1, CALLED }; /* initial seeds */

static struct store_turn turn1, turn2; /* parked, running */

static void fill(struct store *s)
{
    struct inputs in = {0};
    int64_t plain = add(s, "plain"), called = add(s, "called");
    assert_int_equal(plain, PLAIN);
    assert_int_equal(called, CALLED);
    struct store_result r[] = {{.seed = PLAIN, .share = true}, {.seed = CALLED, .crash = true}};
    struct store_call call = {1, 2};
    struct store_commit c = {.results = r, .n = 2, .calls = &call, .n_calls = 1};
    OK(store_seeds_commit(s, &c, &oops));
    OK(store_put(s, &(struct store_fact){"key", "value"}, 1, &oops));
    turn1 = begun(s, 1, 0);
    struct store_find x = find("found");
    OK(store_turn_park(s, &turn1, &x, 1, "cursor", &oops));
    turn1.state = TURN_COMMITTED, turn1.round = 1;
    struct store_slot slot = {1, 2, 3, 4, 10};
    OK(commit(s, &turn1, &(struct store_commit){.sched = "s", .sched_size = 1, .account = &slot},
              &oops));
    turn2 = (struct store_turn){.id = 2, .instance = turn1.instance, .state = TURN_RUNNING};
    OK(begin(s, &turn2, &(struct store_claim){.decision = "", .max_inputs = 1, .max_bytes = 9}, &in,
             &oops));
    expect_inputs(&in, "plain,");
    struct store_turn late = {.state = TURN_LATE, .instance = turn1.instance};
    OK(store_turn_park(s, &late, NULL, 0, NULL, &oops));
    struct store_triage row = {.crash = 1, .build = "B", .defect = "x", .report = "text"};
    OK(store_triage_put(s, &row, &oops));
    struct store_minimised m = {.defect = "x", .build = "B", .crash = 1, .data = "s", .size = 1};
    OK(store_minimised_put(s, &m, &oops));
}

/* --- steps ---------------------------------------------------------------------------------- */

static int seeds(struct store *s)
{
    struct store_seed two[] = {{.data = "x", .size = 1}, {.data = "y", .size = 1}};
    return store_add_seeds(s, two, 2, &oops);
}

static int facts(struct store *s)
{
    struct store_fact two[] = {{"key", "other"}, {"more", ""}};
    return store_put(s, two, 2, &oops);
}

static int event(struct store *s)
{
    return store_event(s, 1, "kind", "text", &oops);
}

static int turn_begins(struct store *s)
{
    struct inputs in = {0};
    struct store_turn t = {.id = 3, .start_ns = 500};
    struct store_claim c = {
        .decision = "d", .decision_size = 1, .fuzzer = "mopt", .max_inputs = 10, .max_bytes = 100};
    int rc = begin(s, &t, &c, &in, &oops);
    assert_int_equal(t.instance != 0, rc == 0); /* what it answers is undone, too */
    expect_inputs(&in, rc == 0 ? "plain," : "");
    return rc;
}

static int turn_delivered(struct store *s)
{
    return store_turn_delivered(s, &turn2, &oops);
}

static int turn_parks(struct store *s)
{
    struct store_turn t = turn2;
    struct store_find finds[] = {{.kind = STORE_FIND_ENTRY, .entry = 1, .seed = PLAIN},
                                 find("child"),
                                 find("bang"),
                                 find("slow")};
    finds[1].parent_entry = 1;
    finds[1].entry = 2;
    finds[2].kind = STORE_FIND_CRASH;
    finds[3].kind = STORE_FIND_HANG;
    finds[3].measure = true;
    t.parked_ns = 600;
    return store_turn_park(s, &t, finds, 4, "next", &oops);
}

static int turn_adds(struct store *s)
{
    struct store_turn t = turn2;
    struct store_find x = find("plai");
    x.parent = PLAIN;
    int rc = store_turn_add(s, &t, &x, 1, &oops);
    assert_int_equal(t.inputs, turn2.inputs + (rc == 0));
    return rc;
}

static int late_parks(struct store *s)
{
    struct store_turn t = {.state = TURN_LATE, .instance = turn1.instance};
    struct store_find x = find("late");
    return store_turn_park(s, &t, &x, 1, "late", &oops);
}

static int turn_commits(struct store *s)
{
    struct store_turn t = turn2;
    struct store_result r[] = {{.seed = 3, .share = true},
                               {.seed = PLAIN, .crash = true, .hang = true},
                               {.seed = CALLED, .quarantine = true}};
    struct store_call call = {3, 4};
    struct store_slot slot = {2, 2, 2, 2, 8};
    struct store_fact fact = {"edges", "1"};
    struct store_commit c = {.results = r,
                             .n = 3,
                             .calls = &call,
                             .n_calls = 1,
                             .sched = "t",
                             .sched_size = 1,
                             .account = &slot,
                             .facts = &fact,
                             .n_facts = 1};
    t.state = TURN_COMMITTED, t.round = 2, t.end_ns = 700;
    return commit(s, &t, &c, &oops);
}

static int seeds_commit(struct store *s)
{
    struct store_result r[] = {{.seed = CALLED, .share = true}, {.seed = PLAIN, .crash = true}};
    struct store_fact fact = {"edges", "1"};
    struct store_commit c = {.results = r, .n = 2, .facts = &fact, .n_facts = 1};
    return store_seeds_commit(s, &c, &oops);
}

static int ticks(struct store *s)
{
    return store_clock(s, 800, &oops);
}

static int rests(struct store *s)
{
    struct store_slot two[] = {{1, 1, 1, 1, 4}, {2, 2, 2, 2, 8}};
    struct store_fact fact = {"end", "1"};
    return store_rest(s, 900, two, 2, &fact, 1, "why", &oops);
}

static int triage_puts(struct store *s)
{
    struct store_triage row = {.crash = 1, .build = "C", .outcome = TRIAGE_CRASH, .defect = "y"};
    return store_triage_put(s, &row, &oops);
}

static int triage_confirms(struct store *s)
{
    struct store_triage row = {.crash = 1, .build = "B", .plain_runs = 5, .plain_hits = 5};
    return store_triage_confirm(s, &row, &oops);
}

static int triage_minimises(struct store *s)
{
    struct store_minimised m = {.defect = "x", .build = "C", .crash = 1, .data = "t", .size = 1};
    return store_minimised_put(s, &m, &oops);
}

/* Fails in every place it can fail in; then it is done. */
static void break_step(struct fixture *f, int (*step)(struct store *s), enum fail_how how)
{
    struct digest before = kit_digest(f->dir), after;
    int n = 0, rc;
    for (bool broken = true; broken;) {
        reopen(f); /* so that statements are prepared again */
        fail_at(++n, how);
        rc = step(f->s);
        broken = fail_off();
        if (broken && rc >= 0)
            fail_msg("failure %d was not reported", n);
        after = kit_digest(f->dir);
        if (broken && !digest_equal(&before, &after))
            fail_msg("failure %d left something behind", n);
    }
    OK(rc);
    assert_true(n >= 4); /* begin, prepare, step, commit */
    assert_false(digest_equal(&before, &after));
}

/* What failed is done again on the same connection. */
static void repeat_step(struct fixture *f, int (*step)(struct store *s), enum fail_how how)
{
    for (int n = 1; n <= 3; n++) {
        fail_at(n, how);
        int rc = step(f->s);
        assert_true(fail_off());
        assert_true(rc < 0);
    }
    OK(step(f->s));
}

static void a_step_is_all_or_nothing(void **state)
{
    (void)state;
    static int (*const step[])(struct store *s) = {
        seeds,      facts,     event,       turn_begins,     turn_delivered,
        turn_parks, turn_adds, late_parks,  turn_commits,    seeds_commit,
        ticks,      rests,     triage_puts, triage_confirms, triage_minimises};
    for (size_t i = 0; i < sizeof step / sizeof *step; i++)
        for (int how = FAIL_REFUSED; how <= FAIL_UNDONE; how++)
            for (int again = 0; again < 2; again++) {
                void *one;
                kit_setup(&one);
                fill(((struct fixture *)one)->s);
                (again ? repeat_step : break_step)(one, step[i], (enum fail_how)how);
                assert_int_equal(kit_teardown(&one), 0);
            }
}

/* --- reads ---------------------------------------------------------------------------------- */

static int seed_seen;

static int see_seed(void *arg, const struct store_seed *r, struct err *e)
{
    (void)arg, (void)r, (void)e;
    seed_seen++;
    return 0;
}

static int see_crash(void *arg, const struct store_crash *r, struct err *e)
{
    (void)arg, (void)r, (void)e;
    return 0;
}

static int see_call(void *arg, uint32_t round, uint32_t caller, uint32_t callee)
{
    (void)arg, (void)round, (void)caller, (void)callee;
    return 0;
}

static int get_fact(struct store *s)
{
    char *v;
    int rc = store_get(s, "key", &v, &oops);
    assert_int_equal(v != NULL, rc == 0);
    free(v);
    return rc;
}

static int get_instances(struct store *s)
{
    struct store_instance *rows;
    size_t n;
    int rc = store_instances(s, &rows, &n, &oops);
    assert_int_equal(n, rc == 0 ? 1 : 0);
    store_instances_free(rows, n);
    return rc;
}

static int get_seeds(struct store *s)
{
    return store_turn_seeds(s, 0, see_seed, NULL, &oops);
}

static int get_results(struct store *s)
{
    return store_turn_results(s, 0, see_seed, NULL, &oops);
}

static int get_seed(struct store *s)
{
    return store_seed_get(s, PLAIN, see_seed, NULL, &oops);
}

static int get_shared(struct store *s)
{
    struct inputs in = {0};
    int rc = store_first_shared(s, 9, &in, &oops);
    inputs_free(&in);
    return rc;
}

static int get_undelivered(struct store *s)
{
    struct inputs in = {0};
    int64_t turn = 0;
    int rc = store_undelivered(s, turn2.instance, &turn, &in, &oops);
    if (rc == 0)
        assert_int_equal(turn, 2);
    inputs_free(&in);
    return rc;
}

static int get_turns(struct store *s)
{
    struct store_turns *w;
    struct store_turn t;
    int rc = store_turns_open(&w, s, TURNS_LATE_OPEN, 0, &oops);
    while (rc == 0 && (rc = store_turns_next(w, &t, NULL, &oops)) > 0)
        rc = 0;
    store_turns_close(w);
    return rc;
}

static int get_state(struct store *s)
{
    struct buf b = BUF_INIT(64);
    int rc = store_sched_state(s, &b, &oops);
    assert_int_equal(b.len, rc == 0 ? 1 : 0);
    buf_free(&b);
    return rc;
}

static int get_crashes(struct store *s)
{
    return store_crashes(s, 0, see_crash, NULL, &oops);
}

static int get_crash(struct store *s)
{
    return store_crash_get(s, 1, see_crash, NULL, &oops);
}

static int get_known(struct store *s)
{
    bool known = true;
    int rc = store_crash_known(s, CALLED, &known, &oops);
    if (rc == 0)
        assert_true(known);
    return rc;
}

static int get_edges(struct store *s)
{
    struct buf b = BUF_INIT(64);
    int rc = store_crash_edges(s, 1, &b, &oops);
    if (rc >= 0)
        assert_int_equal(rc, 1); /* it is measured */
    buf_free(&b);
    return rc < 0 ? rc : 0;
}

static int see_row(void *arg, const struct store_triage *t, const struct store_crash *c,
                   struct err *e)
{
    (void)arg, (void)e;
    assert_string_equal(t->defect, "x");
    assert_int_equal(c->id, 1);
    return 0;
}

static int get_triage(struct store *s)
{
    return store_triage_rows(s, see_row, NULL, &oops);
}

static int see_one(void *arg, const struct store_triage *t, struct err *e)
{
    (void)arg, (void)e;
    assert_string_equal(t->defect, "x");
    return 7;
}

static int get_row(struct store *s)
{
    int rc = store_triage_row(s, 1, see_one, NULL, &oops);
    if (rc >= 0)
        assert_int_equal(rc, 7); /* what it was told */
    return rc < 0 ? rc : store_triage_row(s, 99, see_one, NULL, &oops);
}

static int get_report(struct store *s)
{
    char *text;
    int rc = store_triage_report(s, 1, &text, &oops);
    assert_int_equal(text != NULL, rc == 0);
    free(text);
    return rc;
}

static int get_untriaged(struct store *s)
{
    return store_untriaged(s, "other", 0, see_crash, NULL, &oops);
}

static int see_minimised(void *arg, const struct store_minimised *m, struct err *e)
{
    (void)arg, (void)e;
    assert_int_equal(m->size, 1);
    return 0;
}

static int get_minimised(struct store *s)
{
    return store_minimised(s, see_minimised, NULL, &oops);
}

static int get_calls(struct store *s)
{
    return store_calls(s, see_call, NULL, &oops);
}

static int get_slots(struct store *s)
{
    struct store_slot slots[4];
    int n, rc = store_slots(s, slots, 4, &n, &oops);
    if (rc == 0)
        assert_int_equal(n, 3);
    return rc;
}

static int get_totals(struct store *s)
{
    struct store_totals t;
    return store_totals(s, &t, &oops);
}

static void a_read_that_fails_is_no_absence(void **state)
{
    struct fixture *f = *state;
    static int (*const read[])(struct store *s) = {
        get_fact,        get_instances, get_seeds,    get_results, get_seed,   get_shared,
        get_undelivered, get_turns,     get_state,    get_crashes, get_crash,  get_known,
        get_calls,       get_slots,     get_totals,   get_edges,   get_triage, get_row,
        get_report,      get_untriaged, get_minimised};
    fill(f->s);
    for (size_t i = 0; i < sizeof read / sizeof *read; i++)
        for (int how = FAIL_REFUSED; how <= FAIL_UNDONE; how++) {
            int n = 0, rc;
            for (bool broken = true; broken;) {
                reopen(f);
                fail_at(++n, (enum fail_how)how);
                rc = read[i](f->s);
                broken = fail_off();
                if (broken && (rc >= 0 || rc == -ENOENT))
                    fail_msg("read %zu: failure %d gave %d", i, n, rc);
            }
            OK(rc);
            assert_true(n >= 3); /* prepare, step, and one that does not fail */
        }
    assert_true(seed_seen > 0);
}

/* --- a lazy record -------------------------------------------------------------------------- */

static void many_steps_become_durable_together(void **state)
{
    struct fixture *f = *state;
    char *dir = fs_join(f->dir, "lazy");
    struct store *s;
    OK(store_open(&s, dir, STORE_CREATE_LAZY, &oops));
    OK(store_put(s, &(struct store_fact){"seed", "7"}, 1, &oops));
    OK(event(s));
    assert_int_equal(kit_query(dir, "SELECT count(*) FROM events"), 0);
    OK(store_flush(s, &oops));
    OK(store_flush(s, &oops)); /* of nothing */
    assert_int_equal(kit_query(dir, "SELECT count(*) FROM events"), 1);
    for (int i = 0; i < 2000; i++)
        OK(event(s));
    int64_t durable = kit_query(dir, "SELECT count(*) FROM events");
    assert_in_range(durable, 500, 2000); /* not all in one go at the end: a log has a size */
    struct store_totals all;
    OK(ticks(s));
    OK(store_totals(s, &all, &oops)); /* reads see what is not durable yet */
    assert_int_equal(all.elapsed_ns, 800);
    store_close(s);
    assert_int_equal(kit_query(dir, "SELECT count(*) FROM events"), durable);
    free(dir);
}

static void a_lazy_record_takes_no_step_after_a_failed_one(void **state)
{
    struct fixture *f = *state;
    for (int how = FAIL_REFUSED; how <= FAIL_UNDONE; how++) {
        char *dir = str_fmt("%s/lazy%d", f->dir, how);
        struct store *s;
        OK(store_open(&s, dir, STORE_CREATE_LAZY, &oops));
        OK(facts(s));
        OK(store_flush(s, &oops));
        OK(event(s)); /* goes with the one that fails: one transaction */
        fail_at(1, (enum fail_how)how);
        int rc = ticks(s);
        assert_true(fail_off());
        assert_true(rc < 0);
        assert_true(event(s) < 0);
        assert_true(store_flush(s, &oops) < 0);
        store_close(s);
        assert_int_equal(kit_query(dir, "SELECT count(*) FROM events"), 0);
        assert_int_equal(kit_query(dir, "SELECT count(*) FROM settings"), 2);
        free(dir);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_all_or_nothing),
        TEST(a_read_that_fails_is_no_absence),
        TEST(many_steps_become_durable_together),
        TEST(a_lazy_record_takes_no_step_after_a_failed_one),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
