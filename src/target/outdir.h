/* outdir: what a build script left in $OUT: the targets and their neighbours.
 *
 * A target is an executable ELF program without an extension.  It is a harness when it defines
 * LLVMFuzzerTestOneInput itself (an engine's weak stand-in does not count). */
#ifndef CAROL_TARGET_OUTDIR_H
#define CAROL_TARGET_OUTDIR_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct out_target {
    char *name;
    bool harness;      /* LLVMFuzzerTestOneInput */
    bool broken;       /* has an engine's main but no harness: would do nothing */
    char build_id[65]; /* SHA-256 of the file */
    uint64_t bytes;
    uint64_t map_size;         /* afl, laf */
    uint32_t edges, functions; /* neutral */
};

struct out_list {
    struct out_target *v;
    size_t n;
};

CAROL_MUST_CHECK int outdir_scan(const char *dir, struct out_list *l, struct err *e);
const struct out_target *out_find(const struct out_list *l, const char *name);
void out_free(struct out_list *l);
/* SHA-256 of a file's content, in hex. */
CAROL_MUST_CHECK int outdir_digest(const char *path, char hex[65], struct err *e);

#endif
