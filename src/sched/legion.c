/* legion: the baseline that shares the cores by five counts per fuzzer, rescored every round
 * (METHOD §14).  The common reward does not steer it.
 *
 * A round is 600 s of campaign time.  In round 0 every arm has one core (with another number of workers
 * they take turns).  At the end of a round the five counts are weighted by how much they differ between the
 * arms that ran.  The weighted sums accumulate in R, and the shares of the next round are
 *     softmax(R/(R+n) + sqrt(2 ln N / n)),  n the arm's units so far, N all units, 1 unit = 1 core and round.
 * A turn counts in the round in which it is evaluated.
 *
 * monitor=on (METHOD R76): from half of the round on, every 30 s, arms without any count since the last look
 * lose their cores to the best of the round; if no arm has any, the round ends.  Turns are then cut at the
 * half and short after it, because a turn in flight has no counts yet. */
#include "base/det.h"
#include "base/die.h"
#include "sched/deal.h"
#include "sched/legion_counts.h"
#include "sched/params.h"
#include "sched/schedulers.h"

#include <math.h>
#include <stdlib.h>

#define WEIGHT_OF_ALL 0x1p40 /* a share in the whole numbers of a deal */

enum { UNITS_CUMULATIVE, UNITS_LAST };
enum { MONITOR_OFF, MONITOR_ON };
enum { PHI_ROUND, PHI_R, PHI_UNITS, PHI_COUNTS, PHI_WEIGHTS = PHI_COUNTS + COUNT_KINDS };

struct opts {
    int64_t round_ns, check_ns;
    int units, monitor;
};

static const struct param params[] = {
    {"round", PARAM_TIME, offsetof(struct opts, round_ns), 600, 0.01, 1e7, NULL,
     "how long shares stay"},
    {"units", PARAM_CHOICE, offsetof(struct opts, units), 0, 0, 0, "cumulative|last",
     "n: all units a fuzzer had, or those of its last round"},
    {"monitor", PARAM_CHOICE, offsetof(struct opts, monitor), 0, 0, 0, "off|on",
     "take cores back within a round"},
    {"check", PARAM_TIME, offsetof(struct opts, check_ns), 30, 0.01, 1e7, NULL,
     "with monitor=on: how often, and the length of a short turn"},
    {0}};

struct legion_arm {
    double reward;           /* R: weighted counts of all closed rounds */
    double units;            /* n */
    double spent;            /* units in this round until since_ns */
    uint64_t seen;           /* sum of its counts at the last look of the monitor */
    double exploit, explore; /* q and u; with share they follow from R, n and N */
    double share;
};

struct legion {
    struct sched base;
    struct opts o;
    int workers;
    int64_t turn_ns; /* T_I */
    /* The state. */
    bool begun;     /* round 0 has seen the map */
    uint64_t round; /* from 0 */
    uint64_t looks; /* of the monitor in this round */
    uint64_t ran;   /* bit per arm: completed a turn in this round */
    bool by_share;  /* the cores are as the shares say: not in round 0, nor after a reclaim */
    int64_t from_ns, since_ns;
    double all_units;
    double weight[COUNT_KINDS]; /* of the last closed round, and what they weighted: */
    uint64_t last[SCHED_MAX_ARMS][COUNT_KINDS];
    struct legion_arm arm[SCHED_MAX_ARMS];
    struct legion_counts counts;
    struct deal deal;
};

/* --- shares ---------------------------------------------------------------------------------- */

/* q, u and the share of every arm that can run, from R, n and N. */
static void set_shares(struct legion *l)
{
    double most = 0, sum = 0;
    for (int i = 0; i < l->deal.n_arms; i++) {
        struct legion_arm *m = &l->arm[i];
        bool none = !(m->units > 0);
        m->exploit = none ? 0 : m->reward / (m->reward + m->units);
        m->explore = none || l->all_units <= 1 ? 1 : sqrt(2 * det_log(l->all_units) / m->units);
        if (deal_may(&l->deal, i))
            most = fmax(most, m->exploit + m->explore);
    }
    for (int i = 0; i < l->deal.n_arms; i++) {
        struct legion_arm *m = &l->arm[i];
        m->share = deal_may(&l->deal, i) ? det_exp(m->exploit + m->explore - most) : 0;
        sum += m->share;
    }
    for (int i = 0; i < l->deal.n_arms; i++)
        l->arm[i].share /= sum;
}

static void assign(struct legion *l)
{
    uint64_t weight[SCHED_MAX_ARMS];
    set_shares(l);
    for (int i = 0; i < l->deal.n_arms; i++)
        weight[i] = (uint64_t)(l->arm[i].share * WEIGHT_OF_ALL + 0.5);
    deal_start(&l->deal, weight, l->workers);
    l->by_share = true;
}

/* --- rounds by the clock --------------------------------------------------------------------- */

