/* rival: a fuzzer outside Carol's loop, as its own manual starts it.  One row of a table each: which build it
 * runs on, its command, where what it keeps lies. */
#ifndef CAROL_BENCH_RIVAL_H
#define CAROL_BENCH_RIVAL_H

#include "base/err.h"
#include "base/str.h"
#include "target/manifest.h"

#include <stdbool.h>
#include <stdint.h>

struct rival_start {
    const struct manifest *target;
    const char *seeds, *dict; /* directory; file or NULL */
    int cores;
    uint32_t timeout_ms;
    uint64_t memory_mb, seed;
};

struct rival {
    const char *name, *summary;
    enum family family, more; /* builds it runs on; more: FAMILY_NONE, or a second one */
    const char *engine;       /* program among the engines; NULL: the target itself */
    bool per_core;            /* one process for each core, else one for all */
    bool own_proc;            /* it reads /proc/PID of its children */
    bool deaf;                /* to SIGINT: it is killed */
    /* The command of process i; it runs in a directory of its own, with out/ and tmp/ in it. */
    void (*command)(const struct rival_start *s, int i, struct strv *argv, struct strv *env);
    const char *
        kept; /* directories of what it kept, below its own: "out" or "out", then each, then this */
    const char *inner; /* NULL, or the name of the directory in each of those */
};

extern const struct rival rivals[]; /* ends with a NULL name */
const struct rival *rival_find(const char *name);
/* The names, separated by commas; the caller frees. */
char *rival_list(void);

/* One input that was kept. */
struct kept {
    char *path;
    int64_t at_ns; /* since the start */
};
/* What a rival that ran in dir kept; began: CLOCK_REALTIME of its start, in ns.  An input's time is the one in
 * its name (afl-fuzz), else that of the file. */
CAROL_MUST_CHECK int rival_kept(const struct rival *r, const char *dir, int64_t began_ns,
                                struct kept **list, size_t *n, struct err *e);
void kept_free(struct kept *list, size_t n);

#endif
