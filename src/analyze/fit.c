/* fit: sums, weights and errors.  Knows no campaigns. */
#include "analyze/fit.h"

#include <string.h>

void fit_phi(const double x[SIGNAL_COUNT], double phi[LINEAR_PADDED])
{
    memset(phi, 0, LINEAR_PADDED * sizeof *phi);
    memcpy(phi, x, SIGNAL_COUNT * sizeof *phi);
    phi[LINEAR_DIM - 1] = 1;
}

void moments_add(struct moments *m, const double phi[LINEAR_DIM], double reward, double weight)
{
    m->n += weight;
    m->rr += weight * reward * reward;
    for (int i = 0; i < LINEAR_DIM; i++) {
        for (int j = 0; j <= i; j++)
            m->a[i][j] += weight * phi[i] * phi[j];
        m->b[i] += weight * reward * phi[i];
    }
}

void moments_join(struct moments *m, const struct moments *other)
{
    m->n += other->n;
    m->rr += other->rr;
    for (int i = 0; i < LINEAR_DIM; i++) {
        for (int j = 0; j <= i; j++)
            m->a[i][j] += other->a[i][j];
        m->b[i] += other->b[i];
    }
}

void fit(struct linear *model, const struct moments *m, double ridge, const bool keep[LINEAR_DIM])
{
    linear_init(model, ridge);
    for (int i = 0; i < LINEAR_DIM; i++) {
        if (keep && !keep[i])
            continue;
        for (int j = 0; j <= i; j++)
            if (!keep || keep[j])
                model->a[i][j] += m->a[i][j];
        model->b[i] = m->b[i];
    }
    linear_solve(model);
}

double fit_error(const double theta[LINEAR_DIM], const struct moments *m)
{
    double error = m->rr;
    for (int i = 0; i < LINEAR_DIM; i++) {
        double row = theta[i] * m->a[i][i];
        for (int j = 0; j < i; j++)
            row += 2 * theta[j] * m->a[i][j];
        error += theta[i] * (row - 2 * m->b[i]);
    }
    return error > 0 ? error : 0;
}

double fit_predict(const double theta[LINEAR_DIM], const double x[SIGNAL_COUNT])
{
    double sum = theta[LINEAR_DIM - 1];
    for (int k = 0; k < SIGNAL_COUNT; k++)
        sum += theta[k] * x[k];
    return sum;
}
