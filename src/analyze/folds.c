/* folds: sums per campaign and fuzzer, and errors on what was left out.  Chooses no models. */
#include "analyze/folds.h"

#include "base/die.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct gather {
    const double *gamma;
    int arms, variants;
};

static int gather(void *arg, const struct story *l, size_t camp, void *result, struct err *e)
{
    const struct gather *g = arg;
    struct moments *own = result;
    (void)camp;
    (void)e;
    for (int v = 0; v < g->variants; v++) {
        double weight = 1;
        for (size_t i = l->n_turns; i-- > 0;) {
            double phi[LINEAR_PADDED];
            const struct story_turn *t = &l->turns[i];
            fit_phi(story_x(l, t), phi);
            moments_add(&own[v * g->arms + t->arm], phi, t->reward, weight);
            weight *= g->gamma[v];
        }
    }
    return 0;
}

static size_t per_camp(const struct folds *f)
{
    return (size_t)f->variants * (size_t)f->arms;
}

const struct moments *folds_own(const struct folds *f, size_t camp, int variant, int arm)
{
    return &f->own[camp * per_camp(f) + (size_t)(variant * f->arms + arm)];
}

bool folds_usable(const struct folds *f, size_t target)
{
    double earned = 0;
    for (size_t c = 0; c < f->s->n; c++)
        for (int k = 0; f->s->camps[c].target == target && k < f->arms; k++)
            earned += folds_own(f, c, 0, k)->rr;
    return earned > 0 && study_count(f->s, target) >= 2;
}

/* What cannot be answered, and why. */
static int check(const struct folds *f, struct grids *out, struct err *e)
{
    const struct study *s = f->s;
    size_t usable = 0;
    for (size_t t = 0; t < s->targets.n; t++) {
        usable += folds_usable(f, t);
        if (study_count(s, t) < 2)
            grids_note(out, "%s: one campaign only; leaving one out needs two", s->targets.v[t]);
        else if (!folds_usable(f, t))
            grids_note(out, "%s: no turn earned anything, so there is nothing to predict",
                       s->targets.v[t]);
    }
    if (usable)
        return 0;
    if (s->n < 2)
        return err_usage(e, "one campaign only: this analysis leaves one out and needs two or more "
                            "of a target");
    return err_usage(e, "too little data: no target has two campaigns in which a turn earned "
                        "something");
}

int folds_gather(struct folds *f, const struct study *s, const double *gamma, int variants,
                 struct grids *out, struct err *e)
{
    static const double one[] = {1};
    *f = (struct folds){.s = s, .arms = (int)s->fuzzers.n, .variants = variants};
    struct gather g = {gamma ? gamma : one, f->arms, variants};
    f->own = xcalloc(s->n * per_camp(f), sizeof *f->own);
    int rc = study_each(s, per_camp(f) * sizeof *f->own, gather, &g, f->own, e);
    return rc < 0 ? rc : check(f, out, e);
}

void folds_free(struct folds *f)
{
    free(f->own);
    *f = (struct folds){0};
}

void folds_train(const struct folds *f, size_t camp, int variant, struct moments *train)
{
    memset(train, 0, (size_t)f->arms * sizeof *train);
    for (size_t c = 0; c < f->s->n; c++)
        for (int k = 0; k < f->arms; k++)
            if (c != camp && f->s->camps[c].target == f->s->camps[camp].target)
                moments_join(&train[k], folds_own(f, c, variant, k));
}

void folds_elsewhere(const struct folds *f, size_t target, struct moments *train)
{
    memset(train, 0, (size_t)f->arms * sizeof *train);
    for (size_t c = 0; c < f->s->n; c++)
        for (int k = 0; k < f->arms; k++)
            if (f->s->camps[c].target != target)
                moments_join(&train[k], folds_own(f, c, 0, k));
}

double folds_turns(const struct folds *f, size_t camp)
{
    double n = 0;
    for (int k = 0; k < f->arms; k++)
        n += folds_own(f, camp, 0, k)->n;
    return n;
}

double folds_error(const struct folds *f, size_t camp, const struct linear *model)
{
    double error = 0;
    for (int k = 0; k < f->arms; k++)
        error += fit_error(model[k].theta, folds_own(f, camp, 0, k));
    return error / folds_turns(f, camp);
}

int folds_choice(const struct story *l, size_t choice, double (*theta)[LINEAR_DIM])
{
    int best = -1;
    double top = 0;
    for (int k = 0; k < l->arms; k++) {
        double v = fit_predict(theta[k], l->x[choice * (size_t)l->arms + (size_t)k]);
        if (!(l->choices[choice].dropped >> k & 1) && (best < 0 || v > top)) {
            best = k;
            top = v;
        }
    }
    return best;
}

void folds_score(const struct folds *f, folds_fn *score, struct versus *v)
{
    struct moments *train = xcalloc((size_t)f->arms, sizeof *train);
    struct linear *model = xcalloc((size_t)f->arms, sizeof *model);
    versus_init(v);
    for (size_t c = 0; c < f->s->n; c++)
        if (folds_usable(f, f->s->camps[c].target)) {
            folds_train(f, c, 0, train);
            score(f, c, train, model, v);
        }
    free(model);
    free(train);
}

int folds_answer(struct versus *v, folds_fn *score, struct grids *out, struct err *e)
{
    struct folds f;
    int rc = folds_gather(&f, v->s, NULL, 1, out, e);
    if (rc == 0) {
        folds_score(&f, score, v);
        versus_put(v, out);
        versus_free(v);
    }
    folds_free(&f);
    return rc;
}
