/* campaign: whole campaigns on fakes and virtual time: repeatable, resumable at any moment, nothing
 * lost, nothing twice. */
#include "fakes.h"

#include "base/die.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/str.h"
#include "journal/status.h"
#include "store_kit.h"

#include <math.h>
#include <sqlite3.h>

static struct settings options(const char *scheduler, int arms, int jobs, int64_t budget_s)
{
    return fakes_options(fakes_dir, scheduler, arms, jobs, budget_s);
}

/* As `carol status` sees it. */
static struct status status_now(void)
{
    struct status st;
    char *out = fs_join(fakes_dir, "out");
    OK(status_load(&st, out, &oops));
    free(out);
    return st;
}

static void replay_now(struct fakes *f, struct replay *r)
{
    fakes_replay(f, fakes_dir, NULL, NULL, r);
}

static void a_day_in_a_moment(void **state)
{
    (void)state;
    struct fakes f;
    struct tally a;
    fakes_init(&f, 6);
    fakes_run(&f, options("equal", 6, 4, 6 * 3600), &a);
    assert_true(a.turns > 600); /* 4 slots x 6 h / 120 s = 720 */
    assert_true(a.edges > 100);
    struct status st = status_now();
    assert_true(st.gauges.crashes > 0);
    assert_int_equal(st.tally.edges, a.edges);
    assert_int_equal(f.doubles, 0);
    assert_int_equal(f.again, 0); /* who is parked goes on */
    for (int i = 0; i < 6; i++) {
        assert_true(a.arm[i].turns > 0);
        assert_true(a.arm[i].taken > 0);
    }
    struct replay r;
    replay_now(&f, &r);
    assert_int_equal(r.decisions, a.turns);
    assert_int_equal(r.matched, r.decisions);
    assert_int_equal(r.mismatch.turn, 0);
    assert_true(r.state_equal);
    assert_int_equal(r.fold.tally.edges, a.edges);
    replay_free(&r);
    fakes_free(&f);
}

static void same_seed_same_campaign(void **state)
{
    (void)state;
    struct tally a, b;
    for (int i = 0; i < 2; i++) {
        struct fakes f;
        fakes_init(&f, 3);
        fakes_run(&f, options("random", 3, 2, 3600), i ? &b : &a);
        fakes_free(&f);
        char *out = fs_join(fakes_dir, "out");
        assert_int_equal(fs_remove_tree(out, NULL), 0);
        free(out);
    }
    assert_int_equal(a.turns, b.turns);
    assert_memory_equal(a.arm, b.arm, sizeof a.arm);
    assert_int_equal(a.edges, b.edges);
}

/* Drop the supervisor after a number of loop steps, as kill -9 would, and resume; many times. */
static void dropped_anywhere_goes_on(void **state)
{
    (void)state;
    struct fakes f;
    fakes_init(&f, 4);
    for (int life = 0; life < 40; life++) {
        struct settings o = options("random", 4, 3, (4 + life % 5) * 3600);
        o.resume = life > 0;
        o.budget_given = life % 5 > 1;
        struct loop *l = loop_new_virtual(life * 1000 * NS_PER_S);
        struct campaign_env env = fakes_env(&f, l);
        struct campaign *c = NULL;
        struct err e = {0};
        if (campaign_new(&c, &o, &env, NULL, &e) < 0)
            fail_msg("life %d: %s", life, e.msg);
        assert_int_equal(campaign_begin(c, &e), 0);
        for (int step = 0; step < 7 + life * 3 && loop_step(l, -1); step++)
            ;
        campaign_free(c);
        loop_free(l);
        struct replay r;
        replay_now(&f, &r);
        assert_int_equal(r.mismatch.turn, 0);
        assert_int_equal(r.matched, r.decisions);
        assert_true(r.state_equal);
        assert_true(r.n_open <= 3);
        replay_free(&r);
    }
    struct settings o = options("random", 4, 3, 4 * 3600);
    o.resume = true;
    struct tally a;
    fakes_run(&f, o, &a);
    assert_int_equal(f.doubles, 0);
    assert_true(a.edges > 50);
    fakes_free(&f);
}

