/* linear: Cholesky, triangular inverse and prediction in a fixed order of operations.  Knows nothing of
 * signals or fuzzers. */
#include "sched/linear.h"

#include <math.h>
#include <string.h>

void linear_init(struct linear *m, double ridge)
{
    memset(m, 0, sizeof *m);
    m->ridge = ridge;
    for (int i = 0; i < LINEAR_DIM; i++)
        m->a[i][i] = ridge;
    linear_solve(m);
}

void linear_add(struct linear *m, const double phi[LINEAR_DIM], double reward)
{
    for (int i = 0; i < LINEAR_DIM; i++) {
        for (int j = 0; j <= i; j++)
            m->a[i][j] += phi[i] * phi[j];
        m->b[i] += reward * phi[i];
    }
}

void linear_fade(struct linear *m, double gamma)
{
    for (int i = 0; i < LINEAR_DIM; i++) {
        for (int j = 0; j <= i; j++)
            m->a[i][j] *= gamma;
        m->a[i][i] += (1 - gamma) * m->ridge;
        m->b[i] *= gamma;
    }
}

/* A = L L'.  Every pivot is at least the least eigenvalue of A, and so at least lambda.  A smaller one is a
 * rounding error and is corrected. */
static void factor(const struct linear *m, double l[LINEAR_DIM][LINEAR_DIM])
{
    for (int j = 0; j < LINEAR_DIM; j++) {
        double pivot = m->a[j][j];
        for (int k = 0; k < j; k++)
            pivot -= l[j][k] * l[j][k];
        l[j][j] = sqrt(pivot > m->ridge ? pivot : m->ridge);
        for (int i = j + 1; i < LINEAR_DIM; i++) {
            double v = m->a[i][j];
            for (int k = 0; k < j; k++)
                v -= l[i][k] * l[j][k];
            l[i][j] = v / l[j][j];
        }
    }
}

static void invert(double l[LINEAR_DIM][LINEAR_DIM], double inverse[LINEAR_DIM][LINEAR_PADDED])
{
    for (int j = 0; j < LINEAR_DIM; j++) {
        double *column = inverse[j];
        column[j] = 1 / l[j][j];
        for (int i = j + 1; i < LINEAR_DIM; i++) {
            double v = 0;
            for (int k = j; k < i; k++)
                v -= l[i][k] * column[k];
            column[i] = v / l[i][i];
        }
    }
}

/* theta = L'^-1 (L^-1 b), by substitution. */
static void solve(double l[LINEAR_DIM][LINEAR_DIM], const double b[LINEAR_DIM], double *theta)
{
    for (int i = 0; i < LINEAR_DIM; i++) {
        double v = b[i];
        for (int k = 0; k < i; k++)
            v -= l[i][k] * theta[k];
        theta[i] = v / l[i][i];
    }
    for (int i = LINEAR_DIM - 1; i >= 0; i--) {
        double v = theta[i];
        for (int k = i + 1; k < LINEAR_DIM; k++)
            v -= l[k][i] * theta[k];
        theta[i] = v / l[i][i];
    }
}

void linear_solve(struct linear *m)
{
    double l[LINEAR_DIM][LINEAR_DIM];
    factor(m, l);
    invert(l, m->inverse);
    solve(l, m->b, m->theta);
}

/* The squared length of L^-1 phi.  Column by column; rows above the diagonal are 0 and the later columns
 * leave out the first eight.  The nine sums of pairs are variables so that they stay in registers. */
static double squared_width(const struct linear *m, const double phi[LINEAR_PADDED])
{
    _Static_assert(LINEAR_PADDED == 18, "nine sums");
    pair y0 = {0}, y1 = {0}, y2 = {0}, y3 = {0}, y4 = {0}, y5 = {0}, y6 = {0}, y7 = {0}, y8 = {0};
    for (int j = 0; j < 8; j++) {
        const pair *c = (const pair *)m->inverse[j];
        pair f = {phi[j], phi[j]};
        y0 += c[0] * f;
        y1 += c[1] * f;
        y2 += c[2] * f;
        y3 += c[3] * f;
        y4 += c[4] * f;
        y5 += c[5] * f;
        y6 += c[6] * f;
        y7 += c[7] * f;
        y8 += c[8] * f;
    }
    for (int j = 8; j < LINEAR_DIM; j++) {
        const pair *c = (const pair *)m->inverse[j];
        pair f = {phi[j], phi[j]};
        y4 += c[4] * f;
        y5 += c[5] * f;
        y6 += c[6] * f;
        y7 += c[7] * f;
        y8 += c[8] * f;
    }
    pair sum = y0 * y0;
    sum += y1 * y1;
    sum += y2 * y2;
    sum += y3 * y3;
    sum += y4 * y4;
    sum += y5 * y5;
    sum += y6 * y6;
    sum += y7 * y7;
    sum += y8 * y8;
    return sum[0] + sum[1];
}

double linear_predict(const struct linear *m, const double phi[LINEAR_PADDED], double *width)
{
    const pair *t = (const pair *)m->theta, *f = (const pair *)phi;
    pair mean = {0};
    for (int p = 0; p < LINEAR_PADDED / 2; p++)
        mean += t[p] * f[p];
    *width = sqrt(squared_width(m, phi));
    return mean[0] + mean[1];
}
