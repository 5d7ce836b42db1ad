/* runner: inputs on the source build, a process in a cage each, several at a time, their profiles handed over in
 * order.
 *
 * Counters live in a file that the process has mapped, so whatever ends it (a crash, a time limit, _exit), they
 * are there.  A process has the campaign's address space and time; past that it is killed and counts as it is. */
#ifndef CAROL_COVERAGE_RUNNER_H
#define CAROL_COVERAGE_RUNNER_H

#include "base/buf.h"
#include "base/err.h"
#include "eval/eval.h"
#include "target/manifest.h"

#include <stddef.h>
#include <stdint.h>

struct runner_opts {
    const struct manifest *target;
    const char *const *args; /* of a main() program, with @@; NULL: those of the manifest */
    const char *work;        /* a directory for inputs and profiles; the processes run in it */
    uint64_t mem_bytes;      /* 0: 2 GiB */
    uint32_t timeout_ms;     /* CPU time; waiting may take EVAL_WALL_MS */
    unsigned lanes;          /* processes at a time */
    size_t n;                /* inputs */
    /* The bytes of input i, appended to an empty buffer. */
    int (*read)(void *arg, size_t i, struct buf *bytes, struct err *e);
    /* Input i ended so; profile is empty when it left none.  In order.  Negative: no more. */
    int (*done)(void *arg, size_t i, enum run_status status, struct buf *profile, struct err *e);
    void *arg;
};

/* Until all are done, Ctrl-C (-EINTR), or an error. */
CAROL_MUST_CHECK int runner_run(const struct runner_opts *o, struct err *e);

#endif
