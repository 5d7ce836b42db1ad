/* regret: what would another policy have earned?  From campaigns in which every fuzzer was equally likely, by inverse
 * propensity and doubly robust. */
#include "analyze/analyze.h"
#include "analyze/folds.h"
#include "base/die.h"
#include "stats/bootstrap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Policies: each fuzzer alone; the highest prediction of the other campaigns' model; schedulers asked along the journal. */
static const char *const asked[] = {"contextual", "phase", "bandfuzz", "rate"};
#define ASKED (sizeof asked / sizeof *asked)
#define POLICIES (SCHED_MAX_ARMS + 1 + ASKED)

struct answer {
    double turns, reward;               /* sum of what was earned */
    double ips[POLICIES], dr[POLICIES]; /* sums over turns */
    double w[POLICIES], ww[POLICIES];   /* of the weights, and their squares */
};

struct job {
    const struct study *s;       /* campaigns under random */
    bool *model;                 /* [target]: there are weights: */
    double (*theta)[LINEAR_DIM]; /* [camp][arm], from the other campaigns */
};

/* Who would have run at every decision, by policy. */
struct plan {
    int8_t *choice; /* [policy][choice] */
    size_t n;
};

static void note(void *arg, size_t choice, const struct sched *s, const struct decision *d)
{
    (void)s;
    ((int8_t *)arg)[choice] = (int8_t)d->choice;
}

static size_t policies_of(int arms)
{
    return (size_t)arms + 1 + ASKED;
}

static int plan_make(struct plan *p, const struct story *l, const struct job *j, size_t camp,
                     struct err *e)
{
    size_t arms = (size_t)l->arms;
    int rc = 0;
    p->n = policies_of(l->arms);
    p->choice = xcalloc(p->n * l->n_choices, sizeof *p->choice);
    for (size_t i = 0; i < l->n_choices; i++) {
        for (size_t k = 0; k < arms; k++)
            p->choice[k * l->n_choices + i] =
                l->choices[i].dropped >> k & 1 ? (int8_t)-1 : (int8_t)k;
        p->choice[arms * l->n_choices + i] =
            j->model[l->camp->target] ? (int8_t)folds_choice(l, i, j->theta + camp * arms)
                                      : (int8_t)-1;
    }
    for (size_t a = 0; rc == 0 && a < ASKED; a++)
        rc = story_replay(l, (const char *const *)j->s->fuzzers.v,
                          &(struct story_ask){.scheduler = asked[a],
                                              .decided = note,
                                              .arg = p->choice + (arms + 1 + a) * l->n_choices},
                          e);
    return rc;
}

static int estimate(void *arg, const struct story *l, size_t camp, void *result, struct err *e)
{
    const struct job *j = arg;
    struct answer *r = result;
    struct plan p = {0};
    int rc = plan_make(&p, l, j, camp, e);
    for (size_t i = 0; rc == 0 && i < l->n_turns; i++) {
        const struct story_turn *t = &l->turns[i];
        double able = story_able(l, &l->choices[t->choice]);
        const double(*x)[SIGNAL_COUNT] =
            (const double(*)[SIGNAL_COUNT])l->x + t->choice * (size_t)l->arms;
        double(*theta)[LINEAR_DIM] = j->theta + camp * (size_t)l->arms;
        r->turns++;
        r->reward += t->reward;
        for (size_t k = 0; k < p.n; k++) {
            int would = p.choice[k * l->n_choices + t->choice];
            double w = would == t->arm ? able : 0;
            r->w[k] += w;
            r->ww[k] += w * w;
            r->ips[k] += w * t->reward;
            if (j->model[l->camp->target] && would >= 0)
                r->dr[k] += fit_predict(theta[would], x[would]) +
                            w * (t->reward - fit_predict(theta[t->arm], x[t->arm]));
        }
    }
    free(p.choice);
    return rc;
}

/* --- over the campaigns ---------------------------------------------------------------------------------- */

struct value {
    double v, low, high;
};

/* Mean per turn, a value per campaign; the interval is drawn over campaigns. */
static struct value value_of(const struct study *s, const struct answer *a, size_t target,
                             const double *first, size_t step)
{
    double *v = xcalloc(s->n, sizeof *v);
    size_t n = 0;
    struct value r = {NAN, NAN, NAN};
    struct bootstrap b;
    for (size_t c = 0; c < s->n; c++)
        if (s->camps[c].target == target && a[c].turns > 0) {
            memcpy(&v[n], (const char *)first + c * step, sizeof *v);
            v[n++] /= a[c].turns;
        }
    if (n) {
        stats_bootstrap(v, n, NULL, 0,
                        &(struct bootstrap_settings){.level = 0.95, .resamples = 10000, .seed = 1},
                        &b);
        r.v = b.value;
    }
    if (n >= 2) {
        r.low = b.low;
        r.high = b.high;
    }
    free(v);
    return r;
}

static void put_value(struct grid *g, struct value v)
{
    grid_real(g, v.v);
    grid_real(g, v.low);
    grid_real(g, v.high);
}

static void put_policy(const struct study *s, const struct answer *a, size_t target, size_t k,
                       bool model, struct grid *g)
{
    double w = 0, ww = 0, turns = 0, n = 0;
    size_t arms = s->fuzzers.n;
    for (size_t c = 0; c < s->n; c++)
        if (s->camps[c].target == target && a[c].turns > 0) {
            w += a[c].w[k];
            ww += a[c].ww[k];
            turns += a[c].turns;
            n++;
        }
    struct value ips = value_of(s, a, target, &a->ips[k], sizeof *a);
    struct value dr = value_of(s, a, target, &a->dr[k], sizeof *a);
    struct value earned = value_of(s, a, target, &a->reward, sizeof *a);
    grid_text(g, "%s", s->targets.v[target]);
    if (k < arms)
        grid_text(g, "single:%s", s->fuzzers.v[k]);
    else
        grid_text(g, "%s", k == arms ? "highest prediction" : asked[k - arms - 1]);
    grid_count(g, (uint64_t)n);
    grid_count(g, (uint64_t)turns);
    grid_real(g, ww > 0 ? w * w / ww : 0);
    put_value(g, ips);
    put_value(g, model ? dr : (struct value){NAN, NAN, NAN});
    grid_real(g, (model ? dr.v : ips.v) - earned.v);
}

