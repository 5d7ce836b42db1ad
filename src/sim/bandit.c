/* bandit: asks and tells a scheduler as a campaign does.  Where rewards come from is the caller's. */
#include "sim/bandit.h"

#include "base/die.h"
#include "context/context.h"
#include "reward/ledger.h"

#include <stdlib.h>

/* A target that has nothing to cover, for schedulers that look at the map. */
static struct table_edge no_edge = {.flags = EDGE_ENTRY};
static uint32_t no_pred;
static struct table_func no_func = {.name = "none"};
static const struct table empty = {.n_modules = 1,
                                   .n_edges = 1,
                                   .n_funcs = 1,
                                   .edges = &no_edge,
                                   .preds = &no_pred,
                                   .funcs = &no_func};

struct bandit {
    struct sched *s;
    struct context *c;
    struct ledger map;
    int n_arms;
    uint64_t t;
};

int bandit_new(struct bandit **out, const struct bandit_settings *st, struct err *e)
{
    struct sched_settings ss = {.n_arms = st->n_arms,
                                .arms = st->arms,
                                .workers = st->workers,
                                .seed = st->seed,
                                .turn_ns = BANDIT_TURN_NS,
                                .params = st->params,
                                .table = &empty};
    struct context_settings cs = {.budget_ns = st->budget_ns, .velocity_ns = BANDIT_TURN_NS};
    struct sched *s = NULL;
    int rc = sched_new(&s, st->scheduler, &ss, e);
    if (rc < 0)
        return rc;
    struct bandit *b = xcalloc(1, sizeof *b);
    b->s = s;
    b->n_arms = st->n_arms;
    b->c = context_new(st->n_arms, &cs);
    ledger_init(&b->map, &empty);
    *out = b;
    return 0;
}

void bandit_free(struct bandit *b)
{
    if (!b)
        return;
    ledger_free(&b->map);
    context_free(b->c);
    sched_free(b->s);
    free(b);
}

void bandit_ask(struct bandit *b, int worker, int64_t now_ns, struct decision *d)
{
    decision_ask(d, b->n_arms, ++b->t, worker, now_ns, 0);
    for (int a = 0; a < b->n_arms; a++)
        context_read(b->c, a, now_ns, d->arm[a].signals);
}

void bandit_pick(struct bandit *b, struct decision *d)
{
    sched_tick(b->s, d->now_ns, &b->map);
    sched_pick(b->s, d);
    context_dispatched(b->c, d->choice, d->now_ns);
}

void bandit_pay(struct bandit *b, int64_t now_ns, const struct decision *d, double reward,
                uint32_t new_edges)
{
    struct context_outcome co = {.end_ns = now_ns, .reward = reward, .new_edges = new_edges};
    context_completed(b->c, d->choice, &co);
    sched_tick(b->s, now_ns, &b->map);
    sched_learn(b->s, d,
                &(struct sched_outcome){.now_ns = now_ns,
                                        .cost_ns = now_ns - d->now_ns,
                                        .reward = reward,
                                        .new_edges = new_edges});
}