/* Charges the cores held since the last time, as units. */
static void account(struct legion *l, int64_t until_ns)
{
    double rounds = (double)(until_ns - l->since_ns) / (double)l->o.round_ns;
    if (until_ns <= l->since_ns)
        return;
    for (int i = 0; i < l->deal.n_arms; i++)
        l->arm[i].spent += deal_cores(&l->deal, i, l->workers) * rounds;
    l->since_ns = until_ns;
}

static void close_arm(struct legion *l, int i)
{
    struct legion_arm *m = &l->arm[i];
    for (int k = 0; k < COUNT_KINDS; k++) {
        m->reward += l->weight[k] * (double)l->counts.count[i][k];
        l->last[i][k] = l->counts.count[i][k];
    }
    if (m->spent > 0)
        m->units = l->o.units == UNITS_LAST ? m->spent : m->units + m->spent;
    l->all_units += m->spent;
    m->spent = 0;
    m->seen = 0;
}

static void close_round(struct legion *l, int64_t at_ns, const struct ledger *map)
{
    account(l, at_ns);
    uint64_t had_cores = l->ran;
    for (int i = 0; i < l->deal.n_arms; i++)
        had_cores |= (uint64_t)(l->arm[i].spent > 0) << i;
    legion_counts_weights(&l->counts, had_cores, l->weight);
    for (int i = 0; i < l->deal.n_arms; i++)
        close_arm(l, i);
    l->round++;
    l->looks = 0;
    l->ran = 0;
    l->from_ns = at_ns;
    legion_counts_begin(&l->counts, map);
    assign(l);
}

/* The best of the round so far among those that can run; of several, the first in the order of the deal. */
static int best_of_round(const struct legion *l)
{
    int best = -1;
    uint64_t most = 0;
    for (int i = 0; i < l->deal.n_arms; i++) {
        int arm = l->deal.order[i];
        uint64_t sum = legion_counts_sum(&l->counts, arm);
        if (deal_may(&l->deal, arm) && (best < 0 || sum > most)) {
            best = arm;
            most = sum;
        }
    }
    return best;
}

/* Looks at the counts since the last look; returns the arms that have some. */
static uint64_t look(struct legion *l)
{
    uint64_t scored = 0;
    l->looks++;
    for (int i = 0; i < l->deal.n_arms; i++) {
        uint64_t sum = legion_counts_sum(&l->counts, i);
        scored |= (uint64_t)(sum > l->arm[i].seen) << i;
        l->arm[i].seen = sum;
    }
    return scored;
}

static void reclaim(struct legion *l, uint64_t scored, int64_t at_ns)
{
    uint64_t cores[SCHED_MAX_ARMS];
    int best = best_of_round(l), moved = 0;
    for (int i = 0; i < l->deal.n_arms; i++) {
        bool loses = i != best && !(scored >> i & 1);
        cores[i] = loses ? 0 : (uint64_t)l->deal.cores[i];
        moved += loses ? l->deal.cores[i] : 0;
    }
    if (!moved)
        return;
    account(l, at_ns);
    cores[best] += (uint64_t)moved;
    deal_start(&l->deal, cores, l->deal.slots);
    l->by_share = false;
}

static void monitor(struct legion *l, int64_t at_ns, const struct ledger *map)
{
    uint64_t scored = look(l);
    if (scored)
        reclaim(l, scored, at_ns);
    else
        close_round(l, at_ns, map);
}

static void legion_tick(struct sched *s, int64_t now_ns, const struct ledger *map)
{
    struct legion *l = (struct legion *)s;
    if (!l->begun)
        legion_counts_begin(&l->counts, map);
    l->begun = true;
    for (;;) {
        int64_t end = l->from_ns + l->o.round_ns;
        int64_t at = l->from_ns + l->o.round_ns / 2 + (int64_t)l->looks * l->o.check_ns;
        bool looks = l->o.monitor == MONITOR_ON && at < end;
        if (now_ns < (looks ? at : end))
            return;
        if (looks)
            monitor(l, at, map);
        else
            close_round(l, end, map);
    }
}

/* --- choices --------------------------------------------------------------------------------- */

static int64_t turn_length(const struct legion *l, int64_t now_ns)
{
    int64_t shortest = l->o.check_ns < l->turn_ns ? l->o.check_ns : l->turn_ns;
    int64_t left = l->from_ns + l->o.round_ns / 2 - now_ns;
    if (l->o.monitor == MONITOR_OFF || left >= l->turn_ns)
        return l->turn_ns;
    return left > shortest ? left : shortest;
}

/* Another set of arms can run: deal the cores among these. */
static void deal_anew(struct legion *l, const struct decision *d)
{
    bool dealt = l->round || l->ran || l->deal.next;
    if (dealt)
        account(l, d->now_ns);
    else
        l->since_ns = d->now_ns; /* an arm that could never run has had no cores */
    if (!deal_without(&l->deal, d->dropped))
        return;
    if (l->by_share)
        assign(l);
    else
        set_shares(l);
}

