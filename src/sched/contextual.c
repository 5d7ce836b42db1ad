/* contextual: Method II of the paper, its main scheduler (METHOD §9, §10).  A model per fuzzer predicts its
 * next reward from its 15 signals.  The highest prediction plus noise, which is as wide as the model is
 * uncertain, wins.  The words are in contextual_why.c. */
#include "sched/contextual.h"

#include "base/die.h"
#include "sched/features.h"
#include "sched/linear.h"
#include "sched/params.h"
#include "sched/project.h"
#include "sched/schedulers.h"
#include "sched/wire.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct opts {
    double ridge, explore, gamma, sigma, clamp;
    int context, form, models, width; /* which word of the option's choices */
    int rank, columns, warmup;
};
enum { CONTEXT_FULL, CONTEXT_INTERCEPT };
enum { MODELS_OWN, MODELS_SHARED };
enum { WIDTH_OWN, WIDTH_COMMON };

#define AT(field) offsetof(struct opts, field)

static const struct param params[] = {
    {"ridge", PARAM_REAL, AT(ridge), 10, 1e-6, 1e9, NULL, "lambda of the ridge regression"},
    {"explore", PARAM_REAL, AT(explore), 1, 0, 1000, NULL,
     "multiplies the noise; 0: the highest prediction always wins"},
    {"context", PARAM_CHOICE, AT(context), CONTEXT_FULL, 0, 0, "full|intercept",
     "what a model sees: all signals, or none of them"},
    {"form", PARAM_CHOICE, AT(form), FEATURES_RFF, 0, 0, "rff|linear",
     "random Fourier features of the signals, or the signals themselves"},
    {"rank", PARAM_COUNT, AT(rank), 0, 0, SIGNAL_COUNT, NULL,
     "project the signals on that many directions; 0: do not"},
    {"models", PARAM_CHOICE, AT(models), MODELS_OWN, 0, 0, "own|shared",
     "a model for each fuzzer, or one for all"},
    {"gamma", PARAM_REAL, AT(gamma), 1, 0.5, 1, NULL, "forgetting; 1: nothing is forgotten"},
    {"features", PARAM_COUNT, AT(columns), FEATURES_COLUMNS, 1, FEATURES_COLUMNS, NULL,
     "random Fourier features (D)"},
    {"sigma", PARAM_REAL, AT(sigma), 4, 0.01, 1e6, NULL,
     "bandwidth of the random Fourier features"},
    {"clamp", PARAM_REAL, AT(clamp), 5, 0.01, 1000, NULL, "bound of a standardised signal"},
    {"icpt.width", PARAM_CHOICE, AT(width), WIDTH_OWN, 0, 0, "own|common",
     "with context=intercept: the width by each fuzzer's own turns, or the same for all"},
    {"warmup", PARAM_COUNT, AT(warmup), 1, 0, 1000, NULL,
     "turns that every fuzzer gets before the models choose"},
    {0}};

struct arm {
    struct standard standard; /* its n: completed turns */
    struct linear model;      /* of the first arm only when all share one */
};

/* The whole state, and nothing else, is in here and in the projection. */
struct contextual {
    struct sched base;
    struct opts o;
    int order[SCHED_MAX_ARMS]; /* of the warm-up */
    struct rng noise;          /* also breaks ties */
    struct features features;
    struct project *project; /* NULL: rank=0 */
    uint64_t dispatched[SCHED_MAX_ARMS];
    struct arm arm[];
};

static void draw_features(struct contextual *c, uint64_t seed)
{
    struct rng rng;
    rng_stream(&rng, seed, "contextual.features");
    features_draw(&c->features, &rng, c->o.columns, SIGNAL_COUNT, c->o.sigma);
    c->features.form = (enum features_form)c->o.form;
    if (!c->o.rank)
        return;
    c->project = project_new(c->o.rank);
    rng_stream(&rng, seed, "contextual.rank");
    features_draw(&c->project->features, &rng, c->o.columns, c->o.rank, c->o.sigma);
    c->project->features.form = c->features.form;
}

static int contextual_create(struct sched **out, const char *arg, const struct sched_settings *st,
                             struct err *e)
{
    (void)arg;
    struct opts o;
    int rc = params_read(params, &o, "contextual", st, e);
    if (rc < 0)
        return rc;
    if (o.rank && o.context == CONTEXT_INTERCEPT)
        return err_usage(e,
                         "--sched-opt rank=%d needs context=full: without signals there is "
                         "nothing to project",
                         o.rank);
    struct contextual *c = xcalloc(1, sizeof *c + (size_t)st->n_arms * sizeof *c->arm);
    c->o = o;
    c->base.opts = &c->o;
    draw_features(c, st->seed);
    choose_order(st->seed, st->n_arms, c->order);
    rng_stream(&c->noise, st->seed, "contextual.noise");
    for (int i = 0; i < st->n_arms; i++)
        linear_init(&c->arm[i].model, o.ridge);
    *out = &c->base;
    return 0;
}

