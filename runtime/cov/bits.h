/* bits: bool flags (one byte per edge, 0 or not) to a bitset. */
#ifndef CAROL_RUNTIME_COV_BITS_H
#define CAROL_RUNTIME_COV_BITS_H

#include <stddef.h>
#include <stdint.h>

/* out has (n + 63) / 64 words, all of which are written. */
typedef void carol_cov_bits_fn(uint64_t *out, const unsigned char *flags, size_t n);

carol_cov_bits_fn carol_cov_bits_scalar, carol_cov_bits_sse2, carol_cov_bits_avx2;
carol_cov_bits_fn carol_cov_bits; /* the best for this processor */

/* OR the n bits of src into dst from bit `at` on. */
void carol_cov_bits_or(uint64_t *dst, size_t at, const uint64_t *src, size_t n);

#endif