/* What came of the shares, read from the journal. */
struct dealt {
    int short_turns, long_turns, rounds;
    int64_t longest; /* how far a turn went beyond its length, ns */
};

static void note_turn(struct dealt *t, const struct store_turn *row, const struct store_blob *blob)
{
    struct decision d;
    OK(decision_decode(blob->data, blob->size, &d, &oops));
    assert_in_range(d.turn_ns, 30 * NS_PER_S, 120 * NS_PER_S);
    t->short_turns += d.turn_ns == 30 * NS_PER_S;
    t->long_turns += d.turn_ns == 120 * NS_PER_S;
    double round = fmax(d.arm[0].phi[0], d.arm[0].phi[2]);
    t->rounds = round > t->rounds ? (int)round : t->rounds;
    if (row->active_ns - d.turn_ns > t->longest)
        t->longest = row->active_ns - d.turn_ns;
}

static void read_dealt(struct dealt *t)
{
    struct store *s;
    struct store_turns *turns;
    struct store_turn row;
    struct store_blob blob;
    char *out = fs_join(fakes_dir, "out");
    *t = (struct dealt){0};
    OK(store_open(&s, out, STORE_READ, &oops));
    OK(store_turns_open(&turns, s, TURNS_BY_ID, 0, &oops));
    while (store_turns_next(turns, &row, &blob, &oops) > 0)
        note_turn(t, &row, &blob);
    store_turns_close(turns);
    store_close(s);
    free(out);
}

/* Dropped and resumed within phases and rounds, with another set of fuzzers able to run now and then. */
static void live_and_die(struct fakes *f, const char *scheduler, int life)
{
    struct settings o = options(scheduler, 4, 3, 6 * 3600);
    struct campaign *c = NULL;
    struct err e = {0};
    struct replay r;
    o.resume = life > 0;
    f->dies = life % 7 == 3 ? 1 : -1;
    struct loop *l = loop_new_virtual(life * 1000 * NS_PER_S);
    struct campaign_env env = fakes_env(f, l);
    if (campaign_new(&c, &o, &env, NULL, &e) < 0)
        fail_msg("life %d: %s", life, e.msg);
    assert_int_equal(campaign_begin(c, &e), 0);
    for (int step = 0; step < 20 + life * 5 && loop_step(l, -1); step++)
        ;
    campaign_free(c);
    loop_free(l);
    replay_now(f, &r);
    assert_int_equal(r.mismatch.turn, 0);
    assert_int_equal(r.matched, r.decisions);
    assert_true(r.state_equal);
    replay_free(&r);
}

static void cores_by_shares(const char *scheduler)
{
    struct fakes f;
    struct tally a;
    struct dealt t;
    struct replay r;
    fakes_init(&f, 4);
    for (int life = 0; life < 15; life++)
        live_and_die(&f, scheduler, life);
    f.dies = -1;
    struct settings o = options(scheduler, 4, 3, 6 * 3600);
    o.resume = true;
    fakes_run(&f, o, &a);
    assert_int_equal(f.doubles, 0);
    /* With fewer cores than arms legion leaves one out for a whole round, and the chain waits for it. */
    assert_true(a.edges > 30);
    replay_now(&f, &r);
    assert_int_equal(r.decisions, a.turns);
    assert_int_equal(r.matched, r.decisions);
    assert_true(r.state_equal);
    replay_free(&r);
    read_dealt(&t);
    assert_true(t.rounds >= 30 && t.rounds <= 36); /* ten minutes each */
    assert_true(t.long_turns > 100);
    assert_true(t.longest <= 30 * NS_PER_S); /* the guard: a quarter more */
    if (strcmp(scheduler, "autofz") == 0)
        assert_true(t.short_turns > 200);
    else
        assert_int_equal(t.short_turns, 0);
    fakes_free(&f);
}

