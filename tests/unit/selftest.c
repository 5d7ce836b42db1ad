/* selftest: what it wants of a fuzzer, with one that does as the test says, on virtual time.  Instances are opened
 * by this file (--wrap=fuzzer_open). */
#include "fuzzer/selftest.h"
#include "base/die.h"
#include "base/fs.h"
#include "proc/tree.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "temp_dir.h"

/* How it behaves; all zero but the times is a good one. */
static struct {
    bool never_ready, never_parks, never_ends, dies, killed, cannot_start, cannot_take, cannot_go,
        unreadable, imported;
    int64_t cpu_ns;   /* in the pause */
    uint64_t execs;   /* in each turn */
    int takes_in, n;  /* takes the input so often in that turn */
    const char *find; /* a find of it: its bytes, */
    const char *name; /* and its name */
    int more;         /* so many more of them, which are ours */
} play;

static struct {
    struct instance in;
    struct loop *loop;
    struct timer timer;
    enum instance_event next;
    int turns, given;
    size_t seeds, first_size;
    uint64_t batch;
    int64_t caps;
    char input[64];
    size_t input_size;
    bool freed;
} k;

static struct {
    int calls;
    struct selftest_result r;
    char fuzzer[32];
} got;

static void fire(void *arg)
{
    (void)arg;
    k.in.on_event(k.in.arg, &k.in, k.next);
}

static void later(enum instance_event ev, int64_t ms)
{
    k.next = ev;
    loop_timer(k.loop, &k.timer, loop_now(k.loop) + ms * NS_PER_MS);
}

static int start(struct instance *in, const struct input *seeds, size_t n, bool again,
                 struct err *e)
{
    (void)in;
    assert_false(again);
    k.seeds = n;
    k.first_size = n ? seeds[0].size : 0;
    if (play.cannot_start)
        return err_set(e, -EIO, "it cannot start");
    if (!play.never_ready)
        later(INSTANCE_READY, 200);
    return 0;
}

static int deliver(struct instance *in, uint64_t batch, const struct input *v, size_t n,
                   struct err *e)
{
    (void)in;
    assert_int_equal(n, 1);
    k.given++;
    k.batch = batch;
    k.input_size = v->size;
    snprintf(k.input, sizeof k.input, "%.*s", (int)v->size, (const char *)v->data);
    return play.cannot_take ? err_set(e, -EIO, "no room") : 0;
}

static int resume(struct instance *in, const struct turn_quota *q, int cpu, struct err *e)
{
    (void)cpu;
    if (play.cannot_go)
        return err_set(e, -EIO, "stuck");
    bool takes = ++k.turns == play.takes_in;
    k.caps += q->cap_ns;
    in->report = (struct turn_report){
        .execs = play.execs, .taken = takes ? (uint64_t)play.n : 0, .park_ns = k.turns * NS_PER_MS};
    if (play.dies)
        snprintf(in->report.why, sizeof in->report.why, "exit 1: no reason");
    if (!play.never_parks)
        later(play.dies ? INSTANCE_DIED : INSTANCE_PARKED, q->cap_ns / NS_PER_MS);
    return 0;
}

static int harvest(struct instance *in, struct harvest *h, struct err *e)
{
    (void)in;
    if (play.unreadable)
        return err_set(e, -EIO, "no such letters");
    for (int i = 0; play.find && i <= play.more; i++) {
        size_t size = strlen(i ? k.input : play.find);
        harvest_add(h, (struct find){.kind = play.imported ? FIND_IMPORTED : FIND_SEED,
                                     .data = xmemdup(i ? k.input : play.find, size),
                                     .size = size,
                                     .name = play.name ? xstrdup(play.name) : NULL});
    }
    return 0;
}

static void usage(struct instance *in, struct tree_usage *u)
{
    (void)in;
    static int asked;
    *u = (struct tree_usage){.cpu_ns = NS_PER_S + (asked++ % 2 ? play.cpu_ns : 0), .rss_kb = 77};
}

static void stop(struct instance *in)
{
    snprintf(in->report.why, sizeof in->report.why, play.killed ? "signal 9" : "exit 0");
    if (!play.never_ends)
        later(INSTANCE_STOPPED, 100);
}

static void release(struct instance *in)
{
    (void)in;
    loop_timer_clear(k.loop, &k.timer);
    k.freed = true;
}

