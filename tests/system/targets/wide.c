/* wide: every input covers hundreds of edges, and nearly every new one covers another. */
#include <stddef.h>
#include <stdint.h>

#define ONE(i)                                                                                     \
    if (p[(i) % n] == (i))                                                                         \
        sum += (i);                                                                                \
    else                                                                                           \
        sum ^= (i);
#define FOUR(i) ONE(i) ONE((i) + 1) ONE((i) + 2) ONE((i) + 3)
#define SIXTEEN(i) FOUR(i) FOUR((i) + 4) FOUR((i) + 8) FOUR((i) + 12)
#define HALF(i)                                                                                    \
    SIXTEEN(i)                                                                                     \
    SIXTEEN((i) + 16)                                                                              \
    SIXTEEN((i) + 32)                                                                              \
    SIXTEEN((i) + 48) SIXTEEN((i) + 64) SIXTEEN((i) + 80) SIXTEEN((i) + 96) SIXTEEN((i) + 112)

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    volatile unsigned sum = 0;
    if (n == 0)
        return 0;
    HALF(0)
    HALF(128)
    return 0;
}
