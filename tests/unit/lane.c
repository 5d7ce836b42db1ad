/* lane: the test plays afl-fuzz; a fork server and its children are real processes that speak runtime/lane/lane.h and
 * the pipes as AFL++'s runtime does. */
#include "../../runtime/lane/lane.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <cmocka.h>

#define NO_LIMIT 60000 /* ms: only reached by a fault */

enum order { RUN, CRASH, HANG, LEAVE }; /* what the child does with its next input */

struct shared {
    enum order order;
    int runs, forks;
};

static struct shared *shared;
static struct carol_lane *lane;
static int ask[2], tell[2];
static pid_t server, child;
static volatile uint8_t stopping;

static void live(struct carol_lane *l)
{
    for (;;) {
        shared->runs++;
        switch (shared->order) {
        case RUN: break;
        case CRASH: kill(getpid(), SIGKILL); break;
        case HANG:
            for (;;)
                pause();
        case LEAVE: _exit(7);
        }
        carol_lane_pause(l);
    }
}

static void serve(int fd)
{
    struct carol_lane *l = carol_lane_open(fd);
    int word;
    while (read(ask[0], &word, sizeof word) == sizeof word) {
        pid_t pid = fork();
        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            live(l);
        }
        shared->forks++;
        int status;
        if (write(tell[1], &pid, sizeof pid) != sizeof pid || waitpid(pid, &status, 0) < 0)
            _exit(1);
        carol_lane_ended(l);
        if (write(tell[1], &status, sizeof status) != sizeof status)
            _exit(1);
    }
    _exit(0);
}

static int start(void **state)
{
    (void)state;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int fd = carol_lane_new(&lane);
    if (shared == MAP_FAILED || fd < 0 || pipe(ask) < 0 || pipe(tell) < 0)
        return -1;
    assert_false(carol_lane_ready(lane));
    child = 0;
    server = fork();
    if (server == 0)
        serve(fd);
    close(fd);
    close(ask[0]);
    close(tell[1]);
    while (!carol_lane_ready(lane))
        usleep(1000);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    close(ask[1]);
    close(tell[0]);
    carol_lane_free(lane);
    munmap(shared, sizeof *shared);
    return 0;
}

static int from_pipe(void)
{
    int word = -1;
    assert_int_equal(read(tell[0], &word, sizeof word), sizeof word);
    return word;
}

/* One execution, as afl_fsrv_run_target does it; *status is set when the child ended. */
static enum carol_lane_result run(enum order order, uint32_t ms, int *status)
{
    bool stale;
    int word = 0;
    shared->order = order;
    if (carol_lane_seen(lane, child > 0, &stale)) {
        carol_lane_go(lane);
    } else {
        if (stale) {
            from_pipe();
            carol_lane_seen(lane, false, &stale);
        }
        assert_int_equal(write(ask[1], &word, sizeof word), sizeof word);
        child = from_pipe();
    }
    enum carol_lane_result r = carol_lane_wait(lane, child, ms, &stopping);
    if (r == CAROL_LANE_LATE)
        kill(child, SIGKILL);
    if (r != CAROL_LANE_DONE) {
        *status = from_pipe();
        child = 0;
    }
    return r;
}

static void test_one_child_runs_all(void **state)
{
    (void)state;
    int status;
    for (int i = 0; i < 2000; i++)
        assert_int_equal(run(RUN, NO_LIMIT, &status), CAROL_LANE_DONE);
    assert_int_equal(shared->runs, 2000);
    assert_int_equal(shared->forks, 1);
}

static void test_an_end_has_its_status_and_the_next_run_a_new_child(void **state)
{
    (void)state;
    int status;
    for (int i = 0; i < 50; i++) {
        assert_int_equal(run(RUN, NO_LIMIT, &status), CAROL_LANE_DONE);
        assert_int_equal(run(CRASH, NO_LIMIT, &status), CAROL_LANE_ENDED);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        assert_int_equal(run(LEAVE, NO_LIMIT, &status), CAROL_LANE_ENDED);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    }
    assert_int_equal(shared->runs, 150);
    assert_int_equal(shared->forks, 100);
}

