/* executor: the real evaluator: a neutral binary with libcarolcov inside, in a cage, driven through
 * shared memory (runtime/cov/protocol.h).
 *
 * Started lazily at the first job and restarted whenever it dies.  Inputs run in batches in forked
 * persistent workers.  Inputs that show an edge not in `known` run again together, in reverse order, in a
 * fresh worker.  An input that then shows other new edges, crashes or times out runs again alone, and only
 * that run counts (METHOD R25).  `known` is the executor's own map of edges seen so far, so that only first
 * sightings pay for the second run. */
#ifndef CAROL_EVAL_EXECUTOR_H
#define CAROL_EVAL_EXECUTOR_H

#include "base/err.h"
#include "eval/eval.h"
#include "eval/team.h"
#include "proc/loop.h"
#include "target/manifest.h"

#include <stdint.h>

struct executor_opts {
    const struct manifest *target; /* must outlive the executor */
    const char *const *args; /* of a main() program: words with @@, NULL-terminated; or NULL */
    uint64_t mem_bytes;      /* address space of a worker; 0: 2 GiB */
    uint32_t timeout_ms;     /* cpu time per input; 0: 1000 */
    uint32_t per_worker;     /* inputs per worker; 0: 200 */
    int cpu;                 /* -1: any */
    struct team *team;       /* of several executors on one stream of jobs (eval/team.h); or NULL */
};

CAROL_MUST_CHECK int executor_new(struct evaluator **out, struct loop *l,
                                  const struct executor_opts *o, struct err *e);

/* Counters for `carol cover` and benchmarks. */
struct executor_stats {
    uint64_t inputs, runs, workers, restarts, quarantined, late_modules;
    uint32_t n_edges;
    uint32_t covered; /* edges of all results so far, of the whole team if there is one */
};
void executor_stats(const struct evaluator *ev, struct executor_stats *s);

#endif
