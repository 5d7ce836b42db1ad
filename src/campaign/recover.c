/* recover: going on after whatever happened: the state from the journal, the turns a killed supervisor
 * left open.  Runs before the first decision. */
#include "campaign/state.h"

#include "base/die.h"
#include "base/log.h"
#include "journal/replay.h"
#include "journal/write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int open_members(struct campaign *c, struct err *e)
{
    struct store_instance *rows = NULL;
    size_t n = 0;
    int rc = store_instances(c->store, &rows, &n, e);
    for (size_t i = 0; rc == 0 && i < n; i++)
        if (!pool_add(c, &rows[i], e))
            rc = e->code;
    store_instances_free(rows, n);
    return rc;
}

/* An open turn becomes a turn of slot 0, to be finished first.  d: NULL for a late one. */
static int take_open(struct campaign *c, const struct store_turn *row, const struct decision *d,
                     struct err *e)
{
    struct turn *t = xcalloc(1, sizeof *t);
    t->row = *row;
    if (d)
        t->d = *d;
    t->m = c->members;
    while (t->m && t->m->row != row->instance)
        t->m = t->m->next;
    if (!t->m || t->m->host != arm_host(c, row->arm) || row->slot < 0 || row->slot >= c->n_slots) {
        free(t);
        return err_set(
            e, -EINVAL,
            "turn %lld names an instance or a slot the campaign does not have, or another "
            "fuzzer than that of its instance",
            (long long)row->id);
    }
    c->recover = xrealloc(c->recover, (c->n_recover + 1) * sizeof *c->recover);
    c->recover[c->n_recover++] = t;
    return 0;
}

static int take_late(struct campaign *c, struct err *e)
{
    struct store_turns *turns;
    struct store_turn row;
    int rc = store_turns_open(&turns, c->store, TURNS_LATE_OPEN, 0, e);
    while (rc == 0 && (rc = store_turns_next(turns, &row, NULL, e)) > 0)
        rc = row.instance ? take_open(c, &row, NULL, e) : 0; /* the user's imports: seeds.c */
    store_turns_close(turns);
    return rc;
}

static int by_turn(const void *a, const void *b)
{
    const struct turn *x = *(struct turn *const *)a, *y = *(struct turn *const *)b;
    return x->row.id < y->row.id ? -1 : x->row.id > y->row.id;
}

/* The budget: of the start, of an earlier resume, or given now. */
static int take_budget(struct campaign *c, struct err *e)
{
    if (c->new_budget_ns < 0)
        return 0;
    fold_budget(&c->f, c->new_budget_ns);
    return journal_set_budget(c->store, (int64_t)c->f.t + 1, c->new_budget_ns, e);
}

/* What was dropped may have been mended meanwhile: a resumed campaign tries every arm again. */
static int forgive_dropped(struct campaign *c, struct err *e)
{
    int rc = 0;
    for (int a = 0; rc == 0 && a < c->f.tally.n_arms; a++) {
        const char *name = c->f.tally.arm[a].name;
        char *why;
        rc = journal_dropped(c->store, name, &why, e);
        if (why) {
            log_info("%s was dropped (%s); trying it again", name, why);
            rc = journal_set_dropped(c->store, name, "", e);
        }
        free(why);
    }
    return rc;
}

static void warn_of_mismatch(const struct replay *r)
{
    if (r->mismatch.turn)
        log_warn(
            "the journal does not replay exactly from turn %lld on (%s: logged %s, computed %s); "
            "going on from the computed state",
            (long long)r->mismatch.turn, r->mismatch.what, r->mismatch.logged,
            r->mismatch.computed);
    else if (!r->state_equal)
        log_warn("every decision replays exactly, but the scheduler's state is not the stored one; "
                 "going on from the computed state");
}

int recover_load(struct campaign *c, struct err *e)
{
    struct fold_settings st;
    struct replay r;
    settings_fold(&c->o, c->env.table, &st);
    int rc = replay_journal(&r, c->store, &st, NULL, e);
    if (rc == 0) {
        warn_of_mismatch(&r);
        c->f = r.fold;
        memset(&r.fold, 0, sizeof r.fold);
        rc = take_budget(c, e);
    }
    if (rc == 0 && c->o.share == SHARE_WORTH) {
        c->exchange = exchange_new(c->env.table->n_edges);
        rc = exchange_load(c->exchange, c->store, e);
    }
    if (rc == 0)
        rc = open_members(c, e);
    for (size_t i = 0; rc == 0 && i < r.n_open; i++)
        rc = take_open(c, &r.open[i].row, &r.open[i].d, e);
    if (rc == 0)
        rc = take_late(c, e);
    if (c->n_recover)
        qsort(c->recover, c->n_recover, sizeof *c->recover, by_turn);
    if (rc == 0)
        rc = forgive_dropped(c, e);
    if (rc == 0)
        rc = findings_restore(c, e);
    if (rc == 0)
        rc = gauges_load(&c->gauges, c->store, e);
    c->gauges.n_slots = c->n_slots;
    c->before_ns = c->gauges.elapsed_ns;
    replay_free(&r);
    return rc;
}

/* Seeds of a turn that are stored and not yet measured. */
static int pending_seed(void *arg, const struct store_seed *seed, struct err *e)
{
    (void)e;
    struct turn *t = arg;
    if (seed->state == SEED_PENDING) {
        inputs_add(&t->stored, seed->id, seed->data, seed->size);
        const struct input *in = &t->stored.v[t->stored.n - 1];
        turn_measure_later(t, in->id, in->data, in->size);
    }
    return 0;
}

int recover_step(struct campaign *c, struct err *e)
{
    if (c->slots[0].turn)
        return 1;
    if (c->next_recover == c->n_recover)
        return 0;
    struct turn *t = c->recover[c->next_recover++];
    bool cut = t->row.state == TURN_RUNNING;
    if (t->row.state != TURN_LATE)
        log_info("turn %lld (%s) was cut off; finishing it", (long long)t->row.id,
                 c->f.tally.arm[t->row.arm].name);
    t->m->slot = &c->slots[0];
    c->slots[0].turn = t;
    int rc = 0;
    if (cut) {
        t->m->in->report = (struct turn_report){0};
        t->row.state = TURN_VOID;
        rc = t->m->started ? turn_park(t, e) : 0;
    } else { /* also a void or late one, when this very recovery was cut off before */
        rc = store_turn_seeds(c->store, t->row.id, pending_seed, t, e);
    }
    if (rc == 0)
        rc = turn_measure(t, e);
    return rc < 0 ? rc : 1;
}
