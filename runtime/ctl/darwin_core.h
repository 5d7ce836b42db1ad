/* darwin_core: DARWIN's evolution strategy over havoc operators, and the operators themselves; an
 * independent implementation of the published algorithm, pure and deterministic from its seed.
 *
 *     darwin_init(&d, n_operators, seed);
 *     for each execution:
 *         op = darwin_select(&d);                     // by the child under evaluation
 *         times = darwin_stacking(&d.rng);            // 2, 4, ..., 128
 *         while (times--) n = darwin_apply(&d.rng, op, buf, n, max, ctx);
 *         ... execute ...
 *         darwin_evaluate(&d, new_queue_entries);     // moves to the next child
 *
 * 5 parents (a bit per operator, random, fitness 0), 4 children per generation.  A child is a copy of
 * the current parent with one random bit inverted; the very first one is random.  After 4 children the
 * best of them (the first on ties) replaces the parent if it is strictly fitter than the parent's stored
 * fitness; then the next parent has its turn.  As in the reference, the copy begins at gene 1: gene 0
 * of a child is what that child's slot had before. */
#ifndef CAROL_CTL_DARWIN_CORE_H
#define CAROL_CTL_DARWIN_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DARWIN_PARENTS 5
#define DARWIN_CHILDREN 4
#define DARWIN_OPERATORS 15      /* without a dictionary */
#define DARWIN_OPERATORS_DICT 17 /* with one */

enum darwin_operator {
    DARWIN_FLIP_BIT = 0,
    DARWIN_INTERESTING_8,
    DARWIN_INTERESTING_16,
    DARWIN_INTERESTING_32,
    DARWIN_SUB_8,
    DARWIN_ADD_8,
    DARWIN_SUB_16,
    DARWIN_ADD_16,
    DARWIN_SUB_32,
    DARWIN_ADD_32,
    DARWIN_XOR,
    DARWIN_DELETE,
    DARWIN_DELETE_2,
    DARWIN_CLONE,
    DARWIN_OVERWRITE,
    DARWIN_TOKEN_OVERWRITE,
    DARWIN_TOKEN_INSERT
};

struct darwin_rng {
    uint64_t s;
};
uint64_t darwin_random(struct darwin_rng *r);
uint32_t darwin_below(struct darwin_rng *r, uint32_t n); /* uniform in [0, n); 0 for n = 0 */

struct darwin {
    struct darwin_rng rng;
    unsigned operators;
    bool parent[DARWIN_PARENTS][DARWIN_OPERATORS_DICT];
    bool child[DARWIN_CHILDREN][DARWIN_OPERATORS_DICT];
    unsigned parent_fitness[DARWIN_PARENTS], child_fitness[DARWIN_CHILDREN];
    unsigned at_parent, at_child, best_parent;
    uint64_t generations;
};

struct darwin_token {
    const uint8_t *data;
    size_t size;
};

struct darwin_context {
    unsigned queue_cycle; /* from 1; longer blocks from the 2nd and 3rd pass on */
    const struct darwin_token *tokens;
    size_t n_tokens;
};

void darwin_init(struct darwin *d, unsigned operators, uint64_t seed);
unsigned darwin_select(struct darwin *d);
void darwin_evaluate(struct darwin *d, unsigned new_entries);

unsigned darwin_stacking(struct darwin_rng *r);
/* Apply one operator to buf[0..n), which has room for max bytes; returns the new length, >= 1.  What
 * does not fit the length leaves it as it is. */
size_t darwin_apply(struct darwin_rng *r, unsigned op, uint8_t *buf, size_t n, size_t max,
                    const struct darwin_context *c);
/* AFL's splice: buf gets the tail of other from a point between the first and the last byte in
 * which they differ; returns the new length, n when they are too alike. */
size_t darwin_splice(struct darwin_rng *r, uint8_t *buf, size_t n, size_t max, const uint8_t *other,
                     size_t other_n);

#endif
