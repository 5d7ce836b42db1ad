/* server: takes requests, forks workers, judges how they ended, and runs again what was new.
 * It is the initialised target itself, and never runs an input in its own process. */
#include "cov.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TICK_MS 10
#define FORK_TRIES 100
#define FORK_PAUSE_US 50000

struct order {
    uint32_t fresh, i;
};

struct pick {
    uint64_t shown; /* print of the edges that were new */
    uint32_t i;
};

static struct cov_shm shm;
static struct cov_req req;
static struct cov_done done;
static carol_cov_run_fn *run_input; /* NULL: a main() program */
static struct sigaction old_chld;
static uint64_t *known, *before; /* edges; before: known when the second tier began */
static struct order *order;
static struct pick *picked;
static bool by_stdin, threads;

bool carol_cov_wanted(void)
{
    struct stat st;
    const char *v = getenv(COV_ENV);
    return v && *v && fstat(COV_FD_SHM, &st) == 0 && fstat(COV_FD_SOCK, &st) == 0 &&
           S_ISSOCK(st.st_mode);
}

static void *map_private(uint64_t n)
{
    void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static uint64_t words(void)
{
    return ((uint64_t)carol_cov_n_edges + 63) / 64;
}

/* Map the memory and check that the executor means this very program. */
static const char *attach(void)
{
    if (carol_cov_error)
        return carol_cov_error;
    if (pread(COV_FD_SHM, &shm.h, sizeof shm.h, 0) != (ssize_t)sizeof shm.h ||
        memcmp(shm.h.magic, COV_MAGIC, sizeof shm.h.magic) != 0)
        return "not the executor's memory";
    if (shm.h.n_edges != carol_cov_n_edges || shm.h.n_modules != carol_cov_n_modules)
        return "the table is of another build";
    shm.base = mmap(NULL, shm.h.data, PROT_READ | PROT_WRITE, MAP_SHARED, COV_FD_SHM, 0);
    shm.data = mmap(NULL, shm.h.data_len, PROT_READ, MAP_SHARED, COV_FD_SHM, (off_t)shm.h.data);
    known = map_private(words() * 8 + 8);
    before = map_private(words() * 8 + 8);
    order = map_private(sizeof *order * shm.h.max_inputs + 8);
    picked = map_private(sizeof *picked * shm.h.max_inputs + 8);
    if (shm.base == MAP_FAILED || shm.data == MAP_FAILED || !known || !before || !order || !picked)
        return "no memory";
    shm.live = (struct cov_hdr *)(void *)shm.base;
    if (!carol_cov_flags_place(shm.base + shm.h.flags, shm.h.flags_len, COV_FD_SHM, shm.h.flags,
                               threads))
        return "the flags do not fit";
    carol_cov_ring = (struct cov_call *)(void *)(shm.base + shm.h.ring);
    carol_cov_ring_cap = shm.h.ring_cap;
    carol_cov_ring_n = &shm.live->ring_n;
    carol_cov_seen_mask = shm.h.seen_cap - 1;
    /* The addresses in it were another run's.  Only workers note calls. */
    memset(shm.base + shm.h.seen, 0, (size_t)shm.h.seen_cap * 8);
    return NULL;
}

/* main() programs get their input in a memfd, as @@ and as standard input. */
static const char *open_input(void)
{
    int fd = memfd_create("carol-input", 0);
    if (fd < 0 || dup2(fd, COV_FD_INPUT) < 0 || (by_stdin && dup2(fd, 0) < 0))
        return "no memory for the input";
    if (fd != COV_FD_INPUT)
        close(fd);
    return NULL;
}

static void put_input(uint32_t i)
{
    const struct cov_input *in = (const struct cov_input *)(void *)(shm.base + shm.h.index) + i;
    uint64_t off = in->off, size = in->size;
    if (off > shm.h.data_len || size > shm.h.data_len - off)
        off = size = 0;
    if (ftruncate(COV_FD_INPUT, 0) < 0)
        _exit(4);
    for (uint64_t at = 0; at < size;) {
        ssize_t n = pwrite(COV_FD_INPUT, shm.data + off + at, size - at, (off_t)at);
        if (n <= 0)
            _exit(4);
        at += (uint64_t)n;
    }
    lseek(COV_FD_INPUT, 0, SEEK_SET);
}

static int64_t clock_ms(clockid_t id)
{
    struct timespec ts;
    if (clock_gettime(id, &ts) < 0)
        return 0;
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Wait for the worker; kill it when one input takes too long.  True: killed. */
static bool watch(pid_t pid, uint32_t first)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    clockid_t cpu;
    uint32_t at = first;
    int64_t cpu0 = 0, wall0 = clock_ms(CLOCK_MONOTONIC);
    bool have_cpu = clock_getcpuclockid(pid, &cpu) == 0, killed = false;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    while (fd >= 0 && poll(&p, 1, TICK_MS) <= 0) {
        shm.live->beat++;
        uint32_t cur = __atomic_load_n(&shm.live->cur, __ATOMIC_ACQUIRE);
        int64_t cpu1 = have_cpu ? clock_ms(cpu) : 0, wall1 = clock_ms(CLOCK_MONOTONIC);
        if (cur != at) {
            at = cur;
            cpu0 = cpu1;
            wall0 = wall1;
        } else if (!killed && (cpu1 - cpu0 >= req.cpu_ms || wall1 - wall0 >= req.wall_ms)) {
            killed = true;
            kill(pid, SIGSTOP);
            carol_cov_flags_rescue(pid);
            kill(pid, SIGKILL);
        }
    }
    if (fd >= 0)
        close(fd);
    return killed;
}

static void record_end(uint32_t i, bool killed, int status, const struct rusage *r)
{
    struct cov_slot *s = carol_cov_slot(&shm, i);
    uint32_t what = COV_RUN_CRASH;
    int32_t sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (killed) {
        what = COV_RUN_TIMEOUT;
        sig = 0;
    } else if (WIFEXITED(status)) {
        sig = WEXITSTATUS(status);
        what = !run_input && sig == 0 ? COV_RUN_OK : COV_RUN_EXIT;
    }
    /* Killed or crashed with nearly all its memory in use: a refused allocation was the cause. */
    if (what != COV_RUN_OK && req.mem_bytes &&
        (uint64_t)r->ru_maxrss * 1024 >= req.mem_bytes / 5 * 4)
        what = COV_RUN_OOM;
    carol_cov_flags_harvest((uint64_t *)(void *)(s + 1));
    s->signal = sig;
    s->cpu_us = (uint32_t)((r->ru_utime.tv_sec + r->ru_stime.tv_sec) * 1000000 +
                           r->ru_utime.tv_usec + r->ru_stime.tv_usec);
    __atomic_store_n(&s->status, what, __ATOMIC_RELEASE);
}

/* The machine may be short of processes for a while; no input is to blame for that. */
static pid_t fork_patiently(void)
{
    pid_t pid = -1;
    for (int tries = 0; tries < FORK_TRIES && (pid = fork()) < 0; tries++) {
        shm.live->beat++;
        usleep(FORK_PAUSE_US);
    }
    if (pid < 0) {
        __atomic_store_n(&shm.live->cur, COV_NONE, __ATOMIC_RELEASE);
        _exit(5);
    }
    return pid;
}

static uint32_t count_waiting(uint32_t first, uint32_t end)
{
    uint32_t n = 0;
    for (uint32_t i = first; i < end; i++)
        n += carol_cov_slot(&shm, i)->status == COV_RUN_NONE;
    return n;
}

/* One worker for the inputs [first, end) without a result, from the first or, backwards, from the last,
 * which has none.  True in the child of a main() program, which goes on to main. */
static bool run_worker(uint32_t first, uint32_t end, bool backwards)
{
    uint32_t from = backwards ? end - 1 : first, waiting = count_waiting(first, end);
    __atomic_store_n(&shm.live->cur, from, __ATOMIC_RELEASE);
    done.workers++;
    shm.live->beat++;
    carol_cov_flags_clear();
    if (!run_input)
        put_input(from);
    pid_t pid = fork_patiently();
    if (pid == 0) {
        sigaction(SIGCHLD, &old_chld, NULL);
        carol_cov_worker_setup(&shm, &req);
        if (!run_input)
            return true;
        carol_cov_worker(&shm, &req, first, end, backwards, run_input);
    }
    bool killed = watch(pid, from);
    struct rusage r;
    int status = 0;
    while (wait4(pid, &status, __WALL, &r) < 0 && errno == EINTR)
        ;
    if (!carol_cov_sweep())
        _exit(6); /* the cage around us can */
    uint32_t cur = shm.live->cur;
    if (cur < first || cur >= end || carol_cov_slot(&shm, from)->status == COV_RUN_NONE)
        cur = from;
    if (carol_cov_slot(&shm, cur)->status == COV_RUN_NONE)
        record_end(cur, killed, status, &r);
    done.runs += waiting - count_waiting(first, end);
    return false;
}

/* First tier: everything without a result, many inputs per worker. */
static bool run_batch(uint32_t first, uint32_t end)
{
    uint32_t k = run_input && req.per_worker ? req.per_worker : 1;
    for (uint32_t i = first; i < end;) {
        if (carol_cov_slot(&shm, i)->status != COV_RUN_NONE)
            i++;
        else if (run_worker(i, end - i > k ? i + k : end, false))
            return true;
    }
    return false;
}

/* How many edges of the slot are not known yet. */
static uint32_t count_new(const struct cov_slot *s)
{
    const uint64_t *bits = (const uint64_t *)(const void *)(s + 1);
    uint32_t n = 0;
    for (uint64_t w = 0; w < words(); w++)
        if (bits[w] & ~known[w])
            n += (uint32_t)__builtin_popcountll(bits[w] & ~known[w]);
    return n;
}

static bool ended_well(const struct cov_slot *s)
{
    return s->status == COV_RUN_OK || s->status == COV_RUN_EXIT;
}

static void learn(const struct cov_slot *s)
{
    const uint64_t *bits = (const uint64_t *)(const void *)(s + 1);
    for (uint64_t w = 0; w < words(); w++)
        known[w] |= bits[w];
}

static void run_alone(uint32_t i)
{
    struct cov_slot *s = carol_cov_slot(&shm, i);
    s->status = COV_RUN_NONE;
    run_worker(i, i + 1, false);
    s->final = 1;
    learn(s);
}

/* Restore the heap (most new edges on top) below `at`. */
static void sift_down(uint32_t n, uint32_t at)
{
    for (uint32_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && order[child + 1].fresh > order[child].fresh)
            child++;
        if (order[at].fresh >= order[child].fresh)
            return;
        struct order t = order[at];
        order[at] = order[child];
        order[child] = t;
    }
}

