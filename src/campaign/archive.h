/* archive: seeds packed into a zip or tar file (compressed or not). */
#ifndef CAROL_CAMPAIGN_ARCHIVE_H
#define CAROL_CAMPAIGN_ARCHIVE_H

#include "base/err.h"
#include "campaign/corpus.h"

/* Hand every regular file in it to the sink. */
CAROL_MUST_CHECK int archive_read(const char *path, struct corpus_sink *sink, struct err *e);

#endif
