/* manifest: what `carol build` made: DIR/carol-build.json (names: METHOD §18), read and written here.
 *
 * DIR/<family>/<target>          the binary of each family (with its $OUT neighbours)
 * DIR/neutral/<target>.edges     the neutral table (target/table.h)
 * DIR/logs/<family>.log          what the build printed
 *
 * A build directory can hold several targets ($OUT of the script had several); one is chosen with
 * --target, and there is one manifest entry per target.  manifest_load(dir, NULL) takes the only
 * one, or fails listing the names. */
#ifndef CAROL_TARGET_MANIFEST_H
#define CAROL_TARGET_MANIFEST_H

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum family {
    FAMILY_NONE = 0,
    FAMILY_AFL,
    FAMILY_LAF,
    FAMILY_HFUZZ,
    FAMILY_NEUTRAL,
    FAMILY_ASAN,
    FAMILY_PLAIN,
    FAMILY_CMPLOG, /* from here on only when asked for by name */
    FAMILY_LIBFUZZER,
    FAMILY_SOURCE,
    FAMILY_END
};

enum target_kind {
    TARGET_NONE = 0,
    TARGET_LIBFUZZER, /* LLVMFuzzerTestOneInput: persistent in every family */
    TARGET_FILE,      /* a main() that reads the file named by @@ */
    TARGET_STDIN      /* a main() that reads standard input */
};

const char *family_name(enum family f);  /* "afl", "laf", "hfuzz", "neutral", ... */
enum family family_of(const char *name); /* FAMILY_NONE: no such family */
const char *target_kind_name(enum target_kind k);

struct manifest_family {
    bool ok;        /* built; the strings below are NULL otherwise */
    char *binary;   /* absolute path */
    char *build_id; /* hex digest of the binary */
    char *compiler; /* "clang-19 19.1.7", "afl-clang-fast 4.40c (clang-19)" */
    char *flags;
    double seconds;     /* by the clock */
    double cpu_seconds; /* user and system time of the build command and its children */
    uint64_t bytes;
    uint64_t map_size; /* afl, laf: what AFL_DUMP_MAP_SIZE=1 says */
};

/* How `carol build` was called, for whoever wants another family of the same target. */
struct manifest_made {
    char *in;          /* the directory it was called in; NULL: nobody noted it */
    struct strv env;   /* NAME=value that the build depends on */
    struct strv words; /* all but -o and --families */
};

struct manifest {
    char *dir, *target;
    enum target_kind kind;
    char *args;    /* how a main() program is called, words separated by \n, with @@; or NULL */
    char *dict;    /* absolute path of target.dict found in $OUT, or NULL */
    char *words;   /* absolute path of the words of the build (target/words.h), or NULL */
    char *seeds;   /* absolute path of target_seed_corpus.zip found in $OUT, or NULL */
    char *options; /* absolute path of target.options (libFuzzer's) found in $OUT, or NULL */
    char *table;   /* absolute path of the neutral table, or NULL */
    uint32_t edges, functions;
    struct manifest_family family[FAMILY_END];
    struct manifest_made made;
};

char *manifest_path(const char *dir); /* of the file; free it */
CAROL_MUST_CHECK int manifest_load(const char *dir, const char *target, struct manifest *m,
                                   struct err *e);
/* All targets of one build at once, in place of what was there; `chosen` is the one that
 * manifest_load(dir, NULL) takes (NULL: none, unless there is only one).  n > 0. */
CAROL_MUST_CHECK int manifest_save_all(const struct manifest *list, size_t n, const char *chosen,
                                       struct err *e);
/* Can the target be called with these words (NULL at the end; NULL: none)?  The usage error says why not: a
 * function has no command line, and a program that reads a file needs @@ in its place. */
CAROL_MUST_CHECK int manifest_check_args(const struct manifest *m, const char *const *args,
                                         struct err *e);
/* The command that adds this family to the build, for a shell; the caller frees it. */
char *manifest_add_command(const struct manifest *m, enum family f);
void manifest_free(struct manifest *m);

#endif
