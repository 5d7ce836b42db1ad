/* campaign_late: what a fuzzer saves outside its turns, when it is stopped or its supervisor killed, is stored,
 * measured and shared, whether or not it ever runs again. */
#include "fakes.h"

#include "base/fs.h"
#include "base/log.h"
#include "journal/status.h"
#include "store_kit.h"

#include <signal.h>
#include <sys/resource.h>

#define STRAY 501 /* deeper than any fake gets in these campaigns */

/* The one number that an SQL query gives. */
static int64_t ask(const char *sql)
{
    char *out = fs_join(fakes_dir, "out");
    int64_t v = kit_query(out, sql);
    free(out);
    return v;
}

/* It is in the record, measured, and given to others if it may be. */
static bool is_stored(uint16_t depth)
{
    char *sql = str_fmt("SELECT count(*) FROM seeds WHERE data = x'%02x%02x' AND state = 2 AND "
                        "(share > 0) = (status = 1) AND length(edges) > 0 AND round > 0",
                        depth & 0xff, depth >> 8);
    bool stored = ask(sql) == 1;
    free(sql);
    return stored;
}

static void all_stored(uint16_t from, uint16_t end)
{
    for (uint16_t depth = from; depth < end; depth++)
        if (!is_stored(depth))
            fail_msg("depth %u is in a fuzzer's directory and not in the store", depth);
}

static void replays(struct fakes *f, int64_t decisions)
{
    struct replay r;
    fakes_replay(f, fakes_dir, NULL, NULL, &r);
    assert_int_equal(r.mismatch.turn, 0);
    assert_int_equal(r.matched, r.decisions);
    assert_true(r.state_equal);
    if (decisions >= 0)
        assert_int_equal(r.decisions, decisions);
    replay_free(&r);
}

static struct settings options(const char *scheduler, int arms, int jobs, int64_t budget_s,
                               bool resume)
{
    struct settings o = fakes_options(fakes_dir, scheduler, arms, jobs, budget_s);
    o.resume = o.budget_given = resume;
    return o;
}

/* From now on nothing can be written to any file, or it can again. */
static void disk_is_full(bool full)
{
    struct rlimit r;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &r), 0);
    r.rlim_cur = full ? 0 : r.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &r), 0);
}

/* So many steps of the loop, then some with a full disk, then gone as with kill -9. */
static void live_until_full(struct fakes *f, struct settings o, int steps, int full)
{
    struct loop *l = loop_new_virtual(1000 * NS_PER_S);
    struct campaign_env env = fakes_env(f, l);
    struct campaign *c = NULL;
    struct err e = {0};
    if (campaign_new(&c, &o, &env, NULL, &e) < 0 || campaign_begin(c, &e) < 0)
        fail_msg("%s", e.msg);
    for (int i = 0; i < steps && loop_step(l, -1); i++)
        ;
    disk_is_full(full > 0);
    for (int i = 0; i < full && loop_step(l, -1); i++)
        ;
    disk_is_full(false);
    campaign_free(c);
    loop_free(l);
}

/* So many steps of the loop, then gone as with kill -9. */
static void live_for(struct fakes *f, struct settings o, int steps)
{
    live_until_full(f, o, steps, 0);
}

static void what_they_save_at_the_end_is_stored(void **state)
{
    (void)state;
    struct fakes f;
    struct tally a;
    struct replay r;
    fakes_init(&f, 3);
    f.stray = STRAY;
    fakes_run(&f, options("equal", 3, 1, 1200, false), &a);
    assert_int_equal(f.stray, STRAY + 3);
    all_stored(STRAY, STRAY + 3);
    /* counted, and in nobody's reward */
    assert_int_equal(a.edges, STRAY + 2 + 1);
    struct status st;
    char *out = fs_join(fakes_dir, "out");
    OK(status_load(&st, out, &oops));
    free(out);
    assert_int_equal(st.gauges.seeds, ask("SELECT count(*) FROM seeds"));
    assert_int_equal(st.tally.turns, a.turns);
    assert_int_equal(a.turns, ask("SELECT count(*) FROM turns WHERE id > 0"));
    assert_int_equal(ask("SELECT count(*) FROM turns WHERE id < 0 AND state = 5"), 3);
    assert_int_equal(ask("SELECT count(*) FROM turns WHERE id < 0 AND (reward <> 0 OR raw <> 0)"),
                     0);
    fakes_replay(&f, fakes_dir, NULL, NULL, &r);
    assert_int_equal(r.fold.tally.edges, a.edges);
    assert_int_equal(r.fold.round, a.turns + 3);
    replay_free(&r);
    replays(&f, (int64_t)a.turns);
    fakes_free(&f);
}

