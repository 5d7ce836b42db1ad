/* null: a mutator library that mutates nothing: with AFL_CUSTOM_MUTATOR_ONLY it leaves afl-fuzz -L -1 nothing
 * but MOpt's stage (fuzzer/mopt.c). */
#include "ctl_afl.h"

CTL_EXPORTED unsigned afl_custom_fuzz_count(void *data, const uint8_t *buf, size_t n);
CTL_EXPORTED size_t afl_custom_fuzz(void *data, uint8_t *buf, size_t n, uint8_t **out,
                                    uint8_t *other, size_t other_n, size_t max);

unsigned afl_custom_fuzz_count(void *data, const uint8_t *buf, size_t n)
{
    (void)data;
    (void)buf;
    (void)n;
    return 0;
}

size_t afl_custom_fuzz(void *data, uint8_t *buf, size_t n, uint8_t **out, uint8_t *other,
                       size_t other_n, size_t max)
{
    (void)data;
    (void)buf;
    (void)n;
    (void)other;
    (void)other_n;
    (void)max;
    *out = NULL;
    return 0;
}
