/* rawprofile: a raw profile of clang's (.profraw, version 10: clang 19 and 20), as one run of a program leaves
 * it: a counter per region that is counted, grouped by function.
 *
 *     struct rawprofile p;
 *     rawprofile_parse(&p, bytes, size, &e);     // p looks into bytes
 *     p.counters[p.functions[i].first] ...       // the first counter of function i: its entries
 *     rawprofile_free(&p);
 *
 * The counters of two runs of the same program are in the same places. */
#ifndef CAROL_COVERAGE_RAWPROFILE_H
#define CAROL_COVERAGE_RAWPROFILE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct rawprofile_function {
    uint64_t name, hash; /* of its name, of its structure */
    size_t first, n;     /* its counters */
};

struct rawprofile {
    struct rawprofile_function *functions;
    size_t n_functions;
    uint64_t *counters; /* in the bytes: a change of them is one of the profile */
    size_t n_counters;
};

/* bytes must be aligned to 8.  Fails on anything that does not fit together. */
CAROL_MUST_CHECK int rawprofile_parse(struct rawprofile *p, void *bytes, size_t size,
                                      struct err *e);
void rawprofile_free(struct rawprofile *p);

#endif