/* Makes a heap of the slots in [first, end) that ended well and are not final, most new edges on top. */
static uint32_t make_heap(uint32_t first, uint32_t end)
{
    uint32_t n = 0;
    for (uint32_t i = first; i < end; i++)
        if (!carol_cov_slot(&shm, i)->final)
            order[n++] = (struct order){count_new(carol_cov_slot(&shm, i)), i};
    for (uint32_t i = n / 2; i-- > 0;)
        sift_down(n, i);
    return n;
}

/* Takes the slot with the most new edges off the heap.  A count can only have fallen since it was taken, so
 * only the top is counted again. */
static struct order pop_heap(uint32_t *n)
{
    while (order[0].fresh) {
        uint32_t fresh = count_new(carol_cov_slot(&shm, order[0].i));
        if (fresh == order[0].fresh)
            break;
        order[0].fresh = fresh;
        sift_down(*n, 0);
    }
    struct order top = order[0];
    order[0] = order[--*n];
    sift_down(*n, 0);
    return top;
}

/* A print of the edges of the slot that were not known before. */
static uint64_t print_new(const struct cov_slot *s)
{
    const uint64_t *bits = (const uint64_t *)(const void *)(s + 1);
    uint64_t h = COV_FNV_START;
    for (uint64_t w = 0; w < words(); w++)
        if (bits[w] & ~before[w]) {
            uint64_t v[2] = {w, bits[w] & ~before[w]};
            h = cov_fnv(h, v, sizeof v);
        }
    return h;
}

