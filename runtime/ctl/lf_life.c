/* lf_life: keeps libFuzzer alive: a crash, a hang or an exit of the target saves its input and executes the program
 * anew in the same process, so that to everybody outside the fuzzer never ended.
 *
 * It begins anew only after its first mutation.  What ends it earlier (a wrong option, a target that fails on
 * the empty input, which libFuzzer executes first of all) ends it for good.  The newline that libFuzzer
 * executes next when it has no corpus is kept from it (lf_replay.c). */
#include "lf.h"

#include "ctl.h"
#include "self.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define PER_PLACE 3 /* files; libFuzzer alone would save every crash */
#define FRAMES 16
#define STACK_BYTES ((size_t)128 << 10)
#define TICKS 4             /* looks at an execution within its limit */
#define TICK (SIGRTMAX - 1) /* SIGALRM is the target's */
#define SLEEP 3             /* limits; the supervisor waits for four */
#define MS INT64_C(1000000)
#define SPARE 8 /* descriptors that the target cannot use up */
#define LOST_BYTES                                                                                 \
    ((uint64_t)1 << 30) /* by a target without a limit, until the process begins again */

static const int deadly[] = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGTRAP, SIGSYS};

static pid_t self;
static char **words, **surroundings; /* what it was called with */
static size_t seed_at;               /* of -seed= in words; 0: there is none */
static int said = -1;                /* where its messages go */
static int64_t limit_ns;
static struct rlimit files;              /* descriptors, as many as we were given */
static uint64_t most_bytes, first_bytes; /* of address space: its limit; what the corpus takes */
static volatile bool at_work, leaving;
static const uint8_t *volatile unit;
static volatile size_t unit_size;
static volatile uint64_t unit_number;
static timer_t timer;
static bool timed;
static uintptr_t text_from, text_to; /* where the target's own code is */

/* ---- how it was called ---- */

/* A copy that a target which writes over its stack does not reach. */
static char **copy_words(char **from)
{
    size_t n = 0, size = sizeof *from;
    for (; from[n]; n++)
        size += sizeof *from + strlen(from[n]) + 1;
    char **to = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (to == MAP_FAILED)
        return NULL;
    char *text = (char *)(to + n + 1);
    for (size_t i = 0; i < n; i++) {
        to[i] = text;
        text = stpcpy(text, from[i]) + 1;
    }
    return to;
}

static uint64_t number_of(const char *name)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : 0;
}

static void set_limits(void)
{
    limit_ns = (int64_t)number_of(LF_ENV_LIMIT) * MS;
    most_bytes = number_of(LF_ENV_BYTES);
    struct rlimit r = {most_bytes, most_bytes};
    if (most_bytes)
        setrlimit(RLIMIT_AS, &r);
    if (getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_cur < 4 * SPARE)
        files.rlim_cur = 0;
    lf_life_room(false);
}

void lf_life_room(bool on)
{
    struct rlimit r = files;
    if (!r.rlim_cur)
        return;
    r.rlim_cur -= on || r.rlim_cur == RLIM_INFINITY ? 0 : SPARE;
    setrlimit(RLIMIT_NOFILE, &r);
}

/* Before ctl.c takes the variables out of the environment. */
__attribute__((constructor(101))) static void remember(int argc, char **argv, char **envp)
{
    char dir[PATH_MAX];
    const char *page = getenv(CTL_ENV);
    (void)argc;
    if (!page || !self_is_fuzzer())
        return;
    snprintf(dir, sizeof dir, "%s", page);
    self = getpid();
    words = copy_words(argv);
    surroundings = copy_words(envp);
    for (size_t i = 1; words && words[i]; i++)
        if (strncmp(words[i], "-seed=", 6) == 0)
            seed_at = i;
    said = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, CTL_EVENT_FD + 1);
    set_limits();
    unsetenv(LF_ENV_LIMIT);
    unsetenv(LF_ENV_BYTES);
    char *slash = strrchr(dir, '/');
    if (slash)
        *slash = 0;
    lf_replay_gather(dir);
}

