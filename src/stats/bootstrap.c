/* bootstrap: percentile intervals. */
#include "stats/bootstrap.h"

#include "base/die.h"
#include "base/rng.h"
#include "stats/ranks.h"
#include "stats/series.h"

#include <stdlib.h>
#include <string.h>

/* May put x into another order. */
static double statistic(double *x, size_t n, bool median)
{
    return median ? stats_median(x, (int)n) : stats_mean(x, (int)n);
}

static double of_resample(const double *x, size_t n, bool median, struct rng *rng, double *room)
{
    for (size_t i = 0; i < n; i++)
        room[i] = x[rng_below(rng, n)];
    return statistic(room, n, median);
}

static double of_values(const double *x, size_t n, bool median, double *room)
{
    memcpy(room, x, n * sizeof *x);
    return statistic(room, n, median);
}

void stats_bootstrap(const double *x, size_t n, const double *y, size_t m,
                     const struct bootstrap_settings *s, struct bootstrap *r)
{
    struct rng rng;
    double *room = xmalloc((n > m ? n : m) * sizeof *room);
    double *drawn = xmalloc(s->resamples * sizeof *drawn);
    rng_stream(&rng, s->seed, "bootstrap");
    for (size_t i = 0; i < s->resamples; i++) {
        drawn[i] = of_resample(x, n, s->median, &rng, room);
        if (m > 0)
            drawn[i] -= of_resample(y, m, s->median, &rng, room);
    }
    qsort(drawn, s->resamples, sizeof *drawn, ranks_order);
    r->value = of_values(x, n, s->median, room) - (m ? of_values(y, m, s->median, room) : 0);
    r->low = stats_quantile(drawn, s->resamples, (1 - s->level) / 2);
    r->high = stats_quantile(drawn, s->resamples, (1 + s->level) / 2);
    free(drawn);
    free(room);
}
