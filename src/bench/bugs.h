/* bugs: which bugs a target has (bugs.csv): what they are called, and their numbers in the oracle's file. */
#ifndef CAROL_BENCH_BUGS_H
#define CAROL_BENCH_BUGS_H

#include "base/err.h"

#include <stddef.h>

struct bug {
    char id[16];
    char grade[16];
    unsigned number; /* in the oracle's file */
};

/* The rows of a file whose first line names the columns id, number and perhaps grade; these have no quotes.  Without a
 * column `number` they are numbered from 1, which serves where the oracle has names.  The caller frees the list.  Ids and
 * numbers are different. */
CAROL_MUST_CHECK int bugs_load(const char *path, struct bug **bugs, size_t *n, struct err *e);

#endif
