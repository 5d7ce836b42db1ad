/* seeds: round 0: the user's inputs are stored, measured, and the good ones shared. */
#include "campaign/state.h"

#include "base/die.h"
#include "base/log.h"
#include "campaign/corpus.h"

#include <stdlib.h>
#include <string.h>

struct round0 {
    struct campaign *c;
    struct eval_job job;
    struct eval_input *inputs;
    int64_t *ids;
    char **names;
    size_t cap;
};

static int put_seed(void *arg, const char *name, const void *data, size_t size, struct err *e)
{
    struct campaign *c = arg;
    struct store_seed seed = {.data = data, .size = size, .name = name};
    int64_t id;
    bool fresh;
    hash_bytes(data, size, &seed.hash);
    return store_add_seed(c->store, &seed, &id, &fresh, e);
}

static int load_one(void *arg, const struct store_seed *seed, struct err *e)
{
    (void)e;
    struct round0 *r = arg;
    if (r->job.n == r->cap) {
        r->cap = r->cap ? r->cap * 2 : 64;
        r->inputs = xrealloc(r->inputs, r->cap * sizeof *r->inputs);
        r->ids = xrealloc(r->ids, r->cap * sizeof *r->ids);
        r->names = xrealloc(r->names, r->cap * sizeof *r->names);
    }
    size_t i = r->job.n++;
    r->inputs[i] = (struct eval_input){.data = xmemdup(seed->data, seed->size), .size = seed->size};
    r->ids[i] = seed->id;
    r->names[i] = xstrdup(seed->name ? seed->name : "");
    return 0;
}

void seeds_free(struct campaign *c)
{
    struct round0 *r = c->round0;
    if (!r)
        return;
    c->round0 = NULL;
    eval_results_free(&r->job);
    for (size_t i = 0; i < r->job.n; i++) {
        free((void *)(uintptr_t)r->inputs[i].data);
        free(r->names[i]);
    }
    free(r->inputs);
    free(r->ids);
    free(r->names);
    free(r);
}

/* Crashing and hanging seeds are kept as findings and given to nobody. */
static int set_aside(struct round0 *r, size_t i, struct err *e)
{
    const struct eval_result *res = &r->job.results[i];
    struct store_crash k = {.hang = res->status == RUN_TIMEOUT,
                            .data = r->inputs[i].data,
                            .size = r->inputs[i].size,
                            .arm = -1,
                            .signal = res->signal,
                            .name = r->names[i],
                            .by_eval = true};
    bool fresh = false;
    hash_bytes(k.data, k.size, &k.hash);
    log_warn("seed %s is set aside: %s%s%s", r->names[i], run_status_name(res->status),
             res->status == RUN_CRASH ? " with " : "",
             res->status == RUN_CRASH ? strsignal(res->signal) : "");
    if (res->status != RUN_CRASH && res->status != RUN_TIMEOUT)
        return 0;
    int rc = store_add_crash(r->c->store, &k, &fresh, e);
    *(k.hang ? &r->c->f.tally.hangs : &r->c->f.tally.crashes) += fresh;
    if (fresh)
        finding_write(r->c, &k);
    return rc;
}

static void fold_results(struct round0 *r)
{
    struct edges *sets = xcalloc(r->job.n, sizeof *sets);
    for (size_t i = 0; i < r->job.n; i++)
        sets[i] = r->job.results[i].edges;
    fold_seeds(&r->c->f, sets, r->job.n);
    r->c->f.tally.seeds = r->job.n;
    free(sets);
}

