/* found: every input of a campaign in the order in which they were found: its seeds, and the crashes and hangs
 * that are no seeds. */
#ifndef CAROL_COVERAGE_FOUND_H
#define CAROL_COVERAGE_FOUND_H

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "corpus/finder.h"
#include "journal/journal.h"

struct found_input {
    int64_t id;
    bool crash; /* the number is one of the crashes, not of the seeds */
    struct digest hash;
    int64_t found_ns;
    const char *finder;
};

struct found {
    struct store *store;
    struct finder finder;
    struct found_input *v; /* by time; seeds before crashes, by number where that is the same */
    size_t n, cap;
};

/* j must outlive it. */
CAROL_MUST_CHECK int found_load(struct found *f, const struct journal *j, struct err *e);
/* Appends the bytes of input i. */
CAROL_MUST_CHECK int found_read(const struct found *f, size_t i, struct buf *bytes, struct err *e);
void found_free(struct found *f);

#endif
