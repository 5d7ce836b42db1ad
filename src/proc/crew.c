/* crew: deals numbers to processes and collects what they write.  Does no job itself. */
#include "proc/crew.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* In memory that all processes share. */
struct board {
    uint64_t next; /* job to take */
    uint32_t failed;
    struct err error; /* of the first that failed */
    _Alignas(16) char results[];
};

static void work(const struct crew *c, struct board *b)
{
    for (;;) {
        struct err e = {0};
        size_t k = __atomic_fetch_add(&b->next, 1, __ATOMIC_RELAXED);
        if (k >= c->jobs || __atomic_load_n(&b->failed, __ATOMIC_RELAXED))
            return;
        if (c->job(c->arg, k, b->results, &e) < 0 &&
            !__atomic_exchange_n(&b->failed, 1, __ATOMIC_SEQ_CST))
            b->error = e;
    }
}

static int fork_workers(const struct crew *c, struct board *b, struct err *e)
{
    pid_t pids[1024];
    int started = 0, rc = 0;
    for (; started < c->processes && started < (int)(sizeof pids / sizeof *pids); started++) {
        pids[started] = fork();
        if (pids[started] == 0) {
            work(c, b);
            _exit(0);
        }
        if (pids[started] < 0) {
            rc = err_sys(e, "cannot start another process; give a smaller -p");
            break;
        }
    }
    for (int i = 0; i < started; i++) {
        int status;
        if (waitpid(pids[i], &status, 0) > 0 && !(WIFEXITED(status) && WEXITSTATUS(status) == 0) &&
            rc == 0)
            rc = err_set(e, -EIO, "a process that shared the work died with status %d", status);
    }
    return rc;
}

int crew_run(const struct crew *c, void *results, struct err *e)
{
    size_t size = sizeof(struct board) + c->size;
    struct board *b = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int rc = 0;
    if (b == MAP_FAILED)
        return err_sys(e, "no memory for %zu results", c->jobs);
    if (c->processes > 1 && c->jobs > 1)
        rc = fork_workers(c, b, e);
    else
        work(c, b);
    if (rc == 0 && b->failed) {
        if (e)
            *e = b->error;
        rc = b->error.code;
    }
    memcpy(results, b->results, c->size);
    munmap(b, size);
    return rc;
}