static const char *state_now(void)
{
    struct status st;
    char *out = fs_join(fakes_dir, "out");
    OK(status_load(&st, out, &oops));
    free(out);
    return st.state;
}

/* Its budget is used: no fuzzer gets a turn any more. */
static void what_a_kill_left_is_stored_without_a_turn(void **state)
{
    (void)state;
    struct fakes f;
    struct tally a;
    fakes_init(&f, 3);
    f.stray = STRAY;
    live_for(&f, options("equal", 3, 1, 7200, false), 60);
    assert_int_equal(f.stray, STRAY + 2); /* two were idle, one in its turn */
    assert_false(is_stored(STRAY));
    assert_string_equal(state_now(), "interrupted");
    int64_t decisions = ask("SELECT max(id) FROM turns");
    f.stray = 0;
    fakes_run(&f, options("equal", 3, 1, 1, true), &a);
    assert_string_equal(state_now(), "ended");
    all_stored(STRAY, STRAY + 2);
    replays(&f, decisions);
    /* the others are given them as soon as they run */
    fakes_run(&f, options("equal", 3, 1, 7200, true), &a);
    char *sql = str_fmt("SELECT count(*) FROM imports m JOIN seeds s ON s.id = m.seed WHERE "
                        "s.data = x'%02x%02x' AND m.delivered",
                        STRAY & 0xff, STRAY >> 8);
    assert_int_equal(ask(sql), 2);
    free(sql);
    replays(&f, (int64_t)ask("SELECT max(id) FROM turns"));
    assert_int_equal(f.doubles, 0);
    fakes_free(&f);
}

/* A last life, in which nothing more goes astray. */
static void ends_with_all(struct fakes *f, uint16_t end)
{
    struct tally a;
    f->stray = 0;
    fakes_run(f, options("random", 4, 3, 1, true), &a);
    all_stored(STRAY, end);
    assert_int_equal(f->doubles, 0);
    assert_int_equal(ask("SELECT count(*) FROM turns WHERE round = 0"), 0);
    replays(f, -1);
}

static void gathering_them_may_be_killed_anywhere(void **state)
{
    (void)state;
    struct fakes f;
    int64_t cut = 0;
    fakes_init(&f, 4);
    for (int life = 0; life < 6; life++) {
        f.stray = f.stray ? f.stray : STRAY;
        live_for(&f, options("random", 4, 3, 4 * 3600, life > 0), 40 + life * 18);
        uint16_t next = f.stray;
        f.stray = 0; /* and now the gathering itself, killed after every step of it */
        for (int steps = 0; steps < 14; steps++) {
            live_for(&f, options("random", 4, 3, 1, true), steps);
            cut += ask("SELECT count(*) FROM turns WHERE state = 5 AND round = 0");
            replays(&f, -1);
        }
        f.stray = next;
    }
    uint16_t end = f.stray;
    assert_true(cut > 5);
    assert_true(end > STRAY + 15);
    ends_with_all(&f, end);
    fakes_free(&f);
}

static void the_disk_may_be_full_while_they_are_gathered(void **state)
{
    (void)state;
    struct fakes f;
    fakes_init(&f, 4);
    signal(SIGXFSZ, SIG_IGN);
    for (int life = 0; life < 4; life++) {
        f.stray = f.stray ? f.stray : STRAY;
        live_for(&f, options("random", 4, 3, 4 * 3600, life > 0), 40 + life * 18);
        uint16_t next = f.stray;
        f.stray = 0;
        for (int steps = 0; steps < 14; steps++) {
            int64_t acknowledged = ask("SELECT count(*) FROM seeds");
            live_until_full(&f, options("random", 4, 3, 1, true), steps, 30);
            assert_true(ask("SELECT count(*) FROM seeds") >= acknowledged);
            replays(&f, -1);
        }
        f.stray = next;
    }
    uint16_t end = f.stray;
    assert_true(end > STRAY + 8);
    ends_with_all(&f, end);
    fakes_free(&f);
}

