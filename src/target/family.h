/* family: what each instrumentation family is made of: compilers, flags, archives.
 *
 *     struct family_kit k;
 *     family_kit_init(&k, FAMILY_AFL, &e);    // ERR_EXIT_ENV with the fix when a piece is missing
 *     ... wrapper_rewrite(&k, ...);           // target/wrapper.h
 *     family_kit_free(&k);
 *
 * The reasons for the flags are in docs/decisions.md, "target: building". */
#ifndef CAROL_TARGET_FAMILY_H
#define CAROL_TARGET_FAMILY_H

#include "base/err.h"
#include "base/str.h"
#include "target/manifest.h"

struct family_kit {
    enum family family;
    char *clang;         /* the clang underneath, absolute path */
    char *cc, *cxx;      /* what is executed to compile C and C++ */
    char *engine;        /* the archive handed to scripts as LIB_FUZZING_ENGINE */
    struct strv first;   /* flags before the user's: what counts unless they say otherwise */
    struct strv compile; /* flags after the user's, at every compilation */
    struct strv link;    /* linker flags after the user's, for programs */
    struct strv with_engine, without_engine; /* the end of the line of such a link */
    struct strv env;                         /* NAME=value for the compiler */
    bool words;        /* its compiler notes the words of the target (target/words.h) */
    struct strv files; /* every file of ours and the engines' that goes into a target */
};

CAROL_MUST_CHECK int family_kit_init(struct family_kit *k, enum family f, struct err *e);
void family_kit_free(struct family_kit *k);

/* "clang-19 19.1.7", "afl-clang-fast 4.40c (clang-19 19.1.7)"; asks the compiler. Caller frees. */
char *family_compiler(const struct family_kit *k);
const char *family_sanitizer(enum family f); /* $SANITIZER */
const char *family_engine(enum family f);    /* $FUZZING_ENGINE */
bool family_is_afl(enum family f);           /* compiled by afl-clang-fast */
/* What it is for when no fuzzer runs on it, or beside them.  NULL: fuzzers do, and where their engine is missing a
 * build without this family is still of use. */
const char *family_use(enum family f);
bool family_is_fuzzed(enum family f); /* is there a fuzzer that needs no other? */

/* All of them, those that take longest to compile first: what begins last is then short, and no core
 * waits long for another at the end of a build. */
extern const enum family family_by_cost[FAMILY_END - 1];

/* A list such as "afl,neutral" or "all" into on[]. */
CAROL_MUST_CHECK int family_parse_list(const char *list, bool on[FAMILY_END], struct err *e);

#endif
