/* forget: does reward become easier to predict when old turns count less?  Once for a campaign that was left out (the
 * paper's question), once for the next turn of the same campaign (what a scheduler faces). */
#include "analyze/analyze.h"
#include "analyze/folds.h"
#include "base/die.h"

#include <stdlib.h>

static const double gammas[] = {1, 0.995, 0.99};
static const char *const names[] = {"1", "0.995", "0.99"};
#define GAMMAS (sizeof gammas / sizeof *gammas)

static void score(const struct folds *f, size_t camp, const struct moments *train,
                  struct linear *model, struct versus *v)
{
    struct moments *faded = xcalloc((size_t)f->arms, sizeof *faded);
    for (size_t m = 0; m < GAMMAS; m++) {
        folds_train(f, camp, (int)m, faded);
        for (int k = 0; k < f->arms; k++)
            fit(&model[k], m ? &faded[k] : &train[k], FIT_RIDGE, NULL);
        *versus_at(v, m, camp) = folds_error(f, camp, model);
    }
    free(faded);
}

/* --- the next turn ------------------------------------------------------------------------------------- */

struct next {
    double error[GAMMAS]; /* mean squares */
};

static void fade_all(struct linear *model, int n, double gamma)
{
    for (int k = 0; gamma < 1 && k < n; k++)
        linear_fade(&model[k], gamma);
}

/* Every turn is predicted by the model of its fuzzer as it is when its reward comes in; then it is learned. */
static int predict_next(void *arg, const struct story *l, size_t camp, void *result, struct err *e)
{
    struct next *r = result;
    struct linear *model = xcalloc((size_t)l->arms, sizeof *model);
    (void)arg;
    (void)camp;
    (void)e;
    for (size_t m = 0; m < GAMMAS; m++) {
        for (int k = 0; k < l->arms; k++)
            linear_init(&model[k], FIT_RIDGE);
        for (size_t i = 0; i < l->n_turns; i++) {
            const struct story_turn *t = &l->turns[i];
            double phi[LINEAR_PADDED];
            linear_solve(&model[t->arm]);
            double off = t->reward - fit_predict(model[t->arm].theta, story_x(l, t));
            r->error[m] += off * off / (double)l->n_turns;
            fit_phi(story_x(l, t), phi);
            fade_all(model, l->arms, gammas[m]);
            linear_add(&model[t->arm], phi, t->reward);
        }
    }
    free(model);
    return 0;
}

static int next_turn(const struct folds *f, struct grids *out, struct err *e)
{
    const struct study *s = f->s;
    struct versus v = {.s = s,
                       .name = "next_turn",
                       .title = "the next turn of the same campaign, by factor of forgetting",
                       .base = "gamma = 1, learned from the campaign's own turns before it",
                       .names = names,
                       .models = GAMMAS};
    struct next *r = xcalloc(s->n, sizeof *r);
    int rc = study_each(s, sizeof *r, predict_next, NULL, r, e);
    versus_init(&v);
    for (size_t c = 0; rc == 0 && c < s->n; c++)
        for (size_t m = 0; m < GAMMAS && folds_usable(f, s->camps[c].target); m++)
            *versus_at(&v, m, c) = r[c].error[m];
    if (rc == 0)
        versus_put(&v, out);
    versus_free(&v);
    free(r);
    return rc;
}

int analyze_forget(const struct study *s, struct grids *out, struct err *e)
{
    struct folds f;
    struct versus v = {.s = s,
                       .name = "forget",
                       .title = "held-out reward, by factor of forgetting",
                       .base = "gamma = 1, per-fuzzer ridge (lambda 10), one campaign left out",
                       .names = names,
                       .models = GAMMAS};
    int rc = folds_gather(&f, s, gammas, GAMMAS, out, e);
    if (rc == 0) {
        folds_score(&f, score, &v);
        versus_put(&v, out);
        versus_free(&v);
    }
    if (rc == 0)
        rc = next_turn(&f, out, e);
    folds_free(&f);
    if (rc == 0)
        grids_note(out, "a turn after which k more were completed in its campaign has the weight "
                        "gamma^k; half-lives: 139 "
                        "turns at 0.995, 69 at 0.99");
    return rc;
}
