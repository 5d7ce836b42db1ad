/* estimate: Student's interval of a mean.  Draws nothing. */
#include "stats/estimate.h"

#include "base/die.h"
#include "stats/series.h"
#include "stats/tail.h"

#include <math.h>
#include <stdlib.h>

struct estimate estimate_of(const double *x, size_t n)
{
    struct estimate e = {.mean = stats_mean(x, (int)n)};
    if (n > 1)
        e.half = tail_student_point(0.05, (int)n - 1) * sqrt(stats_variance(x, (int)n) / (double)n);
    return e;
}

struct estimate estimate_paired(const double *x, const double *y, size_t n)
{
    double *difference = xcalloc(n + 1, sizeof *difference);
    for (size_t i = 0; i < n; i++)
        difference[i] = x[i] - y[i];
    struct estimate e = estimate_of(difference, n);
    free(difference);
    return e;
}
