/* holm: the step-down correction for several tests. */
#include "stats/holm.h"

#include "stats/ranks.h"

#include <math.h>
#include <stdlib.h>

void stats_holm(const double *p, size_t n, double *adjusted)
{
    size_t *index = ranks_index(p, n);
    double least = 0;
    for (size_t i = 0; i < n; i++) {
        least = fmax(least, fmin(1, (double)(n - i) * p[index[i]]));
        adjusted[index[i]] = least;
    }
    free(index);
}
