/* blocks: several contenders on the same targets: Friedman's test and Nemenyi's critical difference. */
#ifndef CAROL_STATS_BLOCKS_H
#define CAROL_STATS_BLOCKS_H

#include <stddef.h>

#define BLOCKS_GROUPS_MAX 100

struct friedman {
    double chi2, p; /* with tie correction, k-1 degrees of freedom; 0 and 1 when all are equal */
    double cd;      /* Nemenyi: mean ranks that differ by this much or more differ at alpha */
};

/* value[g][b]: what contender g reached on block b, 2 <= k <= BLOCKS_GROUPS_MAX contenders, n >= 1 blocks.
 * mean_rank[g] over the blocks: 1 is the largest value, ties share. */
void stats_friedman(const double *const *value, size_t k, size_t n, double alpha, double *mean_rank,
                    struct friedman *r);
/* Nemenyi's p of two contenders whose mean ranks differ by d. */
double stats_nemenyi(double d, size_t k, size_t n);

#endif
