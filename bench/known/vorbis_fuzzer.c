/* vorbis_fuzzer: decodes the input with stb_vorbis, which is one source file. */
#include "stb_vorbis.c"

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int channels, rate;
    short *samples = NULL;
    if (size > 0 && size < 1 << 16 &&
        stb_vorbis_decode_memory(data, (int)size, &channels, &rate, &samples) >= 0)
        free(samples);
    return 0;
}