/* Picks slots that together hold every new edge, if all is as the first tier saw it. */
static uint32_t pick_news(uint32_t first, uint32_t end)
{
    uint32_t n = make_heap(first, end), m = 0;
    memcpy(before, known, words() * 8);
    while (n) {
        struct order top = pop_heap(&n);
        struct cov_slot *s = carol_cov_slot(&shm, top.i);
        if (!top.fresh)
            break;
        picked[m++] = (struct pick){print_new(s), top.i};
        learn(s);
    }
    memcpy(known, before, words() * 8);
    return m;
}

/* Runs the picked ones again in a fresh worker, in reverse order and with only each other before them.  An
 * input that shows the same new edges after other inputs does not owe them to what ran before it. */
static void run_again(uint32_t first, uint32_t end, uint32_t m)
{
    for (uint32_t k = 0; k < m; k++)
        carol_cov_slot(&shm, picked[k].i)->status = COV_RUN_NONE;
    for (uint32_t i = end; i > first;)
        if (carol_cov_slot(&shm, i - 1)->status != COV_RUN_NONE)
            i--;
        else
            run_worker(first, i, true);
    for (uint32_t k = 0; k < m; k++) {
        struct cov_slot *s = carol_cov_slot(&shm, picked[k].i);
        if (!ended_well(s) || print_new(s) != picked[k].shown)
            continue;
        s->final = 1;
        learn(s);
    }
}

