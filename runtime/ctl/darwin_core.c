/* darwin_core: selection and evolution.  The operators are in darwin_ops.c. */
#include "darwin_core.h"

#include <string.h>

/* splitmix64: any state is a good one, and it is one word. */
uint64_t darwin_random(struct darwin_rng *r)
{
    uint64_t z = r->s += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

uint32_t darwin_below(struct darwin_rng *r, uint32_t n)
{
    return (uint32_t)((darwin_random(r) >> 32) * n >> 32);
}

static void randomise(struct darwin *d, bool *genes)
{
    for (unsigned i = 0; i < d->operators; i++)
        genes[i] = darwin_below(&d->rng, 2) != 0;
}

/* From gene 1 on: gene 0 stays what it was in that slot, as in the reference. */
static void make_child(struct darwin *d)
{
    bool *child = d->child[d->at_child];
    const bool *parent = d->parent[d->at_parent];
    for (unsigned i = 1; i < d->operators; i++)
        child[i] = parent[i];
    unsigned flip = darwin_below(&d->rng, d->operators);
    child[flip] = !child[flip];
}

void darwin_init(struct darwin *d, unsigned operators, uint64_t seed)
{
    *d = (struct darwin){.rng.s = seed};
    d->operators = operators < DARWIN_OPERATORS_DICT ? operators : DARWIN_OPERATORS_DICT;
    for (unsigned i = 0; i < DARWIN_PARENTS; i++)
        randomise(d, d->parent[i]);
    randomise(d, d->child[0]);
}

unsigned darwin_select(struct darwin *d)
{
    unsigned start = darwin_below(&d->rng, d->operators);
    for (unsigned i = 0; i < d->operators; i++) {
        unsigned op = (start + i) % d->operators;
        if (d->child[d->at_child][op])
            return op;
    }
    return start;
}

static void end_generation(struct darwin *d)
{
    unsigned best = 0, p = d->at_parent;
    for (unsigned i = 1; i < DARWIN_CHILDREN; i++)
        if (d->child_fitness[i] > d->child_fitness[best])
            best = i;
    if (d->child_fitness[best] > d->parent_fitness[p]) {
        memcpy(d->parent[p], d->child[best], sizeof d->parent[p]);
        d->parent_fitness[p] = d->child_fitness[best];
    }
    if (d->parent_fitness[p] > d->parent_fitness[d->best_parent])
        d->best_parent = p;
    memset(d->child_fitness, 0, sizeof d->child_fitness);
    d->at_child = 0;
    d->at_parent = (p + 1) % DARWIN_PARENTS;
    d->generations++;
}

void darwin_evaluate(struct darwin *d, unsigned new_entries)
{
    d->child_fitness[d->at_child] = new_entries;
    if (++d->at_child == DARWIN_CHILDREN)
        end_generation(d);
    make_child(d);
}

unsigned darwin_stacking(struct darwin_rng *r)
{
    return 1u << (1 + darwin_below(r, 7));
}
