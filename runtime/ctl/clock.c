/* clock: gettimeofday, time and clock_gettime of the fuzzer, without the time it was parked, so that its
 * own time budgets and schedules see active time only.  Reads the page, never writes it. */
#include "ctl.h"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define NS INT64_C(1000000000)

/* libc's own, which needs no system call; the fuzzer reads the clock several times per execution. */
static int (*next)(clockid_t, struct timespec *);

__attribute__((constructor)) static void find_next(void)
{
    next = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
}

static int real(clockid_t id, struct timespec *ts)
{
    return next ? next(id, ts) : (int)syscall(SYS_clock_gettime, id, ts);
}

/* All the time spent parked, the pause under way included. */
static int64_t lag(void)
{
    if (!ctl_page)
        return 0;
    int64_t since = ctl_parked_since();
    return __atomic_load_n(&ctl_page->paused_ns, __ATOMIC_ACQUIRE) +
           (since ? ctl_real_ns() - since : 0);
}

static int64_t virtual_ns(clockid_t id, int *rc)
{
    struct timespec ts = {0};
    *rc = real(id, &ts);
    return (int64_t)ts.tv_sec * NS + ts.tv_nsec - lag();
}

CTL_EXPORTED int clock_gettime(clockid_t id, struct timespec *ts)
{
    if (!ctl_page || (id != CLOCK_REALTIME && id != CLOCK_MONOTONIC && id != CLOCK_BOOTTIME &&
                      id != CLOCK_REALTIME_COARSE && id != CLOCK_MONOTONIC_COARSE))
        return real(id, ts);
    int rc;
    int64_t ns = virtual_ns(id, &rc);
    if (rc == 0)
        *ts = (struct timespec){.tv_sec = ns / NS, .tv_nsec = ns % NS};
    return rc;
}

CTL_EXPORTED int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
    (void)zone;
    int rc;
    int64_t ns = virtual_ns(CLOCK_REALTIME, &rc);
    if (rc == 0)
        *tv = (struct timeval){.tv_sec = ns / NS, .tv_usec = ns % NS / 1000};
    return rc;
}

CTL_EXPORTED time_t time(time_t *t)
{
    int rc;
    time_t v = (time_t)(virtual_ns(CLOCK_REALTIME, &rc) / NS);
    if (t)
        *t = v;
    return v;
}
