/* corpus: inputs as users have them: files, directories, OSS-Fuzz *_seed_corpus.zip, an AFL output
 * directory (its queues).  Reads; keeps nothing. */
#ifndef CAROL_CAMPAIGN_CORPUS_H
#define CAROL_CAMPAIGN_CORPUS_H

#include "base/err.h"

#include <stddef.h>

#define CORPUS_MAX_INPUT ((size_t)1 << 20) /* what afl-fuzz takes */

struct corpus_sink {
    /* One input; a negative return ends the reading with that error. */
    int (*input)(void *arg, const char *name, const void *data, size_t size, struct err *e);
    void *arg;
    size_t too_large; /* counted, skipped */
};

CAROL_MUST_CHECK int corpus_read(const char *path, struct corpus_sink *sink, struct err *e);

#endif
