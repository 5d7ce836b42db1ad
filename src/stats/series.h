/* series: the statistics of one series, such as a window of rewards.
 *
 * Sums run from the first value to the last and nothing here calls libm beyond sqrt, so that the same series
 * gives the same bits everywhere: the context signals and the scheduler phase are made of these.  Up to
 * SERIES_SHORT values nothing is allocated.  All values are finite. */
#ifndef CAROL_STATS_SERIES_H
#define CAROL_STATS_SERIES_H

#include <stddef.h>

#define SERIES_SHORT 84
/* What compares all pairs takes no more values than this; the caller sees to it. */
#define SERIES_PAIRS_MAX 10000

double stats_mean(const double *x, int n);     /* 0 when empty */
double stats_variance(const double *x, int n); /* n-1; 0 below two values */
/* The value with k smaller ones before it, and the median: 0 <= k < n; both put x into another order, none
 * larger before x[k]. */
double stats_select(double *x, int n, int k);
double stats_median(double *x, int n);
/* The value that a part q in [0, 1] of n >= 1 sorted values lies below, with linear interpolation. */
double stats_quantile(const double *sorted, size_t n, double q);
double stats_slope(const double *x, int n); /* least squares over 0..n-1; 0 below two values */
/* Mann-Kendall z with tie and continuity corrections; 0 when S or its variance is 0.
 * n is at most SERIES_PAIRS_MAX; quadratic. */
double stats_mann_kendall(const double *x, int n);
/* Theil-Sen: the median of all pairwise slopes over 0..n-1, the mean of the middle two when their
 * number is even; 0 below two values.  n is at most SERIES_PAIRS_MAX; quadratic, tens of microseconds for a
 * short series. */
double stats_theil_sen(const double *x, int n);
/* What a line of that slope through the median of x[i] - slope*i leaves: the sum of squared residuals
 * over n-2; 0 below three values.  n is at most SERIES_SHORT. */
double stats_residual_variance(const double *x, int n, double slope);

#endif