static void autofz_is_resumed_and_replayed(void **state)
{
    (void)state;
    cores_by_shares("autofz");
}

static void legion_is_resumed_and_replayed(void **state)
{
    (void)state;
    cores_by_shares("legion");
}

/* Self-tests that fail as often as they are told to. */
struct flaky {
    struct loop *l;
    int failures[3], tests[3]; /* still to come, and how many there were */
    bool refuses[3];           /* does not even begin */
    bool at_once;              /* passes before the call returns */
};

struct flaky_test {
    struct timer end;
    void (*then)(void *arg, const char *why);
    void *arg;
    bool fails;
};

static void flaky_end(void *arg)
{
    struct flaky_test t = *(struct flaky_test *)arg;
    free(arg);
    t.then(t.arg, t.fails ? "it did not feel like it" : NULL);
}

static struct flaky *the_flaky;

static int flaky_selftest(void *arg, const struct instance_opts *o, const struct input *seeds,
                          size_t n, void (*then)(void *then_arg, const char *why), void *then_arg,
                          struct err *e)
{
    (void)arg;
    int arm = o->fuzzer[1] - '0';
    assert_int_equal(o->number, 0);
    assert_true(n > 0 && seeds[0].size > 0);
    the_flaky->tests[arm]++;
    if (the_flaky->refuses[arm])
        return err_env(e, "it cannot be started");
    if (the_flaky->at_once) {
        then(then_arg, NULL);
        return 0;
    }
    struct flaky_test *t = xcalloc(1, sizeof *t);
    *t =
        (struct flaky_test){.then = then, .arg = then_arg, .fails = the_flaky->failures[arm]-- > 0};
    t->end = (struct timer){.fn = flaky_end, .arg = t};
    loop_timer(the_flaky->l, &t->end, loop_now(the_flaky->l) + NS_PER_S);
    return 0;
}

/* On a busy machine the best may fail once. */
static void an_arm_has_three_tries_to_prove_itself(void **state)
{
    (void)state;
    struct fakes f;
    struct err e = {0};
    struct flaky y = {.l = loop_new_virtual(0), .failures = {2, 99, 0}};
    the_flaky = &y;
    fakes_init(&f, 3);
    struct campaign_env env = fakes_env(&f, y.l);
    env.selftest = flaky_selftest;
    struct settings o = options("equal", 3, 2, 3600);
    struct campaign *c = NULL;
    if (campaign_new(&c, &o, &env, NULL, &e) < 0 || campaign_run(c, &e) < 0)
        fail_msg("%s", e.msg);
    const struct tally *a = campaign_tally(c);
    assert_int_equal(y.tests[0], 3);
    assert_int_equal(y.tests[1], 3);
    assert_int_equal(y.tests[2], 1);
    const struct gauges *g = campaign_gauges(c);
    assert_int_equal(g->dropped, 2); /* the second */
    assert_string_equal(g->why[1], "it did not feel like it");
    assert_true(a->arm[0].turns > 5 && a->arm[1].turns == 0 && a->arm[2].turns > 5);
    campaign_free(c);
    loop_free(y.l);
    fakes_free(&f);
}

static void an_arm_that_cannot_be_tested_is_dropped(void **state)
{
    (void)state;
    struct fakes f;
    struct err e = {0};
    struct flaky y = {.l = loop_new_virtual(0), .refuses = {true, false, true}};
    the_flaky = &y;
    fakes_init(&f, 3);
    struct campaign_env env = fakes_env(&f, y.l);
    env.selftest = flaky_selftest;
    struct settings o = options("equal", 3, 1, 1200);
    struct campaign *c = NULL;
    if (campaign_new(&c, &o, &env, NULL, &e) < 0 || campaign_run(c, &e) < 0)
        fail_msg("%s", e.msg);
    const struct gauges *g = campaign_gauges(c);
    assert_int_equal(g->dropped, 5);
    assert_string_equal(g->why[0], "it cannot be started");
    assert_int_equal(y.tests[0], 1); /* no second try */
    assert_true(campaign_tally(c)->arm[1].turns > 5);
    campaign_free(c);
    loop_free(y.l);
    fakes_free(&f);
}

