/* turn: one decision carried out, in three transactions (store/store.h).  What is learned from it is in
 * turn_commit; when the next one comes is the loop's business. */
#include "campaign/state.h"

#include "base/die.h"
#include "base/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A turn imports at most this much; the rest comes with the next one. */
#define IMPORT_MAX_INPUTS 20000
#define IMPORT_MAX_BYTES ((size_t)64 << 20)
/* Start corpora are calibrated input by input; beyond this many seeds the rest arrives as imports. */
#define START_MAX_INPUTS 2000
/* Confirming a hang costs whole time limits; more than this many per turn are stored unmeasured. */
#define HANGS_MEASURED 4

/* A list of inputs read from the store, owning their bytes. */
struct batch {
    struct input *v;
    size_t n, cap, bytes;
};

static int batch_add(void *arg, const struct store_seed *seed, struct err *e)
{
    (void)e;
    struct batch *b = arg;
    if (b->n == b->cap) {
        b->cap = b->cap ? b->cap * 2 : 64;
        b->v = xrealloc(b->v, b->cap * sizeof *b->v);
    }
    b->v[b->n++] = (struct input){
        .id = seed->id, .data = xmemdup(seed->data, seed->size), .size = seed->size};
    b->bytes += seed->size;
    return b->bytes > IMPORT_MAX_BYTES ? 1 : 0; /* 1: enough */
}

static void batch_free(struct batch *b)
{
    for (size_t i = 0; i < b->n; i++)
        free((void *)(uintptr_t)b->v[i].data);
    free(b->v);
}

/* Everything the instance has not seen, claimed in the open transaction. */
static int claim_imports(struct campaign *c, struct turn *t, struct err *e)
{
    struct member *m = t->m;
    struct batch b = {0};
    int64_t last = m->shared;
    size_t max = m->started ? IMPORT_MAX_INPUTS : START_MAX_INPUTS;
    int rc = store_shared_after(c->store, m->shared, m->row, max, batch_add, &b, &last, e);
    for (size_t i = 0; rc >= 0 && i < b.n; i++)
        rc = store_import(c->store, m->row, b.v[i].id, t->row.id, e);
    if (rc >= 0)
        rc = store_imported_upto(c->store, m->row, last, e);
    if (rc >= 0)
        m->shared = last;
    batch_free(&b);
    return rc < 0 ? rc : 0;
}

/* Cycles per turn (SPEC 2): floor(T_I / mean duration of one cycle), by time alone while unknown. */
static struct turn_quota quota_of(const struct campaign *c, int arm)
{
    const struct tally_arm *a = &c->f.tally.arm[arm];
    struct turn_quota q = {.cap_ns = c->o.turn_ns};
    if (a->cycles) {
        double mean = (double)a->active_ns / (double)a->cycles;
        double cycles = floor((double)c->o.turn_ns / (mean > 1 ? mean : 1));
        q.cycles = cycles < 1 ? 1 : (uint64_t)cycles;
        q.cap_ns = c->o.turn_ns + c->o.turn_ns / 4;
    }
    if (c->o.budget_ns) {
        int64_t left = c->o.budget_ns - campaign_now(c);
        if (q.cap_ns > left)
            q.cap_ns = left > NS_PER_MS ? left : NS_PER_MS;
    }
    return q;
}

int turn_begin(struct campaign *c, struct slot *s, const struct decision *d, struct turn **out,
               struct err *e)
{
    if (d->choice < 0)
        return err_env(e,
                       "the scheduler %s has no fuzzer left that it may choose: carol status %s "
                       "says why they were dropped",
                       c->o.scheduler, c->o.out);
    struct turn *t = xcalloc(1, sizeof *t);
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    t->d = *d;
    t->m = pool_take(c, d->choice, e);
    int rc = t->m ? 0 : e->code;
    if (rc < 0)
        goto out;
    t->row = (struct store_turn){.id = (int64_t)d->t,
                                 .state = TURN_RUNNING,
                                 .arm = d->choice,
                                 .slot = s->n,
                                 .instance = t->m->row,
                                 .start_ns = d->now_ns,
                                 .quota_cycles = quota_of(c, d->choice).cycles};
    decision_encode(d, &b);
    rc = store_begin(c->store, e);
    if (rc == 0 && (rc = store_turn_begin(c->store, &t->row, b.p, b.len, e)) == 0)
        rc = claim_imports(c, t, e);
    if (rc == 0)
        rc = store_commit(c->store, e);
    if (rc < 0)
        store_rollback(c->store);
out:
    buf_free(&b);
    if (rc < 0) {
        free(t);
        return rc;
    }
    t->m->slot = s;
    s->turn = t;
    s->evaluating = false;
    *out = t;
    return 0;
}

/* What one turn claimed belongs together, however large. */
static int batch_add_all(void *arg, const struct store_seed *seed, struct err *e)
{
    int rc = batch_add(arg, seed, e);
    return rc < 0 ? rc : 0;
}