/* Second tier (METHOD R25): what crashed or hung runs again in a worker of its own, and that run counts.  So
 * does an input with new edges, unless it showed the same ones when it ran after other inputs. */
static void confirm(uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        struct cov_slot *s = carol_cov_slot(&shm, i);
        if (!run_input)
            s->final = 1; /* it was alone already */
        else if (!s->final && !ended_well(s))
            run_alone(i);
    }
    uint32_t m = pick_news(first, end);
    if (m > 1)
        run_again(first, end, m);
    for (uint32_t i = first; i < end; i++)
        if (!carol_cov_slot(&shm, i)->final && !ended_well(carol_cov_slot(&shm, i)))
            run_alone(i);
    for (uint32_t n = make_heap(first, end); n;) {
        struct order top = pop_heap(&n);
        if (top.fresh)
            run_alone(top.i);
        else
            carol_cov_slot(&shm, top.i)->final = 1;
    }
}

static void begin(void)
{
    struct cov_hello hello = {.n_edges = carol_cov_n_edges, .n_modules = carol_cov_n_modules};
    const char *kind = getenv(COV_ENV);
    by_stdin = kind && strcmp(kind, "stdin") == 0;
    threads = carol_cov_threads();
    const char *error = attach();
    if (!error && !run_input)
        error = open_input();
    if (!error && !threads) /* code that may be running is not rewritten */
        carol_cov_sites_set();
    memcpy(hello.magic, COV_MAGIC, sizeof hello.magic);
    hello.layout = error ? 0 : carol_cov_layout();
    hello.threads = threads;
    for (uint32_t i = 0; i < carol_cov_n_modules; i++)
        hello.remapped += carol_cov_modules[i].shared;
    if (error)
        memcpy(hello.error, error, strnlen(error, sizeof hello.error - 1));
    unsetenv(COV_ENV); /* what the target executes is not ours */
    fcntl(COV_FD_SHM, F_SETFD, FD_CLOEXEC);
    fcntl(COV_FD_SOCK, F_SETFD, FD_CLOEXEC);
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, &old_chld);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (send(COV_FD_SOCK, &hello, sizeof hello, MSG_NOSIGNAL) < 0 || error)
        _exit(2);
}

void carol_cov_serve(carol_cov_run_fn *run)
{
    run_input = run;
    begin();
    for (;;) {
        ssize_t n = recv(COV_FD_SOCK, &req, sizeof req, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n != (ssize_t)sizeof req || req.first > shm.h.max_inputs ||
            req.count > shm.h.max_inputs - req.first)
            _exit(0);
        done = (struct cov_done){0};
        memcpy(known, shm.base + shm.h.known, words() * 8);
        if (run_batch(req.first, req.first + req.count))
            return; /* the child of a main() program */
        if (req.confirm)
            confirm(req.first, req.first + req.count);
        __atomic_store_n(&shm.live->cur, COV_NONE, __ATOMIC_RELEASE);
        done.ring_n = carol_cov_calls_resolve(&shm);
        done.late = carol_cov_late;
        if (send(COV_FD_SOCK, &done, sizeof done, MSG_NOSIGNAL) < 0)
            _exit(0);
    }
}
