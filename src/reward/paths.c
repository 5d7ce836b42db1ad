/* paths: a set of hashes, open addressing.  Forgets nothing, keeps no input. */
#include "reward/paths.h"

#include "base/die.h"

#include <stdlib.h>

static uint64_t mix(uint64_t x)
{
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    x ^= x >> 32;
    return x;
}

/* Of the numbers in their order; never 0. */
static uint64_t hash_of(const struct edges *set)
{
    uint64_t h = set->n;
    for (uint32_t i = 0; i < set->n; i++)
        h = mix(h + set->ids[i] + UINT64_C(0x9e3779b97f4a7c15));
    h = mix(h);
    return h ? h : 1;
}

/* The slot of h, or the free one it would take. */
static uint64_t *slot_of(const struct paths *p, uint64_t h)
{
    size_t at = (size_t)h & (p->cap - 1);
    while (p->slots[at] && p->slots[at] != h)
        at = (at + 1) & (p->cap - 1);
    return &p->slots[at];
}

static void grow(struct paths *p)
{
    struct paths old = *p;
    p->cap = old.cap ? 2 * old.cap : 256;
    p->slots = xcalloc(p->cap, sizeof *p->slots);
    for (size_t i = 0; i < old.cap; i++)
        if (old.slots[i])
            *slot_of(p, old.slots[i]) = old.slots[i];
    free(old.slots);
}

int paths_add(struct paths *p, const struct edges *set)
{
    if (!set->n || p->n >= PATHS_MAX)
        return 0;
    if (4 * p->n >= 3 * p->cap)
        grow(p);
    uint64_t h = hash_of(set), *slot = slot_of(p, h);
    if (*slot)
        return 0;
    *slot = h;
    p->n++;
    return 1;
}

void paths_free(struct paths *p)
{
    free(p->slots);
    *p = (struct paths){0};
}
