/* magic: aborts when four bytes of the input are one value of 32 bits, which chance does not find. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t x;
    if (size < 12)
        return 0;
    memcpy(&x, data + 5, sizeof x);
    if (x == UINT32_C(0x9d37c4e6))
        abort();
    return 0;
}
