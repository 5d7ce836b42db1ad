/* campaign_time: the campaign's clock and the accounts of its slots, with the supervisor killed anywhere: time in
 * the journal never runs back, and every slot has the time of its own turns. */
#include "fakes.h"
#include "store_kit.h"

#include "base/log.h"

/* Rows that are not as they must be. */
static void none(const char *what, const char *sql)
{
    char *out = fs_join(fakes_dir, "out");
    int64_t n = kit_query(out, sql);
    if (n)
        fail_msg("%s: %lld", what, (long long)n);
    free(out);
}

static void time_goes_on(void)
{
    none("a turn ends before it begins", "SELECT count(*) FROM turns WHERE round > 0 AND NOT "
                                         "(start_ns <= parked_ns AND parked_ns <= "
                                         "end_ns OR parked_ns = 0 AND start_ns <= end_ns)");
    none("a turn begins before the one decided earlier",
         "SELECT count(*) FROM turns a JOIN turns b ON b.id = a.id + 1 WHERE a.id > 0 AND "
         "b.start_ns < "
         "a.start_ns");
    none("a round ends before an earlier one",
         "SELECT count(*) FROM turns a JOIN turns b ON b.round = a.round + 1 WHERE a.round > 0 AND "
         "b.end_ns < a.end_ns");
    none("the clock is behind the journal",
         "SELECT count(*) FROM turns, clock WHERE max(start_ns, parked_ns, end_ns) > elapsed_ns");
}

static void accounts_are_right(void)
{
    none("the time of a slot is not that of its turns",
         "SELECT count(*) FROM slots s WHERE fuzz_ns <> (SELECT coalesce(sum(active_ns), 0) FROM "
         "turns "
         "t WHERE t.slot = s.slot AND t.round > 0)");
    none("a slot's time does not add up",
         "SELECT count(*) FROM slots WHERE start_ns + fuzz_ns + eval_ns + idle_ns <> wall_ns OR "
         "idle_ns < 0");
}

/* One life of so many steps, then gone as with kill -9; the second slot's turns end first. */
static void live_for(struct fakes *f, bool resume, int steps)
{
    struct settings o = fakes_options(fakes_dir, "autofz", 4, 3, 24 * 3600);
    struct loop *l = loop_new_virtual(1000 * NS_PER_S);
    struct campaign_env env = fakes_env(f, l);
    struct campaign *c = NULL;
    o.resume = resume;
    OK(campaign_new(&c, &o, &env, NULL, &oops));
    OK(campaign_begin(c, &oops));
    for (int i = 0; i < steps && loop_step(l, -1); i++)
        ;
    campaign_free(c);
    loop_free(l);
}

static void time_never_runs_back(void **state)
{
    (void)state;
    struct fakes f;
    fakes_init(&f, 4);
    for (int life = 0; life < 60; life++) {
        live_for(&f, life > 0, 6 + life * 7 % 41);
        time_goes_on();
    }
    fakes_free(&f);
}

static void every_slot_has_its_own_time(void **state)
{
    (void)state;
    struct fakes f;
    fakes_init(&f, 4);
    for (int life = 0; life < 60; life++) {
        live_for(&f, life > 0, 6 + life * 7 % 41);
        accounts_are_right();
    }
    fakes_free(&f);
}

/* The first slot may be in its first turn while others have completed theirs. */
static void a_slot_without_an_account_takes_no_other(void **state)
{
    struct fixture *f = *state;
    struct store_slot one = {.fuzz_ns = 1, .wall_ns = 2}, got[4] = {{.fuzz_ns = 9}};
    struct store_turn t = begun(f->s, 1, 0); /* in slot 2 */
    int n;
    t.state = TURN_COMMITTED, t.round = 1;
    OK(commit(f->s, &t, &(struct store_commit){.account = &one}, &oops));
    OK(store_slots(f->s, got, 4, &n, &oops));
    assert_int_equal(n, 3);
    assert_int_equal(got[0].fuzz_ns, 0);
    assert_int_equal(got[1].wall_ns, 0);
    assert_int_equal(got[2].fuzz_ns, 1);
    assert_int_equal(got[2].wall_ns, 2);
    OK(store_slots(f->s, got, 2, &n, &oops));
    assert_int_equal(n, 0);
}

static void count_tick(void *arg, const struct campaign *c)
{
    (void)c;
    ++*(int64_t *)arg;
}

/* f0 alone gets nowhere.  Whoever watches is told of every second, and of 3,000 quiet ones it ends. */
static void a_plateau_ends_it(void **state)
{
    (void)state;
    struct fakes f;
    int64_t ticks = 0;
    fakes_init(&f, 2);
    struct settings o = fakes_options(fakes_dir, "single:f0", 2, 1, 36000);
    struct loop *l = loop_new_virtual(1000 * NS_PER_S);
    struct campaign_env env = fakes_env(&f, l);
    struct campaign *c = NULL;
    o.plateau_ns = 3000 * NS_PER_S;
    OK(campaign_new(&c, &o, &env, NULL, &oops));
    campaign_watch(c, count_tick, &ticks);
    OK(campaign_run(c, &oops));
    assert_string_equal(campaign_end_reason(c), "plateau");
    bool measuring;
    assert_int_equal(campaign_slot_arm(c, 0, &measuring), -1);
    int64_t took = campaign_elapsed(c), quiet = campaign_quiet(c);
    assert_true(quiet >= 3000 * NS_PER_S && quiet < 3002 * NS_PER_S);
    assert_true(ticks >= took / NS_PER_S - 1 && ticks <= took / NS_PER_S);
    campaign_free(c);
    loop_free(l);
    fakes_free(&f);
}

/* From a twelfth of a turn before the end no turn begins; a budget shorter than a turn is one. */
static void too_late_is_a_twelfth_of_a_turn_before_the_end(void **state)
{
    (void)state;
    struct fold f = {.turn_ns = 120 * NS_PER_S};
    assert_false(fold_too_late(&f, INT64_MAX)); /* no budget, no end */
    f.tally.budget_ns = 600 * NS_PER_S;
    assert_true(fold_too_late(&f, 590 * NS_PER_S));
    assert_false(fold_too_late(&f, 590 * NS_PER_S - 1));
    f.tally.budget_ns = 12 * NS_PER_S;
    assert_true(fold_too_late(&f, 11 * NS_PER_S));
    assert_false(fold_too_late(&f, 11 * NS_PER_S - 1));
}

int main(void)
{
    log_set_level(LOG_NONE);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(time_never_runs_back, fakes_fresh_dir, fakes_remove_dir),
        cmocka_unit_test_setup_teardown(every_slot_has_its_own_time, fakes_fresh_dir,
                                        fakes_remove_dir),
        cmocka_unit_test_setup_teardown(a_plateau_ends_it, fakes_fresh_dir, fakes_remove_dir),
        TEST(a_slot_without_an_account_takes_no_other),
        cmocka_unit_test(too_late_is_a_twelfth_of_a_turn_before_the_end),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