/* --- choosing -------------------------------------------------------------------------------------- */

static int models_of(const struct contextual *c)
{
    return c->o.models == MODELS_SHARED ? 1 : c->base.n_arms;
}

static struct linear *model_of(struct contextual *c, int arm)
{
    return &c->arm[c->o.models == MODELS_SHARED ? 0 : arm].model;
}

/* What the model sees of a standardised x. */
static void map(const struct contextual *c, const double x[FEATURES_X], double phi[FEATURES_PHI])
{
    double z[FEATURES_X] PAIR_ALIGNED;
    if (c->o.context == CONTEXT_INTERCEPT) {
        features_intercept(phi);
    } else if (c->project && project_fitted(c->project)) {
        project_apply(c->project, x, z);
        features_map(&c->project->features, z, phi);
    } else {
        features_map(&c->features, x, phi);
    }
}

/* METHOD R56, the other reading: as if all had had the same number of turns. */
static double common_width(const struct contextual *c)
{
    double turns = 0;
    for (int i = 0; i < c->base.n_arms; i++)
        turns += (double)c->arm[i].standard.n;
    return 1 / sqrt(c->o.ridge + turns / c->base.n_arms);
}

static void predict(const struct contextual *c, int arm, const double phi[FEATURES_PHI],
                    double *mean, double *width)
{
    *mean = linear_predict(&c->arm[c->o.models == MODELS_SHARED ? 0 : arm].model, phi, width);
    if (c->o.context == CONTEXT_INTERCEPT && c->o.width == WIDTH_COMMON)
        *width = common_width(c);
}

static void score(const struct contextual *c, int arm, struct decision_arm *a)
{
    double x[FEATURES_X] PAIR_ALIGNED, phi[FEATURES_PHI] PAIR_ALIGNED;
    standard_apply(&c->arm[arm].standard, a->signals, c->o.clamp, x);
    map(c, x, phi);
    predict(c, arm, phi, &a->mean, &a->width);
    memcpy(a->standardised, x, sizeof a->standardised);
    memcpy(a->phi, phi, sizeof a->phi);
}

static double draw_of(const struct contextual *c, double mean, double width, double noise)
{
    return mean + c->o.explore * noise * width;
}

static void contextual_pick(struct sched *s, struct decision *d)
{
    struct contextual *c = (struct contextual *)s;
    for (int i = 0; i < d->n_arms; i++)
        score(c, i, &d->arm[i]);
    d->choice = choose_warmup(d, c->order, c->dispatched, c->o.warmup);
    if (d->choice < 0) {
        double noise[SCHED_MAX_ARMS];
        rng_normals(&c->noise, noise, d->n_arms);
        for (int i = 0; i < d->n_arms; i++) {
            struct decision_arm *a = &d->arm[i];
            a->noise = noise[i];
            a->draw = draw_of(c, a->mean, a->width, a->noise);
        }
        d->choice = choose_largest(d, &c->noise);
    }
    if (d->choice >= 0)
        c->dispatched[d->choice]++;
}

/* With the signal at its mean, standardised 0, for every arm.  On a tie the choice made stays. */
static int contextual_without(const struct sched *s, const struct decision *d,
                              enum signal_id signal)
{
    const struct contextual *c = (const struct contextual *)s;
    int best = -1;
    double top = 0;
    if (contextual_undrawn(d))
        return d->choice;
    for (int i = 0; i < d->n_arms; i++) {
        double x[FEATURES_X] PAIR_ALIGNED = {0}, phi[FEATURES_PHI] PAIR_ALIGNED, mean, width;
        if (!decision_may(d, i))
            continue;
        memcpy(x, d->arm[i].standardised, sizeof d->arm[i].standardised);
        x[signal] = 0;
        map(c, x, phi);
        predict(c, i, phi, &mean, &width);
        double draw = draw_of(c, mean, width, d->arm[i].noise);
        if (best < 0 || draw > top || (draw == top && i == d->choice)) {
            best = i;
            top = draw;
        }
    }
    return best;
}

/* --- learning -------------------------------------------------------------------------------------- */

/* METHOD R58: every completed turn of the campaign makes every model forget. */
static void observe(struct contextual *c, int arm, const double phi[LINEAR_DIM], double reward)
{
    for (int i = 0; c->o.gamma < 1 && i < models_of(c); i++)
        linear_fade(&c->arm[i].model, c->o.gamma);
    linear_add(model_of(c, arm), phi, reward);
}

