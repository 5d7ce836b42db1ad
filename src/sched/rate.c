/* rate: the fuzzer that finds most per second now (METHOD §21).  Estimates the logarithm of each fuzzer's new
 * edges per second of slot time, forgets quickly, and samples.  Looks at no reward.  Saved state and words are
 * in files beside this one. */
#include "sched/rate.h"

#include "base/det.h"
#include "base/die.h"
#include "sched/params.h"
#include "sched/schedulers.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(struct rate_opts, field)
#define LN2 0x1.62e42fefa39efp-1
#define LEAST_NS 1000000 /* no turn counts as shorter */
#define FASTEST 8        /* times as quickly as by default a fuzzer with many finds forgets */

static const struct param params[] = {
    {"half", PARAM_REAL, AT(half), 4, 0.1, 1e6, NULL,
     "own turns after which what a fuzzer found counts half"},
    {"evidence", PARAM_REAL, AT(evidence), 20, 0, 1e9, NULL,
     "recent edges at which old turns age by one turn; twice as many: by two; 0: always by one"},
    {"slowest", PARAM_REAL, AT(slowest), 0.05, 1e-6, 8, NULL,
     "turns by which old ones age at least, whatever was found"},
    {"noise", PARAM_REAL, AT(noise), 0.5, 1e-6, 100, NULL,
     "standard deviation of one turn's log rate; sets the width"},
    {"idle", PARAM_REAL, AT(idle), 0.005, 0, 100, NULL,
     "added to the squared width for every turn of the campaign that a fuzzer sits out"},
    {"cap", PARAM_REAL, AT(cap), 3, 0, 100, NULL, "greatest width"},
    {"prior", PARAM_REAL, AT(prior), 1.5, -100, 100, NULL,
     "an untried fuzzer is assumed behind the best by so many e-folds times ln(1 + fuzzers tried)"},
    {"spread", PARAM_REAL, AT(spread), 1, 1e-6, 100, NULL, "width of an untried fuzzer"},
    {"fade", PARAM_REAL, AT(fade), 0.3, 0, 100, NULL,
     "e-folds by which the best rate that prior refers to falls with every turn of the campaign"},
    {"explore", PARAM_REAL, AT(explore), 1, 0, 1000, NULL,
     "multiplies the noise; 0: the highest estimate always wins"},
    {"context", PARAM_CHOICE, AT(context), RATE_NONE, 0, 0, "none|full",
     "whether the signals of a fuzzer move its rate"},
    {"ridge", PARAM_REAL, AT(ridge), 10, 1e-6, 1e9, NULL,
     "with context=full: lambda of the regression on the signals"},
    {"clamp", PARAM_REAL, AT(clamp), 5, 0.01, 1000, NULL,
     "with context=full: bound of a standardised signal"},
    {0}};

static int rate_create(struct sched **out, const char *arg, const struct sched_settings *st,
                       struct err *e)
{
    (void)arg;
    struct rate_opts o;
    int rc = params_read(params, &o, "rate", st, e);
    if (rc < 0)
        return rc;
    int workers = st->workers > 0 ? st->workers : 1;
    struct rate *r = xcalloc(1, rate_size(workers));
    r->o = o;
    r->base.opts = &r->o;
    r->base.blind = o.context == RATE_NONE;
    r->workers = workers;
    r->turn_s = st->turn_ns > 0 ? (double)st->turn_ns / 1e9 : SCHED_TURN_S;
    rng_stream(&r->rng, st->seed, "rate");
    linear_init(&r->factors, o.ridge);
    *out = &r->base;
    return 0;
}

/* --- choosing ------------------------------------------------------------------------------------- */

/* How far the signals are from the fuzzer's own mean, in standard deviations.  x: aligned, padded. */
static void deviations(const struct rate *r, const struct rate_arm *a,
                       const double signals[SIGNAL_COUNT], double x[LINEAR_PADDED])
{
    memset(x, 0, LINEAR_PADDED * sizeof *x);
    if (r->o.context == RATE_NONE || a->turns == 0)
        return;
    for (int k = 0; k < SIGNAL_COUNT; k++) {
        double v = (signals[k] - a->signals[k]) * r->standard.inverse[k] + 0.0; /* no -0 */
        x[k] = v > r->o.clamp ? r->o.clamp : v < -r->o.clamp ? -r->o.clamp : v;
    }
}