/* ---- the end, and how it goes on ---- */

static _Noreturn void end(int code)
{
    for (;;)
        syscall(SYS_exit_group, code);
}

void lf_leave(void)
{
    end(0);
}

bool lf_life_is_over(void)
{
    return leaving || __atomic_load_n(&ctl_page->quit, __ATOMIC_ACQUIRE);
}

/* Is this our process, and not a child that the target made? */
static bool is_mine(void)
{
    return at_work && ctl_page && getpid() == self;
}

/* With the same random numbers it would come to the same end. */
static void change_seed(void)
{
    static char text[32];
    if (!seed_at)
        return;
    uint64_t seed = strtoull(words[seed_at] + strlen("-seed="), NULL, 10);
    seed = (seed + ctl_page->execs) * UINT64_C(6364136223846793005) + 1442695040888963407;
    snprintf(text, sizeof text, "-seed=%u", (unsigned)(seed >> 33) | 1);
    words[seed_at] = text;
}

/* Nothing that this life opened is left open in the next. */
static void clear_descriptors(void)
{
    dup2(said, STDOUT_FILENO);
    dup2(said, STDERR_FILENO);
    fcntl(CTL_EVENT_FD, F_SETFD, 0);
    syscall(SYS_close_range, 3u, (unsigned)CTL_EVENT_FD - 1, 0u);
    syscall(SYS_close_range, (unsigned)CTL_EVENT_FD + 1, ~0u, 0u);
}

/* What the target had set up would be there in the next life, before anybody handles it. */
static void clear_alarms(void)
{
    const struct itimerval never = {{0}, {0}};
    setitimer(ITIMER_REAL, &never, NULL);
    setitimer(ITIMER_VIRTUAL, &never, NULL);
    setitimer(ITIMER_PROF, &never, NULL);
}

static _Noreturn void begin_again(void)
{
    const uint64_t none = 0; /* as the kernel has a set of signals */
    unit = NULL;             /* a tick that waits is not to save it again */
    lf_life_watch(false);
    clear_alarms();
    lf_life_room(true);
    lf_replay_done();
    ctl_import_done();
    if (lf_life_is_over() || !words || !surroundings || chdir(ctl_dir) < 0)
        end(0);
    change_seed();
    clear_descriptors();
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof none);
    execve(words[0], words, surroundings);
    end(98);
}

