/* twosample: two independent groups, such as the bugs of ten campaigns under each of two schedulers.
 * All values are finite and no group is empty. */
#ifndef CAROL_STATS_TWOSAMPLE_H
#define CAROL_STATS_TWOSAMPLE_H

#include "base/err.h"

#include <stddef.h>

struct mwu {
    double u; /* pairs in which x is the larger, ties half */
    double z; /* of the normal approximation, towards 0 by the continuity correction */
    double p; /* two-sided, by that approximation with tie and continuity corrections */
    double
        p_exact; /* two-sided, over all ways to deal the values out; NaN when these are too many */
    double a12;
};

/* Mann-Whitney U.  p is what the paper's tables and SciPy's default for tied values give.  p_exact counts
 * the ways whose U is at least as far from its mean n*m/2; it allows for ties.  All equal: both are 1. */
void stats_mwu(const double *x, size_t n, const double *y, size_t m, struct mwu *r);

/* Vargha and Delaney's A12: the probability that a value of x exceeds one of y, ties half. */
double stats_a12(const double *x, size_t n, const double *y, size_t m);
/* "negligible", "small" (from 0.56 or down to 0.44), "medium" (0.64), "large" (0.71): their words for it. */
const char *stats_a12_word(double a12);

struct resolution {
    double difference; /* of the means, x less y */
    double p; /* of that difference: how many ways to deal the values out give one as large */
    double
        least; /* the resolution; NaN when no attainable difference has a tail of at most alpha */
};

/* The pairwise permutation resolution of the paper: over all ways to deal the pooled values out to groups of
 * these sizes, the smallest attainable difference of means, in size, whose two-sided tail is at most alpha.
 * A smaller difference could not have been told from chance with these values.  -E2BIG when the ways have too
 * many different sums: values with a common unit, such as counts, have few. */
CAROL_MUST_CHECK int stats_resolution(const double *x, size_t n, const double *y, size_t m,
                                      double alpha, struct resolution *r);

#endif
