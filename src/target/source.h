/* source: the source tree of a build: its size, its digest, and fresh copies of it.
 *
 * The build directory may lie inside the tree; it is left out of all three.  .git is copied, because
 * scripts ask it for versions, but is no part of the digest, because merely looking at a tree changes it. */
#ifndef CAROL_TARGET_SOURCE_H
#define CAROL_TARGET_SOURCE_H

#include "base/err.h"
#include "base/hash.h"
#include "base/str.h"

#include <stdint.h>

/* Names, execute bits, links and contents below dir, without the tree `skip` (NULL: none). */
CAROL_MUST_CHECK int source_digest(const char *dir, const char *skip, struct hasher *h,
                                   struct err *e);
/* How much there is to copy; adds to *size. */
struct source_size {
    uint64_t files, bytes;
};
CAROL_MUST_CHECK int source_measure(const char *dir, const char *skip, struct source_size *size,
                                    struct err *e);
/* Files, directories and links (as links) below from; modes of files and times kept.  The object store of
 * a git repository is linked, not copied, where the file system can do that. */
CAROL_MUST_CHECK int source_copy(const char *from, const char *to, const char *skip, struct err *e);
/* Contents of the files named; one that cannot be read counts as absent. */
void source_digest_files(const struct strv *files, struct hasher *h);
/* Adds the prerequisites in a make rule as compilers write them (-MD) to the list, each once. */
CAROL_MUST_CHECK int source_read_deps(const char *path, struct strv *files, struct err *e);

#endif
