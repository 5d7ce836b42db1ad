/* numbers: a few statistics of independent campaigns.  Draws nothing. */
#include "sim/numbers.h"

#include <math.h>

/* 97.5 % point of Student's t by its expansion about the normal one: within 1 % from 4 degrees of freedom on,
 * below that the interval comes out somewhat narrow. */
static double t_point(double df)
{
    const double z = 1.959963985;
    double z3 = z * z * z, z5 = z3 * z * z;
    return z + (z3 + z) / (4 * df) + (5 * z5 + 16 * z3 + 3 * z) / (96 * df * df);
}

struct estimate estimate_paired(const double *x, const double *y, size_t n)
{
    double mean = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        mean += (x[i] - (y ? y[i] : 0)) / (double)n;
    for (size_t i = 0; i < n; i++) {
        double d = x[i] - (y ? y[i] : 0) - mean;
        squares += d * d;
    }
    struct estimate e = {.mean = mean};
    if (n > 1)
        e.half = t_point((double)(n - 1)) * sqrt(squares / (double)(n - 1) / (double)n);
    return e;
}

struct estimate estimate_of(const double *x, size_t n)
{
    return estimate_paired(x, NULL, n);
}

double numbers_a12(const double *x, const double *y, size_t n)
{
    double wins = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            wins += x[i] > y[j] ? 1 : x[i] == y[j] ? 0.5 : 0;
    return n ? wins / ((double)n * (double)n) : 0.5;
}
