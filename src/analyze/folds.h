/* folds: held-out prediction.  A model per fuzzer, linear in x, is fitted on the other campaigns of a target and scored
 * on the one that was left out.  Every campaign is read once, into sums (fit.h).
 *
 *     folds_gather(&f, study, NULL, 1, &e);
 *     folds_train(&f, camp, 0, train);                    // sums of the others, a row per fuzzer
 *     fit(&model[arm], &train[arm], FIT_RIDGE, NULL);
 *     error = folds_error(&f, camp, model);
 */
#ifndef CAROL_ANALYZE_FOLDS_H
#define CAROL_ANALYZE_FOLDS_H

#include "analyze/fit.h"
#include "analyze/grid.h"
#include "analyze/study.h"
#include "analyze/versus.h"

struct folds {
    const struct study *s;
    int arms, variants;
    struct moments *own; /* [camp][variant][arm]; variant 0 is scored on */
};

/* A variant per factor of forgetting, gamma[0] = 1; NULL: that one alone.  A turn after which k more were completed in its
 * campaign has the weight gamma^k.  Targets that cannot be answered are noted; none that can: exit 2. */
CAROL_MUST_CHECK int folds_gather(struct folds *f, const struct study *s, const double *gamma,
                                  int variants, struct grids *out, struct err *e);
void folds_free(struct folds *f);
/* Has it two campaigns, and did a turn earn something? */
bool folds_usable(const struct folds *f, size_t target);
const struct moments *folds_own(const struct folds *f, size_t camp, int variant, int arm);
/* The other campaigns of its target. */
void folds_train(const struct folds *f, size_t camp, int variant, struct moments *train);
/* All campaigns of other targets. */
void folds_elsewhere(const struct folds *f, size_t target, struct moments *train);
/* Mean squared error on a campaign. */
double folds_error(const struct folds *f, size_t camp, const struct linear *model);
double folds_turns(const struct folds *f, size_t camp);
/* The fuzzer with the highest prediction among those that could run, by weights per fuzzer; the first on a tie. */
int folds_choice(const struct story *l, size_t choice, double (*theta)[LINEAR_DIM]);

/* For every campaign that can be left out: puts the errors of all models of v.  train: sums of the others, of variant
 * 0; model: room for a model per fuzzer. */
typedef void folds_fn(const struct folds *f, size_t camp, const struct moments *train,
                      struct linear *model, struct versus *v);
void folds_score(const struct folds *f, folds_fn *score, struct versus *v);
/* From the campaigns of v to its tables. */
CAROL_MUST_CHECK int folds_answer(struct versus *v, folds_fn *score, struct grids *out,
                                  struct err *e);

#endif
