/* paired: the sign test and Wilcoxon's signed ranks. */
#include "stats/paired.h"

#include "base/die.h"
#include "stats/ranks.h"
#include "stats/tail.h"

#include <math.h>
#include <stdlib.h>

#define EXACT_UNTIED 50 /* as SciPy does */
#define EXACT_MOST 500

/* C(n, k) / 2^n, halved whenever it can be, so that it stays in range for any n. */
static long double coin(uint64_t n, uint64_t k)
{
    long double c = 1;
    uint64_t halvings = n;
    for (uint64_t i = 1; i <= k; i++) {
        c *= (long double)(n - k + i) / (long double)i;
        for (; c > 1 && halvings > 0; halvings--)
            c /= 2;
    }
    return ldexpl(c, -(int)halvings);
}

double stats_sign(uint64_t wins, uint64_t losses)
{
    uint64_t n = wins + losses, few = wins < losses ? wins : losses;
    BUG_ON(n > SIGN_MOST);
    long double term = coin(n, few), tail = 0;
    for (uint64_t k = few;; k--) {
        tail += term;
        if (k == 0 || term == 0)
            break;
        term *= (long double)k / (long double)(n - k + 1);
    }
    return fmin(1, (double)(2 * tail));
}

double stats_binomial(uint64_t k, uint64_t n, double p)
{
    long double tail = 0, odds = (long double)p / (1 - (long double)p);
    BUG_ON(n > SIGN_MOST);
    if (k == 0)
        return 1;
    if (k > n)
        return 0;
    long double nn = (long double)n, kk = (long double)k;
    long double term = expl(lgammal(nn + 1) - lgammal(kk + 1) - lgammal(nn - kk + 1) +
                            kk * logl((long double)p) + (nn - kk) * log1pl(-(long double)p));
    for (uint64_t i = k; i <= n; i++) {
        tail += term;
        term *= odds * (long double)(n - i) / (long double)(i + 1);
    }
    return fmin(1, (double)tail);
}

/* P(the rank sum is at least as far from its mean): p[s] is the probability of the doubled sum s when every
 * sign is a coin. */
static double exact_p(const double *rank, size_t n, double w_plus)
{
    size_t most = n * (n + 1);
    double *p = xcalloc(most + 1, sizeof *p), far = fabs(4 * w_plus - (double)most), tail = 0;
    size_t top = 0;
    p[0] = 1;
    for (size_t i = 0; i < n; i++) {
        size_t r = (size_t)rank[i];
        top += r;
        for (size_t s = top + 1; s-- > 0;)
            p[s] = p[s] / 2 + (s >= r ? p[s - r] / 2 : 0);
    }
    for (size_t s = 0; s <= most; s++)
        if (fabs(2 * (double)s - (double)most) >= far)
            tail += p[s];
    free(p);
    return fmin(1, tail);
}

static double normal_z(double w_plus, double n, double ties)
{
    double variance = n * (n + 1) * (2 * n + 1) / 24 - ties / 48, d = w_plus - n * (n + 1) / 4;
    return variance > 0 ? copysign(fmax(0, fabs(d) - 0.5) / sqrt(variance), d) : 0;
}

void stats_wilcoxon(const double *difference, size_t n, struct wilcoxon *r)
{
    double *size = xmalloc(n * sizeof *size), *rank = xmalloc(n * sizeof *rank);
    *r = (struct wilcoxon){0};
    for (size_t i = 0; i < n; i++)
        if (difference[i] != 0)
            size[r->n++] = fabs(difference[i]);
    r->zeros = n - r->n;
    double ties = ranks_doubled(size, r->n, rank), count = (double)r->n;
    for (size_t i = 0, k = 0; i < n; i++) {
        r->w_plus += difference[i] > 0 ? rank[k] / 2 : 0;
        k += difference[i] != 0;
    }
    r->w = fmin(r->w_plus, count * (count + 1) / 2 - r->w_plus);
    r->z = normal_z(r->w_plus, count, ties);
    r->p_exact = r->n <= EXACT_MOST ? exact_p(rank, r->n, r->w_plus) : NAN;
    r->exact = r->n <= EXACT_UNTIED && ties == 0;
    r->p = r->exact ? r->p_exact : tail_normal(r->z);
    free(rank);
    free(size);
}
