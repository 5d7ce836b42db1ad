/* sole: a library with one mutator, MUTATOR. */
#include "ctl_afl.h"
#include "mutator.h"

CTL_EXPORTED size_t afl_custom_fuzz(void *data, uint8_t *buf, size_t n, uint8_t **out,
                                    uint8_t *other, size_t other_n, size_t max);

void ctl_afl_on_init(void)
{
    MUTATOR.init();
}

void ctl_afl_on_new_entry(void)
{
    if (MUTATOR.found)
        MUTATOR.found();
}

size_t afl_custom_fuzz(void *data, uint8_t *buf, size_t n, uint8_t **out, uint8_t *other,
                       size_t other_n, size_t max)
{
    (void)data;
    return MUTATOR.fuzz(buf, n, out, other, other_n, max);
}
