/* project: the ablation `rank=R` (METHOD R57): the model sees R directions of the signals instead of all 15.
 * The directions are the first right singular vectors of the fuzzers' linear ridge weights.  They are fitted
 * to all completed turns at turn 32, 64, 128, ...  Before 32 nothing is projected.
 *
 *     if (project_add(p, arm, x, reward))     // x: standardised, as at the turn's dispatch
 *         project_fit(p, n_arms, ridge);      // then learn everything anew from p->log
 *
 * After PROJECT_MAX turns there is no further fit and the log is dropped, so that memory stays bounded. */
#ifndef CAROL_SCHED_PROJECT_H
#define CAROL_SCHED_PROJECT_H

#include "sched/features.h"

#include <stdbool.h>

#define PROJECT_FIRST 32
#define PROJECT_MAX 32768

struct project_row {
    int arm;
    double x[FEATURES_X] PAIR_ALIGNED;
    double reward;
};

struct project {
    int rank;
    struct features features;             /* its own map, over the directions */
    double v[SIGNAL_COUNT][SIGNAL_COUNT]; /* direction by direction, each of length 1 */
    uint64_t turns;                       /* completed so far */
    struct project_row *log;              /* NULL from PROJECT_MAX turns on */
    size_t n, cap;
};

struct project *project_new(int rank);
void project_free(struct project *p);
bool project_add(struct project *p, int arm, const double x[SIGNAL_COUNT], double reward);
void project_fit(struct project *p, int n_arms, double ridge);
/* The first `rank` right singular vectors of the n rows of theta, of length 1, their largest element positive. */
void project_directions(double theta[][SIGNAL_COUNT], int n, int rank, double out[][SIGNAL_COUNT]);
/* After the models were rebuilt. */
void project_trim(struct project *p);
static inline bool project_fitted(const struct project *p)
{
    return p->turns >= PROJECT_FIRST;
}
/* z = V'x, padded with zeros; both aligned to 16 bytes and not the same. */
void project_apply(const struct project *p, const double x[FEATURES_X], double z[FEATURES_X]);

#endif
