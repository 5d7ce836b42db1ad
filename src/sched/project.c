/* project: fits the directions (eigenvectors by Jacobi's rotations) and keeps the turns they are fitted to.
 * Knows no model but the linear one it fits. */
#include "sched/project.h"

#include "base/die.h"
#include "sched/linear.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N SIGNAL_COUNT
#define SWEEPS 60

struct project *project_new(int rank)
{
    struct project *p = xcalloc(1, sizeof *p);
    p->rank = rank;
    return p;
}

void project_free(struct project *p)
{
    if (p)
        free(p->log);
    free(p);
}

bool project_add(struct project *p, int arm, const double x[N], double reward)
{
    p->turns++;
    if (p->turns > PROJECT_MAX)
        return false;
    if (p->n == p->cap) {
        p->cap = p->cap ? 2 * p->cap : 64;
        p->log = xrealloc(p->log, p->cap * sizeof *p->log);
    }
    struct project_row *row = &p->log[p->n++];
    *row = (struct project_row){.arm = arm, .reward = reward};
    memcpy(row->x, x, N * sizeof *x);
    return p->turns >= PROJECT_FIRST && (p->turns & (p->turns - 1)) == 0;
}

void project_trim(struct project *p)
{
    if (p->turns < PROJECT_MAX)
        return;
    free(p->log);
    p->log = NULL;
    p->n = p->cap = 0;
}

/* The ridge weights of one fuzzer from all its turns, the intercept left out. */
static void weights_of(const struct project *p, int arm, double ridge, double theta[N])
{
    struct linear m;
    linear_init(&m, ridge);
    for (size_t i = 0; i < p->n; i++) {
        double phi[LINEAR_PADDED] = {0};
        if (p->log[i].arm != arm)
            continue;
        memcpy(phi, p->log[i].x, N * sizeof *phi);
        phi[LINEAR_DIM - 1] = 1;
        linear_add(&m, phi, p->log[i].reward);
    }
    linear_solve(&m);
    memcpy(theta, m.theta, N * sizeof *theta);
}

/* One rotation in the plane of i and j that makes s[i][j] 0; v collects them, a direction per row. */
static void rotate(double s[N][N], double v[N][N], int i, int j)
{
    double ratio = (s[j][j] - s[i][i]) / (2 * s[i][j]);
    double t = (ratio < 0 ? -1 : 1) / (fabs(ratio) + sqrt(ratio * ratio + 1));
    double c = 1 / sqrt(t * t + 1), d = t * c;
    for (int k = 0; k < N; k++) {
        double a = s[k][i], b = s[k][j];
        s[k][i] = c * a - d * b;
        s[k][j] = d * a + c * b;
    }
    for (int k = 0; k < N; k++) {
        double a = s[i][k], b = s[j][k];
        s[i][k] = c * a - d * b;
        s[j][k] = d * a + c * b;
        a = v[i][k];
        b = v[j][k];
        v[i][k] = c * a - d * b;
        v[j][k] = d * a + c * b;
    }
    s[i][j] = s[j][i] = 0;
}

/* Rotates until no element beside the diagonal is large enough to change it. */
static void diagonalise(double s[N][N], double v[N][N])
{
    memset(v, 0, N * sizeof *v);
    for (int i = 0; i < N; i++)
        v[i][i] = 1;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        bool changed = false;
        for (int i = 0; i < N; i++)
            for (int j = i + 1; j < N; j++) {
                if (fabs(s[i][j]) <= 1e-18 * (fabs(s[i][i]) + fabs(s[j][j])))
                    continue;
                rotate(s, v, i, j);
                changed = true;
            }
        if (!changed)
            return;
    }
}

/* The direction of the largest value not yet taken, its largest element made positive. */
static void take_largest(double s[N][N], double v[N][N], bool taken[N], double out[N])
{
    int best = -1, top = 0;
    for (int i = 0; i < N; i++)
        if (!taken[i] && (best < 0 || s[i][i] > s[best][best]))
            best = i;
    taken[best] = true;
    for (int k = 1; k < N; k++)
        if (fabs(v[best][k]) > fabs(v[best][top]))
            top = k;
    for (int k = 0; k < N; k++)
        out[k] = v[best][top] < 0 ? -v[best][k] : v[best][k];
}

void project_directions(double theta[][N], int n, int rank, double out[][N])
{
    double s[N][N] = {0}, v[N][N];
    bool taken[N] = {false};
    for (int arm = 0; arm < n; arm++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                s[i][j] += theta[arm][i] * theta[arm][j];
    diagonalise(s, v);
    for (int r = 0; r < rank; r++)
        take_largest(s, v, taken, out[r]);
}

void project_fit(struct project *p, int n_arms, double ridge)
{
    double theta[SCHED_MAX_ARMS][N];
    for (int arm = 0; arm < n_arms; arm++)
        weights_of(p, arm, ridge, theta[arm]);
    project_directions(theta, n_arms, p->rank, p->v);
}

void project_apply(const struct project *p, const double x[FEATURES_X], double z[FEATURES_X])
{
    memset(z, 0, FEATURES_X * sizeof *z);
    for (int r = 0; r < p->rank; r++)
        for (int k = 0; k < N; k++)
            z[r] += p->v[r][k] * x[k];
}
