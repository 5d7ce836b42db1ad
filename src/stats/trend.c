/* trend: Kendall's tau and the Theil-Sen line of pairs. */
#include "stats/trend.h"

#include "base/die.h"
#include "stats/ranks.h"
#include "stats/series.h"
#include "stats/tail.h"

#include <math.h>
#include <stdlib.h>

#define EXACT_MOST 33 /* as SciPy does */
#define NORMAL_95 1.959963984540054

static int sign(double a, double b)
{
    return (a > b) - (a < b);
}

/* What the variance of S loses to the ties of one series. */
struct ties {
    double pairs; /* of equal values */
    double two;   /* sum of t (t-1) (2t+5) */
    double three; /* sum of t (t-1) (t-2) */
};

static struct ties ties_of(const double *x, size_t n)
{
    struct ties t = {0};
    double *copy = xmemdup(x, n * sizeof *x);
    size_t *size = xmalloc(n * sizeof *size), groups = ranks_ties(copy, n, size);
    for (size_t i = 0; i < groups; i++) {
        double k = (double)size[i];
        t.pairs += k * (k - 1) / 2;
        t.two += k * (k - 1) * (2 * k + 5);
        t.three += k * (k - 1) * (k - 2);
    }
    free(size);
    free(copy);
    return t;
}

/* P(at most `few` of the pairs of n values are out of order), few < the mean: the i-th value is put before
 * 0 to i-1 of those already there. */
static double orders_below(size_t n, size_t few)
{
    double *p = xcalloc(few + 1, sizeof *p), *next = xcalloc(few + 1, sizeof *next), tail = 0;
    p[0] = 1;
    for (size_t i = 2; i <= n; i++) {
        for (size_t c = 0; c <= few; c++) {
            double window = 0;
            for (size_t back = 0; back < i && back <= c; back++)
                window += p[c - back];
            next[c] = window / (double)i;
        }
        double *swap = p;
        p = next;
        next = swap;
    }
    for (size_t c = 0; c <= few; c++)
        tail += p[c];
    free(p);
    free(next);
    return tail;
}

static double normal_p(double s, double n, const struct ties *x, const struct ties *y)
{
    double pairs = n * (n - 1);
    double variance =
        (pairs * (2 * n + 5) - x->two - y->two) / 18 + 2 * x->pairs * y->pairs / pairs;
    if (n > 2)
        variance += x->three * y->three / (9 * pairs * (n - 2));
    return variance > 0 ? tail_normal(s / sqrt(variance)) : 1;
}

void stats_kendall(const double *x, const double *y, size_t n, struct kendall *r)
{
    BUG_ON(n < 2 || n > SERIES_PAIRS_MAX);
    struct ties tx = ties_of(x, n), ty = ties_of(y, n);
    double pairs = (double)n * (double)(n - 1) / 2;
    *r = (struct kendall){.tau = NAN, .p = NAN};
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            r->s += sign(x[j], x[i]) * sign(y[j], y[i]);
    if (tx.pairs == pairs || ty.pairs == pairs)
        return;
    r->tau = fmax(-1, fmin(1, r->s / sqrt(pairs - tx.pairs) / sqrt(pairs - ty.pairs)));
    size_t few = (size_t)((pairs - fabs(r->s)) / 2); /* pairs out of order, one way or the other */
    r->exact = tx.pairs == 0 && ty.pairs == 0 && (n <= EXACT_MOST || few <= 1);
    r->p = r->exact ? fmin(1, 2 * orders_below(n, few)) : normal_p(r->s, (double)n, &tx, &ty);
}

/* Sen's interval: the slopes as many places from the middle as S may be off by chance. */
static void interval(double *slope, double count, double variance, struct sen_line *r)
{
    if (variance < 0)
        return;
    double far = NORMAL_95 * sqrt(variance);
    double low = fmax(rint((count - far) / 2) - 1, 0);
    double high = fmin(rint((count + far) / 2), count - 1);
    r->low = stats_select(slope, (int)count, (int)low);
    r->high = stats_select(slope, (int)count, (int)high);
}

void stats_sen_line(const double *x, const double *y, size_t n, struct sen_line *r)
{
    BUG_ON(n < 2 || n > SERIES_PAIRS_MAX);
    double *slope = xmalloc(n * (n - 1) / 2 * sizeof *slope), *left = xmalloc(n * sizeof *left);
    double count = (double)n;
    size_t k = 0;
    *r = (struct sen_line){NAN, NAN, NAN, NAN};
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            if (x[j] != x[i])
                slope[k++] = (y[j] - y[i]) / (x[j] - x[i]);
    if (k > 0) {
        r->slope = stats_median(slope, (int)k);
        double ties = ties_of(x, n).two + ties_of(y, n).two;
        interval(slope, (double)k, (count * (count - 1) * (2 * count + 5) - ties) / 18, r);
        for (size_t i = 0; i < n; i++)
            left[i] = y[i] - r->slope * x[i];
        r->intercept = stats_median(left, (int)n);
    }
    free(left);
    free(slope);
}
