/* campaign_faults: a campaign whose database fails once, at any call: it says so and ends, blames no fuzzer, and
 * a resume makes a whole campaign of it.  So it does of one that is interrupted at any moment, once or twice. */
#include "fakes.h"

#include "base/log.h"
#include "store_fail.h"
#include "store_kit.h"

#include <stdio.h>

#define ARMS 3
#define BUDGET_S 25

static int64_t ask(const char *sql)
{
    char *out = fs_join(fakes_dir, "out");
    int64_t v = kit_query(out, sql);
    free(out);
    return v;
}

/* Self-tests that everybody passes, a second later. */
static struct passing {
    struct timer end;
    struct loop *l;
    void (*done)(void *arg, const char *why);
    void *arg; /* NULL: it does not run */
} passing[ARMS];

static void on_passed(void *arg)
{
    struct passing p = *(struct passing *)arg;
    ((struct passing *)arg)->arg = NULL;
    p.done(p.arg, NULL);
}

static int pass(void *arg, const struct instance_opts *o, const struct input *seeds, size_t n,
                void (*done)(void *done_arg, const char *why), void *done_arg, struct err *e)
{
    (void)arg, (void)seeds, (void)n, (void)e;
    struct passing *p = &passing[o->fuzzer[1] - '0'];
    p->done = done;
    p->arg = done_arg;
    p->end = (struct timer){.fn = on_passed, .arg = p};
    loop_timer(p->l, &p->end, loop_now(p->l) + NS_PER_S);
    return 0;
}

/* One life of a campaign, and what happens to it. */
struct life {
    bool resume;
    int fails;        /* this call into the database fails; 0: none */
    bool killed;      /* it ends with the first turn parked and another one running */
    int64_t cut_ns;   /* Ctrl-C then, after the start; 0: never */
    int64_t again_ns; /* and so much later once more */
};

static void on_cut(void *arg)
{
    campaign_interrupt(arg);
}

static void cut_at(struct loop *l, struct timer *t, struct campaign *c, int64_t after_ns)
{
    *t = (struct timer){.fn = on_cut, .arg = c};
    if (after_ns)
        loop_timer(l, t, loop_now(l) + after_ns);
}

static void drop_selftests(struct loop *l)
{
    for (int a = 0; a < ARMS; a++) {
        loop_timer_clear(l, &passing[a].end);
        free(passing[a].arg);
        passing[a] = (struct passing){0};
    }
}

/* Did the call fail?  If not there were not so many. */
static bool live(struct fakes *f, const struct life *how)
{
    struct loop *l = loop_new_virtual(5 * NS_PER_S);
    struct campaign_env env = fakes_env(f, l);
    struct settings o = fakes_options(fakes_dir, "equal", ARMS, 2, BUDGET_S);
    struct campaign *c = NULL;
    struct timer cut, again;
    struct err e = {0};
    o.turn_ns = 12 * NS_PER_S;
    o.resume = how->resume;
    env.selftest = pass;
    for (int a = 0; a < ARMS; a++)
        passing[a].l = l;
    fail_at(how->fails, FAIL_REFUSED);
    int rc = campaign_new(&c, &o, &env, NULL, &e);
    cut_at(l, &cut, c, how->cut_ns);
    cut_at(l, &again, c, how->again_ns ? how->cut_ns + how->again_ns : 0);
    if (rc == 0)
        rc = how->killed ? campaign_begin(c, &e) : campaign_run(c, &e);
    while (how->killed && !ask("SELECT count(*) FROM turns WHERE state = 2"))
        assert_true(loop_step(l, -1));
    bool failed = fail_off();
    if ((rc < 0) != failed)
        fail_msg("call %d: %s", how->fails, failed ? "failed and nobody says so" : e.msg);
    loop_timer_clear(l, &cut);
    loop_timer_clear(l, &again);
    campaign_free(c);
    settings_free(&o);
    drop_selftests(l);
    loop_free(l);
    return failed;
}

