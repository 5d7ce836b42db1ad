/* bootstrap: an interval for a mean, a median, or the difference of two, by drawing again from the values. */
#ifndef CAROL_STATS_BOOTSTRAP_H
#define CAROL_STATS_BOOTSTRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bootstrap_settings {
    bool median;      /* instead of the mean */
    double level;     /* of confidence, in (0, 1) */
    size_t resamples; /* at least 1 */
    uint64_t seed;    /* the same seed, the same interval */
};

struct bootstrap {
    double value; /* of the groups as they are */
    double low, high;
};

/* The percentile interval of x, or of x less y when m > 0.  Each resample draws n of x, then m of y, with
 * replacement; the interval runs between the (1-level)/2 and (1+level)/2 quantiles of their statistics, with
 * linear interpolation.  With few values it is too narrow: below about ten, trust the exact tests instead. */
void stats_bootstrap(const double *x, size_t n, const double *y, size_t m,
                     const struct bootstrap_settings *s, struct bootstrap *r);

#endif
