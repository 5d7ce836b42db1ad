/* turn: one decision begun: what the instance has not seen is claimed, handed over, and it is resumed.  What
 * comes back is in finds.c, what it was worth in commit.c. */
#include "campaign/state.h"

#include "base/die.h"
#include "base/log.h"

#include <stdlib.h>
#include <string.h>

/* A turn imports at most this much; the rest comes with the next one. */
#define IMPORT_MAX_INPUTS 20000
#define IMPORT_MAX_BYTES ((size_t)64 << 20)
/* Start corpora are calibrated input by input; beyond this many seeds the rest arrives as imports. */
#define START_MAX_INPUTS 2000

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
    b->v[b->n++] =
        (struct input){.id = seed->id, .data = xmemdup(seed->data, seed->size), .size = seed->size};
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

static struct turn_quota quota_of(const struct campaign *c, const struct decision *d)
{
    int64_t left = c->o.budget_ns ? c->o.budget_ns - campaign_now(c) : 0;
    return fold_quota(&c->f, d, c->o.turn_ns, c->o.budget_ns && left <= 0 ? 1 : left);
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
                                 .quota_cycles = quota_of(c, d).cycles};
    decision_encode(d, &b);
    rc = store_begin(c->store, e);
    if (rc == 0 && (rc = store_turn_begin(c->store, &t->row, b.p, b.len, e)) == 0)
        rc = claim_imports(c, t, e);
    if (rc == 0)
        rc = store_clock(c->store, t->row.start_ns, e);
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
    struct turn_quota q = quota_of(c, &t->d);
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

/* Three deaths in a row without a turn between: the arm is of no use here. */
static void watch_deaths(struct turn *t)
{
    struct campaign *c = t->m->c;
    int *deaths = &c->deaths_in_row[t->row.arm];
    if (!t->row.died || t->row.state == TURN_VOID) {
        *deaths = 0;
        return;
    }
    campaign_note(c, "died", "%s %d: %s", c->f.tally.arm[t->row.arm].name, t->m->number,
                  t->row.why);
    if (++*deaths >= 3)
        arm_drop(c, t->row.arm, t->row.why);
}

void turn_free(struct turn *t)
{
    struct campaign *c = t->m->c;
    if (t->row.state != TURN_LATE)
        watch_deaths(t);
    if (t->row.crashes && t->row.round) /* of whatever kind; stored perhaps before a kill */
        c->found_crash = true;
    if (t->m->slot) {
        t->m->slot->turn = NULL;
        pool_idle(c, t->m);
    }
    eval_results_free(&t->job);
    for (size_t i = 0; i < t->job.n; i++)
        free(t->owned[i]);
    free(t->owned);
    free(t->ids);
    free(t->inputs);
    harvest_free(&t->found);
    free(t);
}
