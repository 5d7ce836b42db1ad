/* cpus: claims processors by names in the kernel.  Pins nothing. */
#include "proc/cpus.h"

#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int nth_of(const cpu_set_t *set, int nth)
{
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, set) && nth-- == 0)
            return cpu;
    return -1;
}

/* A descriptor, or -1: somebody else has it. */
static int claim_cpu(const char *name, int cpu)
{
    struct sockaddr_un a = {.sun_family =
                                AF_UNIX}; /* a name that begins with 0 is in no file system */
    int len = snprintf(a.sun_path + 1, sizeof a.sun_path - 1, "%s-%d", name, cpu);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && bind(fd, (const struct sockaddr *)&a,
                        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len)) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

int cpus_take(const char *name, int slot, int *claim)
{
    cpu_set_t set;
    *claim = -1;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
    for (int i = 0; i < n; i++) {
        int cpu = nth_of(&set, i);
        if ((*claim = claim_cpu(name, cpu)) >= 0)
            return cpu;
    }
    return n ? nth_of(&set, slot % n) : -1;
}
