/* trend: whether two series rise together, and the line through them.  Quadratic: n is at most
 * SERIES_PAIRS_MAX (series.h); the caller sees to it. */
#ifndef CAROL_STATS_TREND_H
#define CAROL_STATS_TREND_H

#include <stdbool.h>
#include <stddef.h>

struct kendall {
    double s;   /* pairs in the same order less those in the opposite one */
    double tau; /* tau-b; NaN when all x or all y are equal */
    double p;   /* two-sided; NaN with tau */
    bool
        exact; /* counted over all orders: no ties, and up to 33 values or at most one pair out of order */
};

/* Kendall's tau-b of n >= 2 pairs.  Where p is not exact it is the normal approximation with tie correction,
 * without continuity correction, as in SciPy. */
void stats_kendall(const double *x, const double *y, size_t n, struct kendall *r);

struct sen_line {
    double
        slope; /* the median of the slopes of all pairs with different x; NaN when there are none */
    double intercept; /* the median of y - slope*x */
    double low,
        high; /* 95 % interval of the slope (Sen 1968); NaN where its variance is below 0 for ties */
};

/* The Theil-Sen line of y over x, n >= 2 pairs. */
void stats_sen_line(const double *x, const double *y, size_t n, struct sen_line *r);

#endif
