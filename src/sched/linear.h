/* linear: online ridge regression in 17 columns: A = lambda I + sum phi phi', b = sum r phi, theta = A^-1 b.
 *
 *     linear_init(&m, 10);
 *     linear_add(&m, phi, reward);            // one observation, then
 *     linear_solve(&m);                       // Cholesky of A afresh, so errors never pile up
 *     mean = linear_predict(&m, phi, &width); // width = sqrt(phi' A^-1 phi)
 *
 * What linear_solve caches is a function of A, b and lambda alone: they are the whole state. */
#ifndef CAROL_SCHED_LINEAR_H
#define CAROL_SCHED_LINEAR_H

#include "base/pair.h"
#include "sched/sched.h"

#define LINEAR_DIM SCHED_FEATURES
#define LINEAR_PADDED 18

struct linear {
    double ridge;
    double a[LINEAR_DIM][LINEAR_DIM]; /* the lower triangle */
    double b[LINEAR_DIM];
    /* Computed by linear_solve. */
    double theta[LINEAR_PADDED] PAIR_ALIGNED;
    /* With A = L L': L^-1, column by column.  phi' A^-1 phi is the squared length of L^-1 phi, which
     * rounding cannot make negative. */
    double inverse[LINEAR_DIM][LINEAR_PADDED] PAIR_ALIGNED;
};

void linear_init(struct linear *m, double ridge); /* no data, solved */
void linear_add(struct linear *m, const double phi[LINEAR_DIM], double reward);
/* Forgetting: A <- gamma A + (1 - gamma) lambda I, b <- gamma b. */
void linear_fade(struct linear *m, double gamma);
void linear_solve(struct linear *m);
/* phi: aligned to 16 bytes, the last element 0. */
double linear_predict(const struct linear *m, const double phi[LINEAR_PADDED], double *width);

#endif
