/* form: does the random Fourier form predict better than one linear in the signals, with as few turns as a campaign has?
 * Fitted on a fuzzer's first n turns, scored on its next 25. */
#include "analyze/analyze.h"
#include "analyze/fit.h"
#include "analyze/versus.h"
#include "base/die.h"
#include "sched/features.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RFF, LINEAR, MATCHED, FORMS };
static const int volumes[] = {12, 25, 40, 100, 240};
#define VOLUMES (sizeof volumes / sizeof *volumes)
#define NEXT 25
#define SIGMA 4.0

struct answer {
    uint32_t pairs[VOLUMES];      /* fuzzers with enough turns */
    double error[VOLUMES][FORMS]; /* sums over them of the mean square */
};

/* The linear form whose columns are as long as the random Fourier ones: of 15 standardised signals the expected squared
 * length is 15, of the others 1. */
static void map(const struct features *f, int form, const double x[SIGNAL_COUNT],
                double phi[FEATURES_PHI])
{
    double in[FEATURES_X] PAIR_ALIGNED = {0};
    memcpy(in, x, SIGNAL_COUNT * sizeof *in);
    if (form == RFF) {
        features_map(f, in, phi);
        return;
    }
    fit_phi(x, phi);
    for (int k = 0; form == MATCHED && k < SIGNAL_COUNT; k++)
        phi[k] /= sqrt(SIGNAL_COUNT);
}

/* The turns of one fuzzer, in order of completion. */
static double error_of(const struct story *l, const size_t *turns, int n, const struct features *f,
                       int form)
{
    struct linear m;
    double phi[FEATURES_PHI] PAIR_ALIGNED, width, error = 0;
    linear_init(&m, FIT_RIDGE);
    for (int i = 0; i < n + NEXT; i++) {
        const struct story_turn *t = &l->turns[turns[i]];
        map(f, form, story_x(l, t), phi);
        if (i < n) {
            linear_add(&m, phi, t->reward);
            continue;
        }
        if (i == n)
            linear_solve(&m);
        double off = t->reward - linear_predict(&m, phi, &width);
        error += off * off / NEXT;
    }
    return error;
}

static int compare(void *arg, const struct story *l, size_t camp, void *result, struct err *e)
{
    struct answer *a = result;
    struct features f;
    struct rng rng;
    size_t *turns = xcalloc(l->n_turns, sizeof *turns);
    (void)arg;
    (void)camp;
    (void)e;
    rng_stream(&rng, l->camp->seed, "contextual.features");
    features_draw(&f, &rng, FEATURES_COLUMNS, SIGNAL_COUNT, SIGMA);
    for (int arm = 0; arm < l->arms; arm++) {
        int n = 0;
        for (size_t i = 0; i < l->n_turns; i++)
            if (l->turns[i].arm == arm)
                turns[n++] = i;
        for (size_t v = 0; v < VOLUMES; v++) {
            if (n < volumes[v] + NEXT)
                continue;
            a->pairs[v]++;
            for (int form = 0; form < FORMS; form++)
                a->error[v][form] += error_of(l, turns, volumes[v], &f, form);
        }
    }
    free(turns);
    return 0;
}

/* Mean over all fuzzers of a target; *pairs: how many. */
static double pooled(const struct study *s, const struct answer *a, size_t target, size_t v,
                     int form, uint64_t *pairs)
{
    double sum = 0;
    *pairs = 0;
    for (size_t c = 0; c < s->n; c++)
        if (s->camps[c].target == target) {
            sum += a[c].error[v][form];
            *pairs += a[c].pairs[v];
        }
    return *pairs ? sum / (double)*pairs : NAN;
}

/* [volume][form]: RFF is the base.  Holm over the volumes of a form. */
static void contrasts(const struct study *s, const struct answer *a, size_t target,
                      struct contrast c[VOLUMES][FORMS])
{
    double *base = xcalloc(2 * s->n, sizeof *base), *other = base + s->n;
    for (size_t v = 0; v < VOLUMES; v++)
        for (int form = LINEAR; form < FORMS; form++) {
            for (size_t i = 0; i < s->n; i++) {
                bool has = s->camps[i].target == target && a[i].pairs[v];
                base[i] = has ? a[i].error[v][RFF] / a[i].pairs[v] : NAN;
                other[i] = has ? a[i].error[v][form] / a[i].pairs[v] : NAN;
            }
            contrast_of(base, other, s->n, &c[v][form]);
        }
    for (int form = LINEAR; form < FORMS; form++)
        contrast_holm(&c[0][form], VOLUMES, FORMS);
    free(base);
}

static void put_target(const struct study *s, const struct answer *a, size_t target, struct grid *g)
{
    static const char *const names[FORMS] = {"rff", "linear", "linear, scaled"};
    struct contrast c[VOLUMES][FORMS];
    contrasts(s, a, target, c);
    for (int form = LINEAR; form < FORMS; form++)
        for (size_t v = 0; v < VOLUMES; v++) {
            uint64_t pairs;
            double rff = pooled(s, a, target, v, RFF, &pairs);
            double other = pooled(s, a, target, v, form, &pairs);
            if (!pairs)
                continue;
            grid_text(g, "%s", s->targets.v[target]);
            grid_text(g, "%s", names[form]);
            grid_count(g, (uint64_t)volumes[v]);
            grid_count(g, pairs);
            grid_real(g, rff);
            grid_real(g, other);
            grid_real(g, other > 0 ? 100 * (1 - rff / other) : NAN);
            grid_count(g, c[v][form].n);
            grid_real(g, c[v][form].p);
            grid_real(g, c[v][form].p_holm);
            grid_text(g, "%s", contrast_says(&c[v][form]));
        }
}

int analyze_form(const struct study *s, struct grids *out, struct err *e)
{
    static const struct grid_column columns[] = {
        {"target", GRID_TEXT}, {"form", GRID_TEXT},       {"updates", GRID_COUNT},
        {"pairs", GRID_COUNT}, {"rff_error", 6},          {"error", 6},
        {"rff_lower_pct", 1},  {"campaigns", GRID_COUNT}, {"p", GRID_P},
        {"p_holm", GRID_P},    {"says", GRID_TEXT}};
    struct answer *a = xcalloc(s->n, sizeof *a);
    int rc = study_each(s, sizeof *a, compare, NULL, a, e);
    if (rc == 0) {
        struct grid *g = grid_add(out, "form", GRID_COLUMNS(columns),
                                  "random Fourier against linear, on the next %d turns", NEXT);
        g->drawn = "rff_lower_pct";
        for (size_t t = 0; t < s->targets.n; t++)
            put_target(s, a, t, g);
        if (!grid_rows(g))
            rc = err_usage(e,
                           "too little data: no fuzzer of any campaign completed %d turns, the "
                           "fewest this analysis can use",
                           volumes[0] + NEXT);
        grid_note(g, "pairs: (campaign, fuzzer) with enough turns; errors: mean squares over them; "
                     "rff lower "
                     "%%: how much lower the random Fourier error is; says: whether this form is "
                     "worse than random Fourier");
        grid_note(g, "p: Wilcoxon signed ranks, two-sided, a pair per campaign (the mean of its "
                     "fuzzers); p holm: Holm "
                     "over the numbers of updates; lambda 10 for all; linear, scaled: x / "
                     "sqrt(15), columns as long as the "
                     "random Fourier ones, which the paper did not measure");
    }
    free(a);
    return rc;
}
