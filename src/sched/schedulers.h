/* schedulers: for the table, and what they share.  Only src/sched includes it. */
#ifndef CAROL_SCHED_SCHEDULERS_H
#define CAROL_SCHED_SCHEDULERS_H

#include "base/rng.h"
#include "sched/sched.h"

extern const struct sched_ops sched_contextual, sched_phase, sched_bandfuzz, sched_autofz,
    sched_legion, sched_equal, sched_random, sched_single;

/* Warm-up (schedulers.md 5 item 9): while an arm that may run has been dispatched fewer than `turns`
 * times, the least dispatched such one, in roster order; -1: nobody is due. */
int choose_warmup(const struct decision *d, const uint64_t *dispatched, int turns);
/* The arm that may run with the largest draw, uniform among exact ties (item 10: a fixed order would
 * favour a fuzzer); rng is touched only by a tie.  -1: none may run. */
int choose_largest(const struct decision *d, struct rng *rng);
/* For explanations: the arm with the largest draw besides the choice; -1: no other may run. */
int choose_second(const struct decision *d);

#endif
