/* ready: the targets of a suite, staged and built in every family that its contenders need; and the rivals' programs. */
#ifndef CAROL_BENCH_READY_H
#define CAROL_BENCH_READY_H

#include "base/err.h"
#include "bench/suite.h"
#include "target/manifest.h"

/* Builds what is missing of the targets that are wanted.  *targets becomes one manifest per target of the suite, empty for
 * those that are not; free with ready_free.  absent[i]: the source of target i cannot be had here, which was said.
 * ERR_EXIT_ENV: all are wanted and no source can be had, or an engine is missing; ERR_EXIT_USAGE: a build of the user's own lacks a family. */
CAROL_MUST_CHECK int ready_targets(const struct suite *s, const bool *wanted,
                                   struct manifest **targets, bool *absent, struct err *e);
void ready_free(struct manifest *targets, size_t n);

#endif
