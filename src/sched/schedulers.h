/* schedulers: for the table, and what they share.  Only src/sched includes it. */
#ifndef CAROL_SCHED_SCHEDULERS_H
#define CAROL_SCHED_SCHEDULERS_H

#include "sched/sched.h"

extern const struct sched_ops sched_equal, sched_random, sched_single;

#endif
