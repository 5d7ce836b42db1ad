/* clock: gettimeofday, time and clock_gettime of the fuzzer, without the time it was parked or stopped, so that its
 * own time budgets and schedules see active time only.  Reads the page, never writes it. */
#include "ctl.h"
#include "self.h"

#include <sys/time.h>
#include <time.h>

#define NS INT64_C(1000000000)

/* All the time spent parked, the pause under way included, and stopped: that is added before it goes on. */
static int64_t lag(void)
{
    if (!ctl_page)
        return 0;
    int64_t since = ctl_parked_since();
    return __atomic_load_n(&ctl_page->paused_ns, __ATOMIC_ACQUIRE) +
           __atomic_load_n(&ctl_page->stopped_ns, __ATOMIC_ACQUIRE) +
           (since ? ctl_real_ns() - since : 0);
}

CTL_EXPORTED int clock_gettime(clockid_t id, struct timespec *ts)
{
    int64_t ns;
    if (!ctl_page)
        return self_clock(id, ts);
    switch (id) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE: ns = self_wall_ns(); break;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME: ns = self_clock_ns(id); break;
    default: return self_clock(id, ts);
    }
    ns -= lag();
    *ts = (struct timespec){.tv_sec = ns / NS, .tv_nsec = ns % NS};
    return 0;
}

CTL_EXPORTED int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
    (void)zone;
    int64_t ns = self_wall_ns() - lag();
    *tv = (struct timeval){.tv_sec = ns / NS, .tv_usec = ns % NS / 1000};
    return 0;
}

CTL_EXPORTED time_t time(time_t *t)
{
    time_t v = (time_t)((self_wall_ns() - lag()) / NS);
    if (t)
        *t = v;
    return v;
}
