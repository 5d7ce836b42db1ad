/* slow_fork: preloaded into honggfuzz, its first target takes two seconds from the fork to execve, as on a
 * machine that stands still.  Between the two honggfuzz calls prctl(PR_SET_DUMPABLE).  CAROL_TEST_SLOW_FORK is
 * a file, removed by the one that was slow. */
#include <stdarg.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int prctl(int option, ...)
{
    unsigned long arg[4];
    va_list ap;
    va_start(ap, option);
    for (int i = 0; i < 4; i++)
        arg[i] = va_arg(ap, unsigned long);
    va_end(ap);
    const char *path = getenv("CAROL_TEST_SLOW_FORK");
    if (option == PR_SET_DUMPABLE && path && unlink(path) == 0)
        for (struct timespec left = {.tv_sec = 2}; nanosleep(&left, &left) < 0;)
            ;
    return (int)syscall(SYS_prctl, option, arg[0], arg[1], arg[2], arg[3]);
}
