/* features: from an arm's raw signals to what its model sees (METHOD §9, §10).
 *
 *     standard_apply(&standardiser, signals, clamp, x);   // x: mean 0, variance 1, clamped
 *     features_map(&features, x, phi);                    // 16 columns and the intercept, always last
 *     ... the turn runs ...
 *     standard_add(&standardiser, signals);               // the signals of its dispatch
 *
 * Columns that a form does not use are 0 and therefore take no part in a model.  Vectors are padded to an even
 * length with zeros; everything is a plain struct and nothing allocates. */
#ifndef CAROL_SCHED_FEATURES_H
#define CAROL_SCHED_FEATURES_H

#include "base/pair.h"
#include "base/rng.h"
#include "sched/sched.h"

#define FEATURES_COLUMNS (SCHED_FEATURES - 1) /* without the intercept */
#define FEATURES_X 16                         /* SIGNAL_COUNT, padded */
#define FEATURES_PHI 18                       /* SCHED_FEATURES, padded */

/* Mean and variance of each signal so far (Welford). */
struct standard {
    uint64_t n;
    double mean[FEATURES_X] PAIR_ALIGNED;
    double m2[FEATURES_X];      /* sum of squared differences from the mean */
    double inverse[FEATURES_X]; /* 1/sd; 0 below two values or 1e-12 of variance.  From n and m2 */
};

void standard_add(struct standard *s, const double signals[SIGNAL_COUNT]);
/* x must be aligned to 16 bytes; its last element becomes 0. */
void standard_apply(const struct standard *s, const double signals[SIGNAL_COUNT], double clamp,
                    double x[FEATURES_X]);

enum features_form { FEATURES_RFF, FEATURES_LINEAR };

/* The random Fourier map, or the identity.  omega is by signal, then by column. */
struct features {
    enum features_form form;
    double omega[FEATURES_X][FEATURES_COLUMNS] PAIR_ALIGNED;
    double phase[FEATURES_COLUMNS];
    double scale[FEATURES_COLUMNS]; /* sqrt(2/D); 0 for columns that are not there */
};

/* D columns over the first `inputs` elements of x: omega ~ N(0, 1/sigma^2), phase ~ U[0, 2 pi), drawn column
 * by column, each column's phase after its omega. */
void features_draw(struct features *f, struct rng *rng, int columns, int inputs, double sigma);
/* phi and x aligned to 16 bytes. */
void features_map(const struct features *f, const double x[FEATURES_X], double phi[FEATURES_PHI]);
/* The intercept alone. */
void features_intercept(double phi[FEATURES_PHI]);

#endif
