/* cage: starts programs under an init process of their own, and gets rid of them entirely.  Does not
 * know what the programs are. */
#include "proc/cage.h"

#include "base/die.h"
#include "proc/sweep.h"
#include "proc/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAMESPACES (CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWIPC)

/* What the init reports through the status pipe. */
struct word {
    int exec_errno, wait_status;
};

static void write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t n = write(fd, text, strlen(text));
    (void)n;
    close(fd);
}

static void map_identity(uid_t uid, gid_t gid)
{
    char line[64];
    write_file("/proc/self/setgroups", "deny");
    snprintf(line, sizeof line, "%u %u 1", (unsigned)uid, (unsigned)uid);
    write_file("/proc/self/uid_map", line);
    snprintf(line, sizeof line, "%u %u 1", (unsigned)gid, (unsigned)gid);
    write_file("/proc/self/gid_map", line);
}

/* In a mount namespace of our own: the /proc of our pid namespace. */
static int mount_proc(void)
{
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return -1;
    return mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
}

/* The highest descriptor number the program will have. */
static int top_fd(const struct cage_opts *o)
{
    int top = 2;
    for (int i = 0; i < o->nfds; i++)
        if (o->fds[i].to > top)
            top = o->fds[i].to;
    return top;
}

/* Move the wanted descriptors to 0-2 and their numbers, above these first so that no move overwrites
 * one still needed; all others close on exec or here.  -1: too few can be open, errno says so. */
static int arrange_fds(const struct cage_opts *o)
{
    int null = open("/dev/null", O_RDWR), top = top_fd(o);
    int want[3] = {o->in, o->out, o->err}, high[3 + CAGE_MAX_FDS], n = o->nfds;
    for (int i = 0; i < 3 + n; i++) {
        int from = i < 3 ? want[i] : o->fds[i - 3].from;
        if ((high[i] = fcntl(i < 3 && from <= 0 ? null : from, F_DUPFD, top + 1)) < 0) {
            errno = errno == EINVAL ? EMFILE : errno; /* the number itself is out of reach */
            return -1;
        }
    }
    for (int i = 0; i < 3 + n; i++)
        dup2(high[i], i < 3 ? i : o->fds[i - 3].to);
    for (int fd = 3; fd <= top; fd++) {
        bool keep = false;
        for (int i = 0; i < n; i++)
            keep = keep || o->fds[i].to == fd;
        if (!keep)
            close(fd);
    }
    close_range((unsigned)top + 1, ~0U, CLOSE_RANGE_CLOEXEC);
    return 0;
}

static void close_all(int from, int to)
{
    if (from <= to)
        close_range((unsigned)from, (unsigned)to, 0);
}

_Noreturn static void run_program(const struct cage_opts *o, int report)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (int s = 1; s < NSIG; s++)
        signal(s, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    if (o->before && o->before(o->arg) < 0)
        _exit(CAGE_NOT_BEGUN);
    if (o->no_aslr)
        personality(ADDR_NO_RANDOMIZE);
    int rc = o->cwd ? chdir(o->cwd) : 0;
    int up = fcntl(report, F_DUPFD_CLOEXEC, top_fd(o) + 1);
    if (up < 0)
        up = report; /* then arrange_fds, which needs more, fails before it touches it */
    if (rc == 0 && arrange_fds(o) == 0) {
        if (o->envp)
            execve(o->argv[0], (char *const *)o->argv, (char *const *)o->envp);
        else
            execv(o->argv[0], (char *const *)o->argv);
    }
    int saved = errno;
    ssize_t n = write(up, &saved, sizeof saved);
    (void)n;
    _exit(127);
}

/* Once it ended: the errno of a failed exec, or 0. */
static int exec_error(int fd)
{
    int code = 0;
    return read(fd, &code, sizeof code) == (ssize_t)sizeof code ? code : 0;
}

/* Reap until the program ends or, in the fallback, the supervisor does (SIGTERM). */
static int wait_program(pid_t program, const sigset_t *signals)
{
    for (;;) {
        int status;
        pid_t pid;
        while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
            if (pid == program)
                return status;
        int sig = sigwaitinfo(signals, NULL);
        if (sig == SIGTERM)
            return SIGKILL;
    }
}

