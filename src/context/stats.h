/* stats: the few statistics of a reward window.  Sums run from the oldest value to the newest, so
 * that the same window gives the same bits. */
#ifndef CAROL_CONTEXT_STATS_H
#define CAROL_CONTEXT_STATS_H

double stats_mean(const double *x, int n);     /* 0 when empty */
double stats_variance(const double *x, int n); /* n-1; 0 below two values */
double stats_slope(const double *x, int n);    /* least squares over 0..n-1; 0 below two values */
/* Mann-Kendall z with tie and continuity corrections; 0 when S or its variance is 0. */
double stats_mann_kendall(const double *x, int n);
/* Theil-Sen: the median of all pairwise slopes over 0..n-1, the mean of the middle two when their
 * number is even; 0 below two values.  n is at most CONTEXT_WINDOW; quadratic, tens of microseconds. */
double stats_theil_sen(const double *x, int n);
/* What a line of that slope through the median of x[i] - slope*i leaves: the sum of squared residuals
 * over n-2; 0 below three values. */
double stats_residual_variance(const double *x, int n, double slope);

#endif
