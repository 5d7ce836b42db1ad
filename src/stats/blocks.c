/* blocks: ranks within blocks. */
#include "stats/blocks.h"

#include "base/die.h"
#include "stats/ranks.h"
#include "stats/tail.h"

#include <math.h>
#include <stdlib.h>

/* The standard error of a difference of mean ranks, over the root of 2 as the studentized range wants it. */
static double unit(double k, double n)
{
    return sqrt(k * (k + 1) / (12 * n));
}

double stats_nemenyi(double d, size_t k, size_t n)
{
    return tail_range(fabs(d) / unit((double)k, (double)n), (int)k);
}

/* Sum of ranks of each contender over the blocks; returns the tie term over all blocks. */
static double rank_blocks(const double *const *value, size_t k, size_t n, double *sum)
{
    double ties = 0, *row = xmalloc(k * sizeof *row), *rank = xmalloc(k * sizeof *rank);
    for (size_t b = 0; b < n; b++) {
        for (size_t g = 0; g < k; g++)
            row[g] = -value[g][b];
        ties += ranks_doubled(row, k, rank);
        for (size_t g = 0; g < k; g++)
            sum[g] += rank[g] / 2;
    }
    free(rank);
    free(row);
    return ties;
}

void stats_friedman(const double *const *value, size_t k, size_t n, double alpha, double *mean_rank,
                    struct friedman *r)
{
    double kd = (double)k, nd = (double)n, squares = 0;
    BUG_ON(k < 2 || k > BLOCKS_GROUPS_MAX || n == 0);
    for (size_t g = 0; g < k; g++)
        mean_rank[g] = 0;
    double ties = rank_blocks(value, k, n, mean_rank);
    for (size_t g = 0; g < k; g++) {
        double d = mean_rank[g] - nd * (kd + 1) / 2;
        squares += d * d;
        mean_rank[g] /= nd;
    }
    double untied = nd * kd * (kd * kd - 1) - ties;
    r->chi2 = untied > 0 ? 12 * (kd - 1) * squares / untied : 0;
    r->p = tail_chi2(r->chi2, (int)k - 1);
    r->cd = tail_range_point(alpha, (int)k) * unit(kd, nd);
}
