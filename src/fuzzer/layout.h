/* layout: the directories of fuzzers that read plain files (honggfuzz, libFuzzer): the start corpus in DIR/in, and the
 * size to which inputs may grow. */
#ifndef CAROL_FUZZER_LAYOUT_H
#define CAROL_FUZZER_LAYOUT_H

#include "base/err.h"
#include "fuzzer/live.h"

#include <stddef.h>

#define LAYOUT_SIZE_MAX ((size_t)1 << 20) /* of an input */

/* DIR/x for each of subs, which ends with NULL. */
CAROL_MUST_CHECK int layout_dirs(struct live *lv, const char *const *subs, struct err *e);
CAROL_MUST_CHECK int layout_write(struct live *lv, const char *sub, const char *name,
                                  const void *data, size_t n, struct err *e);
/* DIR/in with files s<id of the seed>, without empty ones; never without any file.  Their hashes are noted
 * (fuzzer/inbox.h). */
CAROL_MUST_CHECK int layout_seeds(struct live *lv, const struct input *seeds, size_t n,
                                  struct err *e);
/* Number of files in DIR/sub; *largest becomes the size of the largest, if that is more. */
size_t layout_survey(struct live *lv, const char *sub, size_t *largest);
/* The limit of sizes, from DIR/in, so that it stays: room for what others may find, but not much more, because it is
 * also the size to which a fuzzer lets inputs grow. */
size_t layout_size_limit(struct live *lv);

#endif
