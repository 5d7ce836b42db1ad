/* outcome: the results of a benchmark as the paper's tables: grids of text for people, the same figures as JSON,
 * and raw records as CSV.
 *
 *     struct outcome t;
 *     outcome_load(&t, "DIR", NULL, &e);
 *     outcome_reference(&t, "contextual", &whom, &e);
 *     outcome_sheets(&t, whom, MEASURE_BUGS, &sheets);
 *     sheets_text(&sheets, &buf);  sheets_html(...)          // report/sheet.h
 *     sheets_free(&sheets);
 *     outcome_free(&t);
 *
 * All statistics come from src/stats. */
#ifndef CAROL_BENCH_OUTCOME_H
#define CAROL_BENCH_OUTCOME_H

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "bench/bugs.h"
#include "bench/result.h"
#include "report/sheet.h"
#include "stats/survival.h"

#include <jansson.h>

enum measure_kind {
    MEASURE_NONE = 0,
    MEASURE_BUGS, /* distinct bugs triggered at the end */
    MEASURE_AREA, /* the same, averaged over the budget */
    MEASURE_REACHED,
    MEASURE_EDGES, /* neutral, at the end */
    MEASURE_EXECS,
    MEASURE_END
};
const char *measure_name(enum measure_kind m);
enum measure_kind measure_of(const char *name); /* MEASURE_NONE: there is none */
double measure_value(const struct result *r, enum measure_kind m);

struct outcome {
    struct result *results;
    size_t n;
    struct strv targets;
    struct strv contenders; /* by role: ours first, rivals last */
    enum role *roles;       /* of the contenders */
    double budget_s;
};

/* The values of one cell, in the order of trials. */
struct cell {
    double *v;
    size_t n;
};

/* DIR is what `carol bench run` wrote; only: the campaigns of these contenders, NULL or empty: all.  Results of different
 * budgets are refused. */
CAROL_MUST_CHECK int outcome_load(struct outcome *t, const char *dir, const struct strv *only,
                                  struct err *e);
/* Every name of `only` (NULL: none) must be there; the error lists those that are. */
CAROL_MUST_CHECK int outcome_check_names(const struct strv *only, const struct strv *there,
                                         size_t campaigns, struct err *e);
/* Forget all bugs but those listed.  An error when that leaves none: the list is of another suite. */
CAROL_MUST_CHECK int outcome_only_bugs(struct outcome *t, const struct bug *bugs, size_t n,
                                       struct err *e);
void outcome_free(struct outcome *t);
struct cell outcome_cell(const struct outcome *t, size_t target, size_t contender,
                         enum measure_kind m); /* free cell.v */

/* One opponent on one target. */
struct match {
    size_t target, opponent; /* opponent: the contender behind a composite */
    size_t n, n_other;
    double mean, other, delta, a12, p, p_exact, p_holm;
    double resolution; /* NaN: none */
};

/* The reference against one contender, or against the best of a role on each target, chosen afterwards. */
struct duel {
    const char *name;
    bool composite;
    struct match *match;
    size_t n;
    double sum, sum_other;
    int wins, losses, ties;
    double sign_p;
};

/* reference: position of the contender; opponents with no target in common are left out. */
void outcome_duels(const struct outcome *t, size_t reference, enum measure_kind m,
                   struct duel **duels, size_t *n);
void duels_free(struct duel *duels, size_t n);

/* Mean ranks over the targets that all contenders were run on (1: the best), Friedman and Nemenyi.  False: there
 * are fewer than two targets or contenders. */
struct ranking {
    double *rank; /* per contender */
    size_t targets;
    double chi2, p, cd;
};
bool outcome_ranking(const struct outcome *t, enum measure_kind m, struct ranking *r);

/* Kaplan-Meier median of the CPU seconds to a bug; NaN: more than half of the campaigns did not trigger it. */
double outcome_bug_median(const struct outcome *t, size_t target, size_t contender, const char *bug,
                          size_t *triggered, size_t *trials);

/* What a contender's campaigns on a target know of a bug. */
size_t outcome_bug_reached(const struct outcome *t, size_t target, size_t contender,
                           const char *bug);
/* Mean neutral edges when `moment` of RESULT_MOMENTS parts of the budget were used; NaN: no campaigns. */
double outcome_edges(const struct outcome *t, size_t target, size_t contender, int moment);
/* Times to every bug of the target, in all campaigns of a contender, those without it censored at the budget; the caller
 * frees. */
struct lifetime *outcome_lifetimes(const struct outcome *t, size_t target, size_t contender,
                                   size_t *n);

/* reference: a contender's name; NULL: the first.  -ENOENT (exit 2): there is none. */
CAROL_MUST_CHECK int outcome_reference(const struct outcome *t, const char *name, size_t *out,
                                       struct err *e);
void outcome_sheets(const struct outcome *t, size_t reference, enum measure_kind m,
                    struct sheets *out);
json_t *outcome_json(const struct outcome *t, size_t reference, enum measure_kind m);
/* A line per campaign; a line per campaign and bug. */
void outcome_csv(const struct outcome *t, struct buf *out);
void outcome_csv_bugs(const struct outcome *t, struct buf *out);
/* Self-contained: figures, then the sheets. */
void outcome_html(const struct outcome *t, size_t reference, enum measure_kind m, struct buf *out);

#endif