static void put_target(const struct study *s, const struct answer *a, size_t target, bool model,
                       struct grid *g)
{
    double turns = 0, n = 0;
    for (size_t c = 0; c < s->n; c++)
        if (s->camps[c].target == target) {
            turns += a[c].turns;
            n += a[c].turns > 0;
        }
    if (!(turns > 0))
        return;
    grid_text(g, "%s", s->targets.v[target]);
    grid_text(g, "random, as it ran");
    grid_count(g, (uint64_t)n);
    grid_count(g, (uint64_t)turns);
    grid_real(g, turns);
    for (int i = 0; i < 2; i++)
        put_value(g, value_of(s, a, target, &a->reward, sizeof *a));
    grid_real(g, 0);
    for (size_t k = 0; k < policies_of((int)s->fuzzers.n); k++)
        if (model || k != s->fuzzers.n)
            put_policy(s, a, target, k, model, g);
}

/* --- the question ------------------------------------------------------------------------------------------ */

/* The campaigns under random; what they point to stays the study's. */
static void only_random(const struct study *s, struct study *out)
{
    *out = *s;
    out->camps = xcalloc(s->n, sizeof *out->camps);
    out->n = 0;
    for (size_t c = 0; c < s->n; c++)
        if (strcmp(s->camps[c].scheduler, "random") == 0)
            out->camps[out->n++] = s->camps[c];
}

/* Weights for every campaign, from the others of its target, where there are others. */
static int learn(struct job *j, struct grids *out, struct err *e)
{
    const struct study *s = j->s;
    size_t arms = s->fuzzers.n, most = 0;
    for (size_t t = 0; t < s->targets.n; t++)
        most = study_count(s, t) > most ? study_count(s, t) : most;
    if (most < 2) {
        grids_note(
            out,
            "one campaign per target: no interval, and no model for the doubly robust estimate");
        return 0;
    }
    struct folds f;
    struct linear model;
    int rc = folds_gather(&f, s, NULL, 1, out, e);
    struct moments *train = xcalloc(arms, sizeof *train);
    for (size_t c = 0; rc == 0 && c < s->n; c++) {
        j->model[s->camps[c].target] = folds_usable(&f, s->camps[c].target);
        folds_train(&f, c, 0, train);
        for (size_t k = 0; k < arms; k++) {
            fit(&model, &train[k], FIT_RIDGE, NULL);
            memcpy(j->theta[c * arms + k], model.theta, sizeof *j->theta);
        }
    }
    free(train);
    folds_free(&f);
    return rc;
}

static void put(const struct job *j, const struct answer *a, struct grids *out)
{
    static const struct grid_column columns[] = {
        {"target", GRID_TEXT}, {"policy", GRID_TEXT}, {"campaigns", GRID_COUNT},
        {"turns", GRID_COUNT}, {"effective", 1},      {"ips", 5},
        {"ips_low", 5},        {"ips_high", 5},       {"dr", 5},
        {"dr_low", 5},         {"dr_high", 5},        {"gain", 5}};
    struct grid *g = grid_add(out, "regret", GRID_COLUMNS(columns),
                              "reward per turn that another policy would have earned");
    g->drawn = "gain";
    for (size_t t = 0; t < j->s->targets.n; t++)
        put_target(j->s, a, t, j->model[t], g);
    grid_note(g, "ips: inverse propensity; dr: doubly robust, with per-fuzzer ridge weights "
                 "(lambda 10) from the other campaigns; means over campaigns with "
                 "95 %% bootstrap intervals over them (10000 resamples; below about ten campaigns "
                 "too narrow)");
    grid_note(g, "effective: turns that the inverse propensity estimate is worth, (sum w)^2 / sum "
                 "w^2; gain: dr, or ips where there is none, less what random "
                 "earned; no test: look whether the interval holds random's value");
    grid_note(g,
              "each turn is judged in the state that random led to: what a policy would have "
              "changed for later turns, such as rewards that rot, is not "
              "in it; contextual, phase, bandfuzz and rate learn from every turn of the journal");
}

int analyze_regret(const struct study *s, struct grids *out, struct err *e)
{
    struct study only;
    only_random(s, &only);
    struct job j = {&only, xcalloc(s->targets.n + 1, sizeof *j.model),
                    xcalloc(only.n * s->fuzzers.n + 1, sizeof *j.theta)};
    struct answer *a = xcalloc(only.n + 1, sizeof *a);
    int rc = 0;
    if (!only.n)
        rc = err_usage(
            e, "no campaign ran under 'random', whose choices have known chances: run some with "
               "'carol fuzz --scheduler random'");
    if (rc == 0)
        rc = learn(&j, out, e);
    if (rc == 0)
        rc = study_each(&only, sizeof *a, estimate, &j, a, e);
    if (rc == 0) {
        put(&j, a, out);
        if (only.n < s->n)
            grids_note(out, "%zu of %zu campaigns ran under 'random'; the others are left out",
                       only.n, s->n);
    }
    free(a);
    free(j.theta);
    free(j.model);
    free(only.camps);
    return rc;
}