/* Then there is nothing to wait for. */
static void tests_may_pass_at_once(void **state)
{
    (void)state;
    struct fakes f;
    struct err e = {0};
    struct flaky y = {.l = loop_new_virtual(0), .at_once = true};
    the_flaky = &y;
    fakes_init(&f, 3);
    struct campaign_env env = fakes_env(&f, y.l);
    env.selftest = flaky_selftest;
    struct settings o = options("equal", 3, 1, 1200);
    struct campaign *c = NULL;
    if (campaign_new(&c, &o, &env, NULL, &e) < 0 || campaign_run(c, &e) < 0)
        fail_msg("%s", e.msg);
    assert_int_equal(y.tests[0] + y.tests[1] + y.tests[2], 3);
    assert_true(campaign_tally(c)->turns > 5);
    campaign_free(c);
    loop_free(y.l);
    fakes_free(&f);
}

static void a_dying_arm_is_dropped(void **state)
{
    (void)state;
    struct fakes f;
    struct tally a;
    fakes_init(&f, 3);
    f.dies = 1;
    fakes_run(&f, options("equal", 3, 1, 3600), &a);
    struct status st = status_now();
    assert_true(gauge_dropped(&st.gauges, 1));
    assert_string_equal(st.gauges.why[1], "fake death");
    assert_int_equal(a.arm[1].turns, 3);
    assert_int_equal(f.again, 2); /* after each death but the last */
    assert_true(a.arm[0].turns > 5);
    f.dies = -1; /* mended: a resumed campaign tries it again */
    struct settings o = options("equal", 3, 1, 7200);
    o.resume = o.budget_given = true;
    fakes_run(&f, o, &a);
    assert_true(a.arm[1].turns > 5);
    st = status_now();
    assert_false(gauge_dropped(&st.gauges, 1));
    fakes_free(&f);
}

static void without_any_fuzzer_it_fails(void **state)
{
    (void)state;
    struct fakes f;
    struct err e = {0};
    fakes_init(&f, 1);
    f.dies = 0;
    struct loop *l = loop_new_virtual(0);
    struct campaign_env env = fakes_env(&f, l);
    struct campaign *c = NULL;
    struct settings o = options("equal", 1, 1, 3600);
    OK(campaign_new(&c, &o, &env, NULL, &oops));
    assert_true(campaign_run(c, &e) < 0);
    assert_int_equal(e.exit, ERR_EXIT_ENV);
    assert_non_null(strstr(e.msg, "the last one (f0) was dropped because: fake death"));
    assert_int_equal(campaign_tally(c)->turns, 3);
    campaign_free(c);
    loop_free(l);
    fakes_free(&f);
}

/* Delivered, but the note of it did not reach the store: they go again under the same number, once. */
static void what_arrived_unnoted_is_not_taken_again(void **state)
{
    (void)state;
    struct fakes f;
    struct tally a;
    fakes_init(&f, 3);
    f.lost_answers = 2;
    fakes_run(&f, options("equal", 3, 1, 3600), &a);
    assert_int_equal(f.lost_answers, 0);
    assert_int_equal(f.doubles, 0);
    char *out = fs_join(fakes_dir, "out");
    struct store *s;
    assert_int_equal(store_open(&s, out, STORE_READ, NULL), 0);
    for (int64_t instance = 1; instance <= 3; instance++) {
        int64_t turn = 0;
        struct inputs none = {0};
        OK(store_undelivered(s, instance, &turn, &none, &oops));
        assert_int_equal(turn, 0);
    }
    store_close(s);
    free(out);
    fakes_free(&f);
}

