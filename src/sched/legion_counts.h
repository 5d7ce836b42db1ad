/* legion_counts: the five things LEGION counts per fuzzer and round (METHOD §14):
 * edges first covered, new paths, crashing inputs, and the distinct deep and rare edges its inputs hit.
 *
 * Deep: in a function further from the entry than int(1.5 * avg), avg the whole-number mean distance of
 * the functions that known calls reach.  Rare: hit before the round began, but by fewer inputs than half
 * the mean over all covered edges.  Without a table nothing is deep or rare. */
#ifndef CAROL_SCHED_LEGION_COUNTS_H
#define CAROL_SCHED_LEGION_COUNTS_H

#include "sched/sched.h"
#include "sched/wire.h"

enum legion_count { COUNT_EDGES, COUNT_PATHS, COUNT_CRASHES, COUNT_DEEP, COUNT_RARE, COUNT_KINDS };

struct legion_counts {
    int n_arms;
    uint32_t n_edges;
    size_t words;   /* of one bitset over the edges */
    uint64_t *deep; /* does not change */
    uint64_t *rare; /* as of the beginning of the round */
    uint64_t *hit;  /* one bitset per arm: deep and rare edges of its inputs in this round */
    uint64_t count[SCHED_MAX_ARMS][COUNT_KINDS];
};

void legion_counts_init(struct legion_counts *c, int n_arms,
                        const struct table *t); /* t: or NULL */
void legion_counts_free(struct legion_counts *c);
/* A round begins: all counts 0.  map NULL: nothing is rare. */
void legion_counts_begin(struct legion_counts *c, const struct ledger *map);
void legion_counts_add(struct legion_counts *c, int arm, const struct sched_outcome *o);
uint64_t legion_counts_sum(const struct legion_counts *c, int arm);
/* The weight of a kind is its population standard deviation over the arms of the mask, divided by the sum over
 * all kinds; equal weights if all deviations are 0. */
void legion_counts_weights(const struct legion_counts *c, uint64_t arms,
                           double weight[COUNT_KINDS]);

void legion_counts_save(const struct legion_counts *c, struct buf *out);

#endif
