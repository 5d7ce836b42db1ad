/* schedulers: for the table, and what they share.  Only src/sched and tests include it. */
#ifndef CAROL_SCHED_SCHEDULERS_H
#define CAROL_SCHED_SCHEDULERS_H

#include "base/rng.h"
#include "sched/sched.h"

extern const struct sched_ops sched_contextual, sched_phase, sched_bandfuzz, sched_autofz,
    sched_legion, sched_rate, sched_equal, sched_random, sched_single;

/* In which order n arms have their first turns: a permutation that follows from the campaign's seed, so that
 * no fuzzer is always first.  Not part of a saved state: it follows from the seed. */
void choose_order(uint64_t seed, int n, int order[SCHED_MAX_ARMS]);
/* Warm-up (METHOD R44): while an arm that may run has been dispatched fewer than `turns`
 * times, the least dispatched such one, the first of them in `order`; -1: nobody is due. */
int choose_warmup(const struct decision *d, const int *order, const uint64_t *dispatched,
                  int turns);
/* The arm that may run with the largest draw, uniform among exact ties (METHOD R45: a fixed order would
 * favour a fuzzer); rng is touched only by a tie.  Without rng the first of them in the roster (METHOD R91).
 * -1: none may run. */
int choose_largest(const struct decision *d, struct rng *rng);
/* For explanations: the arm with the largest draw besides the choice; -1: no other may run. */
int choose_second(const struct decision *d);

#endif
