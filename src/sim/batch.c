/* batch: deals campaigns to processes and collects their results.  Simulates nothing itself. */
#include "sim/batch.h"

#include "base/die.h"
#include "base/rng.h"
#include "journal/fold.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* In memory that all processes share. */
struct board {
    uint64_t next; /* job to take */
    uint32_t failed;
    struct err error; /* of the first that failed */
    struct run_result results[];
};

void batch_spec(const char *spec, const char *more, char **name, char **params)
{
    const char *slash = strchr(spec, '/');
    *name = slash ? str_fmt("%.*s", (int)(slash - spec), spec) : xstrdup(spec);
    bool both = slash && more;
    char *own = slash || more
                    ? str_fmt("%s%s%s", slash ? slash + 1 : "", both ? "," : "", more ? more : "")
                    : NULL;
    for (char *p = own; p && *p; p++)
        if (*p == '/')
            *p = ',';
    *params = own;
}

int batch_check(const struct batch_settings *st, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < st->schedulers->n; i++) {
        char *name, *params;
        struct sched *s = NULL;
        batch_spec(st->schedulers->v[i], st->params, &name, &params);
        rc = fold_sched(&(struct fold_settings){.fuzzers = st->run.fuzzers,
                                                .scheduler = name,
                                                .params = params,
                                                .workers = st->run.workers,
                                                .turn_ns = st->run.turn_ns},
                        &s, e);
        sched_free(s);
        free(name);
        free(params);
    }
    return rc;
}

static uint64_t derive(uint64_t seed, const char *purpose, uint64_t i)
{
    struct rng r;
    rng_stream(&r, seed, purpose);
    return (rng_u64(&r) + i) * UINT64_C(0x9e3779b97f4a7c15);
}

static char *directory_of(const struct batch_settings *st, const char *spec, int campaign)
{
    if (!st->out || st->schedulers->n * (size_t)st->campaigns == 1)
        return st->out ? xstrdup(st->out) : NULL;
    char *dir = str_fmt("%s/%s-%d", st->out, spec, campaign + 1);
    for (char *p = dir + strlen(st->out) + 1; *p; p++)
        if (*p == '/' || *p == ':')
            *p = '+';
    return dir;
}

/* Job k: neighbouring jobs are the same campaign under another scheduler. */
static int run_job(const struct batch_settings *st, size_t k, struct run_result *results,
                   struct err *e)
{
    size_t s = k % st->schedulers->n, i = k / st->schedulers->n;
    struct run_settings run = st->run;
    char *name, *params, *dir = directory_of(st, st->schedulers->v[s], (int)i);
    batch_spec(st->schedulers->v[s], st->params, &name, &params);
    run.scheduler = name;
    run.params = params;
    run.out = dir;
    run.world_seed = derive(st->seed, "worlds", i);
    run.seed = derive(st->seed, "campaigns", i);
    int rc = run_campaign(&run, &results[s * (size_t)st->campaigns + i], e);
    free(name);
    free(params);
    free(dir);
    return rc;
}

static void work(const struct batch_settings *st, struct board *b)
{
    size_t n = st->schedulers->n * (size_t)st->campaigns;
    for (;;) {
        struct err e = {0};
        size_t k = __atomic_fetch_add(&b->next, 1, __ATOMIC_RELAXED);
        if (k >= n || __atomic_load_n(&b->failed, __ATOMIC_RELAXED))
            return;
        if (run_job(st, k, b->results, &e) < 0 &&
            !__atomic_exchange_n(&b->failed, 1, __ATOMIC_SEQ_CST))
            b->error = e;
    }
}

static int fork_workers(const struct batch_settings *st, struct board *b, struct err *e)
{
    int started = 0, rc = 0;
    for (; started < st->processes && rc == 0; started++) {
        pid_t pid = fork();
        if (pid == 0) {
            work(st, b);
            _exit(0);
        }
        if (pid < 0) {
            rc = err_sys(e, "cannot start another process; give a smaller -p");
            break;
        }
    }
    for (; started > 0; started--) {
        int status;
        if (wait(&status) > 0 && !(WIFEXITED(status) && WEXITSTATUS(status) == 0) && rc == 0)
            rc = err_set(e, -EIO, "a process of the simulation died with status %d", status);
    }
    return rc;
}

int batch_run(const struct batch_settings *st, struct run_result *results, struct err *e)
{
    size_t n = st->schedulers->n * (size_t)st->campaigns;
    size_t size = sizeof(struct board) + n * sizeof(struct run_result);
    struct board *b = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int rc = 0;
    if (b == MAP_FAILED)
        return err_sys(e, "no memory for %zu results", n);
    if (st->processes > 1)
        rc = fork_workers(st, b, e);
    else
        work(st, b);
    if (rc == 0 && b->failed) {
        *e = b->error;
        rc = e->code;
    }
    memcpy(results, b->results, n * sizeof *results);
    munmap(b, size);
    return rc;
}
