/* det: exp, log, cos and tanh that give the same bits everywhere.
 *
 * A decision must replay bit for bit on another machine and under another compiler.  libm does not promise
 * that: its results change with its version, and glibc picks code with fused multiply-add at run time.  These
 * use only +, -, *, / and sqrt of IEEE doubles in a fixed order, which every x86-64 and every compiler
 * rounds alike (with -ffp-contract=off, set for the whole project).  Anything that ends up in a decision,
 * a signal or a reward calls these and never libm's; sqrt, floor, fabs and the like are exact and may stay.
 *
 * Errors are below 3 units in the last place (tests/unit/det.c; exp and log: below 1). */
#ifndef CAROL_BASE_DET_H
#define CAROL_BASE_DET_H

double det_exp(double x);  /* 0 and infinity where the true value leaves the doubles */
double det_log(double x);  /* 0: -infinity, below: NaN */
double det_tanh(double x); /* never beyond 1 */
/* Never beyond 1.  Holds for |x| <= 1e5; up to 1e6 the error is below 1e-16 but a result near 0 has fewer
 * good digits; from there on it grows, and soon (of NaN and infinity too) the result means nothing. */
double det_cos(double x);
/* out[i] = det_cos(x[i]), the same bits, several at a time.  out may be x. */
void det_cos_n(const double *x, double *out, int n);

#endif