/* The directions changed: learn everything anew from the log. */
static void relearn(struct contextual *c)
{
    struct project *p = c->project;
    project_fit(p, c->base.n_arms, c->o.ridge);
    for (int i = 0; i < models_of(c); i++)
        linear_init(&c->arm[i].model, c->o.ridge);
    for (size_t i = 0; i < p->n; i++) {
        double phi[FEATURES_PHI] PAIR_ALIGNED;
        map(c, p->log[i].x, phi);
        observe(c, p->log[i].arm, phi, p->log[i].reward);
    }
    for (int i = 0; i < models_of(c); i++)
        linear_solve(&c->arm[i].model);
    project_trim(p);
}

/* The phi of the decision is the phi of the update, however late that comes (METHOD R50).  Only under a
 * projection, which may have changed since, it is recomputed from the standardised signals of the decision. */
static void contextual_learn(struct sched *s, const struct decision *d,
                             const struct sched_outcome *o)
{
    struct contextual *c = (struct contextual *)s;
    const struct decision_arm *a = &d->arm[d->choice];
    struct arm *own = &c->arm[d->choice];
    double phi[FEATURES_PHI] PAIR_ALIGNED = {0}, x[FEATURES_X] PAIR_ALIGNED = {0};
    standard_add(&own->standard, a->signals);
    if (c->dispatched[d->choice] < own->standard.n) /* another scheduler's turns, in a replay */
        c->dispatched[d->choice] = own->standard.n;
    memcpy(phi, a->phi, sizeof a->phi);
    if (c->project) {
        memcpy(x, a->standardised, sizeof a->standardised);
        if (project_add(c->project, d->choice, x, o->reward)) {
            relearn(c);
            return;
        }
        map(c, x, phi);
    }
    observe(c, d->choice, phi, o->reward);
    if (c->o.gamma == 1)
        linear_solve(model_of(c, d->choice));
    for (int i = 0; c->o.gamma < 1 && i < models_of(c); i++)
        linear_solve(&c->arm[i].model);
}

/* --- its state ------------------------------------------------------------------------------------- */

static void put_doubles(struct buf *out, const double *v, int n)
{
    for (int i = 0; i < n; i++)
        wire_put_double(out, v[i]);
}

static void save_features(const struct features *f, struct buf *out)
{
    for (int k = 0; k < SIGNAL_COUNT; k++)
        put_doubles(out, f->omega[k], FEATURES_COLUMNS);
    put_doubles(out, f->phase, FEATURES_COLUMNS);
    put_doubles(out, f->scale, FEATURES_COLUMNS);
}

static void save_project(const struct project *p, struct buf *out)
{
    save_features(&p->features, out);
    for (int r = 0; r < p->rank; r++)
        put_doubles(out, p->v[r], SIGNAL_COUNT);
    wire_put_u64(out, p->turns);
    for (size_t i = 0; i < p->n; i++) {
        wire_put_u8(out, (uint8_t)p->log[i].arm);
        put_doubles(out, p->log[i].x, SIGNAL_COUNT);
        wire_put_double(out, p->log[i].reward);
    }
}

/* What follows from the rest (the factors, the solutions, 1/sd) is left out.  Layout:
 *   u8 context, form, models, rank, then the generator, the feature map, for each fuzzer its dispatches and
 *   standardiser, for each model A and b, and under rank: its map, the directions, turns, and the log. */
static void contextual_save(const struct sched *s, struct buf *out)
{
    const struct contextual *c = (const struct contextual *)s;
    wire_put_u8(out, (uint8_t)c->o.context);
    wire_put_u8(out, (uint8_t)c->o.form);
    wire_put_u8(out, (uint8_t)c->o.models);
    wire_put_u8(out, (uint8_t)c->o.rank);
    wire_put_rng(out, &c->noise);
    save_features(&c->features, out);
    for (int i = 0; i < s->n_arms; i++) {
        wire_put_u64(out, c->dispatched[i]);
        wire_put_u64(out, c->arm[i].standard.n);
        put_doubles(out, c->arm[i].standard.mean, SIGNAL_COUNT);
        put_doubles(out, c->arm[i].standard.m2, SIGNAL_COUNT);
    }
    for (int i = 0; i < models_of(c); i++) {
        const struct linear *m = &c->arm[i].model;
        for (int k = 0; k < LINEAR_DIM; k++)
            put_doubles(out, m->a[k], k + 1);
        put_doubles(out, m->b, LINEAR_DIM);
    }
    if (c->project)
        save_project(c->project, out);
}

static void contextual_free(struct sched *s)
{
    project_free(((struct contextual *)s)->project);
    free(s);
}

const struct sched_ops sched_contextual = {
    .name = "contextual",
    .summary = "learns from 15 signals which fuzzer will earn most now (with --paper)",
    .params = params,
    .columns = {"prediction", "width", "noise", "draw"},
    .predicts = true,
    .create = contextual_create,
    .pick = contextual_pick,
    .learn = contextual_learn,
    .without = contextual_without,
    .is_warmup = contextual_undrawn,
    .why = contextual_why,
    .save = contextual_save,
    .free = contextual_free,
};
