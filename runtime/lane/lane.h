/* lane: hands executions from afl-fuzz to a persistent target and back, without the fork server between them.
 *
 * As shipped, afl-fuzz writes to a pipe, its fork server wakes up and sends the target SIGCONT, the target runs and
 * stops itself with SIGSTOP, the fork server is woken and writes to another pipe.  On a fast target half of a core
 * goes into that.  Here both sides share a page and wake each other with futexes: two changes of process instead of
 * four, no signal.
 *
 *   afl-fuzz                                      target
 *     fd = carol_lane_new(&lane)                    lane = carol_lane_open(CAROL_LANE_FD), before it forks
 *     fork, exec with fd as CAROL_LANE_FD
 *     for every execution:                          child:
 *       carol_lane_seen(lane)                         runs the input
 *       carol_lane_go(lane), or ask for a fork        carol_lane_pause(lane), returns when the next one is ready
 *       carol_lane_wait(lane, child, ms, &stop)     fork server, when waitpid says that the child has ended:
 *                                                     carol_lane_ended(lane), then the status through the pipe
 *
 * Forks, deaths and the status of a death go through the pipes as ever.  A target whose runtime does not know the
 * lane never marks it (carol_lane_ready), and everything is as shipped.  engines/changes.txt puts these calls into
 * AFL++; they do nothing without CAROL_LANE in afl-fuzz's environment.  libc only. */
#ifndef CAROL_LANE_H
#define CAROL_LANE_H

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CAROL_LANE_ENV "CAROL_LANE"
#define CAROL_LANE_FD 197 /* below afl-fuzz's own two */
#define CAROL_LANE_MARK 0x4c414e31U
#define CAROL_LANE_PATIENCE 100 /* ms */
#define CAROL_LANE_TICK 4       /* ms: an alarm before the kernel's next tick costs more */

struct carol_lane {
    uint32_t mark;  /* CAROL_LANE_MARK: the target's runtime knows the lane */
    uint32_t go;    /* executions asked for; the child sleeps on it */
    uint32_t done;  /* executions and children that ended; afl-fuzz sleeps on it */
    uint32_t ended; /* the child is gone, its status is in the pipe or on its way */
    uint32_t seen;  /* afl-fuzz's own: `done` before the execution at hand */
};

enum carol_lane_result {
    CAROL_LANE_DONE = 1,
    CAROL_LANE_ENDED,
    CAROL_LANE_LATE,
    CAROL_LANE_STOPPED
};

static inline long carol_lane_futex(uint32_t *word, int op, uint32_t value, uint32_t ms)
{
    struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000};
    return syscall(SYS_futex, word, op, value, ms ? &t : NULL, NULL, 0);
}

static inline void carol_lane_wake(uint32_t *word)
{
    __atomic_add_fetch(word, 1, __ATOMIC_SEQ_CST);
    carol_lane_futex(word, FUTEX_WAKE, 1, 0);
}

/* A file with a new lane in it, also mapped; -1 and NULL if there is none to be had. */
static inline int carol_lane_new(struct carol_lane **lane)
{
    int fd = (int)syscall(SYS_memfd_create, "carol-lane", 0);
    *lane = NULL;
    if (fd < 0)
        return -1;
    void *p = ftruncate(fd, sizeof **lane) < 0
                  ? MAP_FAILED
                  : mmap(NULL, sizeof **lane, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED) {
        close(fd);
        return -1;
    }
    *lane = (struct carol_lane *)p;
    return fd;
}

static inline void carol_lane_free(struct carol_lane *lane)
{
    if (lane)
        munmap(lane, sizeof *lane);
}

static inline bool carol_lane_ready(const struct carol_lane *lane)
{
    return lane && __atomic_load_n(&lane->mark, __ATOMIC_ACQUIRE) == CAROL_LANE_MARK;
}

/* Before every execution: whatever is done from now on counts as its end.  True: a child waits for it.  False:
 * there is none, or it ended after its last execution; then *stale is set, its status is in the pipe or on its way,
 * and this is asked again, without a child, when that was read: the status is sent last, so nothing follows it. */
static inline bool carol_lane_seen(struct carol_lane *lane, bool child, bool *stale)
{
    lane->seen = __atomic_load_n(&lane->done, __ATOMIC_SEQ_CST);
    *stale = __atomic_exchange_n(&lane->ended, 0, __ATOMIC_SEQ_CST) && child;
    return child && !*stale;
}

static inline void carol_lane_go(struct carol_lane *lane)
{
    carol_lane_wake(&lane->go);
}

/* CPU time of a process in ms; 0 if it is gone. */
static inline int64_t carol_lane_cpu(pid_t pid)
{
    struct timespec t = {0, 0};
    syscall(SYS_clock_gettime, (long)(~(unsigned)pid << 3 | 2), &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Waits for the end of the execution that `child` makes, until it has used `ms` milliseconds of CPU time or, if it
 * sleeps or the machine is busy, twice that time and at least CAROL_LANE_PATIENCE have passed.  The clock is only
 * asked after CAROL_LANE_TICK; most executions end long before.  When *stop is set everybody may be dead already. */
static inline enum carol_lane_result carol_lane_wait(struct carol_lane *lane, pid_t child,
                                                     uint32_t ms, const volatile uint8_t *stop)
{
    uint32_t waited = 0, step = CAROL_LANE_TICK;
    int64_t used = -1, most = ms > 4 * CAROL_LANE_TICK ? ms - CAROL_LANE_TICK : ms - ms / 4;
    while (__atomic_load_n(&lane->done, __ATOMIC_SEQ_CST) == lane->seen) {
        if (*stop)
            return CAROL_LANE_STOPPED;
        if (carol_lane_futex(&lane->done, FUTEX_WAIT, lane->seen, step) == 0 || errno != ETIMEDOUT)
            continue;
        waited += step;
        int64_t now = carol_lane_cpu(child);
        if (used < 0)
            used = now;
        else if (now - used >= most || (waited >= 2 * ms && waited >= CAROL_LANE_PATIENCE))
            return CAROL_LANE_LATE;
        step = ms < 8 ? 1 : ms < 400 ? ms / 8 : 50;
    }
    return __atomic_exchange_n(&lane->ended, 0, __ATOMIC_SEQ_CST) ? CAROL_LANE_ENDED
                                                                  : CAROL_LANE_DONE;
}

/* In the target, before it forks: the lane that afl-fuzz left at `fd`, or NULL.  From here on the fork server does
 * not look at its pipe while a child lives, so it has to end with afl-fuzz by itself. */
static inline struct carol_lane *carol_lane_open(int fd)
{
    void *p = mmap(NULL, sizeof(struct carol_lane), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED)
        return NULL;
    close(fd);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    struct carol_lane *lane = (struct carol_lane *)p;
    __atomic_store_n(&lane->mark, CAROL_LANE_MARK, __ATOMIC_RELEASE);
    return lane;
}

/* In the child: one execution is over; returns when the next one is asked for. */
static inline void carol_lane_pause(struct carol_lane *lane)
{
    uint32_t go = __atomic_load_n(&lane->go, __ATOMIC_SEQ_CST);
    carol_lane_wake(&lane->done);
    while (__atomic_load_n(&lane->go, __ATOMIC_SEQ_CST) == go)
        carol_lane_futex(&lane->go, FUTEX_WAIT, go, 0);
}

/* In the fork server: the child has ended. */
static inline void carol_lane_ended(struct carol_lane *lane)
{
    __atomic_store_n(&lane->ended, 1, __ATOMIC_SEQ_CST);
    carol_lane_wake(&lane->done);
}

#endif
