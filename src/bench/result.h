/* result: what one campaign of the benchmark came to: DIR/campaigns/NAME/result.json (docs/FILES.md).  It is
 * written once, atomically, when everything about the campaign is known. */
#ifndef CAROL_BENCH_RESULT_H
#define CAROL_BENCH_RESULT_H

#include "base/err.h"
#include "bench/growth.h"
#include "bench/suite.h"
#include "runtime/oracle/oracle.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RESULT_MOMENTS 20 /* equal parts of the budget */

struct first {
    bool seen;     /* else it never happened */
    uint64_t exec; /* number of the input; 0: the oracle does not count them (Magma) */
    double cpu_s, wall_s;
};

struct bug_result {
    char id[16];
    struct first reached, triggered;
};

struct result {
    char *target, *contender, *definition;
    struct strv fuzzers; /* the roster as it was then; none: a rival, or an old result */
    enum role role;
    int trial, cores, attempts;
    uint64_t seed;
    double budget_s, cpu_s, wall_s;
    double ratio;       /* CPU time to wall time and core */
    double first_ratio; /* of the first attempt, when there were two */
    uint64_t execs;     /* inputs that the oracle saw; 0: it does not count them (Magma) */
    uint64_t inputs;    /* kept */
    uint32_t edges_total;
    uint32_t edges[RESULT_MOMENTS + 1]; /* at 0, and at the end of every part of the budget */
    double wall_at[RESULT_MOMENTS + 1]; /* seconds */
    double top_share[GROWTH_QUARTERS];  /* negative: not known */
    struct bug_result *bugs;            /* all of the target's */
    size_t n_bugs;
    char *command, *began;
    char *version;  /* of Carol and the engines */
    char *build_id; /* of the neutral build */
    char *host;     /* kernel, processor, cores */
};

void result_bugs(struct result *r, const struct bug *bugs, size_t n, const struct carol_oracle *o);
/* This machine, for result.host, and what runs here, for result.version; the caller frees. */
char *result_host(void);
char *result_version(void);
size_t result_triggered(const struct result *r);
size_t result_reached(const struct result *r);
/* Bugs triggered, averaged over the budget: the area under the curve divided by its length. */
double result_area(const struct result *r);

CAROL_MUST_CHECK int result_write(const struct result *r, const char *path, struct err *e);
/* A file that is no result is an error (exit 2). */
CAROL_MUST_CHECK int result_read(struct result *r, const char *path, struct err *e);
void result_free(struct result *r);

#endif
