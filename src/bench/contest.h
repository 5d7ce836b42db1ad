/* contest: one campaign of a contender: its processes, its CPU time, its end.  bench/run.h runs many.
 *
 *     contest_start(&c, &(struct contest_opts){...}, &e);
 *     ... opts.ended(arg) is called on the loop when all its processes are gone
 *     contest_free(c)
 */
#ifndef CAROL_BENCH_CONTEST_H
#define CAROL_BENCH_CONTEST_H

#include "base/err.h"
#include "bench/result.h"
#include "bench/suite.h"
#include "proc/loop.h"
#include "target/manifest.h"

#include <stdbool.h>
#include <stdint.h>

#define CONTEST_CORES 64

struct contest_opts {
    struct loop *loop;
    const struct suite *suite;
    const struct contender *contender;
    const struct bench_target *target;
    const struct manifest *build;
    const char *dir; /* its own, empty */
    int trial;
    int cpus[CONTEST_CORES]; /* suite->cores of them */
    int64_t grace_ns;        /* to end after SIGINT; 0: a minute */
    void (*ended)(void *arg);
    void *arg;
};

enum contest_end {
    CONTEST_RUNNING = 0,
    CONTEST_BUDGET,  /* its CPU time is used */
    CONTEST_STARVED, /* it got so little CPU time that it was not waited for */
    CONTEST_FAILED,  /* it ended by itself */
    CONTEST_STOPPED, /* contest_stop */
};

struct contest {
    struct contest_opts o;
    enum contest_end end;
    int64_t cpu_ns, wall_ns;             /* when the end was decided */
    int64_t began_real_ns;               /* CLOCK_REALTIME */
    int64_t whole_ns;                    /* wall time until all its processes were gone */
    int64_t wall_at[RESULT_MOMENTS + 1]; /* when that part of the budget was used */
    struct carol_oracle oracle;          /* at the end */
    bool judged;                         /* the oracle saw something of it */
    char *command;
    char why[256]; /* of CONTEST_FAILED */
    struct contest_private *p;
};

CAROL_MUST_CHECK int contest_start(struct contest **out, const struct contest_opts *o,
                                   struct err *e);
/* Ends it at once; `ended` follows. */
void contest_stop(struct contest *c);
/* Kills what still runs. */
void contest_free(struct contest *c);

#endif
