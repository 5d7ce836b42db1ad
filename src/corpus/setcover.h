/* setcover: few and cheap sets with the same union.
 *
 * Greedy: again and again the set that costs least per edge not covered yet.  Then sets whose edges the others
 * cover are dropped, the dearest first.  That is within ln(largest set)+1 of the cheapest choice there is, and
 * no set of it can be left out.  Equal ones are decided by their place in the list, so the answer depends on
 * nothing else.
 *
 *     struct setcover s;
 *     setcover_find(&s, sets, n, n_edges, &e);      // s.v: places in the list, in the order chosen
 *     setcover_free(&s);
 */
#ifndef CAROL_CORPUS_SETCOVER_H
#define CAROL_CORPUS_SETCOVER_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct setcover_set {
    const void *edges; /* edges_encode */
    size_t edges_size;
    double cost; /* above 0 */
};

struct setcover {
    struct setcover_pick {
        uint32_t set;
        uint32_t fresh; /* edges that none chosen before it has */
    } *v;
    size_t n;
    uint32_t covered; /* edges of the union */
};

/* n is below 2^32.  Fails when a set is damaged or has an edge that is not below n_edges. */
CAROL_MUST_CHECK int setcover_find(struct setcover *s, const struct setcover_set *sets, size_t n,
                                   uint32_t n_edges, struct err *e);
void setcover_free(struct setcover *s);

#endif