/* What a failed harvest had read already is harvested again, once, and not skipped. */
static void a_harvest_that_fails_loses_nothing(void **state)
{
    (void)state;
    struct fakes f;
    struct tally a;
    fakes_init(&f, 3);
    f.bad_reads = 5;
    fakes_run(&f, options("equal", 3, 1, 8 * 3600), &a);
    assert_int_equal(f.bad_reads, 0);
    fakes_free(&f);
    char *out = fs_join(fakes_dir, "out"), *queue = fs_join(out, "fuzzers/f0-0/queue");
    struct buf found = BUF_INIT(1 << 20);
    OK(fs_read(queue, &found, &oops));
    assert_true(found.len > 10);
    int64_t entries = 0;
    for (size_t at = 0; at < found.len / 2; at++)
        entries += ((const uint16_t *)(void *)found.p)[at] % 97 != 0; /* crashes are no entries */
    assert_int_equal(kit_query(out, "SELECT count(*) FROM entries e JOIN instances i ON i.id = "
                                    "e.instance WHERE i.fuzzer = 'f0'"),
                     entries);
    buf_free(&found);
    free(queue);
    free(out);
}

/* Cycles of a second, of a turn's eleventh part, longer than a turn, getting shorter, getting longer: over
 * twenty turns each fuzzer was active for the same time, within 5 %. */
static void turns_are_worth_the_same(void **state)
{
    (void)state;
    struct fakes f;
    struct tally a;
    fakes_init(&f, 5);
    f.uneven = true;
    fakes_run(&f, options("equal", 5, 1, 5 * 21 * 122), &a);
    int64_t least = INT64_MAX, most = 0;
    for (int i = 0; i < 5; i++) {
        assert_true(a.arm[i].turns >= 20);
        int64_t mean = a.arm[i].active_ns / (int64_t)a.arm[i].turns;
        least = mean < least ? mean : least;
        most = mean > most ? mean : most;
    }
    if ((double)most > 1.05 * (double)least)
        fail_msg("the mean turn of one fuzzer is %.1f s, of another %.1f s", (double)most / 1e9,
                 (double)least / 1e9);
    /* where many cycles fit, the quota is in cycles */
    char *out = fs_join(fakes_dir, "out");
    assert_true(kit_query(out, "SELECT min(quota_cycles) FROM turns WHERE arm = 0 AND id > 5") >=
                60);
    assert_int_equal(kit_query(out, "SELECT max(quota_cycles) FROM turns WHERE arm = 2"), 0);
    free(out);
    fakes_free(&f);
}

static void a_budget_below_a_turn_is_one_turn(void **state)
{
    (void)state;
    struct fakes f;
    struct tally a;
    fakes_init(&f, 2);
    fakes_run(&f, options("equal", 2, 2, 6), &a); /* turns of 120 s */
    assert_int_equal(a.turns, 2);
    assert_int_equal(f.stopped, 2); /* the last one was waited for */
    fakes_free(&f);
}

/* single: has others in its roster, but may not choose them. */
static void without_a_choice_it_ends_and_says_so(void **state)
{
    (void)state;
    struct fakes f;
    struct err e = {0};
    fakes_init(&f, 3);
    f.dies = 1;
    struct loop *l = loop_new_virtual(0);
    struct campaign_env env = fakes_env(&f, l);
    struct campaign *c = NULL;
    struct settings o = options("single:f1", 3, 2, 3600);
    assert_int_equal(campaign_new(&c, &o, &env, NULL, &e), 0);
    assert_true(campaign_run(c, &e) < 0);
    assert_int_equal(e.exit, ERR_EXIT_ENV);
    assert_non_null(strstr(e.msg, "single:f1"));
    campaign_free(c);
    loop_free(l);
    fakes_free(&f);
}

