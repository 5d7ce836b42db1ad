/* permute: the exact distribution of a sum under permutation.
 *
 * When `draw` of `total` scores are drawn, every choice equally likely, their sum has a distribution that
 * needs no assumption.  It is built score by score, choices with the same sum joined, so that ties and
 * whole numbers make it small: two groups of a hundred ranks take half a second, two groups of twelve
 * numbers without a common unit about as long.
 *
 *     struct permute d;
 *     if (permute_sums(score, total, draw, &d) == 0)
 *         for (size_t i = 0; i < d.n; i++) ...    // d.sum ascending, d.p their probabilities
 *     permute_free(&d);
 */
#ifndef CAROL_STATS_PERMUTE_H
#define CAROL_STATS_PERMUTE_H

#include "base/err.h"

#include <stddef.h>

struct permute {
    double *sum, *p;
    size_t n;
};

/* draw <= total, total > 0.  -E2BIG when that would take too long or too much memory; out is empty then. */
CAROL_MUST_CHECK int permute_sums(const double *score, size_t total, size_t draw,
                                  struct permute *out);
void permute_free(struct permute *d);

#endif
