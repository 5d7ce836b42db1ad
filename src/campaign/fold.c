/* fold: the pure middle of the campaign.  No clock, no files, no processes. */
#include "campaign/fold.h"

#include "base/str.h"
#include "proc/loop.h"

#include <stdio.h>
#include <string.h>

#define FALLBACK_BUDGET_NS (24 * 3600 * NS_PER_S) /* elapsed_frac of an endless campaign */

int fold_init(struct fold *f, const struct fold_settings *s, struct err *e)
{
    *f = (struct fold){.reward = s->reward};
    f->tally.n_arms = (int)s->fuzzers->n;
    f->tally.n_slots = s->workers;
    f->tally.edges_total = s->table->n_edges;
    for (size_t i = 0; i < s->fuzzers->n; i++)
        snprintf(f->tally.arm[i].name, sizeof f->tally.arm[i].name, "%s", s->fuzzers->v[i]);
    struct sched_settings ss = {.n_arms = f->tally.n_arms,
                                .arms = (const char *const *)s->fuzzers->v,
                                .workers = s->workers,
                                .seed = s->seed,
                                .turn_ns = s->turn_ns,
                                .params = s->params};
    int rc = sched_new(&f->sched, s->scheduler, &ss, e);
    if (rc < 0)
        return rc;
    struct context_settings cs = {.velocity_ns = s->turn_ns};
    f->context = context_new(f->tally.n_arms, &cs);
    fold_budget(f, s->budget_ns);
    ledger_init(&f->ledger, s->table);
    return 0;
}

void fold_free(struct fold *f)
{
    if (f->sched)
        f->sched->ops->free(f->sched);
    if (f->context) {
        context_free(f->context);
        ledger_free(&f->ledger);
    }
    *f = (struct fold){0};
}

void fold_seeds(struct fold *f, const struct edges *sets, size_t n)
{
    ledger_add_seeds(&f->ledger, sets, n);
    f->tally.seed_edges = f->tally.edges = f->ledger.covered;
}

void fold_budget(struct fold *f, int64_t budget_ns)
{
    f->tally.budget_ns = budget_ns;
    context_set_budget(f->context, budget_ns ? budget_ns : FALLBACK_BUDGET_NS);
}

void fold_decide(struct fold *f, int64_t now_ns, int worker, uint32_t dropped, struct decision *d)
{
    struct sched_view v = {.now_ns = now_ns, .t = ++f->t, .worker = worker};
    for (int a = 0; a < f->tally.n_arms; a++) {
        v.dropped[a] = (dropped >> a) & 1;
        context_read(f->context, a, now_ns, v.signals[a]);
    }
    sched_pick(f->sched, &v, d);
    if (d->choice >= 0)
        context_dispatched(f->context, d->choice, now_ns);
}

static void learn(struct fold *f, const struct store_turn *row, const struct decision *d)
{
    struct context_outcome o = {.end_ns = row->end_ns,
                                .reward = row->reward,
                                .new_edges = row->new_edges,
                                .rarity = row->rarity,
                                .sec = row->sec,
                                .crashes = row->crashes};
    context_completed(f->context, row->arm, &o);
    struct sched_outcome so = {.now_ns = row->end_ns,
                               .reward = row->reward,
                               .new_edges = row->new_edges,
                               .crashes = row->crashes,
                               .died = row->died};
    f->sched->ops->learn(f->sched, d, &so);
}

void fold_turn(struct fold *f, struct store_turn *row, const struct decision *d,
               const struct edges *sets, size_t n)
{
    struct gain g = {0};
    row->round = ++f->round;
    ledger_add_turn(&f->ledger, row->round, row->arm, sets, n, &g);
    row->new_edges = g.fresh.n;
    row->rarity = g.rarity;
    row->sec = g.sec;
    row->raw = row->state == TURN_VOID || row->died ? 0 : reward_raw(f->reward, &g);
    row->reward = row->state == TURN_VOID ? 0 : reward_normalise(&f->bounds, row->raw);
    gain_free(&g);
    if (row->state == TURN_VOID)
        context_voided(f->context, row->arm);
    else
        learn(f, row, d);
    tally_add_turn(&f->tally, row);
    f->tally.no_predecessor = f->ledger.no_predecessor;
}
