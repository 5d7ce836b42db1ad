/* hfuzz: libcarolhf.so, preloaded into honggfuzz: parks its fuzzing thread between two executions, lets
 * its clock stand still meanwhile, and has it read new inputs at once.  Does not touch the target: the
 * environment variables that load it are gone before honggfuzz makes one.
 *
 * Where it parks: a persistent target gets each input by an 8-byte send() of its length, any other
 * target by a fork() or clone(); both are called by the one fuzzing thread (-n 1), with the input ready
 * and no target at work.  Which of the two it is shows at the first send.  Start-up (the dry run of the
 * start corpus) is over when that thread has read its input directory to the end.
 *
 * Imports: honggfuzz looks into --dynamic_input when time() has moved by more than a second.  At the
 * start of a turn its main thread is woken by SIGALRM and told once that it is 3 s later. */
#include "page.h"
#include "self.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#define NS INT64_C(1000000000)
#define BATCH 1000        /* executions to a cycle: honggfuzz has no cycle of its own */
#define LATER 3           /* seconds; its poll needs more than 1 */
#define PATIENCE (NS / 2) /* from `quit` to a SIGINT of our own */
#define FORK_PATIENCE 60  /* times as long as honggfuzz itself has with a fork */

static struct ctl_page *page; /* NULL: not under control, everything passes through */
static pthread_t main_thread;
static pid_t parent, self;
static DIR *input_dir; /* the first directory it ever reads */
static bool dry_run_over, persistent;
static int64_t quit_at;           /* when we first saw `quit` */
static int64_t paused, parked_at; /* ns, atomic; parked_at 0: not parked */
static int64_t cycle_began;       /* active time, of the fuzzing thread alone, as is: */
static unsigned batch;            /* executions since then */
static int late;                  /* the main thread's next time() is LATER */
static struct itimerval ticker;   /* its 200 ms timer, off while parked */

static pid_t (*real_fork)(void);
static int (*real_clone)(int (*)(void *), void *, int, void *, ...);
static struct dirent64 *(*real_readdir64)(DIR *);
static int (*real_setitimer)(__itimer_which_t, const struct itimerval *, struct itimerval *);
static unsigned (*real_alarm)(unsigned);
static int (*real_vdprintf)(int, const char *, va_list);
static int (*real_unlink)(const char *);

#define GET(x) __atomic_load_n(&(x), __ATOMIC_ACQUIRE)
#define SET(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELEASE)

static int64_t steady_ns(void)
{
    return self_clock_ns(CLOCK_MONOTONIC);
}

static bool on_main_thread(void)
{
    return pthread_equal(pthread_self(), main_thread);
}

/* The next definition of a symbol: libc's. */
static void *next_symbol(const char *name)
{
    void *p = dlsym(RTLD_NEXT, name);
    if (!p)
        _exit(97);
    return p;
}