_Noreturn static void be_init(const struct cage_opts *o, const struct cage *c, uid_t uid, gid_t gid,
                              int status_fd)
{
    bool namespaced = c->namespaced;
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_SETMASK, &signals, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGINT, SIG_IGN); /* Ctrl-C at the terminal is the supervisor's to handle */
    prctl(PR_SET_PDEATHSIG, namespaced ? SIGKILL : SIGTERM);
    prctl(PR_SET_NAME, "carol-init");
    struct pollfd alive = {.fd = status_fd, .events = POLLOUT};
    if (poll(&alive, 1, 0) == 1 && (alive.revents & POLLERR))
        _exit(0); /* the supervisor died before the death signal was armed */
    if (namespaced)
        map_identity(uid, gid);
    if (namespaced && o->own_proc && mount_proc() < 0)
        _exit(1);
    if (!namespaced)
        prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (o->cpu >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET((size_t)o->cpu, &set);
        sched_setaffinity(0, sizeof set, &set);
    }
    setpgid(0, 0); /* terminal signals do not reach what is inside */
    int report[2] = {-1, -1};
    if (pipe2(report, O_CLOEXEC | O_NONBLOCK) < 0)
        _exit(1);
    pid_t program = fork();
    if (program == 0)
        run_program(o, report[1]);
    if (c->program)
        *c->program = program;
    close(report[1]);
    int keep = fcntl(status_fd, F_DUPFD_CLOEXEC, 3), err_fd = fcntl(report[0], F_DUPFD_CLOEXEC, 3);
    int low = keep < err_fd ? keep : err_fd, high = keep < err_fd ? err_fd : keep;
    close_all(0, low - 1);
    close_all(low + 1, high - 1);
    close_all(high + 1, INT_MAX);
    struct word w = {.wait_status = program < 0 ? 127 << 8 : 0};
    if (program > 0)
        w.wait_status = wait_program(program, &signals);
    w.exec_errno = program < 0 ? EAGAIN : exec_error(err_fd);
    if (!namespaced) {
        tree_kill(getpid(), 0);
        sweep_segments(program);
    }
    ssize_t n = write(keep, &w, sizeof w);
    (void)n;
    _exit(0);
}

static pid_t clone_init(int flags, int *pidfd)
{
    return (pid_t)syscall(SYS_clone, (unsigned long)(flags | CLONE_PIDFD | SIGCHLD), NULL, pidfd,
                          NULL, NULL);
}

static bool namespaces_forbidden(void)
{
    const char *off = getenv("CAROL_NO_NAMESPACES");
    return off && *off;
}

/* Try it in a child. */
static bool probe(bool own_proc)
{
    int pidfd = -1, status = 1;
    uid_t uid = geteuid();
    gid_t gid = getegid();
    if (namespaces_forbidden())
        return false;
    pid_t pid = clone_init(NAMESPACES | (own_proc ? CLONE_NEWNS : 0), &pidfd);
    if (pid == 0) {
        map_identity(uid, gid);
        _exit(getpid() == 1 && (!own_proc || mount_proc() == 0) ? 0 : 1);
    }
    if (pid > 0) {
        waitpid(pid, &status, 0);
        close(pidfd);
    }
    return pid > 0 && status == 0;
}

static int namespaces_known = -1;

bool cage_namespaces_work(void)
{
    if (namespaces_known < 0)
        namespaces_known = probe(false);
    return namespaces_known == 1;
}

static bool own_proc_works(void)
{
    static int known = -1;
    if (known < 0)
        known = probe(true);
    return known == 1;
}

/* --- without namespaces, should an init be killed: its orphans come to us ---------------------------- */
static pid_t *mine; /* children that are no orphans: live inits, and what we had when we began */
static size_t n_mine, cap_mine;

static bool is_mine(pid_t pid)
{
    for (size_t i = 0; i < n_mine; i++)
        if (mine[i] == pid)
            return true;
    return false;
}

static void note_init(pid_t pid)
{
    if (n_mine == cap_mine)
        mine = xrealloc(mine, (cap_mine = 2 * cap_mine + 64) * sizeof *mine);
    mine[n_mine++] = pid;
}

static void forget_init(pid_t pid)
{
    for (size_t i = 0; i < n_mine; i++)
        if (mine[i] == pid) {
            mine[i] = mine[--n_mine];
            return;
        }
}