static void try_without_success(struct fakes *f, struct settings o, const char *why)
{
    struct loop *l = loop_new_virtual(0);
    struct campaign_env env = fakes_env(f, l);
    struct campaign *c = NULL;
    struct err e = {0};
    char *out = xstrdup(o.out);
    int rc = campaign_new(&c, &o, &env, NULL, &e);
    assert_true((rc < 0 ? rc : campaign_run(c, &e)) < 0);
    assert_int_equal(e.exit, ERR_EXIT_USAGE);
    assert_non_null(strstr(e.msg, why));
    campaign_free(c);
    settings_free(&o);
    loop_free(l);
    assert_false(fs_exists(out));
    free(out);
}

static void what_never_began_is_not_in_the_way(void **state)
{
    (void)state;
    struct fakes f;
    struct tally a;
    fakes_init(&f, 2);
    try_without_success(&f, options("nonsense", 2, 1, 600), "nonsense");
    struct settings o = options("equal", 2, 1, 600);
    strv_take(&o.seeds, fs_join(fakes_dir, "missing"));
    try_without_success(&f, o, "missing");
    f.no_judge = true;
    try_without_success(&f, options("equal", 2, 1, 600), "does not come up");
    f.no_judge = false;
    fakes_run(&f, options("equal", 2, 1, 600), &a);
    assert_true(a.turns > 0);
    fakes_free(&f);
}

/* The caller of the first step is told, too. */
static void a_first_step_that_fails_says_why(void **state)
{
    (void)state;
    struct fakes f;
    struct err e = {0};
    fakes_init(&f, 2);
    struct loop *l = loop_new_virtual(0);
    struct campaign_env env = fakes_env(&f, l);
    struct campaign *c = NULL;
    struct settings o = options("equal", 2, 1, 600);
    strv_take(&o.seeds, fs_join(fakes_dir, "missing"));
    OK(campaign_new(&c, &o, &env, NULL, &oops));
    assert_true(campaign_begin(c, &e) < 0);
    assert_int_equal(e.exit, ERR_EXIT_USAGE);
    assert_non_null(strstr(e.msg, "missing"));
    campaign_free(c);
    loop_free(l);
    fakes_free(&f);
}

/* One part in fifty of the time of all slots goes to hangs, which run twice: with a limit of a second one that
 * computes takes two, one that sleeps twelve. */
static void hangs_take_a_small_part_of_the_time(void **state)
{
    (void)state;
    static const uint32_t cpu_us[] = {1000000, 0};
    static const int each_s[] = {2, 12};
    for (int i = 0; i < 2; i++) {
        int jobs = i + 1, part_s = jobs * 6 * 3600 / 50;
        struct fakes f;
        struct tally a;
        char *out = fs_join(fakes_dir, "out");
        fakes_init(&f, 2);
        f.hangs = 8;
        f.hang_us = cpu_us[i];
        fakes_run(&f, options("equal", 2, jobs, 6 * 3600), &a);
        int64_t n = kit_query(out, "SELECT count(*) FROM seeds WHERE status = 4");
        assert_in_range(n * each_s[i], part_s - 60, part_s + 60);
        assert_int_equal(fs_remove_tree(out, NULL), 0);
        free(out);
        fakes_free(&f);
    }
}

static void count_a_look(void *arg, const struct campaign *c)
{
    assert_true(campaign_elapsed(c) > 0);
    ++*(int *)arg;
}

static void everybody_who_watches_sees_it(void **state)
{
    (void)state;
    struct fakes f;
    struct err e = {0};
    int looks[2] = {0};
    fakes_init(&f, 2);
    struct loop *l = loop_new_virtual(0);
    struct campaign_env env = fakes_env(&f, l);
    struct campaign *c = NULL;
    struct settings o = options("equal", 2, 1, 600);
    assert_int_equal(campaign_new(&c, &o, &env, NULL, &e), 0);
    campaign_watch(c, count_a_look, &looks[0]);
    campaign_watch(c, count_a_look, &looks[1]);
    assert_int_equal(campaign_run(c, &e), 0);
    assert_in_range(looks[0], 590, 610); /* once a second */
    assert_int_equal(looks[0], looks[1]);
    campaign_free(c);
    loop_free(l);
    fakes_free(&f);
}

