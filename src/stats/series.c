/* series: mean, variance, median, slopes and Mann-Kendall of one series.  Knows nothing of rewards. */
#include "stats/series.h"

#include "base/die.h"

#include <math.h>
#include <stdlib.h>

double stats_mean(const double *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[i];
    return n ? sum / n : 0;
}

double stats_variance(const double *x, int n)
{
    if (n < 2)
        return 0;
    double mean = stats_mean(x, n), sum = 0;
    for (int i = 0; i < n; i++)
        sum += (x[i] - mean) * (x[i] - mean);
    return sum / (n - 1);
}

double stats_quantile(const double *sorted, size_t n, double q)
{
    double at = q * (double)(n - 1);
    size_t i = (size_t)at;
    return i + 1 < n ? sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

double stats_slope(const double *x, int n)
{
    if (n < 2)
        return 0;
    double mean = stats_mean(x, n), middle = (n - 1) / 2.0, sxy = 0, sxx = 0;
    for (int i = 0; i < n; i++) {
        sxy += (i - middle) * (x[i] - mean);
        sxx += (i - middle) * (i - middle);
    }
    return sxy / sxx;
}

/* How many values equal x[i], and whether x[i] is the first of them. */
static int ties_at(const double *x, int n, int i)
{
    int count = 0;
    for (int j = 0; j < n; j++) {
        if (x[j] != x[i])
            continue;
        if (j < i)
            return 0;
        count++;
    }
    return count;
}

static double variance_term(double t)
{
    return t * (t - 1) * (2 * t + 5);
}

double stats_mann_kendall(const double *x, int n)
{
    int s = 0;
    double variance = variance_term(n);
    BUG_ON(n > SERIES_PAIRS_MAX);
    for (int i = 0; i < n; i++) {
        for (int j = i + 1; j < n; j++)
            s += (x[j] > x[i]) - (x[j] < x[i]);
        variance -= variance_term(ties_at(x, n, i));
    }
    if (s == 0 || variance <= 0)
        return 0;
    return (s > 0 ? s - 1 : s + 1) / sqrt(variance / 18);
}

/* One step of selection (Hoare): narrows [lo, hi] to the part that holds the value of rank k. */
static void narrow(double *x, int *lo, int *hi, int k)
{
    double pivot = x[(*lo + *hi) / 2];
    int i = *lo, j = *hi;
    while (i <= j) {
        while (x[i] < pivot)
            i++;
        while (x[j] > pivot)
            j--;
        if (i > j)
            break;
        double swap = x[i];
        x[i++] = x[j];
        x[j--] = swap;
    }
    if (k <= j)
        *hi = j;
    else if (k >= i)
        *lo = i;
    else
        *lo = *hi = k;
}

double stats_select(double *x, int n, int k)
{
    int lo = 0, hi = n - 1;
    while (lo < hi)
        narrow(x, &lo, &hi, k);
    return x[k];
}

double stats_median(double *x, int n)
{
    int k = n / 2;
    stats_select(x, n, k);
    if (n % 2)
        return x[k];
    double below = x[0]; /* the largest of the lower half */
    for (int i = 1; i < k; i++)
        below = x[i] > below ? x[i] : below;
    return (below + x[k]) / 2;
}

double stats_theil_sen(const double *x, int n)
{
    double few[SERIES_SHORT * (SERIES_SHORT - 1) / 2], *slopes = few;
    int pairs = 0;
    if (n < 2)
        return 0;
    BUG_ON(n > SERIES_PAIRS_MAX);
    if (n > SERIES_SHORT)
        slopes = xmalloc(sizeof *slopes * (size_t)n * (size_t)(n - 1) / 2);
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++)
            slopes[pairs++] = (x[j] - x[i]) / (j - i);
    double slope = stats_median(slopes, pairs);
    if (slopes != few)
        free(slopes);
    return slope;
}

double stats_residual_variance(const double *x, int n, double slope)
{
    double left[SERIES_SHORT], sum = 0;
    if (n < 3)
        return 0;
    BUG_ON(n > SERIES_SHORT);
    for (int i = 0; i < n; i++)
        left[i] = x[i] - slope * i;
    double intercept = stats_median(left, n);
    for (int i = 0; i < n; i++) {
        double r = x[i] - slope * i - intercept;
        sum += r * r;
    }
    return sum / (n - 2);
}
