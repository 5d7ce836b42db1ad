/* phase: Method I of the paper (METHOD §11): whether a fuzzer's reward rises or rots selects how it is
 * estimated.  Reads only rewards, no signals. */
#include "base/det.h"
#include "base/die.h"
#include "sched/params.h"
#include "sched/schedulers.h"
#include "sched/wire.h"
#include "stats/series.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define PRIOR_VARIANCE (1.0 / 12) /* of a reward that may be anything in [0, 1] */
#define MAX_HORIZONS 8            /* 2, 4, ..., 64 and the window */

enum { /* what phi holds: the parts of the estimate */
       PHI_ROTTING,
       PHI_HORIZON_OR_SLOPE, /* of the winning horizon when rotting, else the slope */
       PHI_BONUS,
       PHI_Z,
       PHI_REWARDS, /* how many the window holds */
       PHI_FULL,
       PHI_DUE, /* it was chosen because its warm-up turn was due */
};

struct opts {
    int window, warmup;
    double tau, alpha;
};

static const struct param params[] = {
    {"window", PARAM_COUNT, offsetof(struct opts, window), CONTEXT_WINDOW, 2, CONTEXT_WINDOW, NULL,
     "rewards a fuzzer is judged by, w"},
    {"tau", PARAM_REAL, offsetof(struct opts, tau), 3.5, -100, 100, NULL,
     "Mann-Kendall z above which a full window is rising"},
    {"alpha", PARAM_REAL, offsetof(struct opts, alpha), 1, 0, 1000, NULL,
     "exploration: multiplies the bonus and the noise"},
    {"warmup", PARAM_COUNT, offsetof(struct opts, warmup), 1, 0, 1000, NULL,
     "turns every fuzzer gets before anything is compared"},
    {0},
};

/* What follows from the window alone; computed when a reward arrives, so that a decision is cheap. */
struct estimate {
    bool full, rotting;
    double z, level, slope, slope_variance, width;
    double recent[MAX_HORIZONS]; /* mean of the last horizon[i] rewards; when rotting */
};

struct arm {
    double window[CONTEXT_WINDOW]; /* oldest first */
    int n;
    uint64_t completed;
    struct estimate est;
};

struct phase {
    struct sched base;
    struct opts opts;
    struct rng rng;
    int horizon[MAX_HORIZONS], horizons;
    int order[SCHED_MAX_ARMS]; /* of the warm-up */
    uint64_t dispatched[SCHED_MAX_ARMS];
    struct arm arm[SCHED_MAX_ARMS];
};

static double slope_variance(const struct arm *a, double slope)
{
    double m = a->n, sxx = m * (m * m - 1) / 12;
    double spread = a->n < 3 ? PRIOR_VARIANCE : stats_residual_variance(a->window, a->n, slope);
    return spread / (sxx < 0.5 ? 0.5 : sxx);
}

/* The scale of the noise, s_a. */
static double width_of(const struct arm *a)
{
    double seen = a->n < 2 ? PRIOR_VARIANCE : stats_variance(a->window, a->n) / a->n;
    return sqrt(seen + PRIOR_VARIANCE / (a->completed ? (double)a->completed : 1));
}

static void estimate(const struct phase *p, struct arm *a)
{
    struct estimate *e = &a->est;
    *e = (struct estimate){.full = a->n == p->opts.window, .width = width_of(a)};
    if (e->full)
        e->z = stats_mann_kendall(a->window, a->n);
    e->rotting = e->full && !(e->z > p->opts.tau);
    if (e->rotting) {
        for (int i = 0; i < p->horizons; i++)
            e->recent[i] = stats_mean(a->window + a->n - p->horizon[i], p->horizon[i]);
        return;
    }
    e->level = a->n ? stats_mean(a->window, a->n) : 0.5;
    e->slope = stats_theil_sen(a->window, a->n);
    e->slope_variance = slope_variance(a, e->slope);
}

static int phase_create(struct sched **out, const char *arg, const struct sched_settings *st,
                        struct err *e)
{
    (void)arg;
    struct phase *p = xcalloc(1, sizeof *p);
    int rc = params_read(params, &p->opts, "phase", st, e);
    if (rc < 0) {
        free(p);
        return rc;
    }
    p->base.opts = &p->opts;
    rng_stream(&p->rng, st->seed, "phase");
    choose_order(st->seed, st->n_arms, p->order);
    for (int h = 2; h < p->opts.window; h *= 2)
        p->horizon[p->horizons++] = h;
    p->horizon[p->horizons++] = p->opts.window;
    for (int i = 0; i < st->n_arms; i++)
        estimate(p, &p->arm[i]);
    *out = &p->base;
    return 0;
}

/* The index of one arm, into its row of the record. */
static void index_rising(const struct estimate *e, double alpha, double log_t,
                         struct decision_arm *row)
{
    row->phi[PHI_HORIZON_OR_SLOPE] = e->slope;
    row->phi[PHI_BONUS] = alpha * sqrt(log_t * e->slope_variance);
    row->mean = e->level + e->slope + row->phi[PHI_BONUS];
}

