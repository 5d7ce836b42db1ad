/* fit: the ridge regressions of the analyses, from sums instead of rows: what a campaign's turns of one fuzzer add to
 * A and b, and their squared rewards.  Sums of several campaigns add up; the squared error of any weights on a
 * campaign follows from its sums.  So held-out prediction needs each campaign to be read once.
 *
 *     moments_add(&m, phi, reward, 1);
 *     fit(&model, &m, 10, NULL);                       // theta = (10 I + A)^-1 b
 *     error += fit_error(model.theta, &held_out);      // sum of (r - theta' phi)^2
 */
#ifndef CAROL_ANALYZE_FIT_H
#define CAROL_ANALYZE_FIT_H

#include "sched/linear.h"

#include <stdbool.h>

#define FIT_RIDGE 10.0 /* lambda of the paper */

struct moments {
    double n;
    double a[LINEAR_DIM][LINEAR_DIM]; /* sum of phi phi', the lower triangle */
    double b[LINEAR_DIM];             /* sum of r phi */
    double rr;                        /* sum of r r */
};

/* [x; 1] in the columns of linear.h: the signals, one that is 0, the intercept. */
void fit_phi(const double x[SIGNAL_COUNT], double phi[LINEAR_PADDED]);
void moments_add(struct moments *m, const double phi[LINEAR_DIM], double reward, double weight);
void moments_join(struct moments *m, const struct moments *other);
/* keep[k]: column k takes part; NULL: all do. */
void fit(struct linear *model, const struct moments *m, double ridge, const bool keep[LINEAR_DIM]);
double fit_error(const double theta[LINEAR_DIM], const struct moments *m);
/* theta' [x; 1] */
double fit_predict(const double theta[LINEAR_DIM], const double x[SIGNAL_COUNT]);

#endif
