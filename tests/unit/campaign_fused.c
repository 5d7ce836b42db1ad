/* campaign_fused: whole campaigns with fused instances on fakes and virtual time: f0, f1 and f2 are modes of one
 * instance with one queue, f3 has its own. */
#include "fakes.h"

#include "base/die.h"
#include "base/fs.h"
#include "base/log.h"
#include "journal/status.h"
#include "store_kit.h"

static struct settings options(const char *scheduler, int jobs, int64_t budget_s)
{
    struct settings o = fakes_options(fakes_dir, scheduler, 4, jobs, budget_s);
    o.instances = INSTANCES_FUSED;
    return o;
}

static int64_t ask(const char *sql)
{
    char *out = fs_join(fakes_dir, "out");
    int64_t n = kit_query(out, sql);
    free(out);
    return n;
}

static void replays(struct fakes *f)
{
    struct replay r;
    fakes_replay(f, fakes_dir, NULL, NULL, &r);
    assert_int_equal(r.mismatch.turn, 0);
    assert_int_equal(r.matched, r.decisions);
    assert_true(r.state_equal);
    replay_free(&r);
}

/* A fake finds a depth only as the fuzzer whose depth it is; after a crash comes one more. */
static void every_find_is_of_its_turn(void)
{
    assert_true(ask("SELECT count(*) FROM seeds WHERE turn > 0") > 20);
    assert_int_equal(ask("SELECT count(*) FROM seeds s JOIN turns t ON t.id = s.turn WHERE "
                         "t.id > 0 AND substr(s.name, 7) % 97 > 1 AND substr(s.name, 7) % 4 <> "
                         "t.arm"),
                     0);
}

static void modes_share_an_instance(void **state)
{
    (void)state;
    struct fakes f;
    struct tally a;
    fakes_init(&f, 4);
    fakes_run(&f, options("equal", 1, 4 * 3600), &a);
    assert_int_equal(ask("SELECT count(*) FROM instances"), 2);
    assert_int_equal(ask("SELECT count(*) FROM instances WHERE fuzzer = 'f012' AND number = 0"), 1);
    assert_int_equal(ask("SELECT count(*) FROM turns t JOIN instances i ON i.id = t.instance WHERE "
                         "(i.fuzzer = 'f012') <> (t.arm < 3)"),
                     0);
    assert_int_equal(ask("SELECT count(DISTINCT arm) FROM turns WHERE instance = 1"), 3);
    assert_true(f.changes > 60); /* every turn of the three but the first */
    every_find_is_of_its_turn();
    assert_true(a.edges > 40);
    /* What one mode found the others have: nothing of it is offered to them. */
    assert_int_equal(ask("SELECT count(*) FROM imports m JOIN seeds s ON s.id = m.seed WHERE "
                         "s.instance = m.instance"),
                     0);
    assert_int_equal(f.doubles, 0);
    char *dir = fs_join(fakes_dir, "out/fuzzers/f012-0");
    assert_true(fs_is_dir(dir));
    free(dir);
    replays(&f);
    fakes_free(&f);
}

static void with_slots_there_are_several(void **state)
{
    (void)state;
    struct fakes f;
    struct tally a;
    fakes_init(&f, 4);
    fakes_run(&f, options("equal", 3, 2 * 3600), &a);
    assert_in_range(ask("SELECT count(*) FROM instances WHERE fuzzer = 'f012'"), 2, 3);
    assert_int_equal(ask("SELECT max(number) + 1 FROM instances WHERE fuzzer = 'f012'"),
                     ask("SELECT count(*) FROM instances WHERE fuzzer = 'f012'"));
    assert_int_equal(f.doubles, 0);
    every_find_is_of_its_turn();
    replays(&f);
    fakes_free(&f);
}

static void killed_anywhere_it_goes_on(void **state)
{
    (void)state;
    struct fakes f;
    fakes_init(&f, 4);
    for (int life = 0; life < 30; life++) {
        struct settings o = options("random", 2, 4 * 3600);
        o.instances = life ? INSTANCES_OWN : INSTANCES_FUSED; /* the record knows */
        o.resume = life > 0;
        struct loop *l = loop_new_virtual(life * 1000 * NS_PER_S);
        struct campaign_env env = fakes_env(&f, l);
        struct campaign *c = NULL;
        struct err e = {0};
        if (campaign_new(&c, &o, &env, NULL, &e) < 0 || campaign_begin(c, &e) < 0)
            fail_msg("life %d: %s", life, e.msg);
        for (int step = 0; step < 9 + life * 3 && loop_step(l, -1); step++)
            ;
        campaign_free(c);
        loop_free(l);
        replays(&f);
    }
    assert_true(ask("SELECT count(*) FROM instances WHERE fuzzer = 'f012'") <= 2);
    assert_int_equal(f.doubles, 0);
    every_find_is_of_its_turn();
    fakes_free(&f);
}

/* The instance they share dies in turns of one of them. */
static void one_mode_may_be_dropped(void **state)
{
    (void)state;
    struct fakes f;
    struct tally a;
    fakes_init(&f, 4);
    f.dies = 1;
    fakes_run(&f, options("equal", 1, 3600), &a);
    struct status st;
    char *out = fs_join(fakes_dir, "out");
    OK(status_load(&st, out, &oops));
    free(out);
    assert_int_equal(st.gauges.dropped, 2);
    assert_int_equal(a.arm[1].turns, 3);
    assert_int_equal(f.again, 3); /* each time for the next of the three */
    assert_true(a.arm[0].turns > 5 && a.arm[2].turns > 5);
    replays(&f);
    fakes_free(&f);
}

/* What it saves outside its turns, stopped or killed, is the last turn's. */
static void late_finds_are_of_the_last_mode(void **state)
{
    (void)state;
    struct fakes f;
    struct tally a;
    fakes_init(&f, 4);
    for (int life = 0; life < 4; life++) {
        struct settings o = options("random", 1, 3600 * (life + 1));
        o.resume = o.budget_given = life > 0;
        f.stray = (uint16_t)(1001 + 100 * life);
        fakes_run(&f, o, &a);
    }
    assert_in_range(ask("SELECT count(*) FROM turns WHERE state = 5 AND instance = 1"), 4, 8);
    assert_true(ask("SELECT count(DISTINCT arm) FROM turns WHERE state = 5 AND instance = 1") > 1);
    assert_int_equal(
        ask("SELECT count(*) FROM turns l WHERE l.state = 5 AND l.arm <> (SELECT t.arm "
            "FROM turns t WHERE t.instance = l.instance AND t.id BETWEEN 1 AND "
            "l.at_decision ORDER BY t.id DESC LIMIT 1)"),
        0);
    replays(&f);
    fakes_free(&f);
}

int main(void)
{
    log_set_level(LOG_NONE);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(modes_share_an_instance, fakes_fresh_dir, fakes_remove_dir),
        cmocka_unit_test_setup_teardown(with_slots_there_are_several, fakes_fresh_dir,
                                        fakes_remove_dir),
        cmocka_unit_test_setup_teardown(killed_anywhere_it_goes_on, fakes_fresh_dir,
                                        fakes_remove_dir),
        cmocka_unit_test_setup_teardown(one_mode_may_be_dropped, fakes_fresh_dir, fakes_remove_dir),
        cmocka_unit_test_setup_teardown(late_finds_are_of_the_last_mode, fakes_fresh_dir,
                                        fakes_remove_dir),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
