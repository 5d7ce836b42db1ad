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

#define CLANGTOOLS_MOST 64

/* The traces of n raw profiles, at most CLANGTOOLS_MOST, side by side: lines, functions and their counts, as lcov has
 * them, appended to each text.  The indexed profiles of llvm-profdata stay: RAW.profdata. */
CAROL_MUST_CHECK int clangtools_lcov(const struct clangtools *t, const char *binary,
                                     char *const *raws, size_t n, struct buf *texts, struct err *e);
/* The pages of llvm-cov, in a directory that it makes. */
CAROL_MUST_CHECK int clangtools_html(const struct clangtools *t, const char *binary,
                                     const char *indexed, const char *dir, struct err *e);

#endif
