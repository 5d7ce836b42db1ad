/* commit: a turn is measured: what it was worth is folded and recorded in one step. */
#include "campaign/state.h"

#include "base/die.h"
#include "base/log.h"
#include "journal/write.h"

#include <stdlib.h>

/* A hang runs twice, until it has used its CPU time or, if it sleeps, until the clock ends it. */
static int64_t hang_ns(const struct campaign *c, const struct eval_result *r)
{
    int64_t limit_ms = campaign_eval_ms(c);
    bool sleeps = r->cpu_us < limit_ms * 1000 / 2;
    return 2000 * (sleeps ? EVAL_WALL_MS(limit_ms) * 1000 : r->cpu_us);
}

/* A crash that only the neutral build shows is a find all the same. */
static void take_up(struct turn *t, size_t i, bool fresh)
{
    struct campaign *c = t->m->c;
    const struct eval_result *r = &t->job.results[i];
    if (r->status == RUN_QUARANTINED)
        log_warn("input %lld kills the evaluator; it is kept and not run again",
                 (long long)t->ids[i]);
    if (r->status == RUN_TIMEOUT)
        c->hangs_ns += hang_ns(c, r);
    if (!fresh)
        return;
    struct store_crash k = {.data = t->inputs[i].data,
                            .size = t->inputs[i].size,
                            .arm = t->row.arm,
                            .signal = r->signal};
    c->gauges.crashes++;
    finding_write(c, &k);
}

int turn_commit(struct turn *t, struct err *e)
{
    struct campaign *c = t->m->c;
    bool *fresh = xcalloc(t->n, sizeof *fresh);
    struct sharing how = {.new_only = c->o.share_new_only, .x = c->exchange};
    struct measured m = {.seeds = t->ids,
                         .inputs = t->inputs,
                         .results = t->job.results,
                         .n = t->n,
                         .calls = t->job.calls,
                         .n_calls = t->job.n_calls,
                         .fresh = fresh};
    if (t->row.state == TURN_PARKED)
        t->row.state = TURN_COMMITTED;
    t->row.end_ns = campaign_now(c);
    t->row.eval_ns = t->row.end_ns - t->measure_ns; /* 0 for a leftover: the clock stands then */
    int rc = store_order_take(c->store, e);
    if (rc == 0) {
        rc = journal_commit(c->store, &c->f, &t->row, &t->d, &m, &c->gauges.slot[t->row.slot], &how,
                            e);
        store_order_leave(c->store);
    }
    if (rc == 0)
        gauge_clock(&c->gauges, t->row.end_ns);
    for (size_t i = 0; rc == 0 && i < t->n; i++)
        take_up(t, i, fresh[i]);
    free(fresh);
    return rc;
}
