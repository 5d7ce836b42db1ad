/* lcov: a trace as `llvm-cov export -format=lcov` prints it: files, their lines and how often each ran. */
#ifndef CAROL_COVERAGE_LCOV_H
#define CAROL_COVERAGE_LCOV_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct lcov_line {
    uint32_t line;
    int32_t step; /* the caller's: who was first here; -1 */
    uint64_t count;
};

struct lcov_file {
    char *name;
    struct lcov_line *lines; /* ascending */
    size_t n, cap;
    uint64_t functions, functions_hit;
};

struct lcov {
    struct lcov_file *files; /* by name */
    size_t n, cap;
};

/* text ends with a NUL and is changed.  Fails on what is no trace. */
CAROL_MUST_CHECK int lcov_parse(struct lcov *l, char *text, struct err *e);
struct lcov_file *lcov_find(const struct lcov *l, const char *name);
struct lcov_line *lcov_line(const struct lcov_file *f, uint32_t line);
void lcov_free(struct lcov *l);

#endif
