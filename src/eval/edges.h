/* edges: the set of neutral edges one input covers, as a sorted list of edge numbers, and its
 * compressed form for the store (LEB128 of the differences). */
#ifndef CAROL_EVAL_EDGES_H
#define CAROL_EVAL_EDGES_H

#include "base/buf.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct edges {
    uint32_t *ids; /* ascending, no duplicates */
    uint32_t n;
};

void edges_free(struct edges *s);
/* From a bitset of n_bits bits (u64 words, bit i of word i/64). */
void edges_from_bits(struct edges *s, const uint64_t *bits, uint32_t n_bits);
/* How many of the n_bits bits are set. */
uint32_t edges_count(const uint64_t *bits, uint32_t n_bits);
void edges_encode(const struct edges *s, struct buf *out);
/* Refuses anything not ascending or not below n_edges. */
CAROL_MUST_CHECK int edges_decode(const void *data, size_t n, uint32_t n_edges, struct edges *s,
                                  struct err *e);

#endif