static int commit_seeds(struct round0 *r, size_t *good, struct err *e)
{
    struct campaign *c = r->c;
    int rc = store_begin(c->store, e);
    for (size_t i = 0; rc == 0 && i < r->job.n; i++) {
        const struct eval_result *res = &r->job.results[i];
        struct buf b = BUF_INIT(BUF_TEXT_MAX);
        bool ok = res->status == RUN_OK || res->status == RUN_EXIT;
        edges_encode(&res->edges, &b);
        rc = store_seed_done(c->store, r->ids[i], (int)res->status, res->signal, res->cpu_us, b.p,
                             b.len, 0, ok, e);
        buf_free(&b);
        *good += ok;
        if (rc == 0 && !ok)
            rc = set_aside(r, i, e);
    }
    for (size_t i = 0; rc == 0 && i < r->job.n_calls; i++)
        if (ledger_learn_call(&c->f.ledger, r->job.calls[i].caller, r->job.calls[i].callee))
            rc = store_call(c->store, 0, r->job.calls[i].caller, r->job.calls[i].callee, e);
    fold_results(r);
    char covered[32];
    snprintf(covered, sizeof covered, "%u", c->f.tally.seed_edges);
    if (rc == 0)
        rc = store_set(c->store, "seed_edges", covered, e);
    if (rc == 0)
        rc = store_set(c->store, "seeds_done", *good ? "1" : "none", e);
    if (rc == 0)
        rc = store_commit(c->store, e);
    if (rc < 0)
        store_rollback(c->store);
    return rc;
}

static int no_good_seed(const struct campaign *c, struct err *e)
{
    return err_usage(e,
                     "every seed crashes or hangs the target; the inputs are kept in %s. Fix that "
                     "first, or start again with -o and another directory, and with at least one "
                     "seed that runs",
                     c->o.out);
}

static void on_measured(void *arg, struct eval_job *job)
{
    struct round0 *r = arg;
    struct campaign *c = r->c;
    struct err e = job->error;
    size_t good = 0;
    if (job->failed || commit_seeds(r, &good, &e) < 0) {
        campaign_fail(c, &e);
    } else if (!good) {
        no_good_seed(c, &e);
        campaign_fail(c, &e);
    } else {
        log_info("%zu %s %u of %u edges", good, good == 1 ? "seed covers" : "seeds cover",
                 c->f.ledger.covered, c->env.table->n_edges);
    }
    seeds_free(c);
    if (!c->failed)
        recover_next(c);
}

static int read_user_seeds(struct campaign *c, struct err *e)
{
    struct corpus_sink sink = {.input = put_seed, .arg = c};
    int rc = store_begin(c->store, e);
    for (size_t i = 0; rc == 0 && i < c->o.seeds.n; i++)
        rc = corpus_read(c->o.seeds.v[i], &sink, e);
    struct store_totals t = {0};
    if (rc == 0)
        rc = store_totals(c->store, &t, e);
    if (rc == 0 && t.seeds == 0) {
        log_warn("there is no seed%s%s: starting from one trivial input. A few small real files, "
                 "given with -i, find more and sooner",
                 c->o.seeds.n ? " in " : "", c->o.seeds.n ? c->o.seeds.v[0] : "");
        rc = put_seed(c, "trivial", "0\n", 2, e);
    }
    if (rc == 0)
        rc = store_commit(c->store, e);
    if (rc < 0)
        store_rollback(c->store);
    if (sink.too_large)
        log_warn("%zu seeds are larger than 1 MB and were left out", sink.too_large);
    return rc;
}

int seeds_begin(struct campaign *c, struct err *e)
{
    char *done = store_get(c->store, "seeds_done");
    if (done) {
        int bad = strcmp(done, "none") == 0 ? no_good_seed(c, e) : 0;
        free(done);
        if (bad == 0)
            recover_next(c);
        return bad;
    }
    struct store_totals t = {0};
    int rc = store_totals(c->store, &t, e);
    if (rc == 0 && t.seeds == 0)
        rc = read_user_seeds(c, e);
    struct round0 *r = c->round0 = xcalloc(1, sizeof *r);
    r->c = c;
    if (rc == 0)
        rc = store_turn_seeds(c->store, 0, load_one, r, e);
    if (rc < 0)
        return rc;
    r->job.inputs = r->inputs;
    r->job.done = on_measured;
    r->job.arg = r;
    r->job.cpu = c->slots[0].cpu;
    return c->slots[0].ev->ops->submit(c->slots[0].ev, &r->job, e);
}