static void index_rotting(const struct phase *p, const struct estimate *e, const double *bonus,
                          struct decision_arm *row)
{
    int best = 0;
    for (int i = 1; i < p->horizons; i++)
        if (e->recent[i] + bonus[i] > e->recent[best] + bonus[best])
            best = i;
    row->phi[PHI_HORIZON_OR_SLOPE] = p->horizon[best];
    row->phi[PHI_BONUS] = bonus[best];
    row->mean = e->recent[best] + bonus[best];
}

static void phase_pick(struct sched *s, struct decision *d)
{
    struct phase *p = (struct phase *)s;
    double alpha = p->opts.alpha, log_t = det_log((double)d->t), bonus[MAX_HORIZONS];
    for (int i = 0; i < p->horizons; i++)
        bonus[i] = alpha * sqrt(log_t / p->horizon[i]);
    for (int i = 0; i < s->n_arms; i++) {
        const struct estimate *e = &p->arm[i].est;
        struct decision_arm *row = &d->arm[i];
        row->phi[PHI_ROTTING] = e->rotting;
        row->phi[PHI_Z] = e->z;
        row->phi[PHI_REWARDS] = p->arm[i].n;
        row->phi[PHI_FULL] = e->full;
        if (e->rotting)
            index_rotting(p, e, bonus, row);
        else
            index_rising(e, alpha, log_t, row);
        row->width = e->width;
        row->noise = rng_normal(&p->rng);
        row->draw = row->mean + alpha * row->noise * row->width;
    }
    d->choice = choose_warmup(d, p->order, p->dispatched, p->opts.warmup);
    if (d->choice >= 0)
        d->arm[d->choice].phi[PHI_DUE] = 1;
    else
        d->choice = choose_largest(d, &p->rng);
    if (d->choice >= 0)
        p->dispatched[d->choice]++;
}

static void phase_learn(struct sched *s, const struct decision *d, const struct sched_outcome *o)
{
    struct phase *p = (struct phase *)s;
    if (d->choice < 0)
        return;
    struct arm *a = &p->arm[d->choice];
    if (a->n == p->opts.window)
        memmove(a->window, a->window + 1, (size_t)--a->n * sizeof *a->window);
    a->window[a->n++] = o->reward;
    a->completed++;
    if (p->dispatched[d->choice] < a->completed) /* another scheduler's turns, in a replay */
        p->dispatched[d->choice] = a->completed;
    estimate(p, a);
}

static void explain_arm(const struct decision_arm *row, const char *name, struct buf *out)
{
    const double *phi = row->phi;
    double n = phi[PHI_REWARDS];
    buf_printf(out, "%s is %s", name, phi[PHI_ROTTING] != 0 ? "rotting" : "rising");
    if (phi[PHI_FULL] != 0)
        buf_printf(out, " (Mann-Kendall z = %.2f)", phi[PHI_Z]);
    else
        buf_printf(out, " (%g reward%s, its window is not full)", n, n == 1 ? "" : "s");
    if (phi[PHI_ROTTING] != 0)
        buf_printf(out, ": the mean of its last %g is %.3f", phi[PHI_HORIZON_OR_SLOPE],
                   row->mean - phi[PHI_BONUS]);
    else
        buf_printf(out, ": mean %.3f and slope %+.4f",
                   row->mean - phi[PHI_BONUS] - phi[PHI_HORIZON_OR_SLOPE],
                   phi[PHI_HORIZON_OR_SLOPE]);
    buf_printf(out, ", bonus %.3f, noise %+.2f times %.3f: %.3f", phi[PHI_BONUS], row->noise,
               row->width, row->draw);
}

static bool phase_is_warmup(const struct decision *d)
{
    return d->arm[d->choice].phi[PHI_DUE] != 0;
}

static void phase_why(const struct decision *d, const char *const *arms, struct buf *out)
{
    int second = choose_second(d);
    if (d->choice < 0)
        return;
    if (phase_is_warmup(d)) {
        buf_printf(out, "warm-up: %s has not had its first turns yet, and goes first",
                   arms[d->choice]);
        return;
    }
    explain_arm(&d->arm[d->choice], arms[d->choice], out);
    if (second < 0) {
        buf_str(out, ".  Nobody else could run");
        return;
    }
    buf_str(out, ".  Next came: ");
    explain_arm(&d->arm[second], arms[second], out);
}

static void phase_save(const struct sched *s, struct buf *out)
{
    const struct phase *p = (const struct phase *)s;
    wire_put_rng(out, &p->rng);
    for (int i = 0; i < s->n_arms; i++) {
        const struct arm *a = &p->arm[i];
        wire_put_u64(out, p->dispatched[i]);
        wire_put_u64(out, a->completed);
        for (int k = 0; k < a->n; k++)
            wire_put_double(out, a->window[k]);
    }
}

static void phase_free(struct sched *s)
{
    free(s);
}

const struct sched_ops sched_phase = {
    .name = "phase",
    .summary = "Method I: whether a fuzzer's reward rises or rots decides how it is estimated",
    .params = params,
    .columns = {"index", "noise scale", "noise", "perturbed index"},
    .predicts = true,
    .create = phase_create,
    .pick = phase_pick,
    .learn = phase_learn,
    .is_warmup = phase_is_warmup,
    .why = phase_why,
    .save = phase_save,
    .free = phase_free,
};
