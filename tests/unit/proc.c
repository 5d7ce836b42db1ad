/* proc: the loop in real and virtual time, and cages that leave nothing behind. */
#include "base/fs.h"
#include "proc/cage.h"
#include "proc/cpus.h"
#include "proc/loop.h"
#include "proc/sweep.h"
#include "proc/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static int order[8], fired;
static void note(void *arg)
{
    order[fired++] = *(int *)arg;
}

static void virtual_time_jumps_in_order(void **state)
{
    (void)state;
    struct loop *l = loop_new_virtual(0);
    int one = 1, two = 2, three = 3;
    struct timer a = {.fn = note, .arg = &one}, b = {.fn = note, .arg = &two},
                 c = {.fn = note, .arg = &three};
    fired = 0;
    loop_timer(l, &c, 7200 * NS_PER_S);
    loop_timer(l, &a, 3600 * NS_PER_S);
    loop_timer(l, &b, 3600 * NS_PER_S);
    loop_run(l);
    assert_int_equal(fired, 3);
    assert_int_equal(order[0], 1);
    assert_int_equal(order[1], 2);
    assert_int_equal(order[2], 3);
    assert_true(loop_now(l) == 7200 * NS_PER_S);
    loop_free(l);
}

struct ended {
    struct loop *l;
    struct cage c;
    struct cage_end end;
};

static void on_status(void *arg, uint32_t ev)
{
    (void)ev;
    struct ended *w = arg;
    loop_unwatch(w->l, w->c.status_fd);
    cage_reap(&w->c, &w->end);
    loop_stop(w->l);
}

/* kill_it: 1 as the supervisor does it, 2 the init itself, by somebody else. */
static void run_shell(struct ended *w, const char *script, bool no_ns, int kill_it)
{
    const char *argv[] = {"/bin/sh", "-c", script, NULL};
    struct err e = {0};
    assert_int_equal(loop_new(&w->l, &e), 0);
    struct cage_opts o = {.argv = argv, .cpu = -1, .no_namespace = no_ns};
    assert_int_equal(cage_start(&w->c, &o, &e), 0);
    assert_int_equal(loop_watch(w->l, w->c.status_fd, EPOLLIN, on_status, w, &e), 0);
    if (kill_it) {
        usleep(200000);
        if (kill_it == 1)
            cage_kill(&w->c);
        else
            kill(w->c.init, SIGKILL);
    }
    loop_run(w->l);
    loop_free(w->l);
}

static int survivors(const char *mark)
{
    struct strv names = {0};
    int n = 0;
    assert_int_equal(fs_list("/proc", &names, NULL), 0);
    for (size_t i = 0; i < names.n; i++) {
        struct buf b = BUF_INIT(65536);
        char *path = str_fmt("/proc/%s/cmdline", names.v[i]);
        if (names.v[i][0] >= '0' && names.v[i][0] <= '9' && fs_read(path, &b, NULL) == 0 && b.len &&
            memmem(b.p, b.len, mark, strlen(mark)))
            n++;
        buf_free(&b);
        free(path);
    }
    strv_free(&names);
    return n;
}

static void exit_codes_come_back(void **state)
{
    (void)state;
    for (int no_ns = 0; no_ns < 2; no_ns++) {
        struct ended w = {0};
        run_shell(&w, "exit 7", no_ns, 0);
        assert_true(w.end.exited);
        assert_int_equal(w.end.code, 7);
        run_shell(&w, "kill -SEGV $$", no_ns, 0);
        assert_false(w.end.exited);
        assert_int_equal(w.end.signal, SIGSEGV);
    }
}

static void missing_program_says_so(void **state)
{
    (void)state;
    const char *argv[] = {"/nonexistent/program", NULL};
    struct ended w = {0};
    struct err e = {0};
    assert_int_equal(loop_new(&w.l, &e), 0);
    assert_int_equal(cage_start(&w.c, &(struct cage_opts){.argv = argv, .cpu = -1}, &e), 0);
    assert_int_equal(loop_watch(w.l, w.c.status_fd, EPOLLIN, on_status, &w, &e), 0);
    loop_run(w.l);
    loop_free(w.l);
    assert_int_equal(w.end.exec_errno, ENOENT);
}

