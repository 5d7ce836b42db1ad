/* import: inputs of the user's into a campaign that rests, so that --resume goes on with them.
 *
 * They become a late turn of nobody (store/store.h): one step, durable when it returns.  The next
 * `carol fuzz --resume` measures them before its first decision, in a round of their own, and shares them like
 * other seeds.  No fuzzer is credited, and what was decided before replays as it was. */
#ifndef CAROL_CORPUS_IMPORT_H
#define CAROL_CORPUS_IMPORT_H

#include "base/err.h"

#include <stddef.h>

struct import_result {
    size_t seen;  /* inputs in the files */
    size_t added; /* those the campaign did not have */
    size_t too_large;
};

/* paths: files, directories, archives (campaign/corpus.h).  Refused while the campaign runs, and before its own
 * seeds were measured. */
CAROL_MUST_CHECK int import_inputs(const char *out, const char *const *paths, size_t n,
                                   struct import_result *r, struct err *e);

#endif
