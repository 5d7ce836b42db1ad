/* first: who was first on each line, and how often each finder was. */
#ifndef CAROL_COVERAGE_FIRST_H
#define CAROL_COVERAGE_FIRST_H

#include "coverage/coverage.h"

/* The lines of `all` that nobody before covered and this step does are its own; how many. */
uint64_t first_claim(struct lcov *all, const struct lcov *step, int32_t number);
/* Fills the counts of c from its lines and steps. */
void first_count(struct coverage *c);
/* Who was first on a line; NULL: nobody, or nobody alone. */
const struct found_input *first_input(const struct coverage *c, const struct lcov_line *l);

#endif
