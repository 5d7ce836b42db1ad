/* ctlpage: maps and drives control pages.  Does not know processes or fuzzers. */
#include "fuzzer/ctlpage.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

_Static_assert(sizeof(struct ctl_page) <= CTL_SIZE, "the control page is one page");

static int check_or_init(struct ctl_page *p, const char *path, bool fresh, struct err *e)
{
    if (fresh) {
        p->version = CTL_VERSION;
        ctl_set32(&p->magic, CTL_MAGIC);
    }
    if (p->magic == CTL_MAGIC && p->version == 1)
        p->version = CTL_VERSION; /* the new words are zero there, as they begin */
    if (p->magic != CTL_MAGIC || p->version != CTL_VERSION)
        return err_set(e, -EPROTO,
                       "%s is not a control page of this version of carol: remove the instance's "
                       "directory to start it anew",
                       path);
    return 0;
}

int ctlpage_map(const char *path, struct ctl_page **out, struct err *e)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0) {
        int rc = err_sys(e, "cannot open %s", path);
        if (fd >= 0)
            close(fd);
        return rc;
    }
    bool fresh = st.st_size < (off_t)CTL_SIZE;
    void *map = MAP_FAILED;
    /* Allocated: on a full disk, whoever writes to a hole of a mapped file is killed. */
    if ((errno = posix_fallocate(fd, 0, CTL_SIZE)) == 0)
        map = mmap(NULL, CTL_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED) {
        int rc = err_sys(e, "cannot map %s", path);
        close(fd);
        return rc;
    }
    close(fd);
    struct ctl_page *p = map;
    int rc = check_or_init(p, path, fresh || p->magic == 0, e);
    if (rc < 0) {
        munmap(map, CTL_SIZE);
        return rc;
    }
    *out = p;
    return 0;
}

void ctlpage_unmap(struct ctl_page *p)
{
    if (p)
        munmap(p, CTL_SIZE);
}

static void wake(struct ctl_page *p)
{
    syscall(SYS_futex, &p->turn, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void ctlpage_reset(struct ctl_page *p)
{
    ctl_set32(&p->attached, 0);
    ctl_set32(&p->ready, 0);
    ctl_set32(&p->started, 0);
    ctl_set32(&p->quit, 0);
    p->pid = 0;
    ctl_set32(&p->done, ctl_get32(&p->turn));
}

void ctlpage_go(struct ctl_page *p, uint64_t cycles)
{
    ctl_set64(&p->quota, cycles ? ctl_get64(&p->cycles) + cycles : 0);
    ctl_set32(&p->turn, ctl_get32(&p->turn) + 1);
    wake(p);
}

void ctlpage_end_at(struct ctl_page *p, uint64_t cycles)
{
    ctl_set64(&p->quota, cycles);
}

/* In the library's own pause it was not at work either way, and that pause is counted there. */
void ctlpage_was_stopped(struct ctl_page *p, int64_t ns)
{
    if (!ctlpage_parked(p))
        __atomic_add_fetch(&p->stopped_ns, ns, __ATOMIC_RELEASE);
}

void ctlpage_stop(struct ctl_page *p)
{
    ctl_set32(&p->stop, ctl_get32(&p->turn));
}

void ctlpage_quit(struct ctl_page *p)
{
    ctl_set32(&p->quit, 1);
    wake(p);
}

bool ctlpage_parked(const struct ctl_page *p)
{
    return ctl_get32(&p->done) == ctl_get32(&p->turn);
}