static struct ctl_page *map_page(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    struct ctl_page *p = MAP_FAILED;
    if (fd >= 0) {
        p = mmap(NULL, CTL_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        close(fd);
    }
    if (p == MAP_FAILED || p->magic != CTL_MAGIC || p->version != CTL_VERSION) {
        dprintf(2, "libcarolhf: no control page of version %u at %s\n", CTL_VERSION, path);
        _exit(97);
    }
    return p;
}

__attribute__((constructor)) static void attach(void)
{
    real_fork = next_symbol("fork");
    real_clone = next_symbol("clone");
    real_readdir64 = next_symbol("readdir64");
    real_setitimer = next_symbol("setitimer");
    real_alarm = next_symbol("alarm");
    real_vdprintf = next_symbol("vdprintf");
    real_unlink = next_symbol("unlink");
    main_thread = pthread_self();
    self = getpid();
    parent = getppid();
    const char *path = getenv(CTL_ENV);
    if (!path || !self_is_fuzzer())
        return;
    page = map_page(path);
    unsetenv("LD_PRELOAD");
    unsetenv(CTL_ENV);
    unsetenv(CTL_EXE_ENV);
    fcntl(CTL_EVENT_FD, F_SETFD, FD_CLOEXEC);
    paused = page->paused_ns;
    SET(page->pid, self);
    SET(page->attached, 1);
}

/* ---- the clock ---- */

static int64_t virtual_ns(void)
{
    int64_t now = self_wall_ns(), at = GET(parked_at);
    int64_t pause = at ? steady_ns() - at : 0;
    return now - GET(paused) - pause;
}

int gettimeofday(struct timeval *restrict tv, void *restrict tz)
{
    (void)tz;
    int64_t now = virtual_ns();
    *tv = (struct timeval){.tv_sec = now / NS, .tv_usec = now % NS / 1000};
    return 0;
}

time_t time(time_t *out)
{
    time_t now = virtual_ns() / NS;
    if (page && GET(late) && on_main_thread() && __atomic_exchange_n(&late, 0, __ATOMIC_ACQ_REL))
        now += LATER;
    if (out)
        *out = now;
    return now;
}

int setitimer(__itimer_which_t which, const struct itimerval *new, struct itimerval *old)
{
    if (which == ITIMER_REAL && new)
        ticker = *new;
    return real_setitimer(which, new, old);
}

/* Between fork and execve its child has an alarm of one second, against a lock that another thread held at
 * the fork.  A machine that stands still for so long would end it, and honggfuzz with it. */
unsigned alarm(unsigned seconds)
{
    return real_alarm(page ? seconds * FORK_PATIENCE : seconds);
}

/* ---- parking ---- */

static void tell(void)
{
    uint64_t one = 1;
    ssize_t n = write(CTL_EVENT_FD, &one, sizeof one);
    (void)n;
}

static void to_main(int signo)
{
    syscall(SYS_tgkill, self, self, signo);
}

/* The supervisor's SIGINT makes honggfuzz end; a second one would make it end at once and untidily.  So
 * ours comes only when there was none. */
static void leave(void)
{
    int64_t now = steady_ns();
    if (!quit_at)
        quit_at = now;
    if (quit_at > 0 && now - quit_at > PATIENCE) {
        quit_at = -1;
        to_main(SIGINT);
    }
}

/* A clock that stands still while we are parked or stopped; from an arbitrary zero. */
static int64_t active_ns(void)
{
    return steady_ns() - paused - GET(page->stopped_ns);
}

static void wait_for_turn(void)
{
    uint32_t turn;
    while ((turn = GET(page->turn)) == GET(page->done) && !GET(page->quit)) {
        struct timespec second = {.tv_sec = 1};
        syscall(SYS_futex, &page->turn, FUTEX_WAIT, turn, &second, NULL, 0);
        if (getppid() != parent)
            _exit(98); /* nobody is left who could resume us; the kernel kills the target with us */
    }
}

static void park(void)
{
    struct itimerval off = {0};
    real_setitimer(ITIMER_REAL, &off, NULL);
    SET(parked_at, steady_ns());
    tell();
    wait_for_turn();
    SET(paused, paused + steady_ns() - parked_at);
    SET(parked_at, 0);
    SET(page->paused_ns, paused);
    real_setitimer(ITIMER_REAL, &ticker, NULL);
    SET(late, 1);
    to_main(SIGALRM);
}

/* Between two executions, the next input at hand: may be the end of the turn. */
static void safe_point(void)
{
    if (GET(page->quit)) {
        leave();
        return;
    }
    if (!dry_run_over)
        return;
    uint32_t turn = GET(page->turn);
    uint64_t quota = GET(page->quota);
    bool first = !page->ready;
    if (first)
        SET(page->ready, 1);
    else if (turn != page->done && (GET(page->stop) == turn || (quota && page->cycles >= quota)))
        SET(page->done, turn);
    if (turn == page->done)
        park();
    else if (first)
        tell();
    if (first)
        cycle_began = active_ns();
}

static void count_execution(void)
{
    SET(page->execs, page->execs + 1);
    if (!page->ready || ++batch < BATCH)
        return;
    int64_t now = active_ns();
    SET(page->cycles_ns, page->cycles_ns + now - cycle_began);
    SET(page->cycles, page->cycles + 1);
    cycle_began = now;
    batch = 0;
}

ssize_t send(int fd, const void *buf, size_t n, int flags)
{
    if (page && n == sizeof(uint64_t) && !on_main_thread()) {
        if (!persistent)
            SET(page->execs, page->execs ? page->execs - 1 : 0); /* the fork was no execution */
        persistent = true;
        safe_point();
        count_execution();
    }
    return syscall(SYS_sendto, fd, buf, n, flags, NULL, 0);
}

static void before_fork(void)
{
    if (!page || persistent || on_main_thread())
        return;
    safe_point();
    count_execution();
}

pid_t fork(void)
{
    before_fork();
    return real_fork();
}

int clone(int (*fn)(void *), void *stack, int flags, void *arg, ...)
{
    va_list ap;
    va_start(ap, arg);
    void *ptid = va_arg(ap, void *), *tls = va_arg(ap, void *), *ctid = va_arg(ap, void *);
    va_end(ap);
    if (!(flags & CLONE_VM))
        before_fork();
    return real_clone(fn, stack, flags, arg, ptid, tls, ctid);
}

/* ---- what honggfuzz tells by what it calls ---- */

struct dirent64 *readdir64(DIR *dir)
{
    struct dirent64 *de = real_readdir64(dir);
    if (!page)
        return de;
    if (!input_dir)
        input_dir = dir;
    if (!de && dir == input_dir && !on_main_thread())
        dry_run_over = true;
    return de;
}

/* An import that was executed and gave nothing new is removed from the corpus, by the fuzzing thread;
 * one that did is logged.  Together they are the imports executed.  A file of the corpus that could not be
 * written is logged, then removed: that is no import. */
static __thread bool not_written;

int unlink(const char *path)
{
    static const char corpus[] = ".honggfuzz.cov";
    size_t n = strlen(path), k = sizeof corpus - 1;
    if (page && !on_main_thread() && !not_written && n > k && memcmp(path + n - k, corpus, k) == 0)
        SET(page->taken, page->taken + 1);
    not_written = false;
    return real_unlink(path);
}

int vdprintf(int fd, const char *fmt, va_list ap)
{
    static const char imported[] = "File imported: ", failed[] = "Couldn't write '";
    if (page && strncmp(fmt, imported, sizeof imported - 1) == 0)
        SET(page->taken, page->taken + 1);
    if (page && strncmp(fmt, failed, sizeof failed - 1) == 0)
        not_written = true;
    return real_vdprintf(fd, fmt, ap);
}