/* Whatever the numbers of the descriptors, and however few may be open (ulimit -n). */
static void descriptors_arrive_under_a_low_limit(void **state)
{
    (void)state;
    struct rlimit was;
    int out[2], extra[2];
    const char *argv[] = {"/bin/bash", "-c", "echo a; echo b >&90", NULL};
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    assert_int_equal(pipe2(extra, O_CLOEXEC), 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
    static const rlim_t limits[] = {91, 120};
    for (int i = 0; i < 2; i++) {
        struct ended w = {0};
        struct err e = {0};
        char text[8] = {0};
        struct cage_fd fd = {extra[1], 90};
        struct cage_opts o = {
            .argv = argv, .out = out[1], .fds = &fd, .nfds = 1, .cpu = -1, .no_namespace = true};
        assert_int_equal(loop_new(&w.l, &e), 0);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &(struct rlimit){limits[i], was.rlim_max}), 0);
        int rc = cage_start(&w.c, &o, &e);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
        assert_int_equal(rc, 0);
        assert_int_equal(loop_watch(w.l, w.c.status_fd, EPOLLIN, on_status, &w, &e), 0);
        loop_run(w.l);
        loop_free(w.l);
        if (i == 0) { /* no number above 90 for what is moved */
            assert_int_equal(w.end.exec_errno, EMFILE);
            continue;
        }
        assert_int_equal(w.end.exec_errno, 0);
        assert_int_equal(read(out[0], text, sizeof text), 2);
        assert_int_equal(text[0], 'a');
        assert_int_equal(read(extra[0], text, sizeof text), 2);
        assert_int_equal(text[0], 'b');
    }
    for (int i = 0; i < 2; i++) {
        close(out[i]);
        close(extra[i]);
    }
}

/* A daemon that left its session and stopped itself: the shape of AFL's persistent child. */
static void nothing_survives(void **state)
{
    (void)state;
    for (int no_ns = 0; no_ns < 2; no_ns++)
        for (int kill_it = 0; kill_it < 3; kill_it++) {
            char mark[64], script[256]; /* a number to sleep that nobody else on the machine has */
            struct timespec now;
            clock_gettime(CLOCK_REALTIME, &now);
            snprintf(mark, sizeof mark, "9%d%d%d.%09ld", (int)getpid(), no_ns, kill_it,
                     now.tv_nsec);
            snprintf(script, sizeof script,
                     "setsid sleep %s & setsid sh -c 'kill -STOP $$; sleep %s' & %s", mark, mark,
                     kill_it ? "wait" : "sleep 0.1");
            struct ended w = {0};
            run_shell(&w, script, no_ns, kill_it);
            assert_int_equal(survivors(mark), 0);
        }
}

/* Supervisor and init killed at once: what is left is found by its mark, and only that. */
static void marked_leftovers_are_swept(void **state)
{
    (void)state;
    char mark[64], other[64];
    snprintf(mark, sizeof mark, "CAROL_TEST_MARK=%d", (int)getpid());
    snprintf(other, sizeof other, "CAROL_TEST_MARK=%d0", (int)getpid());
    pid_t pids[2];
    for (int i = 0; i < 2; i++)
        if ((pids[i] = fork()) == 0) {
            char *argv[] = {(char[]){"sleep"}, (char[]){"60"}, NULL};
            char *env[] = {i ? other : mark, NULL};
            execve("/bin/sleep", argv, env);
            _exit(127);
        }
    int n = 0;
    for (int i = 0; i < 500 && n == 0; i++, usleep(10000)) /* until it has executed */
        n = sweep_processes(mark);
    assert_int_equal(n, 1);
    int status;
    assert_int_equal(waitpid(pids[0], &status, 0), pids[0]);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(waitpid(pids[1], &status, WNOHANG), 0);
    kill(pids[1], SIGKILL);
    waitpid(pids[1], &status, 0);
}

