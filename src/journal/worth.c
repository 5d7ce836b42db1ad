/* worth: the two medians and what is measured by them (METHOD R19a).  Knows nothing of who wants what. */
#include "journal/worth.h"

#include <stdbool.h>

/* Beyond so many medians, and beyond the floor, an input is heavy, or too heavy. */
struct limit {
    uint32_t medians, floor;
};
static const struct limit light_us = {3, 40}, light_bytes = {3, 300};
static const struct limit heavy_us = {4, 60}, heavy_bytes = {4, 400};

static unsigned bin_of(uint32_t v)
{
    if (v < 16)
        return v;
    unsigned top = 31 - (unsigned)__builtin_clz(v);
    return 16 + (top - 4) * 8 + ((v >> (top - 3)) & 7);
}

static uint32_t least_of(unsigned bin)
{
    if (bin < 16)
        return bin;
    unsigned top = 4 + (bin - 16) / 8;
    return (UINT32_C(8) + (bin - 16) % 8) << (top - 3);
}

void spread_add(struct spread *s, uint32_t v)
{
    s->count[bin_of(v)]++;
    s->n++;
}

uint32_t spread_median(const struct spread *s)
{
    uint64_t below = 0;
    for (unsigned i = 0; i < SPREAD_BINS; i++) {
        below += s->count[i];
        if (below * 2 >= s->n)
            return s->n ? least_of(i) : 0;
    }
    return 0;
}

void worth_add(struct worth *w, uint32_t cpu_us, uint32_t size)
{
    spread_add(&w->cpu_us, cpu_us);
    spread_add(&w->size, size);
}

static bool within(const struct limit *l, const struct spread *s, uint32_t v)
{
    return v <= l->floor || v <= (uint64_t)l->medians * spread_median(s);
}

enum weight worth_weigh(const struct worth *w, uint32_t cpu_us, uint32_t size)
{
    if (within(&light_us, &w->cpu_us, cpu_us) && within(&light_bytes, &w->size, size))
        return WEIGHT_LIGHT;
    if (within(&heavy_us, &w->cpu_us, cpu_us) && within(&heavy_bytes, &w->size, size))
        return WEIGHT_HEAVY;
    return WEIGHT_TOO_HEAVY;
}
