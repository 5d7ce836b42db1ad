/* turn: one decision carried out: what the instance has not seen is claimed and handed over, it is resumed, and
 * in the end its slot is free again.  What it found is in finds.c, what that was worth in commit.c. */
#include "campaign/state.h"

#include "base/die.h"
#include "journal/write.h"

#include <stdio.h>
#include <stdlib.h>

/* A turn imports at most this much; the rest comes with the next one. */
#define IMPORT_MAX_INPUTS 20000
#define IMPORT_MAX_BYTES ((size_t)64 << 20)
/* Start corpora are calibrated input by input; beyond this many seeds the rest arrives as imports. */
#define START_MAX_INPUTS 2000

static struct turn_quota quota_of(const struct campaign *c, const struct decision *d)
{
    int64_t budget = c->f.tally.budget_ns, left = budget ? budget - campaign_now(c) : 0;
    return fold_quota(&c->f, d, budget && left <= 0 ? 1 : left);
}

int turn_begin(struct campaign *c, struct slot *s, const struct decision *d, struct turn **out,
               struct err *e)
{
    if (d->choice < 0)
        return err_env(e,
                       "the scheduler %s has no fuzzer left that it may choose: carol status %s "
                       "says why they were dropped",
                       c->o.scheduler, c->o.out);
    struct member *m = pool_take(c, d->choice, e);
    if (!m)
        return e->code;
    struct turn *t = xcalloc(1, sizeof *t);
    t->m = m;
    t->d = *d;
    t->row = (struct store_turn){.instance = m->row, .quota_cycles = quota_of(c, d).cycles};
    m->slot = s;
    s->turn = t;
    s->measuring = false;
    struct journal_begin b = {.fuzzer = arm_instances(c, d->choice),
                              .number = m->number,
                              .max_inputs = m->started ? IMPORT_MAX_INPUTS : START_MAX_INPUTS,
                              .max_bytes = IMPORT_MAX_BYTES,
                              .x = c->exchange,
                              .turn_ns = d->turn_ns ? d->turn_ns : c->f.turn_ns,
                              .start = !m->started};
    int rc = journal_begin(c->store, &t->row, d, &b, &t->imports, e);
    if (rc == 0)
        gauge_clock(&c->gauges, t->row.start_ns);
    m->row = t->row.instance;
    *out = t;
    return rc;
}

/* --- handing over ------------------------------------------------------------------------------ */

/* Its instance cannot do what it is asked: the turn is over before it ran. */
static int died(struct turn *t, const struct err *e)
{
    struct turn_report *r = &t->m->in->report;
    r->died = true;
    snprintf(r->why, sizeof r->why, "%.255s", e->msg);
    return 1;
}

/* Everything claimed and not known to be delivered, each turn's claims as that turn's batch: what a killed
 * supervisor had given already has that number and is not taken again. */
static int deliver_owed(struct turn *t, struct err *e)
{
    struct member *m = t->m;
    int rc = 0;
    for (int64_t turn = 0; rc == 0;) {
        struct inputs in = {0};
        rc = store_undelivered(m->c->store, m->row, &turn, &in, e);
        if (rc == 0 && in.n && m->in->ops->deliver(m->in, (uint64_t)turn, in.v, in.n, e) < 0)
            rc = died(t, e);
        inputs_free(&in);
        if (!turn)
            break;
    }
    return rc;
}

/* A new instance starts with what was claimed for it, in a turn that was cut off too; that is no import. */
static int start_new(struct turn *t, struct err *e)
{
    struct member *m = t->m;
    int rc = 0;
    if (m->owed) {
        inputs_free(&t->imports);
        for (int64_t turn = 0; rc == 0;) {
            rc = store_undelivered(m->c->store, m->row, &turn, &t->imports, e);
            if (!turn)
                break;
        }
    }
    if (rc == 0 && m->in->ops->start(m->in, t->imports.v, t->imports.n, false, e) < 0)
        rc = died(t, e);
    return rc;
}

static int hand_over(struct turn *t, struct err *e)
{
    struct member *m = t->m;
    struct instance *in = m->in;
    int rc = 0;
    if (!m->started)
        rc = start_new(t, e);
    else if (in->state != INST_PARKED && in->state != INST_STARTING &&
             in->ops->start(in, NULL, 0, true, e) < 0)
        rc = died(t, e);
    if (rc == 0 && m->started && m->owed)
        rc = deliver_owed(t, e);
    else if (rc == 0 && m->started && t->imports.n &&
             in->ops->deliver(in, (uint64_t)t->row.id, t->imports.v, t->imports.n, e) < 0)
        rc = died(t, e);
    if (rc == 0)
        rc = store_turn_delivered(m->c->store, &t->row, e);
    m->owed = rc != 0;
    m->started = m->started || rc == 0;
    inputs_free(&t->imports);
    return rc;
}

int turn_run(struct turn *t, struct err *e)
{
    struct instance *in = t->m->in;
    struct turn_quota q = quota_of(t->m->c, &t->d);
    q.cycles = t->row.quota_cycles;
    q.as = t->m->c->f.tally.arm[t->m->arm].name;
    in->report = (struct turn_report){0};
    int rc = hand_over(t, e);
    if (rc == 0 && in->ops->resume(in, &q, t->m->slot->cpu, e) < 0)
        rc = died(t, e);
    return rc;
}

/* --- the end ----------------------------------------------------------------------------------- */

/* Three deaths in a row without a turn between: the arm is of no use here. */
static void count_deaths(struct turn *t)
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

void turn_end(struct turn *t)
{
    struct campaign *c = t->m->c;
    if (t->row.state != TURN_LATE)
        count_deaths(t);
    c->found_crash = c->found_crash || t->row.crashes;
    t->m->slot->turn = NULL;
    pool_give_back(c, t->m);
}

void turn_free(struct turn *t)
{
    if (!t)
        return;
    eval_results_free(&t->job);
    trim_free(t->trim);
    inputs_free(&t->imports);
    inputs_free(&t->stored);
    harvest_free(&t->found);
    free(t->ids);
    free(t->inputs);
    free(t);
}
