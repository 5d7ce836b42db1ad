/* stats: mean, variance, slope and Mann-Kendall of a short series.  Knows nothing of rewards. */
#include "context/stats.h"

#include <math.h>

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
    for (int i = 0; i < n; i++) {
        for (int j = i + 1; j < n; j++)
            s += (x[j] > x[i]) - (x[j] < x[i]);
        variance -= variance_term(ties_at(x, n, i));
    }
    if (s == 0 || variance <= 0)
        return 0;
    return (s > 0 ? s - 1 : s + 1) / sqrt(variance / 18);
}
