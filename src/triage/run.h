/* run: one run of one build of the target on one input, in a cage, told from the loop when it ended.
 *
 *     struct run *r;
 *     run_start(&r, loop, &spec, on_done, self, &e);      // does not wait
 *     on_done(self, &result);                             // r and result are gone when it returns
 *     run_cancel(r);                                      // instead: it is killed, on_done is not called
 *
 * The input is a file in memory, given as the target was told to take it (a file's name in place of @@, or standard
 * input).  What the program prints on standard error is kept: all of it, or the beginning, the report of a sanitizer and
 * the end. */
#ifndef CAROL_TRIAGE_RUN_H
#define CAROL_TRIAGE_RUN_H

#include "base/buf.h"
#include "base/err.h"
#include "proc/loop.h"
#include "target/manifest.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct run;

struct run_spec {
    const char *binary;
    enum target_kind kind;
    const char *const *args; /* of a main() program, with @@; NULL: none */
    const char *const *envp;
    const char *cwd;
    const void *data; /* copied */
    size_t size;
    uint64_t mem_bytes;      /* address space; 0: no limit */
    int64_t cpu_ms, wall_ms; /* of the whole tree of processes */
    bool abort_when_late;    /* SIGABRT first, so that a sanitizer shows where it is */
    int cpu;                 /* pinned to; -1: no */
};

struct run_result {
    bool begun; /* false: it could not be executed, `why` */
    char why[256];
    bool late;        /* past its time */
    int signal, code; /* how it ended; signal 0: it exited with code */
    int64_t cpu_us;
    struct buf text; /* of standard error */
};

typedef void run_done_fn(void *arg, struct run_result *r);
CAROL_MUST_CHECK int run_start(struct run **out, struct loop *l, const struct run_spec *s,
                               run_done_fn *done, void *arg, struct err *e);
void run_cancel(struct run *r);

/* The words of its command line, with `path` in place of @@, and whether it reads standard input instead. */
struct strv;
bool run_words(const struct run_spec *s, const char *path, struct strv *argv);

#endif
