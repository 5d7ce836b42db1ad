/* predict: does the full context predict reward better than less of it?  Leaves one campaign out at a time. */
#include "analyze/analyze.h"
#include "analyze/folds.h"

enum { FULL, HISTORY, UNC, INTERCEPT, MODELS };
static const char *const names[MODELS] = {"full", "history", "ctx_unc", "intercept"};

/* Which columns a model sees; the intercept always. */
static void columns_of(int model, bool keep[LINEAR_DIM])
{
    static const enum signal_id history[] = {SIGNAL_WIN_MEAN, SIGNAL_WIN_VAR,     SIGNAL_SLOPE,
                                             SIGNAL_MK_Z,     SIGNAL_HORIZON,     SIGNAL_HORIZON2,
                                             SIGNAL_HORIZON8, SIGNAL_COV_VELOCITY};
    for (int k = 0; k < LINEAR_DIM; k++)
        keep[k] = model == FULL || k == LINEAR_DIM - 1;
    for (size_t i = 0; model == HISTORY && i < sizeof history / sizeof *history; i++)
        keep[history[i]] = true;
    if (model == UNC)
        keep[SIGNAL_UNC] = true;
}

static void score(const struct folds *f, size_t camp, const struct moments *train,
                  struct linear *model, struct versus *v)
{
    for (int m = 0; m < MODELS; m++) {
        bool keep[LINEAR_DIM];
        columns_of(m, keep);
        for (int k = 0; k < f->arms; k++)
            fit(&model[k], &train[k], FIT_RIDGE, keep);
        *versus_at(v, (size_t)m, camp) = folds_error(f, camp, model);
    }
}

int analyze_predict(const struct study *s, struct grids *out, struct err *e)
{
    struct versus v = {.s = s,
                       .name = "predict",
                       .title = "held-out reward: models that see less than the full context",
                       .base = "the full context of 15 signals, per-fuzzer ridge (lambda 10), one "
                               "campaign left out",
                       .names = names,
                       .models = MODELS};
    int rc = folds_answer(&v, score, out, e);
    if (rc == 0)
        grids_note(
            out, "history: the 8 signals made of rewards and coverage; ctx_unc: that signal and an "
                 "intercept; intercept: no signal");
    return rc;
}
