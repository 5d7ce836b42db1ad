/* holm: the step-down correction for several tests. */
#include "stats/holm.h"

#include "base/die.h"
#include "stats/ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static double field(const double *p, size_t at)
{
    double v;
    memcpy(&v, (const char *)p + at, sizeof v);
    return v;
}

void stats_holm_fields(const double *p, double *adjusted, size_t n, size_t step)
{
    double *known = xcalloc(2 * n + 1, sizeof *known);
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        double v = field(p, i * step);
        if (!isnan(v))
            known[k++] = v;
    }
    stats_holm(known, k, known + n);
    for (size_t i = k = 0; i < n; i++) {
        double v = isnan(field(p, i * step)) ? NAN : known[n + k++];
        memcpy((char *)adjusted + i * step, &v, sizeof v);
    }
    free(known);
}
