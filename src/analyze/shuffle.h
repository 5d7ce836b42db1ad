/* shuffle: a random order (Fisher and Yates, from the last place down). */
#ifndef CAROL_ANALYZE_SHUFFLE_H
#define CAROL_ANALYZE_SHUFFLE_H

#include "base/rng.h"

#include <stddef.h>

static inline void shuffle(struct rng *rng, size_t *v, size_t n)
{
    for (size_t i = n; i > 1; i--) {
        size_t k = (size_t)rng_below(rng, i), was = v[i - 1];
        v[i - 1] = v[k];
        v[k] = was;
    }
}

#endif
