/* program: the neutral binary of a build and its table, checked to belong together. */
#ifndef CAROL_EVAL_PROGRAM_H
#define CAROL_EVAL_PROGRAM_H

#include "base/err.h"
#include "target/manifest.h"

#include <stdint.h>

struct program { /* what its server must say of itself (struct cov_hello) */
    uint32_t n_edges, n_modules;
    uint64_t layout;
};

CAROL_MUST_CHECK int program_check(const struct manifest *m, struct program *p, struct err *e);

#endif