static void ignore(void *arg, int signo)
{
    (void)arg;
    (void)signo;
}

/* Pressed again while it was ending: nobody reads it any more, and it kills nobody. */
static void a_signal_too_late_is_forgotten(void **state)
{
    (void)state;
    struct loop *l;
    assert_int_equal(loop_new(&l, NULL), 0);
    assert_int_equal(loop_signal(l, SIGINT, ignore, NULL, NULL), 0);
    raise(SIGINT);
    loop_free(l);
    sigset_t pending;
    assert_int_equal(sigpending(&pending), 0);
    assert_int_equal(sigismember(&pending, SIGINT), 0);
}

static int cpus_of_ours(cpu_set_t *set)
{
    assert_int_equal(sched_getaffinity(0, sizeof *set, set), 0);
    return CPU_COUNT(set);
}

/* Campaigns get different processors while there are any, and whoever comes when all are taken spreads over them,
 * in one campaign or in many. */
static void processors_are_taken_evenly(void **state)
{
    (void)state;
    char name[64];
    cpu_set_t set;
    int n = cpus_of_ours(&set), all = 3 * n, uses[CPU_SETSIZE] = {0};
    int *cpu = calloc((size_t)all, sizeof *cpu), *claim = calloc((size_t)all, sizeof *claim);
    snprintf(name, sizeof name, "carol-test-%d", (int)getpid());
    for (int i = 0; i < 2 * n; i++) /* many with one slot each */
        cpus_take(name, 1, cpu + i, claim + i);
    cpus_take(name, n, cpu + 2 * n, claim + 2 * n);
    for (int i = 0; i < all; i++) {
        assert_true(claim[i] >= 0 && CPU_ISSET(cpu[i], &set));
        assert_int_equal(uses[cpu[i]]++, i / n);
        close(claim[i]);
    }
    free(cpu);
    free(claim);
}

/* More slots than are counted: the rest spreads too, and has no claim. */
static void there_is_a_processor_for_every_slot(void **state)
{
    (void)state;
    char name[64];
    cpu_set_t set;
    int n = cpus_of_ours(&set), all = 20 * n, uses[CPU_SETSIZE] = {0};
    int *cpu = calloc((size_t)all, sizeof *cpu), *claim = calloc((size_t)all, sizeof *claim);
    snprintf(name, sizeof name, "carol-test-%d", (int)getpid());
    cpus_take(name, all, cpu, claim);
    for (int i = 0; i < all; i++) {
        assert_int_equal(uses[cpu[i]]++, i / n);
        if (claim[i] >= 0)
            close(claim[i]);
    }
    assert_int_equal(claim[all - 1], -1);
    free(cpu);
    free(claim);
}

/* The first one is the child's alone, and then nobody's. */
static void what_the_dead_had_is_free(void **state)
{
    (void)state;
    char name[64];
    cpu_set_t set;
    int first, again, claim;
    snprintf(name, sizeof name, "carol-test-%d", (int)getpid());
    cpus_take(name, 1, &first, &claim);
    assert_true(claim >= 0);
    pid_t p = fork();
    while (p == 0)
        pause(); /* with the claim */
    close(claim);
    cpus_take(name, 1, &again, &claim);
    close(claim);
    kill(p, SIGKILL);
    assert_int_equal(waitpid(p, NULL, 0), p);
    assert_true(cpus_of_ours(&set) == 1 || again != first);
    cpus_take(name, 1, &again, &claim);
    assert_true(again == first && claim >= 0);
    close(claim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processors_are_taken_evenly),
        cmocka_unit_test(there_is_a_processor_for_every_slot),
        cmocka_unit_test(what_the_dead_had_is_free),
        cmocka_unit_test(virtual_time_jumps_in_order),
        cmocka_unit_test(exit_codes_come_back),
        cmocka_unit_test(missing_program_says_so),
        cmocka_unit_test(descriptors_arrive_under_a_low_limit),
        cmocka_unit_test(nothing_survives),
        cmocka_unit_test(marked_leftovers_are_swept),
        cmocka_unit_test(a_signal_too_late_is_forgotten),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