/* Bytes of address space. */
static uint64_t size_now(void)
{
    char text[64] = {0};
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == EMFILE)
        begin_again();
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0)
        close(fd);
    return n > 0 ? strtoull(text, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

void lf_life_refresh(void)
{
    uint64_t lost = most_bytes ? most_bytes / 4 : LOST_BYTES, now = size_now();
    if (!first_bytes)
        first_bytes = now;
    if (now > first_bytes + lost)
        begin_again();
}

/* libFuzzer ends by _Exit, and takes the exit of a target for a crash; to Carol it is none. */
CTL_EXPORTED void _exit(int code)
{
    if (is_mine())
        begin_again();
    end(code);
}

CTL_EXPORTED void _Exit(int code)
{
    _exit(code);
}

CTL_EXPORTED void exit(int code)
{
    void (*real)(int) = (void (*)(int))dlsym(RTLD_NEXT, "exit");
    if (is_mine())
        begin_again();
    if (real)
        real(code);
    end(code);
}

/* ---- crashes and hangs ---- */

#if defined __x86_64__
#define PC(m) ((uintptr_t)(m).gregs[REG_RIP])
#define SP(m) ((uintptr_t)(m).gregs[REG_RSP])
#define CALLER(m) word_at(SP(m))
#elif defined __aarch64__
#define PC(m) ((uintptr_t)(m).pc)
#define CALLER(m) ((uintptr_t)(m).regs[30])
#else
#define PC(m) ((void)(m), (uintptr_t)0)
#define CALLER(m) ((void)(m), (uintptr_t)0)
#endif

/* 0: there is nothing to read, which makes no second crash. */
__attribute__((unused)) static uintptr_t word_at(uintptr_t address)
{
    uintptr_t word = 0;
    const struct iovec to = {&word, sizeof word}, from = {(void *)address, sizeof word};
    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == sizeof word ? word : 0;
}

/* Where it crashed, by the registers alone: in the target, in what the target called, or elsewhere.  A jump to
 * nowhere is known by where it came from: by where it went there would be too many places. */
static uintptr_t spot(const siginfo_t *info, const ucontext_t *c)
{
    uintptr_t pc = PC(c->uc_mcontext), caller = CALLER(c->uc_mcontext);
    if (pc >= text_from && pc < text_to)
        return pc - text_from + 1;
    if (caller >= text_from && caller < text_to)
        return caller - text_from + 1;
    return info->si_addr == (void *)pc ? 0 : pc & 0xfff;
}

static uint64_t mix(uint64_t h, uint64_t v)
{
    return (h ^ v) * UINT64_C(0x100000001b3);
}

/* Where we are: the same number for the same calls, wherever the kernel has put the program. */
static uint64_t place(uintptr_t at)
{
    void *frames[FRAMES];
    uint64_t h = mix(UINT64_C(0xcbf29ce484222325), at);
    int n = backtrace(frames, FRAMES);
    for (int i = 0; i < n; i++)
        h = mix(h, (uintptr_t)frames[i] & 0xfff);
    return h;
}

static bool write_unit(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    size_t at = 0, size = unit_size;
    for (ssize_t k;
         fd >= 0 && at < size && (k = write(fd, (const uint8_t *)unit + at, size - at)) > 0;)
        at += (size_t)k;
    if (fd >= 0)
        close(fd);
    return fd >= 0 && at == size;
}

/* The input at hand becomes crash/SIGx.<where>.<n>, unless there are enough of that place. */
static void keep_unit(int signo, uint64_t where)
{
    char whole[PATH_MAX + 64], name[PATH_MAX + 64];
    const char *abbrev = sigabbrev_np(signo);
    int n = 0;
    if (!unit)
        return;
    lf_life_room(true);
    snprintf(whole, sizeof whole, "%s/crash/whole", ctl_dir);
    for (; n < PER_PLACE; n++) {
        snprintf(name, sizeof name, "%s/crash/SIG%s.%016llx.%d", ctl_dir, abbrev ? abbrev : "",
                 (unsigned long long)where, n);
        if (access(name, F_OK) < 0)
            break;
    }
    if (n < PER_PLACE && write_unit(whole))
        rename(whole, name);
}

/* A crash that happens where another, or a hang, is looked at: on a stack that cannot be read. */
static volatile int depth, first;
static volatile uintptr_t at;

static void on_crash(int signo, siginfo_t *info, void *context)
{
    if (!is_mine()) {
        signal(signo, SIG_DFL);
        raise(signo);
        return;
    }
    int d = depth++;
    if (d == 0) {
        first = signo;
        at = spot(info, context);
        keep_unit(signo, place(at));
    } else if (d == 1) {
        keep_unit(first, at);
    }
    begin_again();
}

/* CLOCK_MONOTONIC is the virtual one here: a pause makes no hang. */
static int64_t now_ns(clockid_t id)
{
    struct timespec t = {0};
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000 * MS + t.tv_nsec;
}

/* The limit is one of CPU time, so that a busy machine makes no hangs; who sleeps may do so for longer. */
static void on_tick(int signo, siginfo_t *info, void *context)
{
    (void)signo;
    (void)info;
    (void)context;
    static uint64_t seen;
    static int64_t since, cpu;
    if (!unit || !is_mine())
        return;
    int64_t now = now_ns(CLOCK_MONOTONIC), used = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    if (seen != unit_number) {
        seen = unit_number;
        since = now;
        cpu = used;
    } else if (leaving) {
        end(0);
    } else if (used - cpu >= limit_ns || now - since >= SLEEP * limit_ns) {
        first = SIGALRM;
        at = 0; /* where it goes round is anywhere */
        depth++;
        keep_unit(SIGALRM, place(0));
        begin_again();
    }
}

static void on_end(int signo, siginfo_t *info, void *context)
{
    (void)signo;
    (void)info;
    (void)context;
    leaving = true;
}

/* ---- the beginning ---- */

/* libc's own: the target has one that keeps some signals to itself. */
static void handle(int signo, void (*fn)(int, siginfo_t *, void *), int flags)
{
    int (*real)(int, const struct sigaction *, struct sigaction *) =
        (int (*)(int, const struct sigaction *, struct sigaction *))dlsym(RTLD_NEXT, "sigaction");
    struct sigaction sa = {.sa_sigaction = fn, .sa_flags = SA_SIGINFO | flags};
    sigemptyset(&sa.sa_mask);
    if (fn == on_tick) { /* a look at a crash may hang itself: then a tick ends it */
        sigaddset(&sa.sa_mask, TICK);
        sigaddset(&sa.sa_mask, SIGALRM);
    }
    if (real)
        real(signo, &sa, NULL);
}

void lf_life_watch(bool on)
{
    int64_t ns = on && limit_ns ? limit_ns / TICKS + 1 : 0;
    struct timespec each = {.tv_sec = ns / (1000 * MS), .tv_nsec = ns % (1000 * MS)};
    if (timed)
        timer_settime(timer, 0, &(struct itimerspec){each, each}, NULL);
}

/* A timer of our own, which the target does not know and the next life does not inherit. */
static void make_timer(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = TICK};
    handle(TICK, on_tick, SA_ONSTACK | SA_RESTART);
    timed = timer_create(CLOCK_MONOTONIC, &event, &timer) == 0;
    if (!timed)
        ctl_fault("no timer, hangs will not be seen: %s", strerror(errno));
}

