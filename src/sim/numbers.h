/* numbers: means with 95 % confidence intervals and the A12 of two samples, for the tables of simulations. */
#ifndef CAROL_SIM_NUMBERS_H
#define CAROL_SIM_NUMBERS_H

#include <stddef.h>

struct estimate {
    double mean;
    double half; /* of the 95 % interval by Student's t; 0 when there is one value */
};

struct estimate estimate_of(const double *x, size_t n);
/* Of the differences x[i] - y[i]: both played the same worlds. */
struct estimate estimate_paired(const double *x, const double *y, size_t n);
/* Probability that a value of x exceeds one of y, ties half (Vargha and Delaney). */
double numbers_a12(const double *x, const double *y, size_t n);

#endif
