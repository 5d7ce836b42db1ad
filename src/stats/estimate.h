/* estimate: a mean with its 95 % confidence interval, for the tables of simulations. */
#ifndef CAROL_STATS_ESTIMATE_H
#define CAROL_STATS_ESTIMATE_H

#include <stddef.h>

struct estimate {
    double mean;
    double half; /* of the 95 % interval by Student's t; 0 when there is one value */
};

struct estimate estimate_of(const double *x, size_t n);
/* Of the differences x[i] - y[i]: both played the same worlds. */
struct estimate estimate_paired(const double *x, const double *y, size_t n);

#endif
