/* coverage: the lines of source that a campaign's inputs cover, and who covered each first.
 *
 *     coverage_run(&c, &opts, &e);        // runs every input on the family `source`
 *     coverage_save(&c, &e);              // HTML, lcov.info, first.csv, first.json, the inputs that were first
 *     coverage_free(&c);                  // also after a failure
 *
 * Inputs run in the order in which they were found, each alone.  A line belongs to the first of them whose own
 * profile, as llvm-cov reads it, covers the line.  An input that crashes or hangs counts with what it ran; clang
 * counts whole regions, so of the region in which it ended the lines after that place count, too.
 *
 * A running campaign can be looked at: one moment of it.  Nothing in it is changed. */
#ifndef CAROL_COVERAGE_COVERAGE_H
#define CAROL_COVERAGE_COVERAGE_H

#include "base/err.h"
#include "coverage/clangtools.h"
#include "coverage/found.h"
#include "coverage/lcov.h"
#include "eval/eval.h"
#include "journal/journal.h"

#include <stddef.h>
#include <stdint.h>

struct coverage_opts {
    const char *out;
    const char *build; /* with the family `source`; NULL: the campaign's */
    const char *dir;   /* where the results go; its work files are in a directory there */
    unsigned jobs;     /* 0: one per processor */
    /* Called now and then, `doing` in words; may be NULL. */
    void (*progress)(void *arg, const char *doing, size_t done, size_t of);
    void *arg;
};

/* An input that ran some region first. */
struct coverage_step {
    size_t input; /* place in `found` */
    enum run_status status;
    char sha1[41];  /* its name in `carol corpus OUT export` */
    uint64_t lines; /* it was the first on */
};

struct coverage_finder {
    const char *name;
    uint64_t lines;
    size_t inputs, steps;
};

struct coverage {
    struct coverage_opts o;
    struct journal j;
    struct manifest target;
    struct found found;
    struct clangtools tools;
    char *work;
    struct coverage_step *steps;
    size_t n_steps, cap_steps;
    struct lcov lines; /* of all inputs together; step: the first on that line */
    uint64_t n_lines, n_covered, n_functions, n_functions_covered;
    uint64_t unexplained; /* lines covered by all together and by no step: llvm-cov's arithmetic */
    size_t ended[RUN_OOM + 1];       /* inputs by enum run_status */
    size_t without_profile;          /* the target ended before it began to count */
    struct coverage_finder *finders; /* the roster, then seeds, then imported */
    size_t n_finders;
};

#define COVERAGE_ALL "all.profraw" /* in the work directory: the sum of all inputs */

/* Usage when the build has no family `source`: the message has the command that adds it. */
CAROL_MUST_CHECK int coverage_run(struct coverage *c, const struct coverage_opts *o, struct err *e);
CAROL_MUST_CHECK int coverage_save(struct coverage *c, struct err *e);
void coverage_free(struct coverage *c);

#endif
