/* wrapper: one compiler command line, made into the family's.
 *
 * carol-cc and carol-c++ are this: the user's words in, the real compiler's out.  The family's flags
 * come after the user's, so that a project's own -O2 or -z defs cannot undo them; coverage flags and
 * sanitizers of the project's own are taken out (they would instrument twice); in asan -O2 and -O3 are
 * -O1; the engine, however it is asked for (LIB_FUZZING_ENGINE, -fsanitize=fuzzer, -lFuzzingEngine),
 * becomes the family's.
 *
 *     struct strv out = {0};
 *     wrapper_rewrite(&kit, argv, cxx, &map, &out, &e);
 *     execv(out.v[0], out.v);
 *
 * Nothing is executed here.  Response files (@FILE) are read, and object files looked at: one that
 * defines main() needs no engine. */
#ifndef CAROL_TARGET_WRAPPER_H
#define CAROL_TARGET_WRAPPER_H

#include "base/err.h"
#include "base/str.h"
#include "target/family.h"

#include <stdbool.h>

/* Counts in the cache key: raise it whenever the rules below change what comes out. */
#define WRAPPER_VERSION "3"

/* What the build adds for each command (environment CAROL_*): */
struct wrapper_job {
    const char *from, *to; /* this source directory is written as that one in debug info; or NULL */
    bool check_entry;      /* short form: all objects are on the line, so a missing entry is told */
    const char *ccache;    /* goes before a compiler that compiles; or NULL */
};

/* argv without argv[0].  Fails (usage) when check_entry finds no entry point. */
CAROL_MUST_CHECK int wrapper_rewrite(const struct family_kit *k, const char *const *argv, bool cxx,
                                     const struct wrapper_job *job, struct strv *out,
                                     struct err *e);

#endif
