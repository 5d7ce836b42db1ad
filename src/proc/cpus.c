/* cpus: claims processors by names in the kernel.  Pins nothing. */
#include "proc/cpus.h"

#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define PLACES 16 /* of slots on one processor that know of each other */

/* A descriptor, or -1: somebody else has it. */
static int claim_place(const char *name, int cpu, int place)
{
    struct sockaddr_un a = {.sun_family =
                                AF_UNIX}; /* a name that begins with 0 is in no file system */
    int len = snprintf(a.sun_path + 1, sizeof a.sun_path - 1, "%s-%d-%d", name, cpu, place);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && bind(fd, (const struct sockaddr *)&a,
                        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len)) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* The first of those with the fewest slots; -1: there is none. */
static int least_used(const cpu_set_t *set, const int uses[CPU_SETSIZE])
{
    int best = -1;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, set) && (best < 0 || uses[cpu] < uses[best]))
            best = cpu;
    return best;
}

void cpus_take(const char *name, int n, int *cpu, int *claim)
{
    cpu_set_t set;
    int uses[CPU_SETSIZE] = {0}, taken = 0;
    if (sched_getaffinity(0, sizeof set, &set) < 0)
        CPU_ZERO(&set);
    for (int place = 0; place < PLACES; place++)
        for (int c = 0; c < CPU_SETSIZE && taken < n; c++)
            if (CPU_ISSET(c, &set) && (claim[taken] = claim_place(name, c, place)) >= 0) {
                uses[c]++;
                cpu[taken++] = c;
            }
    for (; taken < n; taken++) {
        claim[taken] = -1;
        cpu[taken] = least_used(&set, uses);
        if (cpu[taken] >= 0)
            uses[cpu[taken]]++;
    }
}

int cpus_count(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}