/* Its edges have other numbers. */
static void another_build_is_refused(void **state)
{
    (void)state;
    struct fakes f;
    struct tally a;
    struct err e = {0};
    fakes_init(&f, 2);
    fakes_run(&f, options("equal", 2, 1, 600), &a);
    snprintf(f.table.build_id, sizeof f.table.build_id, "other");
    struct loop *l = loop_new_virtual(0);
    struct campaign_env env = fakes_env(&f, l);
    struct campaign *c = NULL;
    struct settings o = options("equal", 2, 1, 1200);
    o.resume = o.budget_given = true;
    assert_true(campaign_new(&c, &o, &env, NULL, &e) < 0);
    assert_int_equal(e.exit, ERR_EXIT_USAGE);
    assert_non_null(strstr(e.msg, "is not the one this campaign was begun on"));
    loop_free(l);
    fakes_free(&f);
}

static const char *engine_version;

static char *version_of(const char *fuzzer)
{
    return strcmp(fuzzer, "f1") == 0 ? NULL : str_fmt("engine of %s %s", fuzzer, engine_version);
}

static void live_once(struct fakes *f, const char *version, bool resume)
{
    struct err e = {0};
    struct campaign *c = NULL;
    struct loop *l = loop_new_virtual(0);
    struct campaign_env env = fakes_env(f, l);
    struct settings o = options("equal", 2, 1, resume ? 1200 : 600);
    o.resume = o.budget_given = resume;
    engine_version = version;
    env.version = version_of;
    assert_int_equal(campaign_new(&c, &o, &env, NULL, &e), 0);
    assert_int_equal(campaign_run(c, &e), 0);
    campaign_free(c);
    loop_free(l);
}

static void expect_fact(struct store *s, const char *key, const char *want)
{
    char *value;
    assert_int_equal(store_get(s, key, &value, NULL), 0);
    if (want)
        assert_string_equal(value, want);
    else
        assert_null(value);
    free(value);
}

/* Of each life; what another engine did since is in the events. */
static void versions_are_in_the_record(void **state)
{
    (void)state;
    struct fakes f;
    struct store *s = NULL;
    char *out = fs_join(fakes_dir, "out"), *db = fs_join(out, "carol.db"), *said = NULL;
    sqlite3 *raw;
    fakes_init(&f, 2);
    live_once(&f, "1", false);
    live_once(&f, "1", true);
    live_once(&f, "2", true);
    assert_int_equal(store_open(&s, out, STORE_READ, NULL), 0);
    expect_fact(s, "version.carol", CAROL_VERSION);
    expect_fact(s, "version.f0", "engine of f0 2");
    expect_fact(s, "version.f1", NULL);
    store_close(s);
    assert_int_equal(sqlite3_open(db, &raw), SQLITE_OK);
    char **rows;
    int n, columns;
    assert_int_equal(sqlite3_get_table(raw, "SELECT text FROM events WHERE kind = 'version'", &rows,
                                       &n, &columns, &said),
                     SQLITE_OK);
    assert_int_equal(n, 1);
    assert_string_equal(rows[1], "f0 is engine of f0 2 now; it was engine of f0 1");
    sqlite3_free_table(rows);
    sqlite3_close(raw);
    free(out);
    free(db);
    fakes_free(&f);
}

/* So that the next life can tell what a killed one left behind. */
static void what_it_starts_has_its_mark(void **state)
{
    (void)state;
    struct fakes f;
    struct tally a;
    char *out = fs_join(fakes_dir, "out");
    fakes_init(&f, 2);
    unsetenv("CAROL_CAMPAIGN");
    fakes_run(&f, options("equal", 2, 1, 600), &a);
    assert_string_equal(getenv("CAROL_CAMPAIGN"), out);
    free(out);
    fakes_free(&f);
}

