/* finds: what a fuzzer found, in a turn or outside, is stored, durably, before anybody measures it. */
#include "campaign/state.h"

#include "base/die.h"
#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>

/* Measuring a hang costs whole time limits.  More than this many per turn, and those that would take more than
 * this share of the slots' time in this life, are stored unmeasured. */
#define HANGS_MEASURED 4
#define HANGS_SHARE 50 /* one part in */

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
    row->startup_ns = r->startup_ns;
    row->active_ns = r->active_ns;
    row->cycle_ns = r->cycle_ns;
    row->park_ns = r->park_ns;
    row->cpu_ns = r->cpu_ns;
    row->cpu_parked_ns = r->cpu_parked_ns;
    row->died = r->died;
    snprintf(row->why, sizeof row->why, "%s", r->why);
}

/* When it fails nothing of it counts, the cursor included: the next harvest reads it again. */
static bool harvest(struct turn *t, struct err *e)
{
    struct instance *in = t->m->in;
    if (in->ops->harvest(in, &t->found, e) == 0)
        return true;
    log_warn("%s: its files could not be read, the next turn or --resume tries again: %s",
             in->fuzzer, e->msg);
    harvest_free(&t->found);
    return false;
}

uint32_t campaign_eval_ms(const struct campaign *c)
{
    uint32_t ms = 5 * c->exec_ms;
    return ms < c->o.timeout_ms ? ms : c->o.timeout_ms;
}

/* How many more hangs there is time for; one always. */
static int hangs_affordable(const struct campaign *c)
{
    int64_t spent = c->hangs_ns, each = 2 * (int64_t)campaign_eval_ms(c) * NS_PER_MS;
    int64_t may = (campaign_now(c) - c->before_ns) * c->n_slots / HANGS_SHARE;
    int64_t n = (may - spent) / each;
    return !spent && n < 1 ? 1 : n < 0 ? 0 : n > HANGS_MEASURED ? HANGS_MEASURED : (int)n;
}

static struct store_find *as_finds(const struct turn *t)
{
    static const enum store_find_kind kinds[] = {[FIND_SEED] = STORE_FIND_SEED,
                                                 [FIND_CRASH] = STORE_FIND_CRASH,
                                                 [FIND_HANG] = STORE_FIND_HANG,
                                                 [FIND_IMPORTED] = STORE_FIND_ENTRY,
                                                 [FIND_ECHO] = STORE_FIND_ECHO};
    struct store_find *finds = xcalloc(t->found.n, sizeof *finds);
    int hangs = 0, most = hangs_affordable(t->m->c);
    for (size_t i = 0; i < t->found.n; i++) {
        const struct find *f = &t->found.finds[i];
        hangs += f->kind == FIND_HANG;
        finds[i] = (struct store_find){.kind = kinds[f->kind],
                                       .data = f->data,
                                       .size = f->size,
                                       .entry = f->entry,
                                       .parent_entry = f->parent_entry,
                                       .found_ns = t->row.parked_ns,
                                       .signal = f->signal,
                                       .name = f->name,
                                       .measure = f->kind == FIND_CRASH ||
                                                  (f->kind == FIND_HANG && hangs <= most),
                                       .seed = f->kind == FIND_IMPORTED ? f->seed : 0};
    }
    return finds;
}

/* It is in the store: what is new is measured, crashes become files. */
static void take_up(struct turn *t, const struct store_find *f)
{
    struct campaign *c = t->m->c;
    bool hang = f->kind == STORE_FIND_HANG;
    if (f->fresh)
        turn_measure_later(t, f->seed, f->data, f->size);
    if (!f->fresh_crash)
        return;
    struct store_crash k = {
        .hang = hang, .data = f->data, .size = f->size, .arm = t->row.arm, .signal = f->signal};
    *(hang ? &c->gauges.hangs : &c->gauges.crashes) += 1;
    c->found_crash = c->found_crash || !hang;
    finding_write(c, &k);
}

static int store_found(struct turn *t, struct err *e)
{
    struct campaign *c = t->m->c;
    struct store_find *finds = as_finds(t);
    int rc = store_turn_park(c->store, &t->row, finds, t->found.n, t->found.cursor, e);
    for (size_t i = 0; rc == 0 && i < t->found.n; i++)
        take_up(t, &finds[i]);
    if (rc == 0) {
        c->gauges.seeds += t->row.inputs;
        gauge_clock(&c->gauges, t->row.parked_ns);
    }
    free(finds);
    return rc;
}

int turn_park(struct turn *t, struct err *e)
{
    struct instance *in = t->m->in;
    take_report(t);
    bool read = harvest(t, e);
    int rc = store_found(t, e);
    if (rc == 0 && read)
        in->ops->harvested(in, &t->found);
    return rc;
}

int turn_park_late(struct turn *t, struct err *e)
{
    struct instance *in = t->m->in;
    if (!harvest(t, e) || !t->found.n)
        return 0;
    t->row.start_ns = t->row.parked_ns = campaign_now(t->m->c);
    int rc = store_found(t, e);
    if (rc == 0)
        in->ops->harvested(in, &t->found);
    return rc < 0 ? rc : 1;
}

void turn_measure_later(struct turn *t, int64_t id, const void *data, size_t size)
{
    if (t->n == t->cap) {
        t->cap = t->cap ? t->cap * 2 : 64;
        t->inputs = xrealloc(t->inputs, t->cap * sizeof *t->inputs);
        t->ids = xrealloc(t->ids, t->cap * sizeof *t->ids);
    }
    t->inputs[t->n] = (struct eval_input){.data = data, .size = size};
    t->ids[t->n++] = id;
}

int turn_measure(struct turn *t, struct err *e)
{
    struct slot *s = t->m->slot;
    s->measuring = true;
    t->measure_ns = campaign_now(s->c);
    t->job = (struct eval_job){.inputs = t->inputs,
                               .n = t->n,
                               .done = on_turn_measured,
                               .arg = t,
                               .cpu = s->cpu,
                               .limit_ms = campaign_eval_ms(s->c)};
    return s->ev->ops->submit(s->ev, &t->job, e);
}
