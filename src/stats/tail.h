/* tail: the distributions that p-values come from.  They use libm and are for people's eyes: nothing that
 * a decision depends on may call them.  Relative errors are below 1e-10 (tests/vectors/stats.py). */
#ifndef CAROL_STATS_TAIL_H
#define CAROL_STATS_TAIL_H

/* Normal, two-sided: P(|Z| >= |z|). */
double tail_normal(double z);
/* Chi-square with df >= 1 degrees of freedom: P(X >= x). */
double tail_chi2(double x, int df);
/* Studentized range of k >= 2 normals, infinite degrees of freedom: P(largest - smallest > q). */
double tail_range(double q, int k);
/* The q with tail_range(q, k) = p, 0 < p < 1. */
double tail_range_point(double p, int k);
/* Student's t with df >= 1 degrees of freedom: the t with P(|T| >= t) = p, 0.001 <= p < 1.  Time grows with df. */
double tail_student_point(double p, int df);

#endif
