/* autofz: the baseline that measures all fuzzers, then gives the cores to the best, round after round
 * (METHOD §13).  The common reward does not steer it.
 *
 * A round is prep + focus of campaign time.  In the preparation all arms get short turns in rotation (one
 * core each with as many workers as arms).  Every `check` (with fewer workers: after as many as it takes until
 * every arm had its short turn) it compares the new edges each arm found since the
 * preparation began: a lead of more than theta ends it.  In the focus the winner has all cores; without a
 * winner the shares are proportional to the new edges.  The focus lasts until the round ends, so an early end
 * of the preparation lengthens it.  A winner raises theta by its start value; a round without one halves it.
 * Turns in flight at a boundary are not cut; they just do not count. */
#include "base/die.h"
#include "sched/deal.h"
#include "sched/params.h"
#include "sched/schedulers.h"

#include <stdlib.h>

enum { PREPARATION, FOCUS };
enum { PHI_PHASE, PHI_THETA, PHI_ROUND, PHI_WINNER }; /* what it records in phi */

struct options {
    int64_t prep_ns, focus_ns, check_ns;
    double theta, decrease;
    int aimd;
};

static const struct param params[] = {
    {"prep", PARAM_TIME, offsetof(struct options, prep_ns), 300, 0.01, 1e7, NULL,
     "the longest preparation"},
    {"focus", PARAM_TIME, offsetof(struct options, focus_ns), 300, 0.01, 1e7, NULL,
     "the shortest focus; a round is both"},
    {"check", PARAM_TIME, offsetof(struct options, check_ns), 30, 0.01, 1e7, NULL,
     "between two comparisons; also the length of a short turn"},
    {"theta", PARAM_REAL, offsetof(struct options, theta), 100, 0, 1e9, NULL,
     "new edges of lead that make a winner, at the start"},
    {"aimd", PARAM_CHOICE, offsetof(struct options, aimd), 0, 0, 0, "on|off",
     "whether theta changes from round to round"},
    {"decrease", PARAM_REAL, offsetof(struct options, decrease), 0.5, 0, 1, NULL,
     "what theta is multiplied by after a round without a winner"},
    {0}};

struct autofz {
    struct sched base;
    struct options o;
    int workers;
    int64_t turn_ns; /* T_I */
    /* The state. */
    int phase;
    bool winner;     /* of the last comparison that ended a preparation */
    uint64_t round;  /* from 0 */
    uint64_t checks; /* done in this preparation */
    int64_t from_ns; /* when this round began */
    double theta;
    uint64_t found[SCHED_MAX_ARMS]; /* new edges in this round's preparation */
    struct deal deal;
};

static int autofz_create(struct sched **out, const char *arg, const struct sched_settings *st,
                         struct err *e)
{
    (void)arg;
    struct autofz *a = xcalloc(1, sizeof *a);
    int rc = params_read(params, &a->o, "autofz", st, e);
    if (rc < 0) {
        free(a);
        return rc;
    }
    a->base.opts = &a->o;
    a->workers = st->workers > 0 ? st->workers : 1;
    a->turn_ns = st->turn_ns ? st->turn_ns : SCHED_TURN_NS;
    a->theta = a->o.theta;
    deal_init(&a->deal, st->n_arms, st->seed);
    *out = &a->base;
    return 0;
}

/* --- phases by the clock --------------------------------------------------------------------- */

/* The next comparison: when all arms had the same number of short turns, the last one at the end of the preparation. */
static int64_t next_check(const struct autofz *a)
{
    int64_t turns =
        (a->base.n_arms + a->workers - 1) / a->workers; /* one after another on a core */
    int64_t after = (int64_t)(a->checks + 1) * turns * a->o.check_ns;
    return a->from_ns + (after < a->o.prep_ns ? after : a->o.prep_ns);
}

static int64_t round_end(const struct autofz *a)
{
    return a->from_ns + a->o.prep_ns + a->o.focus_ns;
}

/* How far the best arm is ahead of the worst, among those that can run. */
static uint64_t lead(const struct autofz *a, uint64_t *best)
{
    uint64_t worst = UINT64_MAX;
    *best = 0;
    for (int i = 0; i < a->base.n_arms; i++) {
        if (!deal_may(&a->deal, i))
            continue;
        *best = a->found[i] > *best ? a->found[i] : *best;
        worst = a->found[i] < worst ? a->found[i] : worst;
    }
    return *best - worst;
}

static void begin_focus(struct autofz *a, uint64_t best)
{
    uint64_t weight[SCHED_MAX_ARMS];
    for (int i = 0; i < a->base.n_arms; i++)
        weight[i] = a->winner ? a->found[i] == best : a->found[i];
    if (a->o.aimd == 0)
        a->theta = a->winner ? a->theta + a->o.theta : a->theta * a->o.decrease;
    a->phase = FOCUS;
    deal_start(&a->deal, weight, a->workers);
}

