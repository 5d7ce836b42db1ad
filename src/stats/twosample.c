/* twosample: Mann-Whitney, A12 and the permutation resolution. */
#include "stats/twosample.h"

#include "base/die.h"
#include "stats/permute.h"
#include "stats/ranks.h"
#include "stats/tail.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDING 1e-12 /* what adding up probabilities may be off by */

static double *pooled(const double *x, size_t n, const double *y, size_t m)
{
    double *all = xmalloc((n + m) * sizeof *all);
    memcpy(all, x, n * sizeof *all);
    memcpy(all + n, y, m * sizeof *all);
    return all;
}

static double sum_of(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

/* Twice the U of n values whose doubled ranks add up to this. */
static double doubled_u(double ranks, double n)
{
    return ranks - n * (n + 1);
}

static double normal_z(double u, double n, double m, double ties)
{
    double all = n + m, variance = n * m / 12 * (all + 1 - ties / (all * (all - 1)));
    double d = u - n * m / 2, size = fmax(0, fabs(d) - 0.5);
    return variance > 0 ? copysign(size / sqrt(variance), d) : 0;
}

/* Deals out the smaller group: that is fewer steps, and the distance is the same for both. */
static double exact_p(const double *rank, size_t n, size_t m, double u)
{
    struct permute d;
    size_t few = n < m ? n : m;
    double nm = (double)n * (double)m, far = fabs(2 * u - nm), p = 0;
    if (permute_sums(rank, n + m, few, &d) < 0)
        return NAN;
    for (size_t i = 0; i < d.n; i++)
        if (fabs(doubled_u(d.sum[i], (double)few) - nm) >= far)
            p += d.p[i];
    permute_free(&d);
    return fmin(1, p);
}

void stats_mwu(const double *x, size_t n, const double *y, size_t m, struct mwu *r)
{
    double *all = pooled(x, n, y, m), *rank = xmalloc((n + m) * sizeof *rank);
    double ties = ranks_doubled(all, n + m, rank);
    r->u = doubled_u(sum_of(rank, n), (double)n) / 2;
    r->a12 = r->u / ((double)n * (double)m);
    r->z = normal_z(r->u, (double)n, (double)m, ties);
    r->p = tail_normal(r->z);
    r->p_exact = exact_p(rank, n, m, r->u);
    free(rank);
    free(all);
}

double stats_a12(const double *x, size_t n, const double *y, size_t m)
{
    double *all = pooled(x, n, y, m), *rank = xmalloc((n + m) * sizeof *rank);
    ranks_doubled(all, n + m, rank);
    double u = doubled_u(sum_of(rank, n), (double)n) / 2;
    free(rank);
    free(all);
    return u / ((double)n * (double)m);
}

const char *stats_a12_word(double a12)
{
    double d = fabs(a12 - 0.5) + ROUNDING;
    return d >= 0.21 ? "large" : d >= 0.14 ? "medium" : d >= 0.06 ? "small" : "negligible";
}

/* Differences of means are (sum*(n+m) - all*n) / (n*m): whole numbers above for whole values. */
struct scale {
    double n, m, all, close;
};

static double difference(const struct scale *s, double sum)
{
    return (sum * (s->n + s->m) - s->all * s->n) / (s->n * s->m);
}

/* From the outside inwards, both ends of the distribution: the largest differences first, and those of the
 * same size together.  p is the tail of `observed`. */
static void walk_in(const struct permute *d, const struct scale *s, double alpha, double observed,
                    struct resolution *r)
{
    double tail = 0;
    r->least = NAN;
    r->p = 1;
    for (size_t lo = 0, hi = d->n; lo < hi;) {
        double size = fmax(fabs(difference(s, d->sum[lo])), fabs(difference(s, d->sum[hi - 1])));
        while (lo < hi && fabs(difference(s, d->sum[lo])) >= size - s->close)
            tail += d->p[lo++];
        while (lo < hi && fabs(difference(s, d->sum[hi - 1])) >= size - s->close)
            tail += d->p[--hi];
        if (tail <= alpha + ROUNDING)
            r->least = size;
        if (size >= observed - s->close)
            r->p = fmin(1, tail);
    }
}

int stats_resolution(const double *x, size_t n, const double *y, size_t m, double alpha,
                     struct resolution *r)
{
    struct permute d;
    double *all = pooled(x, n, y, m), size = 0;
    int rc = permute_sums(all, n + m, n, &d);
    for (size_t i = 0; i < n + m; i++)
        size = fmax(size, fabs(all[i]));
    struct scale s = {(double)n, (double)m, sum_of(all, n + m), 1e-12 * size};
    *r = (struct resolution){.difference = difference(&s, sum_of(x, n)), .least = NAN, .p = NAN};
    if (rc == 0)
        walk_in(&d, &s, alpha, fabs(r->difference), r);
    permute_free(&d);
    free(all);
    return rc;
}
