/* commit: a turn is measured: results, reward and what was learned, in one transaction. */
#include "campaign/state.h"

#include "base/die.h"
#include "base/log.h"

#include <stdlib.h>
#include <string.h>

/* A crash that only the neutral build shows is a find all the same. */
static int neutral_crash(struct turn *t, size_t i, struct err *e)
{
    struct campaign *c = t->m->c;
    struct store_crash k = {.data = t->inputs[i].data,
                            .size = t->inputs[i].size,
                            .instance = t->m->row,
                            .turn = t->row.id,
                            .arm = t->row.arm,
                            .signal = t->job.results[i].signal,
                            .name = "",
                            .found_ns = t->row.parked_ns,
                            .by_eval = true};
    bool fresh = false;
    hash_bytes(k.data, k.size, &k.hash);
    int rc = store_add_crash(c->store, &k, &fresh, e);
    t->row.crashes += fresh;
    c->f.tally.crashes += fresh;
    if (fresh)
        finding_write(c, &k);
    return rc;
}

static bool opens_an_edge(const struct ledger *l, const struct edges *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (l->first_round[s->ids[i]] == LEDGER_NEVER)
            return true;
    return false;
}

static int store_result(struct turn *t, size_t i, struct err *e)
{
    struct campaign *c = t->m->c;
    const struct eval_result *r = &t->job.results[i];
    if (r->status == RUN_QUARANTINED) {
        log_warn("input %lld kills the evaluator; it is kept and not run again",
                 (long long)t->ids[i]);
        return store_seed_quarantine(c->store, t->ids[i], t->row.round, e);
    }
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    edges_encode(&r->edges, &b);
    bool share = (r->status == RUN_OK || r->status == RUN_EXIT) &&
                 (!c->o.neutral_filter || opens_an_edge(&c->f.ledger, &r->edges));
    int rc = store_seed_done(c->store, t->ids[i], (int)r->status, r->signal, r->cpu_us, b.p, b.len,
                             t->row.round, share, e);
    buf_free(&b);
    if (rc == 0 && r->status == RUN_CRASH)
        rc = neutral_crash(t, i, e);
    return rc;
}

static int store_calls_of(struct turn *t, struct err *e)
{
    struct campaign *c = t->m->c;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < t->job.n_calls; i++) {
        const struct eval_call *k = &t->job.calls[i];
        if (ledger_learn_call(&c->f.ledger, k->caller, k->callee))
            rc = store_call(c->store, t->row.round, k->caller, k->callee, e);
    }
    return rc;
}

/* To the slot it ran in, whichever finishes it.  A leftover is measured before the clock runs. */
static const struct store_slot *account(struct turn *t)
{
    struct campaign *c = t->m->c;
    struct store_slot *used = &c->slots[t->row.slot].used;
    t->row.eval_ns = loop_now(c->loop) - t->eval_from;
    used->fuzz_ns += t->row.active_ns;
    if (c->started || c->stopping)
        used->eval_ns += t->row.eval_ns;
    used->wall_ns = campaign_now(c);
    used->idle_ns = used->wall_ns - used->fuzz_ns - used->eval_ns;
    c->f.tally.slot[t->row.slot] = *used;
    return used;
}

static void fold_results(struct turn *t)
{
    struct edges *sets = xcalloc(t->job.n, sizeof *sets);
    size_t n = 0;
    for (size_t i = 0; i < t->job.n; i++)
        sets[n++] = t->job.results[i].edges;
    fold_turn(&t->m->c->f, &t->row, &t->d, sets, n);
    free(sets);
}

/* The ledger is not in the store; what `carol status` shows of it is. */
static int store_ledger_facts(struct campaign *c, struct err *e)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)c->f.ledger.no_predecessor);
    return store_set(c->store, "no_predecessor", text, e);
}

int turn_commit(struct turn *t, struct err *e)
{
    struct campaign *c = t->m->c;
    struct buf state = BUF_INIT(BUF_TEXT_MAX);
    t->row.round = c->f.round + 1;
    t->row.end_ns = campaign_now(c);
    t->row.at_decision = (int64_t)c->f.t;
    if (t->row.state == TURN_PARKED)
        t->row.state = TURN_COMMITTED;
    const struct store_slot *used = account(t);
    int rc = store_begin(c->store, e);
    for (size_t i = 0; rc == 0 && i < t->job.n; i++)
        rc = store_result(t, i, e);
    if (rc == 0)
        rc = store_calls_of(t, e);
    fold_results(t);
    sched_save(c->f.sched, &state);
    if (rc == 0)
        rc = store_turn_commit(c->store, &t->row, state.p, state.len, e);
    if (rc == 0)
        rc = store_ledger_facts(c, e);
    if (rc == 0)
        rc = store_slot_put(c->store, t->row.slot, used, e);
    if (rc == 0)
        rc = store_clock(c->store, t->row.end_ns, e);
    if (rc == 0)
        rc = store_commit(c->store, e);
    if (rc < 0)
        store_rollback(c->store);
    buf_free(&state);
    return rc;
}
