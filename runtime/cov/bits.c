/* bits: turns bool flags into bitsets with the widest compare the processor has.  Does not know what
 * the flags mean. */
#include "bits.h"

#include <immintrin.h>

static uint64_t word_scalar(const unsigned char *flags, size_t n)
{
    uint64_t w = 0;
    for (size_t i = 0; i < n; i++)
        w |= (uint64_t)(flags[i] != 0) << i;
    return w;
}

void carol_cov_bits_scalar(uint64_t *out, const unsigned char *flags, size_t n)
{
    for (size_t i = 0; i < n; i += 64)
        *out++ = word_scalar(flags + i, n - i < 64 ? n - i : 64);
}

static uint64_t zeros16(const unsigned char *p)
{
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_setzero_si128()));
}

void carol_cov_bits_sse2(uint64_t *out, const unsigned char *flags, size_t n)
{
    size_t i = 0;
    for (; i + 64 <= n; i += 64)
        *out++ = ~(zeros16(flags + i) | zeros16(flags + i + 16) << 16 |
                   zeros16(flags + i + 32) << 32 | zeros16(flags + i + 48) << 48);
    if (i < n)
        *out = word_scalar(flags + i, n - i);
}

__attribute__((target("avx2"))) void carol_cov_bits_avx2(uint64_t *out, const unsigned char *flags,
                                                         size_t n)
{
    size_t i = 0;
    const __m256i zero = _mm256_setzero_si256();
    for (; i + 64 <= n; i += 64) {
        __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)(flags + i));
        __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(flags + i + 32));
        uint64_t lo = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, zero));
        uint64_t hi = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(b, zero));
        *out++ = ~(lo | hi << 32);
    }
    if (i < n)
        *out = word_scalar(flags + i, n - i);
}

void carol_cov_bits(uint64_t *out, const unsigned char *flags, size_t n)
{
    static int avx2 = -1;
    if (avx2 < 0)
        avx2 = __builtin_cpu_supports("avx2") != 0;
    if (avx2)
        carol_cov_bits_avx2(out, flags, n);
    else
        carol_cov_bits_sse2(out, flags, n);
}

void carol_cov_bits_or(uint64_t *dst, size_t at, const uint64_t *src, size_t n)
{
    size_t words = (n + 63) / 64, shift = at % 64;
    dst += at / 64;
    for (size_t i = 0; i < words; i++) {
        if (!src[i])
            continue;
        dst[i] |= src[i] << shift;
        if (shift && src[i] >> (64 - shift))
            dst[i + 1] |= src[i] >> (64 - shift);
    }
}