static void a_second_one_is_refused(void **state)
{
    (void)state;
    struct fakes f;
    struct err e = {0};
    fakes_init(&f, 2);
    struct loop *l = loop_new_virtual(0);
    struct campaign_env env = fakes_env(&f, l);
    struct campaign *c = NULL, *d = NULL;
    struct settings o = options("equal", 2, 1, 600), p = options("equal", 2, 1, 600);
    p.resume = true;
    assert_int_equal(campaign_new(&c, &o, &env, NULL, &e), 0);
    assert_true(campaign_new(&d, &p, &env, NULL, &e) < 0);
    assert_int_equal(e.exit, ERR_EXIT_USAGE);
    campaign_free(c);
    loop_free(l);
    fakes_free(&f);
}

int main(void)
{
    log_set_level(LOG_NONE);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_day_in_a_moment, fakes_fresh_dir, fakes_remove_dir),
        cmocka_unit_test_setup_teardown(same_seed_same_campaign, fakes_fresh_dir, fakes_remove_dir),
        cmocka_unit_test_setup_teardown(dropped_anywhere_goes_on, fakes_fresh_dir,
                                        fakes_remove_dir),
        cmocka_unit_test_setup_teardown(autofz_is_resumed_and_replayed, fakes_fresh_dir,
                                        fakes_remove_dir),
        cmocka_unit_test_setup_teardown(legion_is_resumed_and_replayed, fakes_fresh_dir,
                                        fakes_remove_dir),
        cmocka_unit_test_setup_teardown(an_arm_has_three_tries_to_prove_itself, fakes_fresh_dir,
                                        fakes_remove_dir),
        cmocka_unit_test_setup_teardown(an_arm_that_cannot_be_tested_is_dropped, fakes_fresh_dir,
                                        fakes_remove_dir),
        cmocka_unit_test_setup_teardown(tests_may_pass_at_once, fakes_fresh_dir, fakes_remove_dir),
        cmocka_unit_test_setup_teardown(without_any_fuzzer_it_fails, fakes_fresh_dir,
                                        fakes_remove_dir),
        cmocka_unit_test_setup_teardown(a_dying_arm_is_dropped, fakes_fresh_dir, fakes_remove_dir),
        cmocka_unit_test_setup_teardown(what_arrived_unnoted_is_not_taken_again, fakes_fresh_dir,
                                        fakes_remove_dir),
        cmocka_unit_test_setup_teardown(a_harvest_that_fails_loses_nothing, fakes_fresh_dir,
                                        fakes_remove_dir),
        cmocka_unit_test_setup_teardown(turns_are_worth_the_same, fakes_fresh_dir,
                                        fakes_remove_dir),
        cmocka_unit_test_setup_teardown(a_budget_below_a_turn_is_one_turn, fakes_fresh_dir,
                                        fakes_remove_dir),
        cmocka_unit_test_setup_teardown(without_a_choice_it_ends_and_says_so, fakes_fresh_dir,
                                        fakes_remove_dir),
        cmocka_unit_test_setup_teardown(what_never_began_is_not_in_the_way, fakes_fresh_dir,
                                        fakes_remove_dir),
        cmocka_unit_test_setup_teardown(a_first_step_that_fails_says_why, fakes_fresh_dir,
                                        fakes_remove_dir),
        cmocka_unit_test_setup_teardown(hangs_take_a_small_part_of_the_time, fakes_fresh_dir,
                                        fakes_remove_dir),
        cmocka_unit_test_setup_teardown(everybody_who_watches_sees_it, fakes_fresh_dir,
                                        fakes_remove_dir),
        cmocka_unit_test_setup_teardown(another_build_is_refused, fakes_fresh_dir,
                                        fakes_remove_dir),
        cmocka_unit_test_setup_teardown(versions_are_in_the_record, fakes_fresh_dir,
                                        fakes_remove_dir),
        cmocka_unit_test_setup_teardown(what_it_starts_has_its_mark, fakes_fresh_dir,
                                        fakes_remove_dir),
        cmocka_unit_test_setup_teardown(a_second_one_is_refused, fakes_fresh_dir, fakes_remove_dir),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
