/* finds: what a fuzzer found, in a turn or outside, is stored, durably, before anybody measures it. */
#include "campaign/state.h"

#include "base/die.h"
#include "base/log.h"

#include <stdlib.h>
#include <string.h>

/* Confirming a hang costs whole time limits; more than this many per turn are stored unmeasured. */
#define HANGS_MEASURED 4

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

static int store_found(struct turn *t, struct err *e)
{
    struct campaign *c = t->m->c;
    int rc = store_begin(c->store, e);
    if (rc == 0 && t->row.state == TURN_LATE)
        rc = store_late_begin(c->store, &t->row, e);
    for (size_t i = 0; rc == 0 && i < t->found.n; i++)
        rc = store_find(t, &t->found.finds[i], e);
    if (rc == 0)
        rc = store_turn_parked(c->store, &t->row, t->found.cursor, e);
    if (rc == 0)
        rc = store_clock(c->store, t->row.parked_ns, e);
    if (rc == 0)
        rc = store_commit(c->store, e);
    if (rc < 0)
        store_rollback(c->store);
    return rc;
}

int turn_store_finds(struct turn *t, struct err *e)
{
    struct instance *in = t->m->in;
    take_report(t);
    bool read = harvest(t, e);
    int rc = store_found(t, e);
    if (rc == 0 && read)
        in->ops->harvested(in, &t->found);
    return rc;
}

int turn_store_late(struct turn *t, struct err *e)
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
