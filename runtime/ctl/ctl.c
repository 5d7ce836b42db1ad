/* ctl: attaches to the control page and parks.  Knows no fuzzer. */
#include "ctl.h"

#include "self.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct ctl_page *ctl_page;
char ctl_dir[PATH_MAX];
static pid_t born_of;
static int64_t parked_since;
static int export_fd = -1;

int64_t ctl_real_ns(void)
{
    return self_clock_ns(CLOCK_MONOTONIC);
}

int64_t ctl_parked_since(void)
{
    return __atomic_load_n(&parked_since, __ATOMIC_ACQUIRE);
}

static void ring(void)
{
    uint64_t one = 1;
    ssize_t n = write(CTL_EVENT_FD, &one, sizeof one);
    (void)n; /* a supervisor that is gone does not listen */
}

void ctl_fault(const char *fmt, ...)
{
    char path[PATH_MAX + 16], text[512];
    if (!ctl_page)
        return;
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text - 1, fmt, ap);
    va_end(ap);
    snprintf(path, sizeof path, "%s/fault", ctl_dir);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd >= 0 && n > 0) {
        size_t len = (size_t)n < sizeof text - 1 ? (size_t)n : sizeof text - 2;
        text[len++] = '\n';
        ssize_t k = write(fd, text, len);
        (void)k;
    }
    if (fd >= 0)
        close(fd);
    __atomic_add_fetch(&ctl_page->faults, 1, __ATOMIC_RELEASE);
    ring();
}

static void open_page(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    struct stat st;
    if (fd < 0)
        return;
    void *map = MAP_FAILED;
    if (fstat(fd, &st) == 0 && st.st_size >= (off_t)CTL_SIZE)
        map = mmap(NULL, CTL_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (map == MAP_FAILED)
        return;
    struct ctl_page *p = map;
    if (p->magic != CTL_MAGIC || p->version != CTL_VERSION) {
        munmap(map, CTL_SIZE);
        return;
    }
    ctl_page = p;
}

/* Name of the directory the page is in. */
static void set_dir(const char *path)
{
    snprintf(ctl_dir, sizeof ctl_dir, "%s", path);
    char *slash = strrchr(ctl_dir, '/');
    if (slash)
        *slash = 0;
}

__attribute__((constructor)) static void attach(void)
{
    const char *path = getenv(CTL_ENV);
    if (!path || !*path || !self_is_fuzzer())
        return;
    set_dir(path);
    open_page(path);
    unsetenv("LD_PRELOAD");
    unsetenv(CTL_ENV);
    unsetenv(CTL_EXE_ENV);
    fcntl(CTL_EVENT_FD, F_SETFD, FD_CLOEXEC);
    if (!ctl_page)
        return;
    born_of = getppid();
    ctl_page->pid = (int32_t)getpid();
    __atomic_store_n(&ctl_page->attached, 1, __ATOMIC_RELEASE);
}

bool ctl_parking_wanted(void)
{
    struct ctl_page *p = ctl_page;
    if (!p || __atomic_load_n(&p->quit, __ATOMIC_ACQUIRE))
        return false;
    uint32_t turn = __atomic_load_n(&p->turn, __ATOMIC_ACQUIRE);
    if (__atomic_load_n(&p->done, __ATOMIC_RELAXED) == turn ||
        __atomic_load_n(&p->stop, __ATOMIC_ACQUIRE) == turn)
        return true;
    uint64_t quota = __atomic_load_n(&p->quota, __ATOMIC_ACQUIRE);
    return quota && p->cycles >= quota;
}

/* Our supervisor's init is gone and nobody will wake us again: end as on Ctrl-C. */
static bool orphaned(void)
{
    if (getppid() == born_of)
        return false;
    __atomic_store_n(&ctl_page->quit, 1, __ATOMIC_RELEASE);
    raise(SIGINT);
    return true;
}

static void park(void)
{
    struct ctl_page *p = ctl_page;
    uint32_t turn = __atomic_load_n(&p->turn, __ATOMIC_ACQUIRE);
    const struct timespec second = {.tv_sec = 1};
    int64_t since = ctl_real_ns();
    __atomic_store_n(&parked_since, since, __ATOMIC_RELEASE);
    __atomic_store_n(&p->done, turn, __ATOMIC_RELEASE);
    ring();
    while (__atomic_load_n(&p->turn, __ATOMIC_ACQUIRE) == turn &&
           !__atomic_load_n(&p->quit, __ATOMIC_ACQUIRE) && !orphaned())
        syscall(SYS_futex, &p->turn, FUTEX_WAIT, turn, &second, NULL, 0);
    __atomic_add_fetch(&p->paused_ns, ctl_real_ns() - since, __ATOMIC_ACQ_REL);
    __atomic_store_n(&parked_since, 0, __ATOMIC_RELEASE);
}

/* A clock that stands still while we are parked or stopped; from an arbitrary zero. */
static int64_t active_ns(void)
{
    return ctl_real_ns() - ctl_page->paused_ns -
           __atomic_load_n(&ctl_page->stopped_ns, __ATOMIC_ACQUIRE);
}

void ctl_safe_point(void)
{
    struct ctl_page *p = ctl_page;
    if (!p)
        return;
    bool first = !__atomic_load_n(&p->ready, __ATOMIC_RELAXED);
    if (first) {
        __atomic_store_n(&p->ready, 1, __ATOMIC_RELEASE);
        ring();
    }
    if (ctl_parking_wanted())
        park();
    if (first)
        p->cycle_at = active_ns();
}

void ctl_add_exec(void)
{
    if (ctl_page)
        __atomic_store_n(&ctl_page->execs, ctl_page->execs + 1, __ATOMIC_RELEASE);
}

void ctl_add_cycle(void)
{
    struct ctl_page *p = ctl_page;
    if (!p)
        return;
    int64_t now = active_ns();
    __atomic_store_n(&p->cycles_ns, p->cycles_ns + now - p->cycle_at, __ATOMIC_RELEASE);
    __atomic_store_n(&p->cycles, p->cycles + 1, __ATOMIC_RELEASE);
    p->cycle_at = now;
}

void ctl_drop_cycle(void)
{
    if (ctl_page)
        ctl_page->cycle_at = active_ns();
}

static void open_export(void)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/export", ctl_dir);
    export_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (export_fd < 0)
        ctl_fault("cannot open %s: %s", path, strerror(errno));
}

void ctl_export(const char *name, int64_t import)
{
    char line[PATH_MAX + 32];
    if (!ctl_page)
        return;
    if (export_fd < 0)
        open_export();
    int n = snprintf(line, sizeof line, "%lld %s\n", (long long)import, name);
    if (n > 0 && (size_t)n < sizeof line && write(export_fd, line, (size_t)n) != n)
        ctl_fault("cannot write the export list: %s", strerror(errno));
    __atomic_store_n(&ctl_page->entries, ctl_page->entries + 1, __ATOMIC_RELEASE);
}