/* The logarithm of new edges per second.  The half edge keeps the logarithm finite; turns shorter than T_I get
 * their part of it, so that ending early does not look like finding something. */
double rate_log(const struct rate *r, double edges, double seconds)
{
    double half = seconds < r->turn_s ? 0.5 * (seconds / r->turn_s) : 0.5;
    return det_log((edges + half) / seconds);
}

/* The log rate of an untried fuzzer: behind the best, the further the more others have been tried, because the
 * best of many is harder to beat; but not below that of a turn without a find. */
static double assumed(const struct rate *r)
{
    int tried = 0;
    for (int i = 0; i < r->base.n_arms; i++)
        tried += r->arm[i].turns > 0;
    double nothing = rate_log(r, 0, r->turn_s);
    double behind = r->best - r->o.prior * det_log(1 + tried);
    return tried && behind > nothing ? behind : nothing;
}

/* The squared width without the signals' part.  Turns in flight count as if they had been observed. */
static double doubt(const struct rate *r, const double phi[SCHED_FEATURES])
{
    double n = phi[RATE_PHI_TURNS], noise = r->o.noise * r->o.noise;
    double prior = n > 0 ? n / noise : 1 / (r->o.spread * r->o.spread);
    return 1 / (prior + phi[RATE_PHI_FLYING] / noise) + r->o.idle * phi[RATE_PHI_IDLE];
}

/* mean and width of a row whose phi and standardised signals are there. */
static void estimate(const struct rate *r, struct decision_arm *row)
{
    double x[LINEAR_PADDED] PAIR_ALIGNED = {0}, off = 0;
    memcpy(x, row->standardised, sizeof row->standardised);
    row->phi[RATE_PHI_SIGNALS] =
        r->o.context == RATE_FULL ? linear_predict(&r->factors, x, &off) : 0;
    row->mean = row->phi[RATE_PHI_LEVEL] + row->phi[RATE_PHI_SIGNALS];
    double width = sqrt(doubt(r, row->phi) + r->o.noise * r->o.noise * off * off);
    row->width = width < r->o.cap ? width : r->o.cap;
}

static void draw(const struct rate *r, struct decision_arm *row)
{
    row->draw = row->mean + r->o.explore * row->noise * row->width;
}

static void score(const struct rate *r, const struct rate_arm *a, double untried, int flying,
                  struct decision_arm *row)
{
    double x[LINEAR_PADDED] PAIR_ALIGNED;
    deviations(r, a, row->signals, x);
    memcpy(row->standardised, x, sizeof row->standardised);
    row->phi[RATE_PHI_LEVEL] = a->turns > 0 ? a->level : untried;
    row->phi[RATE_PHI_TURNS] = a->turns;
    row->phi[RATE_PHI_FLYING] = flying;
    row->phi[RATE_PHI_IDLE] = flying ? 0 : (double)(r->completed - a->last);
    estimate(r, row);
}

static void rate_pick(struct sched *s, struct decision *d)
{
    struct rate *r = (struct rate *)s;
    int flying[SCHED_MAX_ARMS] = {0};
    double noise[SCHED_MAX_ARMS + 1], untried = assumed(r);
    for (int w = 0; w < r->workers; w++)
        if (r->flight[w].t && w != d->worker) /* a worker that asks has no turn in flight */
            flying[r->flight[w].arm]++;
    rng_normals(&r->rng, noise, d->n_arms + 1); /* one for all the untried (METHOD R91) */
    for (int i = 0; i < d->n_arms; i++) {
        score(r, &r->arm[i], untried, flying[i], &d->arm[i]);
        d->arm[i].noise = noise[r->arm[i].turns > 0 ? i : d->n_arms];
        draw(r, &d->arm[i]);
    }
    d->choice = choose_largest(d, NULL); /* the untried tie (METHOD R91) */
    if (d->worker >= 0 && d->worker < r->workers)
        r->flight[d->worker] =
            d->choice < 0 ? (struct rate_flight){0, 0} : (struct rate_flight){d->t, d->choice};
}

