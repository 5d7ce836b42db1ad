/* analyze: the paper's analyses on anybody's journals, one file per analysis behind one table.
 *
 *     const struct analysis *a = analysis_find("predict");
 *     struct study s = {.processes = cpus_count()};
 *     study_open(&s, &outs, &e);
 *     a->run(&s, &grids, &e);                 // tables with n, the test and its correction
 *     grids_text(&grids, &buf);
 *
 * docs/ANALYSES.md says what each question means and how to read the answer.  What the campaigns cannot answer is an
 * error (exit 2) when nothing is left to say, else a note and an empty cell. */
#ifndef CAROL_ANALYZE_ANALYZE_H
#define CAROL_ANALYZE_ANALYZE_H

#include "analyze/grid.h"
#include "analyze/study.h"

struct analysis {
    const char *name;
    const char *question; /* one line */
    int (*run)(const struct study *s, struct grids *out, struct err *e);
    /* Instead: about the results of `carol bench`, which need no journals. */
    int (*bench)(const struct strv *dirs, const struct strv *only, struct grids *out,
                 struct err *e);
    bool apart; /* campaigns under different schedulers are not taken together */
};

extern const struct analysis analyses[];                /* ends with a NULL name */
const struct analysis *analysis_find(const char *name); /* NULL: there is none */

/* The analyses, one per file. */
int analyze_predict(const struct study *s, struct grids *out, struct err *e);
int analyze_features(const struct study *s, struct grids *out, struct err *e);
int analyze_rank(const struct study *s, struct grids *out, struct err *e);
int analyze_forget(const struct study *s, struct grids *out, struct err *e);
int analyze_form(const struct study *s, struct grids *out, struct err *e);
int analyze_influence(const struct study *s, struct grids *out, struct err *e);
int analyze_transfer(const struct study *s, struct grids *out, struct err *e);
int analyze_decay(const struct study *s, struct grids *out, struct err *e);
int analyze_ranking(const struct study *s, struct grids *out, struct err *e);
int analyze_drift(const struct study *s, struct grids *out, struct err *e);
int analyze_plateau(const struct study *s, struct grids *out, struct err *e);
int analyze_arrival(const struct strv *dirs, const struct strv *only, struct grids *out,
                    struct err *e);
int analyze_allocation(const struct study *s, struct grids *out, struct err *e);
int analyze_regret(const struct study *s, struct grids *out, struct err *e);

#endif