static const struct instance_ops ops = {.start = start,
                                        .deliver = deliver,
                                        .resume = resume,
                                        .harvest = harvest,
                                        .usage = usage,
                                        .stop = stop,
                                        .free = release};

int __wrap_fuzzer_check(const struct instance_opts *o, struct err *e);
int __wrap_fuzzer_open(struct instance **out, struct loop *l, const struct instance_opts *o,
                       struct err *e);

int __wrap_fuzzer_check(const struct instance_opts *o, struct err *e)
{
    (void)o;
    (void)e;
    return 0;
}

int __wrap_fuzzer_open(struct instance **out, struct loop *l, const struct instance_opts *o,
                       struct err *e)
{
    memset(&k, 0, sizeof k);
    k.loop = l;
    k.timer = (struct timer){.fn = fire};
    k.in = (struct instance){.ops = &ops, .fuzzer = "played"};
    *out = &k.in;
    return fs_mkdirs(o->dir, e);
}

static void on_done(void *arg, const struct selftest_result *r)
{
    assert_ptr_equal(arg, &got);
    got.calls++;
    got.r = *r;
    snprintf(got.fuzzer, sizeof got.fuzzer, "%s", r->fuzzer);
}

static struct loop *loop;
static struct instance_opts opts;

static int make(void **state)
{
    memset(&play, 0, sizeof play);
    memset(&got, 0, sizeof got);
    play.execs = 50000, play.takes_in = 1, play.n = 1;
    loop = loop_new_virtual(1000 * NS_PER_S);
    opts = (struct instance_opts){.fuzzer = "mopt", .timeout_ms = 250};
    if (temp_dir_make(state) < 0)
        return -1;
    opts.dir = fs_join(temp_dir, "selftest");
    return 0;
}

static int drop(void **state)
{
    loop_free(loop);
    free((char *)opts.dir);
    return temp_dir_remove(state);
}

static void anew(void **state)
{
    assert_int_equal(drop(state), 0);
    assert_int_equal(make(state), 0);
}

static int64_t test_it(void)
{
    struct input seeds[12];
    struct selftest *t;
    for (size_t i = 0; i < 12; i++)
        seeds[i] = (struct input){(int64_t)i, "abcdefghijklmnop", 14 - i};
    assert_int_equal(selftest_start(&t, loop, &opts, seeds, 12, on_done, &got, NULL), 0);
    while (loop_step(loop, -1))
        ;
    assert_int_equal(got.calls, 1);
    assert_true(k.freed && !fs_exists(opts.dir));
    assert_string_equal(got.fuzzer, "mopt");
    return loop_now(loop) - 1000 * NS_PER_S;
}

static void fails(const char *why)
{
    test_it();
    assert_false(got.r.ok);
    if (!strstr(got.r.why, why))
        fail_msg("'%s' is not in '%s'", why, got.r.why);
}

static void a_good_one_passes(void **state)
{
    (void)state;
    play.find = "its own", play.name = "id:1,op:MOpt";
    int64_t took = test_it();
    if (!got.r.ok)
        fail_msg("%s", got.r.why);
    assert_true(took == got.r.took_ns);
    /* 200 to start, 300 of pause, two turns of 500 and 1000, 100 to end */
    assert_true(took == 2100 * NS_PER_MS);
    assert_true(got.r.ready_ns == 200 * NS_PER_MS && got.r.pause_ns == 300 * NS_PER_MS);
    assert_true(k.caps == 1500 * NS_PER_MS);
    assert_true(got.r.park_ns == 2 * NS_PER_MS);
    assert_int_equal(got.r.execs, 100000);
    assert_int_equal(got.r.rss_kb, 77);
    assert_int_equal(k.seeds, 8); /* the smallest */
    assert_int_equal(k.first_size, 3);
    assert_int_equal(k.given, 1);
    assert_int_equal(k.batch, 1);
    assert_string_equal(k.input, "carol self-test input\n");
    assert_int_equal(k.input_size, strlen(k.input));
}

static void it_has_so_many_tries(void **state)
{
    (void)state;
    play.takes_in = 6;
    test_it();
    assert_true(got.r.ok);
    assert_int_equal(k.turns, 7);
    play.takes_in = 7;
    memset(&got, 0, sizeof got);
    fails("did not take an input offered to it in 6 turns (300000 executions)");
    play.execs = 3333, play.takes_in = 0; /* too few to say */
    memset(&got, 0, sizeof got);
    test_it();
    assert_true(got.r.ok);
    play.execs = 0;
    memset(&got, 0, sizeof got);
    fails("it executed nothing in 6 turns");
}

