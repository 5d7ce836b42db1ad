/* fold: the pure middle of the campaign.  No clock, no files, no processes. */
#include "journal/fold.h"

#include "base/str.h"
#include "proc/loop.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FALLBACK_BUDGET_NS (24 * 3600 * NS_PER_S) /* elapsed_frac of an endless campaign */
#define FEW_CYCLES 10                             /* where fewer fit into a turn it ends by time */
#define OWED_TURNS 8 /* a fuzzer is not owed, and does not owe, more than so many turns */

int fold_sched(const struct fold_settings *s, struct sched **out, struct err *e)
{
    struct sched_settings ss = {.n_arms = (int)s->fuzzers->n,
                                .arms = (const char *const *)s->fuzzers->v,
                                .workers = s->workers,
                                .seed = s->seed,
                                .turn_ns = s->turn_ns,
                                .params = s->params,
                                .table = s->table};
    return sched_new(out, s->scheduler, &ss, e);
}

int fold_init(struct fold *f, const struct fold_settings *s, struct err *e)
{
    *f = (struct fold){.reward = s->reward, .turn_ns = s->turn_ns};
    f->tally.n_arms = (int)s->fuzzers->n;
    f->tally.edges_total = s->table->n_edges;
    for (size_t i = 0; i < s->fuzzers->n; i++)
        snprintf(f->tally.arm[i].name, sizeof f->tally.arm[i].name, "%s", s->fuzzers->v[i]);
    int rc = fold_sched(s, &f->sched, e);
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
    sched_free(f->sched);
    if (f->context) {
        context_free(f->context);
        ledger_free(&f->ledger);
    }
    *f = (struct fold){0};
}

/* Learned calls come before the edges they were seen with: an entry reached by one for the first time
 * already has its caller. */
static void learn_calls(struct fold *f, struct news *n)
{
    size_t fresh = 0;
    for (size_t i = 0; i < n->n_calls; i++)
        if (ledger_learn_call(&f->ledger, n->calls[i].caller, n->calls[i].callee))
            n->calls[fresh++] = n->calls[i];
    n->n_calls = fresh;
}

void fold_seeds(struct fold *f, struct news *n)
{
    learn_calls(f, n);
    ledger_add_seeds(&f->ledger, n->sets, n->n);
    f->tally.seed_edges = f->tally.edges = f->ledger.covered;
}

void fold_budget(struct fold *f, int64_t budget_ns)
{
    f->tally.budget_ns = budget_ns;
    context_set_budget(f->context, budget_ns ? budget_ns : FALLBACK_BUDGET_NS);
}

void fold_ask(struct fold *f, int64_t now_ns, int worker, uint64_t dropped, struct decision *d)
{
    decision_ask(d, f->tally.n_arms, ++f->t, worker, now_ns, dropped);
    for (int a = 0; a < f->tally.n_arms; a++)
        context_read(f->context, a, now_ns, d->arm[a].signals);
    sched_tick(f->sched, now_ns, &f->ledger);
    sched_pick(f->sched, d);
}

void fold_dispatched(struct fold *f, const struct decision *d)
{
    if (d->choice >= 0)
        context_dispatched(f->context, d->choice, d->now_ns);
}

void fold_decide(struct fold *f, int64_t now_ns, int worker, uint64_t dropped, struct decision *d)
{
    fold_ask(f, now_ns, worker, dropped, d);
    fold_dispatched(f, d);
}

static int64_t within(int64_t v, int64_t least, int64_t most)
{
    return v < least ? least : v > most ? most : v;
}

struct turn_quota fold_quota(const struct fold *f, const struct decision *d, int64_t left_ns)
{
    const struct tally_arm *a = &f->tally.arm[d->choice];
    int64_t ns = d->turn_ns ? d->turn_ns : f->turn_ns, due = ns + a->owed_ns;
    int64_t least = ns - ns / 4, most = ns + ns / 4;
    struct turn_quota q = {.cap_ns = within(due, least, most)};
    double mean = a->cycles ? (double)a->cycle_ns / (double)a->cycles : 0;
    if (mean > 0 && (double)ns >= FEW_CYCLES * mean) {
        double cycles = floor((double)due / (mean > 1 ? mean : 1));
        q.cycles = cycles < 1 ? 1 : (uint64_t)cycles;
        q.least_ns = within(due - ns / 8, least, most);
        q.cap_ns = within(due + ns / 8, least, most);
    }
    if (left_ns && q.cap_ns > left_ns)
        q.cap_ns = left_ns > NS_PER_MS ? left_ns : NS_PER_MS;
    return q;
}

/* Cycles get longer and shorter as a campaign goes on, d is a mean of the past, and a slow execution outlasts the
 * end of its turn: what a turn was shorter than asked is added to the next, what it was longer is taken off, so
 * that in the long run every fuzzer has the same time per turn.  A turn that died is not owed its rest. */
static void settle(struct fold *f, const struct store_turn *row, const struct decision *d)
{
    int64_t asked = d->turn_ns ? d->turn_ns : f->turn_ns;
    int64_t owed = f->tally.arm[row->arm].owed_ns + asked - row->active_ns;
    int64_t most = OWED_TURNS * f->turn_ns;
    f->tally.arm[row->arm].owed_ns = owed > most ? most : owed < -most ? -most : owed;
}

bool fold_too_late(const struct fold *f, int64_t now_ns)
{
    int64_t budget = f->tally.budget_ns, turn = f->turn_ns < budget ? f->turn_ns : budget;
    return budget && now_ns >= budget - turn / 12;
}

static void learn(struct fold *f, const struct store_turn *row, const struct decision *d,
                  const struct gain *g)
{
    struct context_outcome o = {.end_ns = row->end_ns,
                                .reward = row->reward,
                                .new_edges = row->new_edges,
                                .rarity = row->rarity,
                                .sec = row->sec,
                                .crashes = row->crashes};
    context_completed(f->context, row->arm, &o);
    struct sched_outcome so = {.now_ns = row->end_ns,
                               .cost_ns = row->end_ns - row->start_ns,
                               .reward = row->reward,
                               .new_edges = row->new_edges,
                               .crashes = row->crashes,
                               .died = row->died,
                               .gain = g};
    sched_learn(f->sched, d, &so);
}

void fold_turn(struct fold *f, struct store_turn *row, const struct decision *d, struct news *n)
{
    struct gain g = {0};
    learn_calls(f, n);
    row->round = ++f->round;
    sched_tick(f->sched, row->end_ns, &f->ledger);
    ledger_add_turn(&f->ledger, row->round, row->arm, n->sets, n->n, &g);
    row->new_edges = g.fresh.n;
    row->rarity = g.rarity;
    row->sec = g.sec;
    bool counts = row->state == TURN_COMMITTED;
    row->raw = counts && !row->died ? reward_raw(f->reward, &g) : 0;
    row->reward = counts ? reward_normalise(&f->bounds, row->raw) : 0;
    if (counts)
        learn(f, row, d, &g);
    else if (row->state == TURN_VOID) /* a late one was never dispatched */
        context_voided(f->context, row->arm);
    if (counts && !row->died)
        settle(f, row, d);
    gain_free(&g);
    tally_add_turn(&f->tally, row);
    f->tally.no_predecessor = f->ledger.no_predecessor;
}
