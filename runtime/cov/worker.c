/* worker: a forked copy of the initialised target that runs inputs one after the other and writes
 * what each covered.  Decides when it has become too dirty to go on; the server does the rest. */
#include "cov.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

struct cov_slot *carol_cov_slot(const struct cov_shm *s, uint32_t i)
{
    return (struct cov_slot *)(void *)(s->base + s->h.slots + (uint64_t)i * s->h.slot_bytes);
}

void carol_cov_worker_setup(const struct cov_shm *s, const struct cov_req *q)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setsid(); /* a signal to its process group reaches nobody else */
    carol_cov_flags_join(COV_FD_SHM);
    carol_cov_seen = (uint64_t *)(void *)(s->base + s->h.seen);
    close(COV_FD_SHM);
    close(COV_FD_SOCK);
    if (q->mem_bytes) {
        rlim_t as = (rlim_t)(q->mem_bytes + s->h.total);
        setrlimit(RLIMIT_AS, &(struct rlimit){as, as});
    }
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    carol_cov_flags_guard();
}

/* Does something it started still run?  As a subreaper it also sees orphans of orphans. */
static bool has_children(void)
{
    siginfo_t si;
    return waitid(P_ALL, 0, &si, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 || errno != ECHILD;
}

static uint64_t cpu_us(const struct rusage *r)
{
    return (uint64_t)(r->ru_utime.tv_sec + r->ru_stime.tv_sec) * 1000000 +
           (uint64_t)(r->ru_utime.tv_usec + r->ru_stime.tv_usec);
}

static void run_one(const struct cov_shm *s, uint32_t i, carol_cov_run_fn *run, pid_t self)
{
    const struct cov_input *in = (const struct cov_input *)(void *)(s->base + s->h.index) + i;
    uint64_t off = in->off, size = in->size;
    if (off > s->h.data_len || size > s->h.data_len - off)
        off = size = 0;
    /* A copy of exactly this size: the target may read past its end, or write to it. */
    uint8_t *copy = malloc(size ? size : 1);
    if (copy && size)
        memcpy(copy, s->data + off, size);
    carol_cov_flags_clear();
    run(copy ? copy : s->data + off, size);
    if (getpid() != self)
        _exit(0); /* a child that the target forked came back here */
    struct cov_slot *slot = carol_cov_slot(s, i);
    carol_cov_flags_read((uint64_t *)(void *)(slot + 1));
    free(copy);
}

void carol_cov_worker(const struct cov_shm *s, const struct cov_req *q, uint32_t first,
                      uint32_t end, bool backwards, carol_cov_run_fn *run)
{
    pid_t self = getpid();
    struct rusage r;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    carol_cov_flags_touch();
    carol_cov_touch(carol_cov_slot(s, first), (uint64_t)(end - first) * s->h.slot_bytes);
    getrusage(RUSAGE_SELF, &r);
    uint64_t before = cpu_us(&r);
    uint64_t most_kb = (uint64_t)r.ru_maxrss + (q->mem_bytes ? q->mem_bytes / 8192 : 512 << 10);
    for (uint32_t k = 0; k < end - first; k++) {
        uint32_t i = backwards ? end - 1 - k : first + k;
        struct cov_slot *slot = carol_cov_slot(s, i);
        if (slot->status != COV_RUN_NONE)
            continue;
        __atomic_store_n(&s->live->cur, i, __ATOMIC_RELEASE);
        run_one(s, i, run, self);
        getrusage(RUSAGE_SELF, &r);
        uint64_t now = cpu_us(&r);
        uint32_t took = (uint32_t)(now - before);
        /* Of two runs the quicker one: the first input of a fresh worker pays for its page faults. */
        if (!slot->cpu_us || took < slot->cpu_us)
            slot->cpu_us = took;
        slot->signal = 0;
        before = now;
        __atomic_store_n(&slot->status, COV_RUN_OK, __ATOMIC_RELEASE);
        if ((uint64_t)r.ru_maxrss > most_kb || has_children() || carol_cov_threads_since())
            break; /* leaking, or something of it still runs: the next input gets a fresh one */
    }
    _exit(0);
}
