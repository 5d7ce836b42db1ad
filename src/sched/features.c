/* features: the standardiser and the random Fourier map, two numbers at a time.  Each number goes through
 * the same operations in the same order wherever it stands, so the bits do not depend on the compiler.
 * Learns no reward. */
#include "sched/features.h"

#include "base/det.h"

#include <math.h>
#include <string.h>

#define LEAST_VARIANCE 1e-12
#define TWO_PI 0x1.921fb54442d18p+2

void standard_add(struct standard *s, const double signals[SIGNAL_COUNT])
{
    s->n++;
    for (int k = 0; k < SIGNAL_COUNT; k++) {
        double off = signals[k] - s->mean[k];
        s->mean[k] += off / (double)s->n;
        s->m2[k] += off * (signals[k] - s->mean[k]);
        double variance = s->n < 2 ? 0 : s->m2[k] / (double)(s->n - 1);
        s->inverse[k] = variance < LEAST_VARIANCE ? 0 : 1 / sqrt(variance);
    }
}

void standard_apply(const struct standard *s, const double signals[SIGNAL_COUNT], double clamp,
                    double x[FEATURES_X])
{
    double raw[FEATURES_X] PAIR_ALIGNED;
    memcpy(raw, signals, SIGNAL_COUNT * sizeof *raw);
    raw[SIGNAL_COUNT] = 0;
    const pair *r = (const pair *)raw, *mean = (const pair *)s->mean;
    const pair *inverse = (const pair *)s->inverse;
    pair *out = (pair *)x;
    const pair zero = {0, 0};
    for (int p = 0; p < FEATURES_X / 2; p++) {
        pair v = (r[p] - mean[p]) * inverse[p] + zero; /* + 0: no negative zero */
        out[p] = pair_clamp(v, clamp);
    }
}

void features_draw(struct features *f, struct rng *rng, int columns, int inputs, double sigma)
{
    memset(f, 0, sizeof *f);
    f->form = FEATURES_RFF;
    for (int j = 0; j < columns; j++) {
        for (int k = 0; k < inputs; k++)
            f->omega[k][j] = rng_normal(rng) / sigma;
        f->phase[j] = TWO_PI * rng_unit(rng);
        f->scale[j] = sqrt(2.0 / columns);
    }
}

/* phase + omega' x for all columns.  Sums run over the signals in their order; the eight sums of pairs are
 * variables of their own so that they stay in registers. */
static void angles(const struct features *f, const double x[FEATURES_X],
                   double out[FEATURES_COLUMNS])
{
    _Static_assert(FEATURES_COLUMNS == 16, "eight sums");
    const pair *b = (const pair *)f->phase;
    pair z0 = b[0], z1 = b[1], z2 = b[2], z3 = b[3], z4 = b[4], z5 = b[5], z6 = b[6], z7 = b[7];
    for (int k = 0; k < SIGNAL_COUNT; k++) {
        const pair *w = (const pair *)f->omega[k];
        pair v = {x[k], x[k]};
        z0 += w[0] * v;
        z1 += w[1] * v;
        z2 += w[2] * v;
        z3 += w[3] * v;
        z4 += w[4] * v;
        z5 += w[5] * v;
        z6 += w[6] * v;
        z7 += w[7] * v;
    }
    const pair z[] = {z0, z1, z2, z3, z4, z5, z6, z7};
    memcpy(out, z, sizeof z);
}

void features_map(const struct features *f, const double x[FEATURES_X], double phi[FEATURES_PHI])
{
    phi[FEATURES_COLUMNS] = 1;
    phi[FEATURES_COLUMNS + 1] = 0;
    if (f->form == FEATURES_LINEAR) {
        memcpy(phi, x, FEATURES_X * sizeof *x);
        return;
    }
    angles(f, x, phi);
    det_cos_n(phi, phi, FEATURES_COLUMNS);
    for (int p = 0; p < FEATURES_COLUMNS / 2; p++)
        ((pair *)phi)[p] *= ((const pair *)f->scale)[p];
}

void features_intercept(double phi[FEATURES_PHI])
{
    memset(phi, 0, FEATURES_PHI * sizeof *phi);
    phi[FEATURES_COLUMNS] = 1;
}
