/* bugfile: creates the file, keeps its CPU clock, and leaves everything else to the targets. */
#include "bench/bugfile.h"

#include "base/die.h"
#include "base/log.h"
#include "bench/magma.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

struct bugfile {
    enum oracle_kind kind;
    void *area;
    size_t size;
    const struct bug *bugs;
    size_t n;
    struct carol_oracle magma; /* what was seen in Magma's file, in our form */
    bool warned;
};

enum oracle_kind oracle_of(const char *name)
{
    return strcmp(name, "carol") == 0   ? ORACLE_CAROL
           : strcmp(name, "magma") == 0 ? ORACLE_MAGMA
                                        : ORACLE_NONE;
}

const char *bugfile_variable(enum oracle_kind kind)
{
    return kind == ORACLE_MAGMA ? MAGMA_VARIABLE : CAROL_ORACLE_ENV;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int map(struct bugfile *f, const char *path, struct err *e)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644), rc = 0;
    /* Allocated at once: on a full disk a target that writes to its mapping would be killed. */
    if (fd < 0 || (errno = posix_fallocate(fd, 0, (off_t)f->size)) != 0)
        rc = err_sys(e, "cannot make the oracle's file %s", path);
    f->area = rc == 0 ? mmap(NULL, f->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (rc == 0 && f->area == MAP_FAILED)
        rc = err_sys(e, "cannot map %s", path);
    if (fd >= 0)
        close(fd);
    if (rc < 0 && e)
        e->exit = ERR_EXIT_ENV;
    return rc;
}

/* Whoever notes into ours writes the header. */
static struct carol_oracle *own(const struct bugfile *f)
{
    return f->kind == ORACLE_MAGMA ? NULL : f->area;
}

int bugfile_create(struct bugfile **out, const char *path, enum oracle_kind kind,
                   const struct bug *bugs, size_t n, struct err *e)
{
    struct bugfile *f = xcalloc(1, sizeof *f);
    *f = (struct bugfile){.kind = kind,
                          .size = kind == ORACLE_MAGMA ? MAGMA_BYTES : sizeof(struct carol_oracle),
                          .bugs = bugs,
                          .n = n};
    int rc = map(f, path, e);
    if (rc < 0) {
        free(f);
        f = NULL;
    } else {
        (own(f) ? own(f) : &f->magma)->start_ns = now_ns();
    }
    *out = f;
    return rc;
}

void bugfile_tick(struct bugfile *f, int64_t cpu_ns)
{
    struct carol_oracle *o = own(f);
    if (o) {
        __atomic_store_n(&o->cpu_ns, (uint64_t)cpu_ns, __ATOMIC_RELAXED);
        return;
    }
    f->magma.cpu_ns = (uint64_t)cpu_ns;
    const char *unknown = magma_note(f->area, f->bugs, f->n, now_ns(), &f->magma);
    if (unknown && !f->warned)
        log_warn("Magma's canaries name the bug %.16s, which the target's list lacks: it does not "
                 "count",
                 unknown);
    f->warned = f->warned || unknown;
}

void bugfile_read(const struct bugfile *f, struct carol_oracle *out)
{
    *out = own(f) ? *own(f) : f->magma;
}

bool bugfile_used(const struct bugfile *f)
{
    return own(f) ? own(f)->execs > 0 : magma_used(f->area);
}

void bugfile_close(struct bugfile *f)
{
    if (!f)
        return;
    munmap(f->area, f->size);
    free(f);
}
