/* growth: neutral edges over time: for every edge the first moment at which something kept covered it.  The
 * order in which inputs are added does not matter. */
#ifndef CAROL_BENCH_GROWTH_H
#define CAROL_BENCH_GROWTH_H

#include "base/err.h"
#include "base/str.h"

#include <stddef.h>
#include <stdint.h>

struct growth {
    int64_t *first; /* INT64_MAX: never */
    uint32_t n_edges;
    uint64_t inputs;
};

void growth_init(struct growth *g, uint32_t n_edges);
void growth_free(struct growth *g);
void growth_add(struct growth *g, int64_t at_ns, const uint32_t *edges, uint32_t n);
/* How many edges were covered by then. */
uint32_t growth_at(const struct growth *g, int64_t at_ns);

#define GROWTH_QUARTERS 4

/* The campaign of `carol fuzz` in out: its fuzzers are added to `fuzzers`; what it kept by the benchmark's clock, which
 * stood at wall_ns when it ended; and the largest part of the
 * fuzzers' active time that one had in each quarter of the campaign (negative: nobody ran).  g is initialised
 * here. */
CAROL_MUST_CHECK int growth_of_campaign(struct growth *g, const char *out, int64_t wall_ns,
                                        double top_share[GROWTH_QUARTERS], struct strv *fuzzers,
                                        struct err *e);

#endif