static void each_step_has_its_limit(void **state)
{
    (void)state;
    play.never_ready = true;
    int64_t took = test_it();
    assert_true(took == 30 * NS_PER_S); /* 20 s and 40 time limits */
    assert_non_null(strstr(got.r.why, "start corpus"));
    assert_non_null(strstr(got.r.why, "within 30 s"));
    anew(state);
    play.never_parks = true;
    fails("did not park within 30 s");
    anew(state);
    play.never_ends = true;
    fails("did not end within 30 s");
}

static void what_it_must_not_do(void **state)
{
    (void)state;
    play.dies = true;
    fails("it died: exit 1: no reason");
    anew(state);
    play.n = 2;
    fails("took the same input 2 times");
    anew(state);
    play.killed = true;
    fails("had to be killed (signal 9)");
    anew(state);
    play.find = "carol self-test input\n";
    fails("gives an input of ours back");
    anew(state);
    play.find = "its own", play.name = "id:1,op:havoc";
    fails("its name lacks op:MOpt: id:1,op:havoc");
    anew(state);
    play.find = "its own", play.name = "id:1,op:havoc", play.more = 1;
    fails("its name lacks op:MOpt"); /* what was first */
    anew(state);
    play.cannot_take = true;
    fails("could not be given to it: no room");
    anew(state);
    play.cannot_go = true;
    fails("it cannot be resumed: stuck");
    anew(state);
    play.unreadable = true;
    fails("its finds cannot be read: no such letters");
    anew(state);
    play.find = "carol self-test input\n", play.imported = true; /* it says that it is ours */
    test_it();
    assert_true(got.r.ok);
}

/* 30 ms and a twentieth of the pause. */
static void parked_it_costs_nothing(void **state)
{
    (void)state;
    play.cpu_ns = 45 * NS_PER_MS;
    test_it();
    assert_true(got.r.ok && got.r.cpu_parked_ns == 45 * NS_PER_MS);
    anew(state);
    play.cpu_ns = 45 * NS_PER_MS + 1;
    fails("used 45 ms of CPU in 300 ms");
}

static void what_cannot_begin_is_not_waited_for(void **state)
{
    (void)state;
    struct selftest *t;
    struct err e = {0};
    play.cannot_start = true;
    assert_true(selftest_start(&t, loop, &opts, NULL, 0, on_done, &got, &e) < 0);
    assert_non_null(strstr(e.msg, "cannot start"));
    assert_true(k.freed && !fs_exists(opts.dir));
    assert_int_equal(k.seeds, 0);
    assert_int_equal(fs_mkdirs(opts.dir, NULL), 0);
    assert_int_equal(selftest_start(&t, loop, &opts, NULL, 0, on_done, &got, &e), -EEXIST);
    assert_false(loop_step(loop, -1));
    assert_int_equal(got.calls, 0);
}

/* At any moment, and nothing comes after it. */
static void it_can_be_cancelled(void **state)
{
    (void)state;
    for (int steps = 0; steps < 5; steps++) {
        struct selftest *t;
        assert_int_equal(selftest_start(&t, loop, &opts, NULL, 0, on_done, &got, NULL), 0);
        for (int i = 0; i < steps; i++)
            assert_true(loop_step(loop, -1));
        selftest_cancel(t);
        assert_true(k.freed && !fs_exists(opts.dir));
        assert_false(loop_step(loop, -1));
    }
    play.cannot_take = true; /* also when it has failed and not said so yet */
    struct selftest *t;
    assert_int_equal(selftest_start(&t, loop, &opts, NULL, 0, on_done, &got, NULL), 0);
    assert_true(loop_step(loop, -1));
    selftest_cancel(t);
    assert_false(loop_step(loop, -1));
    assert_int_equal(got.calls, 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, make, drop)
    const struct CMUnitTest tests[] = {
        T(a_good_one_passes),   T(it_has_so_many_tries),    T(each_step_has_its_limit),
        T(what_it_must_not_do), T(parked_it_costs_nothing), T(what_cannot_begin_is_not_waited_for),
        T(it_can_be_cancelled),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
