/* bugs: which bugs a target has (bugs.csv): what they are called, and their numbers in the oracle's file. */
#ifndef CAROL_BENCH_BUGS_H
#define CAROL_BENCH_BUGS_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct bug {
    char id[16];
    char grade[16];
    unsigned number; /* in the oracle's file */
};

/* The rows of a file whose first line names the columns id, number and perhaps grade; these have no quotes.  Where the
 * oracle has names (`named`) the column `number` may be missing: they are numbered from 1 then.  The caller frees the list.  Ids and
 * numbers are different. */
CAROL_MUST_CHECK int bugs_load(const char *path, bool named, struct bug **bugs, size_t *n,
                               struct err *e);

#endif