/* Give it everything claimed and not known to be delivered, each turn's claims as that turn's batch: what
 * a killed supervisor had given already has that number and is not taken again. */
static int deliver_claims(struct turn *t, struct err *e)
{
    struct member *m = t->m;
    int rc = 0;
    for (int64_t turn = 0; rc >= 0;) {
        struct batch b = {0};
        rc = store_undelivered(m->c->store, m->row, &turn, batch_add_all, &b, e);
        if (rc >= 0 && b.n)
            rc = m->in->ops->deliver(m->in, (uint64_t)turn, b.v, b.n, e);
        batch_free(&b);
        if (!turn)
            break;
    }
    return rc;
}

/* Everything claimed as its start corpus, which is not an import. */
static int start_with_claims(struct turn *t, struct err *e)
{
    struct member *m = t->m;
    struct batch b = {0};
    int rc = 0;
    for (int64_t turn = 0; rc >= 0;) {
        rc = store_undelivered(m->c->store, m->row, &turn, batch_add_all, &b, e);
        if (!turn)
            break;
    }
    if (rc >= 0)
        rc = m->in->ops->start(m->in, b.v, b.n, false, e);
    batch_free(&b);
    return rc;
}

static int note_delivered(struct turn *t, struct err *e)
{
    struct store *s = t->m->c->store;
    int rc = store_begin(s, e);
    if (rc == 0)
        rc = store_delivered(s, t->m->row, t->row.id, e);
    if (rc == 0)
        rc = store_instance_started(s, t->m->row, e);
    if (rc == 0)
        rc = store_commit(s, e);
    if (rc < 0)
        store_rollback(s);
    return rc;
}

static int hand_over(struct turn *t, struct err *e)
{
    struct member *m = t->m;
    int rc = 0;
    if (!m->started)
        rc = start_with_claims(t, e);
    else if (m->in->state != INST_PARKED && m->in->state != INST_STARTING)
        rc = m->in->ops->start(m->in, NULL, 0, true, e);
    if (rc >= 0 && m->started)
        rc = deliver_claims(t, e);
    if (rc >= 0)
        rc = note_delivered(t, e);
    m->started = m->started || rc >= 0;
    return rc < 0 ? rc : 0;
}

int turn_run(struct turn *t, struct err *e)
{
    struct campaign *c = t->m->c;
    struct turn_quota q = quota_of(c, t->row.arm);
    q.cycles = t->row.quota_cycles;
    t->m->in->report = (struct turn_report){0};
    int rc = hand_over(t, e);
    if (rc == 0)
        rc = t->m->in->ops->resume(t->m->in, &q, t->m->slot->cpu, e);
    if (rc < 0) {
        struct turn_report *r = &t->m->in->report;
        r->died = true;
        snprintf(r->why, sizeof r->why, "%.255s", e->msg);
    }
    return rc;
}

static void take_report(struct turn *t)
{
    const struct turn_report *r = &t->m->in->report;
    struct store_turn *row = &t->row;
    if (row->state != TURN_VOID)
        row->state = TURN_PARKED;
    row->parked_ns = campaign_now(t->m->c);
    row->execs = r->execs;
    row->cycles = r->cycles;
    row->offered = r->offered;
    row->taken = r->taken;
    row->active_ns = r->active_ns;
    row->park_ns = r->park_ns;
    row->cpu_ns = r->cpu_ns;
    row->cpu_parked_ns = r->cpu_parked_ns;
    row->died = r->died;
    snprintf(row->why, sizeof row->why, "%s", r->why);
}

void turn_measure_later(struct turn *t, int64_t id, void *data, size_t size, bool own)
{
    size_t i = t->job.n++;
    t->inputs = xrealloc(t->inputs, t->job.n * sizeof *t->inputs);
    t->ids = xrealloc(t->ids, t->job.n * sizeof *t->ids);
    t->owned = xrealloc(t->owned, t->job.n * sizeof *t->owned);
    t->inputs[i] = (struct eval_input){.data = data, .size = size};
    t->ids[i] = id;
    t->owned[i] = own ? data : NULL;
}

static int store_crash_of(struct turn *t, const struct find *f, int64_t parent, struct err *e)
{
    struct campaign *c = t->m->c;
    struct store_crash k = {.hang = f->kind == FIND_HANG,
                            .data = f->data,
                            .size = f->size,
                            .instance = t->m->row,
                            .turn = t->row.id,
                            .parent = parent,
                            .arm = t->row.arm,
                            .signal = f->signal,
                            .name = f->name,
                            .found_ns = t->row.parked_ns};
    hash_bytes(f->data, f->size, &k.hash);
    bool fresh = false;
    int rc = store_add_crash(c->store, &k, &fresh, e);
    if (f->kind != FIND_ECHO)
        *(k.hang ? &t->row.hangs : &t->row.crashes) += 1;
    *(k.hang ? &c->f.tally.hangs : &c->f.tally.crashes) += fresh;
    if (fresh)
        finding_write(c, &k);
    if (fresh && !k.hang)
        c->found_crash = true;
    return rc;
}

