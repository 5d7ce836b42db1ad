/* tote_fuzzer: the harness; one input is one file. */
#include "tote.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tote_parse(data, size);
    return 0;
}
