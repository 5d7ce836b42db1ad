/* transfer: do weights learned on other targets serve on this one?  Frozen, they predict a campaign that the target's own
 * weights did not see either; and the decisions on which the two would choose differently are counted. */
#include "analyze/analyze.h"
#include "analyze/folds.h"
#include "base/die.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WITHIN, TRANSFERRED, MODELS };

/* Weights for every campaign: [camp][model][arm]. */
struct weights {
    int arms;
    double (*theta)[LINEAR_DIM];
};

static double (*weights_at(const struct weights *w, size_t camp, int model))[LINEAR_DIM]
{
    return w->theta + (camp * MODELS + (size_t)model) * (size_t)w->arms;
}

static void score(const struct folds *f, size_t camp, const struct moments *train,
                  struct linear *model, struct versus *v)
{
    const struct weights *w = v->arg;
    struct moments *others = xcalloc((size_t)f->arms, sizeof *others);
    folds_elsewhere(f, f->s->camps[camp].target, others);
    for (int m = 0; m < MODELS; m++) {
        for (int k = 0; k < f->arms; k++) {
            fit(&model[k], m == WITHIN ? &train[k] : &others[k], FIT_RIDGE, NULL);
            memcpy(weights_at(w, camp, m)[k], model[k].theta, sizeof *w->theta);
        }
        *versus_at(v, (size_t)m, camp) = folds_error(f, camp, model);
    }
    free(others);
}

/* --- decisions ----------------------------------------------------------------------------------------- */

struct choices {
    uint64_t decisions, differ; /* with two or more fuzzers that could run */
};

static int compare(void *arg, const struct story *l, size_t camp, void *result, struct err *e)
{
    const struct weights *w = arg;
    struct choices *r = result;
    (void)e;
    for (size_t i = 0; i < l->n_choices; i++) {
        if (story_able(l, &l->choices[i]) < 2)
            continue;
        r->decisions++;
        r->differ += folds_choice(l, i, weights_at(w, camp, WITHIN)) !=
                     folds_choice(l, i, weights_at(w, camp, TRANSFERRED));
    }
    return 0;
}

static void put_decisions(const struct study *s, const struct folds *f, const struct choices *r,
                          struct grids *out)
{
    static const struct grid_column columns[] = {{"target", GRID_TEXT},
                                                 {"campaigns", GRID_COUNT},
                                                 {"decisions", GRID_COUNT},
                                                 {"differ", GRID_COUNT},
                                                 {"differ_pct", 1}};
    struct grid *g = grid_add(out, "decisions", GRID_COLUMNS(columns),
                              "decisions on which the two rank another fuzzer first");
    g->drawn = "differ_pct";
    for (size_t t = 0; t < s->targets.n; t++) {
        struct choices sum = {0};
        for (size_t c = 0; c < s->n; c++)
            if (s->camps[c].target == t) {
                sum.decisions += r[c].decisions;
                sum.differ += r[c].differ;
            }
        if (!folds_usable(f, t))
            continue;
        grid_text(g, "%s", s->targets.v[t]);
        grid_count(g, study_count(s, t));
        grid_count(g, sum.decisions);
        grid_count(g, sum.differ);
        grid_real(g, sum.decisions ? 100.0 * (double)sum.differ / (double)sum.decisions : NAN);
    }
    grid_note(g,
              "the highest prediction wins, without exploration; the first in the roster on a tie");
}

int analyze_transfer(const struct study *s, struct grids *out, struct err *e)
{
    static const char *const names[] = {"within", "transferred"};
    struct folds f;
    struct versus v = {
        .s = s,
        .name = "transfer",
        .title = "held-out reward: weights from the other targets, frozen",
        .base = "weights from the target's other campaigns, per-fuzzer ridge (lambda 10)",
        .names = names,
        .models = MODELS};
    if (s->targets.n < 2)
        return err_usage(e, "all campaigns are of one target, '%s': transfer needs two or more",
                         s->targets.n ? s->targets.v[0] : "");
    int rc = folds_gather(&f, s, NULL, 1, out, e);
    struct weights w = {(int)s->fuzzers.n, xcalloc(s->n * MODELS * s->fuzzers.n, sizeof *w.theta)};
    struct choices *r = xcalloc(s->n, sizeof *r);
    if (rc == 0) {
        v.arg = &w;
        folds_score(&f, score, &v);
        rc = study_each(s, sizeof *r, compare, &w, r, e);
    }
    if (rc == 0) {
        versus_put(&v, out);
        put_decisions(s, &f, r, out);
    }
    versus_free(&v);
    free(r);
    free(w.theta);
    folds_free(&f);
    return rc;
}
