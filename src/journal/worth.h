/* worth: is an input slow or large compared with what the campaign usually shares?  Medians of CPU time and size
 * over all that was shared, from a histogram of fixed size: they depend on the record alone, not on its order.
 *
 *     worth_add(&w, cpu_us, size);                  // it is shared
 *     if (worth_weigh(&w, cpu_us, size) == WEIGHT_LIGHT) ... */
#ifndef CAROL_JOURNAL_WORTH_H
#define CAROL_JOURNAL_WORTH_H

#include <stdint.h>

/* Sixteen bins of one value each, then eight per power of two: a median is at most an eighth too small. */
#define SPREAD_BINS (16 + 28 * 8)
struct spread {
    uint64_t n;
    uint32_t count[SPREAD_BINS];
};
void spread_add(struct spread *s, uint32_t v);
uint32_t spread_median(const struct spread *s); /* 0: of nothing */

struct worth {
    struct spread cpu_us, size;
};
enum weight {
    WEIGHT_NONE = 0,
    WEIGHT_LIGHT,
    WEIGHT_HEAVY,    /* given away only for what nothing else has */
    WEIGHT_TOO_HEAVY /* not given away at all */
};
void worth_add(struct worth *w, uint32_t cpu_us, uint32_t size);
enum weight worth_weigh(const struct worth *w, uint32_t cpu_us, uint32_t size);

#endif
