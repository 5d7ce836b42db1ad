/* batch: which campaigns there are and where each goes.  Simulates nothing itself. */
#include "sim/batch.h"

#include "base/die.h"
#include "base/rng.h"
#include "journal/fold.h"
#include "proc/crew.h"

#include <stdlib.h>
#include <string.h>

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
static int run_job(void *arg, size_t k, void *shared, struct err *e)
{
    const struct batch_settings *st = arg;
    struct run_result *results = shared;
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

int batch_run(const struct batch_settings *st, struct run_result *results, struct err *e)
{
    size_t n = st->schedulers->n * (size_t)st->campaigns;
    struct batch_settings mine = *st;
    return crew_run(&(struct crew){.jobs = n,
                                   .processes = st->processes,
                                   .size = n * sizeof *results,
                                   .job = run_job,
                                   .arg = &mine},
                    results, e);
}
