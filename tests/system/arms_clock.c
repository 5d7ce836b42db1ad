/* arms_clock: the phase in which the wall clock of the fuzzer is set back and forth by an hour in the middle
 * of its executions.  CAROL_TEST_CLOCK is the file of preload/wall_clock.c, which the caller has loaded
 * into the fuzzer and set to something already. */
#include "arms.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HOUR 3600

static int64_t *wall; /* seconds by which the fuzzer's clock is wrong */

static void map_clock(void)
{
    const char *path = getenv("CAROL_TEST_CLOCK");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd >= 0) {
        wall = mmap(NULL, sizeof *wall, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        close(fd);
    }
    if (fd < 0 || wall == MAP_FAILED)
        give_up("clock", "CAROL_TEST_CLOCK names no clock");
}

static void on_step(void *arg)
{
    __atomic_add_fetch(wall, *(const int64_t *)arg, __ATOMIC_ACQ_REL);
}

/* A turn; after `at` seconds of it all clocks but the monotonic ones move by `step` seconds. */
static bool turn_with_step(double seconds, double at, int64_t step)
{
    struct timer tm = {.fn = on_step, .arg = &step};
    loop_timer(t.loop, &tm, loop_now(t.loop) + (int64_t)(at * 1e9));
    bool parked = turn(seconds);
    loop_timer_clear(t.loop, &tm);
    return parked;
}

/* A hang that is under way when the clock is set back is still ended by the fuzzer's own limit. */
static void check_hang(void)
{
    size_t from = t.n_given;
    add_given("HANG", 4);
    deliver(from);
    bool all = turn_with_step(1.0, 0.5, -HOUR);
    uint64_t execs = 0;
    for (int i = 0; i < 10 && all && !execs; i++, execs = t.in->report.execs)
        all = turn(1.0);
    check(all && execs, "a hang does not last an hour longer");
    harvest();
}

void phase_clock(void)
{
    bool all = true;
    unsigned idle = 0;
    map_clock();
    check(*wall != 0, "its clock is %lld s wrong", (long long)*wall);
    for (int i = 0; i < 6 && all; i++) {
        size_t from = t.n_given;
        new_mark();
        new_gate(i);
        deliver(from);
        all = turn_with_step(1.0, 0.45, i % 2 ? 2 * HOUR : -HOUR);
        idle += t.in->report.execs == 0;
        if (all)
            harvest();
    }
    check(all, "6 turns, the clock set by an hour or two in each");
    check_faults(idle, stalls(), STOOD_STILL, "each executed something (%u did not)", idle);
    for (int i = 0; i < 10 && all && t.taken < t.offered; i++)
        all = turn(1.0), harvest();
    check_marks();
    if (is_honggfuzz())
        check_hang();
    check_hangs();
    check(((struct live *)t.in)->p->by_signal == 0, "the library parked it every time");
    check_queue();
}

/* Of what afl-fuzz says itself once it has stopped. */
void check_run_time(void)
{
    double s = stat_of("run_time");
    check(s >= 0 && s < HOUR / 2, "by its own account it ran for %.0f s", s);
}
