/* team: executors that measure one stream of jobs side by side, with the same results as one alone.
 *
 * What an executor confirms depends on the edges known before.  So the jobs of a team are numbered as
 * they are submitted.  Each runs its inputs at once, wherever an executor is free, but confirms only after
 * all jobs before it, knowing the edges that those confirmed.  Neither speed nor the number of executors
 * changes a result.
 *
 *     struct team *t = team_new();
 *     executor_new(&ev[i], loop, &(struct executor_opts){.team = t, ...}, &e);     // as many as wanted
 *     ...free the executors, then team_free(t)
 *
 * All members measure on the same build.  The functions below team_free are for executors only. */
#ifndef CAROL_EVAL_TEAM_H
#define CAROL_EVAL_TEAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct team;

struct team *team_new(void);
void team_free(struct team *t); /* NULL is fine */

/* The edges known to all: a bitset of this many words, owned by the team, zero at first. */
uint64_t *team_known(struct team *t, size_t words);
/* wake(arg) is called whenever the turn passes on, until team_leave. */
void team_join(struct team *t, void (*wake)(void *arg), void *arg);
void *team_first(const struct team *t); /* the arg of the first member; NULL: none yet */
void team_leave(struct team *t, void *arg);

uint64_t team_number(struct team *t); /* for a new job */
bool team_has_turn(const struct team *t, uint64_t number);
void team_done(struct team *t, uint64_t number); /* the job is over, however it ended */

#endif
