/* mutate: LLVMFuzzerMutate for harnesses with a mutator of their own.  Never called: the drivers do not
 * mutate; without it such a harness would not link. */
#include <stddef.h>
#include <stdint.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size)
{
    (void)data;
    return size < max_size ? size : max_size;
}
