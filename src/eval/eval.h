/* eval: measuring inputs on the neutral build, asynchronously.
 *
 * An evaluator measures one job at a time (a list of inputs) and calls `done` on the loop.  There is
 * one evaluator per slot.  The real one is eval/executor.h; unit tests of the campaign have a fake
 * one behind the same struct.
 *
 *     struct eval_job j = {.inputs = in, .n = n, .done = on_done, .arg = self};   // kept by caller
 *     ev->ops->submit(ev, &j, &e);
 *     ...on_done: j.results[i] for every input; free with eval_results_free(&j)
 *
 * Exactly one result per input, whatever the target does. */
#ifndef CAROL_EVAL_EVAL_H
#define CAROL_EVAL_EVAL_H

#include "base/err.h"
#include "eval/edges.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum run_status {
    RUN_NONE = 0,
    RUN_OK,
    RUN_EXIT,  /* called exit or _exit: code in `signal` */
    RUN_CRASH, /* killed by `signal` */
    RUN_TIMEOUT,
    RUN_OOM,
    RUN_QUARANTINED /* it killed the executor itself twice; not run any more */
};
bool run_is_through(enum run_status s);         /* it came to its own end: ok or exit */
const char *run_status_name(enum run_status s); /* ok, exit, crash, timeout, oom, quarantined */

struct eval_input {
    const void *data;
    size_t size;
};

/* A run has timeout_ms of CPU time; one that sleeps is ended by the clock. */
#define EVAL_WALL_MS(timeout_ms) (5 * (timeout_ms) + 1000)

struct eval_result {
    enum run_status status;
    int signal;
    uint32_t cpu_us;
    struct edges edges;
};

/* An indirect call that was seen at run time; its caller becomes a predecessor of the function entered. */
struct eval_call {
    uint32_t caller, callee; /* edge numbers */
};

struct eval_job {
    const struct eval_input *inputs;
    size_t n;
    void (*done)(void *arg, struct eval_job *job);
    void *arg;
    int cpu;                     /* pin the executor to this cpu for the job; -1: leave it */
    bool only_counts;            /* only count the edges: results have no lists of them */
    uint32_t limit_ms;           /* CPU time per input; 0: as the evaluator was made */
    struct eval_result *results; /* filled: n of them */
    struct eval_call *calls;     /* filled: learned since the last job */
    size_t n_calls;
    int failed; /* negative errno: the evaluator cannot run at all (e says why) */
    struct err error;
};

struct evaluator {
    const struct eval_ops *ops;
};

struct eval_ops {
    /* Start the job; done is called later from the loop, never from inside submit. */
    int (*submit)(struct evaluator *ev, struct eval_job *job, struct err *e);
    void (*free)(struct evaluator *ev);
};

void eval_results_free(struct eval_job *job);

#endif