static void expect_orphans(void)
{
    static bool done;
    pid_t pids[1024];
    if (done)
        return;
    done = true;
    size_t n = tree_children(getpid(), pids, 1024);
    for (size_t i = 0; i < n; i++)
        note_init(pids[i]);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* They arrive one after the other: the program dies with its init, and then its own children come. */
static void kill_orphans(void)
{
    for (int round = 0, empty = 0; round < 500 && empty < 5; round++) {
        pid_t pids[1024];
        size_t n = tree_children(getpid(), pids, 1024);
        bool found = false;
        for (size_t i = 0; i < n; i++) {
            if (is_mine(pids[i]))
                continue;
            found = true;
            tree_kill(pids[i], 1);
            waitpid(pids[i], NULL, 0);
        }
        empty = found ? 0 : empty + 1;
        poll(NULL, 0, 2);
    }
}

static int share_program(struct cage *c, struct err *e)
{
    void *page =
        mmap(NULL, sizeof *c->program, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return err_sys(e, "mmap");
    c->program = page;
    expect_orphans();
    return 0;
}

static void unshare_program(struct cage *c)
{
    if (c->program)
        munmap(c->program, sizeof *c->program);
    c->program = NULL;
}

static int start(struct cage *c, const struct cage_opts *o, bool namespaced, struct err *e)
{
    *c = (struct cage){.init = -1, .pidfd = -1, .status_fd = -1, .namespaced = namespaced};
    int p[2], rc = c->namespaced ? 0 : share_program(c, e);
    if (rc < 0)
        return rc;
    if (pipe2(p, O_CLOEXEC) < 0) {
        rc = err_sys(e, "pipe");
        unshare_program(c);
        return rc;
    }
    uid_t uid = geteuid();
    gid_t gid = getegid();
    sigset_t all, old;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &old);
    int mounts = o->own_proc ? CLONE_NEWNS : 0;
    c->init = clone_init(c->namespaced ? NAMESPACES | mounts : 0, &c->pidfd);
    if (c->init == 0) {
        close(p[0]);
        be_init(o, c, uid, gid, p[1]);
    }
    int saved = errno;
    sigprocmask(SIG_SETMASK, &old, NULL);
    close(p[1]);
    if (c->init < 0) {
        close(p[0]);
        unshare_program(c);
        errno = saved;
        return err_sys(e, "cannot start %s", o->argv[0]);
    }
    c->status_fd = p[0];
    note_init(c->init);
    return 0;
}

int cage_start(struct cage *c, const struct cage_opts *o, struct err *e)
{
    BUG_ON(o->nfds > CAGE_MAX_FDS);
    /* The very first cage serves as the trial. */
    bool trial =
        namespaces_known < 0 && !o->no_namespace && !o->own_proc && !namespaces_forbidden();
    if (trial && start(c, o, true, e) == 0) {
        namespaces_known = 1;
        return 0;
    }
    bool work = !o->no_namespace && (o->own_proc ? own_proc_works() : cage_namespaces_work());
    return start(c, o, work, e);
}

pid_t cage_program(const struct cage *c)
{
    pid_t pid = 0;
    return c->init > 0 && tree_children(c->init, &pid, 1) == 1 ? pid : 0;
}

int cage_signal(const struct cage *c, int signo)
{
    pid_t pid = cage_program(c);
    return pid > 0 && kill(pid, signo) == 0 ? 0 : -ESRCH;
}

void cage_kill(const struct cage *c)
{
    if (c->init > 0)
        kill(c->init, c->namespaced ? SIGKILL : SIGTERM);
}

void cage_reap(struct cage *c, struct cage_end *end)
{
    struct word w = {.wait_status = SIGKILL};
    ssize_t n = read(c->status_fd, &w, sizeof w);
    bool killed = n != (ssize_t)sizeof w; /* the init itself */
    *end = (struct cage_end){.exec_errno = w.exec_errno,
                             .exited = WIFEXITED(w.wait_status),
                             .code = WIFEXITED(w.wait_status) ? WEXITSTATUS(w.wait_status) : 0,
                             .signal = WIFSIGNALED(w.wait_status) ? WTERMSIG(w.wait_status) : 0};
    if (c->init > 0)
        waitpid(c->init, NULL, 0);
    forget_init(c->init);
    if (c->program && killed) {
        kill_orphans();
        sweep_segments(*c->program);
    }
    unshare_program(c);
    close(c->status_fd);
    close(c->pidfd);
    *c = (struct cage){.init = -1, .pidfd = -1, .status_fd = -1};
}