static void test_a_hang_is_late_and_leaves_nothing_behind(void **state)
{
    (void)state;
    int status;
    for (int i = 0; i < 5; i++) {
        assert_int_equal(run(HANG, 20, &status), CAROL_LANE_LATE);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(run(RUN, NO_LIMIT, &status), CAROL_LANE_DONE);
        assert_int_equal(run(RUN, NO_LIMIT, &status), CAROL_LANE_DONE);
    }
    assert_int_equal(shared->runs, 15);
}

/* What ends between two executions costs neither of them. */
static void test_a_child_that_ended_while_it_waited_is_replaced(void **state)
{
    (void)state;
    int status;
    for (int i = 0; i < 20; i++) {
        assert_int_equal(run(RUN, NO_LIMIT, &status), CAROL_LANE_DONE);
        kill(child, SIGKILL);
        while (!__atomic_load_n(&lane->ended, __ATOMIC_SEQ_CST))
            usleep(100);
    }
    assert_int_equal(shared->runs, 20);
    assert_int_equal(shared->forks, 20);
}

static void stop_all(int signal)
{
    (void)signal;
    stopping = 1;
    kill(child, SIGKILL);
    kill(server, SIGKILL);
}

/* afl-fuzz that is told to end kills the child and the fork server, so nobody is left to report. */
static void test_the_end_is_not_waited_for(void **state)
{
    (void)state;
    int status;
    assert_int_equal(run(RUN, NO_LIMIT, &status), CAROL_LANE_DONE);
    signal(SIGALRM, stop_all);
    ualarm(50000, 0);
    bool stale;
    shared->order = HANG;
    assert_true(carol_lane_seen(lane, true, &stale));
    carol_lane_go(lane);
    assert_int_equal(carol_lane_wait(lane, child, NO_LIMIT, &stopping), CAROL_LANE_STOPPED);
    assert_int_equal(carol_lane_wait(lane, child, NO_LIMIT, &stopping), CAROL_LANE_STOPPED);
    stopping = 0;
}

/* The fork server waits for its child and not for afl-fuzz: both end when it does. */
static void test_nobody_survives_afl_fuzz(void **state)
{
    (void)state;
    int pipes[2], status;
    pid_t pids[2];
    assert_int_equal(pipe(pipes), 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t fuzzer = fork();
    if (fuzzer == 0) {
        void *none = NULL;
        if (start(&none) == 0 && run(RUN, NO_LIMIT, &status) == CAROL_LANE_DONE) {
            pids[0] = server;
            pids[1] = child;
            ssize_t n = write(pipes[1], pids, sizeof pids);
            (void)n;
        }
        for (;;)
            pause();
    }
    assert_int_equal(read(pipes[0], pids, sizeof pids), sizeof pids);
    kill(fuzzer, SIGKILL);
    waitpid(fuzzer, NULL, 0);
    assert_int_equal(waitpid(pids[0], &status, 0), pids[0]);
    assert_int_equal(waitpid(pids[1], &status, 0), pids[1]);
    close(pipes[0]);
    close(pipes[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_one_child_runs_all, start, stop),
        cmocka_unit_test_setup_teardown(test_an_end_has_its_status_and_the_next_run_a_new_child,
                                        start, stop),
        cmocka_unit_test_setup_teardown(test_a_hang_is_late_and_leaves_nothing_behind, start, stop),
        cmocka_unit_test_setup_teardown(test_a_child_that_ended_while_it_waited_is_replaced, start,
                                        stop),
        cmocka_unit_test_setup_teardown(test_the_end_is_not_waited_for, start, stop),
        cmocka_unit_test(test_nobody_survives_afl_fuzz),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
