/* pair: two doubles at a time, by the compilers' vector extension: every x86-64 has the instructions, and
 * each half goes through the same IEEE operations as a double alone, so the bits are the same.
 * An array read through a pair pointer must be aligned to 16 bytes (PAIR_ALIGNED). */
#ifndef CAROL_BASE_PAIR_H
#define CAROL_BASE_PAIR_H

#include <stdint.h>

typedef double pair __attribute__((vector_size(16), may_alias));
typedef int64_t pair_bits __attribute__((vector_size(16), may_alias));

#define PAIR_ALIGNED __attribute__((aligned(16)))

/* A comparison of pairs gives all ones or all zeros in each half; this picks by it. */
static inline pair pair_choose(pair_bits which, pair yes, pair no)
{
    return (pair)(((pair_bits)yes & which) | ((pair_bits)no & ~which));
}

#endif
