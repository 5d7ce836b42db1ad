/* stats: what the files of `carol stats` share: the groups of numbers and the tests. */
#ifndef CAROL_CLI_STATS_H
#define CAROL_CLI_STATS_H

#include "base/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One group as it was given: a comma list, @FILE or @FILE:COLUMN. */
struct stats_group {
    const char *name; /* the argument */
    double *v;
    bool *longer; /* marked with +: only known to be longer.  All false but for km */
    size_t n, cap, longer_cap;
};

struct stats_args {
    struct stats_group *group;
    size_t n;
    double alpha, level;
    double until; /* NaN: not given */
    uint64_t resamples, seed;
    bool median;
};

struct stats_test {
    const char *name, *args, *summary;
    size_t least, most;        /* groups */
    bool lifetimes;            /* values may be marked with + */
    const char *options;       /* letters of those it takes beside --json */
    const char *statistic, *p; /* what they are, for people */
    /* Adds what it found to o, which has schema and test. */
    int (*run)(const struct stats_args *a, json_t *o, struct err *e);
};

extern const struct stats_test stats_tests[]; /* ends with a NULL name */

/* Reads the group that arg describes; finite numbers up to 1e100 in size, at least one. */
CAROL_MUST_CHECK int stats_group_read(const char *arg, bool lifetimes, struct stats_group *g,
                                      struct err *e);
void stats_group_free(struct stats_group *g);

#endif
