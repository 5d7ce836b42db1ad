/* bench_contest: a contender runs until its CPU time is used, however it spends it, and nothing of it survives. */
#include "base/fs.h"
#include "bench/contest.h"
#include "temp_dir.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char *script;

static void command(const struct rival_start *s, int i, struct strv *argv, struct strv *env)
{
    (void)env;
    strv_add(argv, "/bin/sh");
    strv_add(argv, "-c");
    strv_addf(argv, "echo $$ >pid%d; n=%d; %s", i, s->cores, script);
}

static void on_end(void *arg)
{
    loop_stop(arg);
}

/* Runs the script as a contender with 300 ms of CPU time; the caller frees. */
static struct contest *run(const char *text, int cores)
{
    static struct rival rival = {.name = "script", .command = command, .kept = "out"};
    static struct contender contender = {.rival = &rival};
    static char seeds[] = "seeds";
    static struct bench_target target = {.seeds = seeds};
    static struct manifest build;
    static struct suite suite;
    struct contest_opts o = {.suite = &suite,
                             .contender = &contender,
                             .target = &target,
                             .build = &build,
                             .dir = temp_dir,
                             .trial = 1,
                             .grace_ns = 100 * NS_PER_MS,
                             .ended = on_end};
    struct contest *c;
    struct err e = {0};
    script = text;
    rival.per_core = cores > 1;
    suite = (struct suite){.cores = cores, .cpu_ns = 300 * NS_PER_MS, .timeout_ms = 1000};
    assert_int_equal(loop_new(&o.loop, &e), 0);
    o.arg = o.loop;
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    for (int i = 0, k = 0; i < CPU_SETSIZE && k < cores; i++)
        if (CPU_ISSET((size_t)i, &set))
            o.cpus[k++] = i;
    if (contest_start(&c, &o, &e) < 0)
        fail_msg("%s", e.msg);
    loop_run(o.loop);
    return c;
}

static void done(struct contest *c)
{
    struct loop *l = c->o.loop;
    contest_free(c);
    loop_free(l);
}

static void test_budget(void **state)
{
    (void)state;
    struct contest *c = run("while :; do :; done", 1);
    assert_int_equal(c->end, CONTEST_BUDGET);
    assert_true(c->cpu_ns >= 300 * NS_PER_MS);
    assert_true(c->wall_ns >= 250 * NS_PER_MS);
    assert_true(c->oracle.cpu_ns >= 300000000); /* what targets note as their time */
    for (int i = 1; i <= RESULT_MOMENTS; i++)
        assert_true(c->wall_at[i] >= c->wall_at[i - 1] && c->wall_at[i] <= c->wall_ns);
    assert_int_equal(c->wall_at[0], 0);
    done(c);
}

/* Most of the time is spent by children that end. */
static void test_children_count(void **state)
{
    (void)state;
    struct contest *c =
        run("while :; do sh -c 'i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done'; done", 1);
    assert_int_equal(c->end, CONTEST_BUDGET);
    assert_true(c->cpu_ns >= 300 * NS_PER_MS);
    done(c);
}

/* It does not hear SIGINT: it ends all the same. */
static void test_stop(void **state)
{
    (void)state;
    struct contest *c = run("trap '' INT; while :; do :; done", 1);
    assert_int_equal(c->end, CONTEST_BUDGET);
    done(c);
}

static void test_ends_by_itself(void **state)
{
    (void)state;
    struct contest *c = run("exit 7", 1);
    assert_int_equal(c->end, CONTEST_FAILED);
    assert_string_equal(c->why, "it ended by itself with exit code 7");
    done(c);
}

/* -M and -S: one process per core; together they have the budget, and none goes on without the others. */
static void test_two_cores(void **state)
{
    (void)state;
    if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
        skip();
    struct contest *c = run("while :; do :; done", 2);
    assert_int_equal(c->end, CONTEST_BUDGET);
    assert_true(c->cpu_ns >= 300 * NS_PER_MS);
    assert_non_null(strstr(c->command, " & "));
    done(c);
    for (int i = 0; i < 2; i++) {
        char *path = str_fmt("%s/pid%d", temp_dir, i);
        assert_true(fs_exists(path));
        free(path);
    }
}

int main(void)
{
#define IN_DIR(f) cmocka_unit_test_setup_teardown(f, temp_dir_make, temp_dir_remove)
    const struct CMUnitTest tests[] = {IN_DIR(test_budget), IN_DIR(test_children_count),
                                       IN_DIR(test_stop), IN_DIR(test_ends_by_itself),
                                       IN_DIR(test_two_cores)};
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