typedef int mask_fn(int how, const sigset_t *set, sigset_t *old);

/* A target that blocks all signals does not mean ours. */
static int mask(mask_fn *real, int how, const sigset_t *set, sigset_t *old)
{
    sigset_t some;
    if (set && how != SIG_UNBLOCK) {
        some = *set;
        sigdelset(&some, TICK);
        set = &some;
    }
    return real ? real(how, set, old) : ENOSYS;
}

CTL_EXPORTED int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    static mask_fn *real;
    if (!real)
        real = (mask_fn *)dlsym(RTLD_NEXT, "sigprocmask");
    return mask(real, how, set, old);
}

CTL_EXPORTED int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    static mask_fn *real;
    if (!real)
        real = (mask_fn *)dlsym(RTLD_NEXT, "pthread_sigmask");
    return mask(real, how, set, old);
}

void lf_life_unit(const uint8_t *data, size_t size)
{
    unit = NULL;
    unit_size = size;
    unit_number++;
    unit = data;
}

void lf_life_silence(void)
{
    int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
    close(fd);
}

/* The first object is the program itself. */
static int find_text(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    (void)arg;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        if (h->p_type != PT_LOAD || !(h->p_flags & PF_X))
            continue;
        text_from = info->dlpi_addr + h->p_vaddr;
        text_to = text_from + h->p_memsz;
    }
    return 1;
}

void lf_life_begin(void)
{
    void *frames[2];
    stack_t stack = {.ss_size = STACK_BYTES};
    stack.ss_sp =
        mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack.ss_sp != MAP_FAILED)
        sigaltstack(&stack, NULL);
    dl_iterate_phdr(find_text, NULL);
    backtrace(frames, 2); /* the first call loads what it needs */
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
        handle(deadly[i], on_crash, SA_ONSTACK | SA_NODEFER);
    clear_alarms(); /* libFuzzer's own */
    handle(SIGALRM, on_tick, SA_ONSTACK | SA_RESTART);
    make_timer();
    handle(SIGINT, on_end, SA_RESTART);
    handle(SIGTERM, on_end, SA_RESTART);
    lf_life_silence();
    at_work = true;
    lf_life_watch(true);
}
