/* seeds: the user's inputs are measured and the good ones shared: those the campaign begins with, in round 0, and
 * those imported while it rested (corpus/import.h), each import in a round of its own. */
#include "campaign/state.h"

#include "base/die.h"
#include "base/log.h"
#include "campaign/corpus.h"
#include "journal/write.h"

#include <stdlib.h>
#include <string.h>

/* --- reading them ------------------------------------------------------------------------------- */

/* The user's inputs with their names, on their way into the store. */
struct given {
    struct inputs in;
    struct strv names;
};

static int take_seed(void *arg, const char *name, const void *data, size_t size, struct err *e)
{
    (void)e;
    struct given *g = arg;
    inputs_add(&g->in, 0, data, size);
    strv_add(&g->names, name);
    return 0;
}

static int read_user_seeds(struct campaign *c, struct err *e)
{
    struct given g = {0};
    struct corpus_sink sink = {.input = take_seed, .arg = &g};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < c->o.seeds.n; i++)
        rc = corpus_read(c->o.seeds.v[i], &sink, e);
    if (rc == 0 && g.in.n == 0) {
        log_warn("there is no seed%s%s: starting from one trivial input. A few small real files, "
                 "given with -i, find more and sooner",
                 c->o.seeds.n ? " in " : "", c->o.seeds.n ? c->o.seeds.v[0] : "");
        rc = take_seed(&g, "trivial", "0\n", 2, e);
    }
    if (rc == 0) {
        struct store_seed *seeds = xcalloc(g.in.n, sizeof *seeds);
        for (size_t i = 0; i < g.in.n; i++)
            seeds[i] = (struct store_seed){
                .data = g.in.v[i].data, .size = g.in.v[i].size, .name = g.names.v[i]};
        rc = store_add_seeds(c->store, seeds, g.in.n, e);
        free(seeds);
    }
    if (sink.too_large)
        log_warn("%zu seeds are larger than 1 MB and were left out", sink.too_large);
    inputs_free(&g.in);
    strv_free(&g.names);
    return rc;
}

/* --- measuring them ----------------------------------------------------------------------------- */

struct given_round {
    struct campaign *c;
    struct store_turn row; /* of an import; id 0: round 0 */
    struct eval_job job;
    struct inputs seeds;
    struct strv names;
    struct eval_input *inputs;
    int64_t *ids;
};

void seeds_free(struct campaign *c)
{
    struct given_round *r = c->given;
    if (!r)
        return;
    c->given = NULL;
    eval_results_free(&r->job);
    inputs_free(&r->seeds);
    strv_free(&r->names);
    free(r->inputs);
    free(r->ids);
    free(r);
}

static int load_one(void *arg, const struct store_seed *seed, struct err *e)
{
    (void)e;
    struct given_round *r = arg;
    if (seed->state != SEED_PENDING)
        return 0;
    inputs_add(&r->seeds, seed->id, seed->data, seed->size);
    strv_add(&r->names, seed->name ? seed->name : "");
    return 0;
}

/* Seeds that do not run through are given to nobody; crashing and hanging ones are findings. */
static void set_aside(struct given_round *r, size_t i, bool fresh)
{
    struct campaign *c = r->c;
    const struct eval_result *res = &r->job.results[i];
    bool crash = res->status == RUN_CRASH, hang = res->status == RUN_TIMEOUT;
    if (run_is_through(res->status))
        return;
    log_warn("seed %s is set aside: %s%s%s", r->names.v[i], run_status_name(res->status),
             crash ? " with " : "", crash ? strsignal(res->signal) : "");
    if (!fresh)
        return;
    struct store_crash k = {.hang = hang,
                            .data = r->inputs[i].data,
                            .size = r->inputs[i].size,
                            .arm = -1,
                            .signal = res->signal};
    *(hang ? &c->gauges.hangs : &c->gauges.crashes) += 1;
    finding_write(c, &k);
}

static int no_good_seed(const struct campaign *c, struct err *e)
{
    return err_usage(e,
                     "every seed crashes or hangs the target; the inputs are kept in %s. Fix that "
                     "first, or start again with -o and another directory, and with at least one "
                     "seed that runs",
                     c->o.out);
}

