/* bugfile: creates the oracle's file, keeps its CPU clock, and leaves everything else to the targets. */
#include "bench/bugfile.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

int bugfile_create(const char *path, struct carol_oracle **out, struct err *e)
{
    struct timespec now;
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644), rc = 0;
    *out = NULL;
    /* Allocated at once: on a full disk a target that writes to its mapping would be killed. */
    if (fd < 0 || (errno = posix_fallocate(fd, 0, sizeof **out)) != 0)
        rc = err_sys(e, "cannot make the oracle's file %s", path);
    void *p =
        rc == 0 ? mmap(NULL, sizeof **out, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (rc == 0 && p == MAP_FAILED)
        rc = err_sys(e, "cannot map %s", path);
    if (fd >= 0)
        close(fd);
    if (rc < 0) {
        if (e)
            e->exit = ERR_EXIT_ENV;
        return rc;
    }
    *out = p;
    clock_gettime(CLOCK_MONOTONIC, &now);
    (*out)->start_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    return 0;
}

void bugfile_cpu(struct carol_oracle *o, int64_t ns)
{
    __atomic_store_n(&o->cpu_ns, (uint64_t)ns, __ATOMIC_RELAXED);
}

void bugfile_close(struct carol_oracle *o)
{
    if (o)
        munmap(o, sizeof *o);
}