static void legion_pick(struct sched *s, struct decision *d)
{
    struct legion *l = (struct legion *)s;
    if (d->dropped != l->deal.dropped)
        deal_anew(l, d);
    d->choice = deal_next(&l->deal, d->dropped);
    d->turn_ns = turn_length(l, d->now_ns);
    for (int i = 0; i < s->n_arms; i++) {
        const struct legion_arm *a = &l->arm[i];
        struct decision_arm *m = &d->arm[i];
        m->mean = a->exploit;
        m->width = a->explore;
        m->noise = a->share;
        m->draw = deal_cores(&l->deal, i, l->workers);
        m->phi[PHI_ROUND] = (double)l->round;
        m->phi[PHI_R] = a->reward;
        m->phi[PHI_UNITS] = a->units;
        for (int k = 0; k < COUNT_KINDS; k++) {
            m->phi[PHI_COUNTS + k] = (double)l->last[i][k];
            m->phi[PHI_WEIGHTS + k] = l->weight[k];
        }
    }
}

static void legion_learn(struct sched *s, const struct decision *d, const struct sched_outcome *o)
{
    struct legion *l = (struct legion *)s;
    l->ran |= UINT64_C(1) << d->choice;
    legion_counts_add(&l->counts, d->choice, o);
}

static void legion_why(const struct decision *d, const char *const *arms, struct buf *out)
{
    if (d->choice < 0)
        return;
    const struct decision_arm *m = &d->arm[d->choice];
    const double *c = &m->phi[PHI_COUNTS];
    buf_printf(out, "round %.0f: %s has %g cores and it is its turn among them", m->phi[PHI_ROUND],
               arms[d->choice], m->draw);
    if (m->phi[PHI_ROUND] == 0)
        buf_str(out, "; in the first round all begin with the same");
    else
        buf_printf(out,
                   ": its share is %.3f, from exploitation %.3f (R %.4g in %.4g units) and "
                   "exploration %.3f; in the round before it had %.0f new edges, %.0f new paths, "
                   "%.0f crashes, %.0f deep and %.0f rare edges",
                   m->noise, m->mean, m->phi[PHI_R], m->phi[PHI_UNITS], m->width, c[COUNT_EDGES],
                   c[COUNT_PATHS], c[COUNT_CRASHES], c[COUNT_DEEP], c[COUNT_RARE]);
}

/* --- making, saving and freeing ------------------------------------------------------------------------- */

static int legion_create(struct sched **out, const char *arg, const struct sched_settings *st,
                         struct err *e)
{
    (void)arg;
    struct legion *l = xcalloc(1, sizeof *l);
    int rc = params_read(params, &l->o, "legion", st, e);
    if (rc < 0) {
        free(l);
        return rc;
    }
    l->base.opts = &l->o;
    l->workers = st->workers > 0 ? st->workers : 1;
    l->turn_ns = st->turn_ns ? st->turn_ns : SCHED_TURN_NS;
    deal_init(&l->deal, st->n_arms, st->seed);
    legion_counts_init(&l->counts, st->n_arms, st->table);
    set_shares(l);
    *out = &l->base;
    return 0;
}

static void legion_save(const struct sched *s, struct buf *out)
{
    const struct legion *l = (const struct legion *)s;
    wire_put_u8(out, l->begun);
    wire_put_u8(out, l->by_share);
    wire_put_u64(out, l->round);
    wire_put_u64(out, l->looks);
    wire_put_u64(out, l->ran);
    wire_put_u64(out, (uint64_t)l->from_ns);
    wire_put_u64(out, (uint64_t)l->since_ns);
    wire_put_double(out, l->all_units);
    for (int k = 0; k < COUNT_KINDS; k++)
        wire_put_double(out, l->weight[k]);
    for (int i = 0; i < s->n_arms; i++) {
        wire_put_double(out, l->arm[i].reward);
        wire_put_double(out, l->arm[i].units);
        wire_put_double(out, l->arm[i].spent);
        wire_put_u64(out, l->arm[i].seen);
        for (int k = 0; k < COUNT_KINDS; k++)
            wire_put_u64(out, l->last[i][k]);
    }
    deal_save(&l->deal, out);
    legion_counts_save(&l->counts, out);
}

static void legion_free(struct sched *s)
{
    legion_counts_free(&((struct legion *)s)->counts);
    free(s);
}

const struct sched_ops sched_legion = {
    .name = "legion",
    .summary = "shares of the cores by five counts per fuzzer, rescored every ten minutes",
    .params = params,
    .columns = {"exploit", "explore", "share", "cores"},
    .create = legion_create,
    .pick = legion_pick,
    .tick = legion_tick,
    .learn = legion_learn,
    .why = legion_why,
    .save = legion_save,
    .free = legion_free,
};