/* What is measured is folded and recorded in one step. */
static int record(struct given_round *r, struct measured *m, struct err *e)
{
    struct campaign *c = r->c;
    struct sharing how = {.new_only = c->o.share_new_only, .x = c->exchange};
    int rc = store_order_take(c->store, e);
    if (rc < 0)
        return rc;
    r->row.end_ns = campaign_now(c);
    rc = r->row.id ? journal_commit(c->store, &c->f, &r->row, NULL, m, &c->gauges.slot[r->row.slot],
                                    &how, e)
                   : journal_seeds(c->store, &c->f, c->exchange, m, e);
    store_order_leave(c->store);
    return rc;
}

static int commit_seeds(struct given_round *r, struct err *e)
{
    struct campaign *c = r->c;
    struct eval_job *j = &r->job;
    bool *fresh = xcalloc(j->n, sizeof *fresh);
    struct measured m = {.seeds = r->ids,
                         .inputs = r->inputs,
                         .results = j->results,
                         .n = j->n,
                         .calls = j->calls,
                         .n_calls = j->n_calls,
                         .fresh = fresh};
    int rc = record(r, &m, e);
    for (size_t i = 0; rc == 0 && i < j->n; i++)
        set_aside(r, i, fresh[i]);
    free(fresh);
    if (rc == 0 && r->row.id) {
        log_info("%zu of %zu imported inputs run through; new edges by them: %u", m.n_good, j->n,
                 r->row.new_edges);
        return 0;
    }
    c->gauges.seeds = j->n;
    if (rc == 0 && !m.n_good)
        rc = no_good_seed(c, e);
    if (rc == 0)
        log_info("%zu %s %u of %u edges", m.n_good, m.n_good == 1 ? "seed covers" : "seeds cover",
                 c->f.ledger.covered, c->env.table->n_edges);
    return rc;
}

static void on_measured(void *arg, struct eval_job *job)
{
    struct given_round *r = arg;
    struct campaign *c = r->c;
    struct err e = job->error;
    int rc = job->failed ? job->failed : commit_seeds(r, &e);
    seeds_free(c);
    if (rc < 0)
        campaign_fail(c, &e);
    else
        campaign_next(c);
}

/* row: of an import; NULL: round 0. */
static int measure(struct campaign *c, const struct store_turn *row, struct err *e)
{
    struct given_round *r = c->given = xcalloc(1, sizeof *r);
    r->c = c;
    if (row)
        r->row = *row;
    int rc = store_turn_seeds(c->store, r->row.id, load_one, r, e);
    if (rc < 0)
        return rc;
    r->inputs = xcalloc(r->seeds.n, sizeof *r->inputs);
    r->ids = xcalloc(r->seeds.n, sizeof *r->ids);
    for (size_t i = 0; i < r->seeds.n; i++) {
        r->inputs[i] = (struct eval_input){r->seeds.v[i].data, r->seeds.v[i].size};
        r->ids[i] = r->seeds.v[i].id;
    }
    r->job = (struct eval_job){.inputs = r->inputs,
                               .n = r->seeds.n,
                               .done = on_measured,
                               .arg = r,
                               .cpu = c->slots[0].cpu};
    return c->slots[0].ev->ops->submit(c->slots[0].ev, &r->job, e);
}

int seeds_step(struct campaign *c, struct err *e)
{
    enum seeds_state state;
    struct store_totals t = {0};
    if (c->given)
        return 1;
    int rc = journal_seeds_state(c->store, &state, e);
    if (rc == 0 && state == SEEDS_MEASURED)
        return journal_exec_ms(c->store, &c->o, &c->exec_ms, e);
    if (rc < 0)
        return rc;
    if (state == SEEDS_NONE_RUNS)
        return no_good_seed(c, e);
    rc = store_totals(c->store, &t, e);
    if (rc == 0 && t.seeds == 0)
        rc = read_user_seeds(c, e);
    if (rc == 0)
        rc = measure(c, NULL, e);
    return rc < 0 ? rc : 1;
}

int imports_step(struct campaign *c, struct err *e)
{
    struct store_turns *turns;
    struct store_turn row = {0};
    if (c->given)
        return 1;
    int rc = store_turns_open(&turns, c->store, TURNS_LATE_OPEN, 0, e);
    while (rc == 0 && (rc = store_turns_next(turns, &row, NULL, e)) > 0 && row.instance)
        rc = 0;
    store_turns_close(turns);
    if (rc <= 0)
        return rc;
    rc = measure(c, &row, e);
    return rc < 0 ? rc : 1;
}