/* With the signal at its fuzzer's mean, for every arm.  On a tie the choice made stays. */
static int rate_without(const struct sched *s, const struct decision *d, enum signal_id signal)
{
    const struct rate *r = (const struct rate *)s;
    int best = -1;
    double top = 0;
    for (int i = 0; i < d->n_arms; i++) {
        struct decision_arm row = d->arm[i];
        if (!decision_may(d, i))
            continue;
        row.standardised[signal] = 0;
        estimate(r, &row);
        draw(r, &row);
        if (best < 0 || row.draw > top || (row.draw == top && i == d->choice)) {
            best = i;
            top = row.draw;
        }
    }
    return best;
}

/* --- learning ------------------------------------------------------------------------------------- */

/* A fuzzer that died has used a whole turn: dying early is no way to be quick. */
static double seconds_of(const struct rate *r, const struct sched_outcome *o)
{
    double s = (double)(o->cost_ns > LEAST_NS ? o->cost_ns : LEAST_NS) / 1e9;
    return o->died && s < r->turn_s ? r->turn_s : s;
}

/* What a turn unlike its fuzzer's mean tells about the signals (METHOD R93).  That mean is itself as uncertain as
 * one turn over their number, so the turn weighs less. */
static void learn_signals(struct rate *r, struct rate_arm *a, const double signals[SIGNAL_COUNT],
                          double z, double keep)
{
    double x[LINEAR_PADDED] PAIR_ALIGNED, weight = sqrt(a->turns / (a->turns + 1));
    double turns = keep * a->turns + 1;
    standard_add(&r->standard, signals);
    deviations(r, a, signals, x);
    for (int k = 0; k < SIGNAL_COUNT; k++)
        x[k] *= weight;
    linear_add(&r->factors, x, weight * (z - a->turn_level));
    linear_solve(&r->factors);
    a->turn_level += (z - a->turn_level) / turns;
    for (int k = 0; k < SIGNAL_COUNT; k++)
        a->signals[k] += (signals[k] - a->signals[k]) / turns;
}

static void land(struct rate *r, const struct decision *d)
{
    if (d->worker >= 0 && d->worker < r->workers && r->flight[d->worker].t == d->t)
        r->flight[d->worker] = (struct rate_flight){0, 0};
}

/* The weight that its former turns keep, now that a fuzzer completed one more with so many new edges (METHOD R89a). */
static double kept(const struct rate *r, const struct rate_arm *a, uint32_t new_edges)
{
    double pace = r->o.evidence > 0 ? (a->edges + new_edges) / r->o.evidence : 1;
    pace = pace < r->o.slowest ? r->o.slowest : pace > FASTEST ? FASTEST : pace;
    return det_exp(-LN2 / r->o.half * pace);
}

static void rate_learn(struct sched *s, const struct decision *d, const struct sched_outcome *o)
{
    struct rate *r = (struct rate *)s;
    land(r, d);
    if (d->choice < 0)
        return;
    struct rate_arm *a = &r->arm[d->choice];
    double seconds = seconds_of(r, o), faded = r->best - r->o.fade, keep = kept(r, a, o->new_edges);
    if (r->o.context == RATE_FULL)
        learn_signals(r, a, d->arm[d->choice].signals, rate_log(r, o->new_edges, seconds), keep);
    a->turns = keep * a->turns + 1;
    a->edges = keep * a->edges + o->new_edges;
    a->seconds = keep * a->seconds + seconds;
    a->level = rate_log(r, a->edges, a->seconds);
    r->best = r->completed && faded > a->level ? faded : a->level;
    a->last = ++r->completed;
}

static void rate_free(struct sched *s)
{
    free(s);
}

const struct sched_ops sched_rate = {
    .name = "rate",
    .summary = "samples which fuzzer finds most new edges per second of a core now",
    .params = params,
    .columns = {"log rate", "width", "noise", "draw"},
    .predicts = true,
    .create = rate_create,
    .pick = rate_pick,
    .learn = rate_learn,
    .without = rate_without,
    .why = rate_why,
    .save = rate_save,
    .free = rate_free,
};