static void compare(struct autofz *a)
{
    uint64_t best;
    bool last = next_check(a) == a->from_ns + a->o.prep_ns;
    a->winner = (double)lead(a, &best) > a->theta;
    a->checks++;
    if (a->winner || last)
        begin_focus(a, best);
}

static void begin_round(struct autofz *a)
{
    a->from_ns = round_end(a);
    a->round++;
    a->checks = 0;
    a->phase = PREPARATION;
    for (int i = 0; i < a->base.n_arms; i++)
        a->found[i] = 0;
    deal_start(&a->deal, NULL, DEAL_ONE_EACH);
}

static void autofz_tick(struct sched *s, int64_t now_ns, const struct ledger *map)
{
    (void)map;
    struct autofz *a = (struct autofz *)s;
    while (now_ns >= (a->phase == PREPARATION ? next_check(a) : round_end(a))) {
        if (a->phase == PREPARATION)
            compare(a);
        else
            begin_round(a);
    }
}

/* --- choices --------------------------------------------------------------------------------- */

/* In the focus T_I, cut at the end of the round, but never below a short turn (METHOD R65). */
static int64_t turn_length(const struct autofz *a, int64_t now_ns)
{
    int64_t shortest = a->o.check_ns < a->turn_ns ? a->o.check_ns : a->turn_ns;
    int64_t left = round_end(a) - now_ns;
    if (a->phase == PREPARATION || left < shortest)
        return shortest;
    return left < a->turn_ns ? left : a->turn_ns;
}

static void autofz_pick(struct sched *s, struct decision *d)
{
    struct autofz *a = (struct autofz *)s;
    d->choice = deal_next(&a->deal, d->dropped);
    d->turn_ns = turn_length(a, d->now_ns);
    for (int i = 0; i < s->n_arms; i++) {
        struct decision_arm *m = &d->arm[i];
        m->mean = (double)a->found[i];
        m->width = a->deal.share[i];
        m->draw = deal_cores(&a->deal, i, a->workers);
        m->phi[PHI_PHASE] = a->phase;
        m->phi[PHI_THETA] = a->theta;
        m->phi[PHI_ROUND] = (double)a->round;
        m->phi[PHI_WINNER] = a->phase == FOCUS && a->winner;
    }
}

static void autofz_learn(struct sched *s, const struct decision *d, const struct sched_outcome *o)
{
    struct autofz *a = (struct autofz *)s;
    if (a->phase == PREPARATION && d->now_ns >= a->from_ns)
        a->found[d->choice] += o->new_edges;
}

static void autofz_why(const struct decision *d, const char *const *arms, struct buf *out)
{
    if (d->choice < 0)
        return;
    const struct decision_arm *m = &d->arm[d->choice];
    const char *name = arms[d->choice];
    buf_printf(out, "%s of round %.0f: ", (int)m->phi[PHI_PHASE] == FOCUS ? "focus" : "preparation",
               m->phi[PHI_ROUND]);
    if ((int)m->phi[PHI_PHASE] == PREPARATION)
        buf_printf(
            out,
            "all fuzzers get short turns in rotation, and it is the turn of %s; "
            "it has found %.0f new edges so far, and a lead of more than %g ends the preparation",
            name, m->mean, m->phi[PHI_THETA]);
    else if (m->phi[PHI_WINNER] != 0)
        buf_printf(out,
                   "%s won the preparation with %.0f new edges and has %g cores; the next winner "
                   "needs a lead of more than %g",
                   name, m->mean, m->draw, m->phi[PHI_THETA]);
    else
        buf_printf(
            out,
            "no fuzzer won the preparation, so cores go by new edges: %s found %.0f, a share "
            "of %.3f, and has %g cores; the next winner needs a lead of more than %g",
            name, m->mean, m->width, m->draw, m->phi[PHI_THETA]);
}

/* --- its state ------------------------------------------------------------------------------- */

static void autofz_save(const struct sched *s, struct buf *out)
{
    const struct autofz *a = (const struct autofz *)s;
    wire_put_u8(out, (uint8_t)a->phase);
    wire_put_u8(out, a->winner);
    wire_put_u64(out, a->round);
    wire_put_u64(out, a->checks);
    wire_put_u64(out, (uint64_t)a->from_ns);
    wire_put_double(out, a->theta);
    for (int i = 0; i < s->n_arms; i++)
        wire_put_u64(out, a->found[i]);
    deal_save(&a->deal, out);
}

static void autofz_free(struct sched *s)
{
    free(s);
}

const struct sched_ops sched_autofz = {
    .name = "autofz",
    .summary = "measures all fuzzers in turn, then gives the cores to the best, every ten minutes",
    .params = params,
    .columns = {"new edges", "share", NULL, "cores"},
    .create = autofz_create,
    .pick = autofz_pick,
    .tick = autofz_tick,
    .learn = autofz_learn,
    .why = autofz_why,
    .save = autofz_save,
    .free = autofz_free,
};