static int store_find(struct turn *t, const struct find *f, struct err *e)
{
    struct campaign *c = t->m->c;
    if (f->kind == FIND_IMPORTED)
        return f->entry < 0 ? 0 : store_entry_put(c->store, t->m->row, f->entry, f->seed, e);
    int64_t parent =
        f->parent_entry < 0 ? 0 : store_entry_seed(c->store, t->m->row, f->parent_entry);
    int rc = f->kind == FIND_SEED ? 0 : store_crash_of(t, f, parent, e);
    if (rc < 0 || f->kind == FIND_ECHO || (f->kind == FIND_HANG && t->row.hangs > HANGS_MEASURED))
        return rc;
    struct store_seed seed = {.data = f->data,
                              .size = f->size,
                              .instance = t->m->row,
                              .turn = t->row.id,
                              .parent = parent,
                              .name = f->name,
                              .found_ns = t->row.parked_ns};
    hash_bytes(f->data, f->size, &seed.hash);
    int64_t id = 0;
    bool fresh = false;
    rc = store_add_seed(c->store, &seed, &id, &fresh, e);
    if (rc == 0 && f->entry >= 0 && f->kind == FIND_SEED)
        rc = store_entry_put(c->store, t->m->row, f->entry, id, e);
    if (rc == 0 && fresh) {
        turn_measure_later(t, id, f->data, f->size, false);
        t->row.inputs++;
        c->f.tally.seeds++;
    }
    return rc;
}

int turn_store_finds(struct turn *t, struct err *e)
{
    struct campaign *c = t->m->c;
    struct instance *in = t->m->in;
    take_report(t);
    bool read = in->ops->harvest(in, &t->found, e) == 0;
    if (!read) { /* nothing of it counts, the cursor included: the next harvest reads it again */
        log_warn("%s: its files could not be read, the next turn tries again: %s", in->fuzzer, e->msg);
        harvest_free(&t->found);
    }
    int rc = store_begin(c->store, e);
    for (size_t i = 0; rc == 0 && i < t->found.n; i++)
        rc = store_find(t, &t->found.finds[i], e);
    if (rc == 0)
        rc = store_turn_parked(c->store, &t->row, t->found.cursor, e);
    if (rc == 0)
        rc = store_commit(c->store, e);
    if (rc < 0) {
        store_rollback(c->store);
        return rc;
    }
    if (read)
        in->ops->harvested(in, &t->found);
    return 0;
}

int turn_measure(struct turn *t, struct err *e)
{
    struct slot *s = t->m->slot;
    s->evaluating = true;
    t->eval_from = loop_now(s->c->loop);
    t->job.inputs = t->inputs;
    t->job.cpu = s->cpu;
    t->job.done = turn_evaluated;
    t->job.arg = t;
    return s->ev->ops->submit(s->ev, &t->job, e);
}

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

static void account(struct turn *t)
{
    struct slot *s = t->m->slot;
    t->row.eval_ns = loop_now(s->c->loop) - t->eval_from;
    if (!s->c->started && !s->c->stopping)
        return; /* a leftover finished before the clock runs */
    s->used.fuzz_ns += t->row.active_ns;
    s->used.eval_ns += t->row.eval_ns;
    s->used.wall_ns = campaign_now(s->c);
    s->used.idle_ns = s->used.wall_ns - s->used.fuzz_ns - s->used.eval_ns;
    s->c->f.tally.slot[s->n] = s->used;
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
    if (t->row.state != TURN_VOID)
        t->row.state = TURN_COMMITTED;
    account(t);
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
        rc = store_slot_put(c->store, t->row.slot, &t->m->slot->used, e);
    if (rc == 0)
        rc = store_clock(c->store, t->row.end_ns, e);
    if (rc == 0)
        rc = store_commit(c->store, e);
    if (rc < 0)
        store_rollback(c->store);
    buf_free(&state);
    return rc;
}

/* Three deaths in a row without a turn between: the arm is of no use here. */
static void watch_deaths(struct turn *t)
{
    struct campaign *c = t->m->c;
    int *deaths = &c->deaths_in_row[t->row.arm];
    if (!t->row.died || t->row.state == TURN_VOID) {
        *deaths = 0;
        return;
    }
    campaign_note(c, "died", "%s %d: %s", c->f.tally.arm[t->row.arm].name, t->m->number, t->row.why);
    if (++*deaths >= 3)
        arm_drop(c, t->row.arm, t->row.why);
}

void turn_free(struct turn *t)
{
    struct campaign *c = t->m->c;
    watch_deaths(t);
    if (t->row.crashes && t->row.state == TURN_COMMITTED)
        c->found_crash = true;
    if (t->m->slot)
        t->m->slot->turn = NULL;
    pool_idle(c, t->m);
    eval_results_free(&t->job);
    for (size_t i = 0; i < t->job.n; i++)
        free(t->owned[i]);
    free(t->owned);
    free(t->ids);
    free(t->inputs);
    harvest_free(&t->found);
    free(t);
}
