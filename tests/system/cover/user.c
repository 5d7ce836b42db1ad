/* user: the executable of the two-module target. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

int library_weigh(const unsigned char *data, unsigned long size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned endless;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int weight = library_weigh(data, size);
    if (size && data[0] == 'e')
        exit(5);
    if (size && data[0] == 'h')
        for (;;)
            endless++;
    if (weight > 40)
        _exit(9);
    if (weight < -40)
        __builtin_trap();
    return 0;
}
