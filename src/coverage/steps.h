/* steps: which inputs, in the order given, run some region of source that none before them ran.
 *
 * Only such an input, a step, can be the first on a line; of ten thousand inputs a few hundred are.  What they
 * cover, line by line, is then asked of llvm-cov for each alone.
 *
 *     steps_open(&s, "target", &e);
 *     is_step = steps_add(&s, &profile, &e);     // 1, 0 or an error
 *     steps_free(&s);
 *
 * It also adds all counters up: s.total. */
#ifndef CAROL_COVERAGE_STEPS_H
#define CAROL_COVERAGE_STEPS_H

#include "coverage/mapping.h"
#include "coverage/rawprofile.h"

struct steps {
    struct mapping mapping;
    uint64_t *total; /* per counter */
    size_t n_counters;
    bool **ran; /* per function of the profile: its regions */
    const struct mapping_function **functions;
    size_t n_functions;
    uint64_t *scratch;
};

CAROL_MUST_CHECK int steps_open(struct steps *s, const char *binary, struct err *e);
/* All profiles are of one program. */
CAROL_MUST_CHECK int steps_add(struct steps *s, const struct rawprofile *p, struct err *e);
void steps_free(struct steps *s);

#endif
