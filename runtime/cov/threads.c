/* threads: does this process have more than one?  Starts and stops none. */
#include "cov.h"

#include <errno.h>
#include <sched.h>
#include <sys/stat.h>

/* glibc's: not 0 while no second thread was ever started through it. */
extern char __libc_single_threaded __attribute__((weak));

/* The kernel refuses this call to a process with threads, and it does nothing in one without.  If a sandbox
 * forbids it, /proc still tells, more slowly: the directory has one link per thread. */
bool carol_cov_threads(void)
{
    struct stat st;
    if (unshare(CLONE_THREAD) == 0)
        return false;
    return errno == EINVAL || (stat("/proc/self/task", &st) == 0 && st.st_nlink > 3);
}

bool carol_cov_threads_since(void)
{
    return !(&__libc_single_threaded && __libc_single_threaded) && carol_cov_threads();
}
