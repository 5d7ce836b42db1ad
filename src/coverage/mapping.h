/* mapping: how often each region of source ran, as sums and differences of counters.
 *
 * clang counts only some regions; the others follow ("the else ran as often as the if, less the then").  The
 * program carries these sums in its section __llvm_covfun.  Which lines a region has is left to llvm-cov: here it
 * only matters whether some region ran that never ran before, because without that no line is new either.
 *
 *     mapping_load(&m, "target", &e);
 *     f = mapping_find(&m, name, hash);              // of a function in a profile
 *     mapping_sums(f, counters, scratch);
 *     mapping_ran(f, i, counters, scratch)           // how often region i of it ran
 *     mapping_free(&m);
 */
#ifndef CAROL_COVERAGE_MAPPING_H
#define CAROL_COVERAGE_MAPPING_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapping_sum { /* left and right are coded as in the section: mapping.c */
    uint64_t left, right;
    bool less; /* left - right, else left + right */
};

struct mapping_function {
    uint64_t name, hash;
    struct mapping_sum *sums;
    uint32_t *order; /* every sum after those it is made of */
    size_t n_sums;
    uint64_t *regions; /* coded alike, each once */
    size_t n_regions;
    size_t n_counters; /* it refers to counters below this */
};

struct mapping {
    struct mapping_function *v; /* by name and hash */
    size_t n, cap;
    size_t most_sums;
};

CAROL_MUST_CHECK int mapping_load(struct mapping *m, const char *binary, struct err *e);
/* One record after the other, as the section has them; mapping_load for bytes. */
CAROL_MUST_CHECK int mapping_parse(struct mapping *m, const void *section, size_t size,
                                   struct err *e);
const struct mapping_function *mapping_find(const struct mapping *m, uint64_t name, uint64_t hash);
/* counters: of that function.  scratch: room for most_sums, filled by mapping_sums. */
void mapping_sums(const struct mapping_function *f, const uint64_t *counters, uint64_t *scratch);
uint64_t mapping_ran(const struct mapping_function *f, size_t region, const uint64_t *counters,
                     const uint64_t *scratch);
void mapping_free(struct mapping *m);

#endif
