/* features: what does each signal add to the prediction of reward?  Leaves out one signal, and one campaign, at a
 * time. */
#include "analyze/analyze.h"
#include "analyze/folds.h"

/* Model 0 has all signals, model k + 1 lacks signal k. */
static void score(const struct folds *f, size_t camp, const struct moments *train,
                  struct linear *model, struct versus *v)
{
    for (int m = 0; m <= SIGNAL_COUNT; m++) {
        bool keep[LINEAR_DIM];
        for (int k = 0; k < LINEAR_DIM; k++)
            keep[k] = k != m - 1;
        for (int k = 0; k < f->arms; k++)
            fit(&model[k], &train[k], FIT_RIDGE, keep);
        *versus_at(v, (size_t)m, camp) = folds_error(f, camp, model);
    }
}

int analyze_features(const struct study *s, struct grids *out, struct err *e)
{
    const char *names[SIGNAL_COUNT + 1] = {"all"};
    for (int k = 0; k < SIGNAL_COUNT; k++)
        names[k + 1] = signal_name((enum signal_id)k);
    struct versus v = {.s = s,
                       .name = "features",
                       .title = "held-out reward: each signal left out",
                       .base =
                           "all 15 signals, per-fuzzer ridge (lambda 10), one campaign left out",
                       .names = names,
                       .models = SIGNAL_COUNT + 1,
                       .within = true};
    int rc = folds_answer(&v, score, out, e);
    if (rc == 0)
        grids_note(out, "model: the signal that is left out; worse: without it prediction is "
                        "worse, so it helps");
    return rc;
}
