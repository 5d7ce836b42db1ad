/* build: the target in all families: what `carol build` does.
 *
 * Each family is built in DIR/.tmp-<family>/{src,work,out} by running the command once, with
 * the wrappers of that family as CC and CXX, in a cage; `out` is then stamped and renamed to
 * DIR/<family>.  Those that take longest begin first.  Whatever happens to us in between, a family's
 * directory is whole or not there, and no process is left.  The manifest is removed before the first
 * family changes and written at the end, so that it never describes a mixture.
 *
 *     struct build_opts o = {.dir = "out", .command = argv, ...};
 *     struct build_result r;
 *     rc = build_run(&o, &r, &e);     // see rc below
 *     build_result_free(&r);
 */
#ifndef CAROL_TARGET_BUILD_H
#define CAROL_TARGET_BUILD_H

#include "base/err.h"
#include "base/str.h"
#include "target/manifest.h"

#include <stdbool.h>
#include <stdint.h>

enum build_state {
    BUILD_NONE = 0, /* not asked for */
    BUILD_WAITING,
    BUILD_COPYING, /* a large source tree, for this family */
    BUILD_RUNNING,
    BUILD_CACHED,
    BUILD_DONE,
    BUILD_FAILED,
    BUILD_SKIPPED /* not asked for by name, and the machine lacks its engine */
};

struct build_progress {
    enum build_state state;
    double seconds;   /* since it started, or that it took */
    uint64_t bytes;   /* of the targets, when built */
    const char *last; /* last line of the log while running; the reason when failed or skipped */
    const char *log;  /* path of its log */
    const char *tmp;  /* its private directory: tmp/{src,work,out} are SRC, WORK and OUT */
};

struct build_opts {
    const char *dir;
    const char *src; /* NULL: $SRC, or the current directory */
    bool family[FAMILY_END];
    bool families_named;        /* the user listed them: a missing engine is an error */
    const char *target;         /* NULL: the only one */
    unsigned jobs;              /* families at a time; 0: one per cpu */
    enum target_kind kind;      /* of a main() program; TARGET_NONE: by args */
    const char *args;           /* words of a main() program, separated by blanks; NULL: none */
    bool force;                 /* do not believe the cache */
    const char *const *command; /* the script form; or NULL and */
    const char *const *sources; /* the short form: C and C++ sources, objects, archives */
    const char *const *flags;   /* and its compiler flags (NULL: none) */
    /* Called at every change and once a second while something runs; f is FAMILY_NONE then. */
    void (*progress)(void *arg, enum family f, const struct build_progress *all);
    void *arg;
};

struct build_result {
    struct build_progress family[FAMILY_END];
    struct strv targets;   /* names, when a manifest was written */
    char *chosen;          /* the target that stands at the top of the manifest; NULL: none */
    enum target_kind kind; /* of the chosen one */
    bool seeds;            /* the build left seeds for it */
    bool fuzzable;         /* it has a neutral build and one for a fuzzer */
    bool kind_assumed;     /* a main() program, and nobody said how it reads its input */
    struct strv texts;     /* owns the strings above */
};

/* 0: every family asked for is there.  -ECHILD: some failed (r tells; the others are kept and listed
 * in the manifest); e->exit is 2 or 3.  -EINTR: interrupted, nothing changed but finished families.
 * Anything else: nothing was built. */
CAROL_MUST_CHECK int build_run(const struct build_opts *o, struct build_result *r, struct err *e);
void build_result_free(struct build_result *r);

#endif
