/* clangtools: llvm-profdata and llvm-cov of the clang that the families are built with, run to their end in a
 * cage. */
#ifndef CAROL_COVERAGE_CLANGTOOLS_H
#define CAROL_COVERAGE_CLANGTOOLS_H

#include "base/buf.h"
#include "base/err.h"

struct clangtools {
    char *profdata, *cov;
    const char *work; /* for what they print beside their answer */
};

/* Exit 3 with the package when one is missing. */
CAROL_MUST_CHECK int clangtools_find(struct clangtools *t, const char *work, struct err *e);
void clangtools_free(struct clangtools *t);

/* A raw profile, indexed as llvm-cov wants it. */
CAROL_MUST_CHECK int clangtools_index(const struct clangtools *t, const char *raw,
                                      const char *indexed, struct err *e);
/* Lines, functions and their counts as an lcov trace. */
CAROL_MUST_CHECK int clangtools_lcov(const struct clangtools *t, const char *binary,
                                     const char *indexed, struct buf *out, struct err *e);
/* The pages of llvm-cov, in a directory that it makes. */
CAROL_MUST_CHECK int clangtools_html(const struct clangtools *t, const char *binary,
                                     const char *indexed, const char *dir, struct err *e);

#endif
