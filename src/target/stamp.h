/* stamp: DIR/<family>/.carol-stamp.json, the proof that a family's build is whole.
 *
 * It is written into the directory before that is renamed into place, so a directory with a stamp is
 * complete.  The stamp's key says what it was made from: while the key computed now is the same, and
 * the dependencies it lists have the same content, the build need not be made again. */
#ifndef CAROL_TARGET_STAMP_H
#define CAROL_TARGET_STAMP_H

#include "base/err.h"
#include "base/str.h"
#include "target/outdir.h"

#include <stdbool.h>

#define STAMP_NAME ".carol-stamp.json"

struct stamp {
    char key[65];
    struct strv deps; /* files the compilers read (short form), absolute */
    char deps_digest[65];
    char *compiler, *flags;
    double seconds, cpu_seconds;
    struct out_list targets;
};

/* dir is the family's directory. */
CAROL_MUST_CHECK int stamp_write(const char *dir, const struct stamp *s, struct err *e);
void stamp_free(struct stamp *s);
/* Fill deps_digest from deps. */
void stamp_digest_deps(const struct strv *deps, char hex[65]);
/* True when the build in dir was made from this key, and its files are as they were; s is then
 * filled. */
bool stamp_current(const char *dir, const char *key, struct stamp *s);

#endif
