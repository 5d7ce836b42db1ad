/* run: short helper programs (a compiler's --version, a target's self-description), run to their end
 * in a cage, with a time limit.  For anything that takes more than a moment use proc/cage.h. */
#ifndef CAROL_TARGET_RUN_H
#define CAROL_TARGET_RUN_H

#include "base/buf.h"
#include "base/err.h"

/* An executable by path or through $PATH, as an absolute path (not resolved); NULL: none. */
char *run_find(const char *name);

/* Run argv (argv[0] a path) with envp (NULL: ours), its standard output and error into out.  0 when
 * it exits with 0; -ETIME past the limit; -ENOPKG when it exits with 3, as ours do where something is missing;
 * otherwise an error that tells how it ended. */
CAROL_MUST_CHECK int run_capture(const char *const *argv, const char *const *envp, int seconds,
                                 struct buf *out, struct err *e);

#endif