/* Up to a dozen steps after both fuzzers were told to stop. */
static void the_end_may_be_killed_anywhere(void **state)
{
    (void)state;
    for (int steps = 0, ending = 0; ending < 12; steps++) {
        struct fakes f;
        struct tally a;
        fakes_init(&f, 2);
        f.stray = STRAY;
        live_for(&f, options("equal", 2, 1, 240, false), steps);
        uint16_t end = f.stray;
        ending += end == STRAY + 2 && ask("SELECT count(*) FROM turns WHERE state < 3") == 0;
        f.stray = 0;
        replays(&f, -1);
        fakes_run(&f, options("equal", 2, 1, 1, true), &a);
        all_stored(STRAY, end);
        replays(&f, -1);
        fakes_free(&f);
        assert_true(steps < 200);
        char *out = fs_join(fakes_dir, "out");
        assert_int_equal(fs_remove_tree(out, NULL), 0);
        free(out);
    }
}

/* A crash among them is a crash, also when the gathering was cut off after it was stored: a campaign that
 * shall end at one takes no turn. */
static void a_crash_among_them_ends_the_campaign(void **state)
{
    (void)state;
    struct fakes f;
    struct tally a;
    fakes_init(&f, 2);
    f.stray = 97 * 6;
    live_for(&f, options("equal", 2, 1, 7200, false), 30);
    f.stray = 0;
    int64_t decisions = ask("SELECT max(id) FROM turns");
    live_for(&f, options("equal", 2, 1, 7200, true), 0);
    for (int steps = 0; !ask("SELECT count(*) FROM turns WHERE state = 5 AND crashes"); steps++) {
        assert_true(steps < 20);
        live_for(&f, options("equal", 2, 1, 7200, true), steps);
    }
    assert_int_equal(ask("SELECT count(*) FROM turns WHERE state = 5 AND crashes AND round = 0"),
                     1);
    assert_int_equal(ask("SELECT max(id) FROM turns"), decisions);
    struct settings o = options("equal", 2, 1, 7200, true);
    o.stop_on_crash = true;
    fakes_run(&f, o, &a);
    assert_int_equal(ask("SELECT max(id) FROM turns"), decisions);
    assert_int_equal(ask("SELECT count(*) FROM turns WHERE round = 0"), 0);
    replays(&f, decisions);
    fakes_free(&f);
}

/* Nobody is credited with it: there is no such fuzzer. */
static void one_of_a_wrong_fuzzer_is_refused(void **state)
{
    (void)state;
    struct fakes f;
    struct campaign *c = NULL;
    char *out = fs_join(fakes_dir, "out");
    fakes_init(&f, 2);
    f.stray = STRAY;
    live_for(&f, options("equal", 2, 1, 7200, false), 30);
    f.stray = 0;
    for (int steps = 0; !ask("SELECT count(*) FROM turns WHERE state = 5 AND round = 0"); steps++) {
        assert_true(steps < 20);
        live_for(&f, options("equal", 2, 1, 7200, true), steps);
    }
    assert_true(kit_exec(out, "UPDATE turns SET arm = 63 WHERE state = 5 AND round = 0") > 0);
    struct loop *l = loop_new_virtual(1000 * NS_PER_S);
    struct campaign_env env = fakes_env(&f, l);
    struct settings o = options("equal", 2, 1, 7200, true);
    assert_int_equal(campaign_new(&c, &o, &env, NULL, &oops), -EINVAL);
    assert_non_null(strstr(oops.msg, "another fuzzer"));
    loop_free(l);
    free(out);
    fakes_free(&f);
}

int main(void)
{
    log_set_level(LOG_NONE);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_they_save_at_the_end_is_stored, fakes_fresh_dir,
                                        fakes_remove_dir),
        cmocka_unit_test_setup_teardown(what_a_kill_left_is_stored_without_a_turn, fakes_fresh_dir,
                                        fakes_remove_dir),
        cmocka_unit_test_setup_teardown(gathering_them_may_be_killed_anywhere, fakes_fresh_dir,
                                        fakes_remove_dir),
        cmocka_unit_test_setup_teardown(the_disk_may_be_full_while_they_are_gathered,
                                        fakes_fresh_dir, fakes_remove_dir),
        cmocka_unit_test_setup_teardown(the_end_may_be_killed_anywhere, fakes_fresh_dir,
                                        fakes_remove_dir),
        cmocka_unit_test_setup_teardown(a_crash_among_them_ends_the_campaign, fakes_fresh_dir,
                                        fakes_remove_dir),
        cmocka_unit_test_setup_teardown(one_of_a_wrong_fuzzer_is_refused, fakes_fresh_dir,
                                        fakes_remove_dir),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
