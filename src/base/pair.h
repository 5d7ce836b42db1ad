/* pair: two doubles at a time, by the compilers' vector extension: every x86-64 has the instructions, and
 * each half goes through the same IEEE operations as a double alone, so the bits are the same.
 * An array read through a pair pointer must be aligned to 16 bytes (PAIR_ALIGNED). */
#ifndef CAROL_BASE_PAIR_H
#define CAROL_BASE_PAIR_H

#include <emmintrin.h>
#include <stdint.h>

typedef double pair __attribute__((vector_size(16), may_alias));
typedef uint64_t pair_bits __attribute__((vector_size(16), may_alias));

#define PAIR_ALIGNED __attribute__((aligned(16)))

/* Each half of v, but not beyond -most and most (NaN: most). */
static inline pair pair_clamp(pair v, double most)
{
    const pair hi = {most, most};
    return (pair)_mm_max_pd(_mm_min_pd((__m128d)v, (__m128d)hi), (__m128d)-hi);
}

#endif
