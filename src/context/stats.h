/* stats: the few statistics of a reward window.  Sums run from the oldest value to the newest, so
 * that the same window gives the same bits. */
#ifndef CAROL_CONTEXT_STATS_H
#define CAROL_CONTEXT_STATS_H

double stats_mean(const double *x, int n);     /* 0 when empty */
double stats_variance(const double *x, int n); /* n-1; 0 below two values */
double stats_slope(const double *x, int n);    /* least squares over 0..n-1; 0 below two values */
/* Mann-Kendall z with tie and continuity corrections; 0 when S or its variance is 0. */
double stats_mann_kendall(const double *x, int n);

#endif
