/* self: reads /proc/self/exe and the clocks.  Knows no fuzzer and no page. */
#include "self.h"

#include "page.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NS INT64_C(1000000000)

/* libc's own, which needs no system call; a fuzzer reads the clock several times per execution. */
static int (*next)(clockid_t, struct timespec *);
static int64_t wall_ahead; /* of the monotonic clock, when we were loaded */

__attribute__((constructor)) static void find_clock(void)
{
    next = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    wall_ahead = self_clock_ns(CLOCK_REALTIME) - self_clock_ns(CLOCK_MONOTONIC);
}

bool self_is_fuzzer(void)
{
    char exe[PATH_MAX];
    const char *want = getenv(CTL_EXE_ENV);
    ssize_t n = want ? readlink("/proc/self/exe", exe, sizeof exe - 1) : 0;
    if (n <= 0)
        return true;
    exe[n] = 0;
    const char *slash = strrchr(exe, '/');
    return strcmp(slash ? slash + 1 : exe, want) == 0;
}

int self_clock(clockid_t id, struct timespec *ts)
{
    return next ? next(id, ts) : (int)syscall(SYS_clock_gettime, id, ts);
}

int64_t self_clock_ns(clockid_t id)
{
    struct timespec ts = {0};
    self_clock(id, &ts);
    return (int64_t)ts.tv_sec * NS + ts.tv_nsec;
}

int64_t self_wall_ns(void)
{
    if (!wall_ahead) /* asked before our constructor ran */
        find_clock();
    return self_clock_ns(CLOCK_MONOTONIC) + wall_ahead;
}