static void check_whole(struct fakes *f, int n)
{
    struct replay r;
    fakes_replay(f, fakes_dir, NULL, NULL, &r);
    if (r.mismatch.turn || r.matched != r.decisions || !r.state_equal || r.n_open)
        fail_msg("call %d: the journal does not replay", n);
    replay_free(&r);
    if (ask("SELECT count(*) FROM turns WHERE died") +
        ask("SELECT count(*) FROM events WHERE kind IN ('died', 'dropped')"))
        fail_msg("call %d: a fuzzer is blamed for it", n);
    if (ask("SELECT (SELECT sum(start_ns + fuzz_ns + eval_ns) FROM slots) -"
            " (SELECT sum(startup_ns + active_ns + eval_ns) FROM turns)"))
        fail_msg("call %d: the accounts of the slots are not those of the turns", n);
    if (f->doubles)
        fail_msg("call %d: an input was given twice", n);
}

/* Did it come far enough to be resumed?  Else the same command begins it. */
static bool has_begun(const char *out)
{
    struct store *s;
    struct settings o = {0};
    bool yes = store_open(&s, out, STORE_READ, NULL) == 0 && settings_read(&o, s, NULL) == 0;
    settings_free(&o);
    store_close(s);
    return yes;
}

/* Call n fails in a new campaign, or in one that goes on after a kill; then comes a life in which none does. */
static bool live_and_go_on(int n, bool killed)
{
    struct fakes f;
    char *out = fs_join(fakes_dir, "out");
    fakes_init(&f, ARMS);
    if (killed) {
        live(&f, &(struct life){.killed = true});
        assert_int_equal(ask("SELECT count(*) FROM turns WHERE round = 0"), 2);
    }
    bool failed = live(&f, &(struct life){.resume = killed, .fails = n});
    if (failed)
        live(&f, &(struct life){.resume = has_begun(out)});
    check_whole(&f, n);
    fakes_free(&f);
    assert_int_equal(fs_remove_tree(out, NULL), 0);
    free(out);
    return failed;
}

static void any_call_may_fail(void **state)
{
    (void)state;
    int n = 1;
    while (live_and_go_on(n, false))
        n++;
    assert_true(n > 200);
}

static void any_call_after_a_kill_may_fail(void **state)
{
    (void)state;
    int n = 1;
    while (live_and_go_on(n, true))
        n++;
    assert_true(n > 120);
}

/* Once: every turn is finished, and the record says how it ended. */
static void cut_and_go_on(int64_t cut_ns, int64_t again_ns, int64_t open[2])
{
    struct fakes f;
    char *out = fs_join(fakes_dir, "out");
    fakes_init(&f, ARMS);
    live(&f, &(struct life){.cut_ns = cut_ns, .again_ns = again_ns});
    open[again_ns > 0] += ask("SELECT count(*) FROM turns WHERE round = 0");
    assert_int_equal(ask("SELECT count(*) FROM settings WHERE key = 'state' AND value IN "
                         "('interrupted', 'ended')"),
                     1);
    assert_int_equal(ask("SELECT count(*) FROM events WHERE kind = 'end'"), 1);
    live(&f, &(struct life){.resume = true});
    check_whole(&f, 0);
    fakes_free(&f);
    assert_int_equal(fs_remove_tree(out, NULL), 0);
    free(out);
}

static void it_may_be_interrupted_at_any_moment(void **state)
{
    (void)state;
    int64_t open[2] = {0};
    for (int64_t ns = 1; ns < (BUDGET_S + 5) * NS_PER_S; ns += 331 * NS_PER_MS) {
        cut_and_go_on(ns, 0, open);
        cut_and_go_on(ns, 1, open);
    }
    assert_int_equal(open[0], 0);
    assert_true(open[1] > 20);
}

int main(void)
{
    log_set_level(LOG_NONE);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(any_call_may_fail, fakes_fresh_dir, fakes_remove_dir),
        cmocka_unit_test_setup_teardown(it_may_be_interrupted_at_any_moment, fakes_fresh_dir,
                                        fakes_remove_dir),
        cmocka_unit_test_setup_teardown(any_call_after_a_kill_may_fail, fakes_fresh_dir,
                                        fakes_remove_dir),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
