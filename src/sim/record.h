/* record: a simulated campaign in the store, in the form of a real one: status, replay, explain and the
 * analyses read it unchanged.  Everything says that it is simulated: the fact `simulated`, the first event, the
 * bytes of every input.  Many steps become durable together: nothing here needs to survive a kill. */
#ifndef CAROL_SIM_RECORD_H
#define CAROL_SIM_RECORD_H

#include "eval/eval.h"
#include "sim/play.h"
#include "sim/run.h"
#include "store/store.h"

struct record;

CAROL_MUST_CHECK int record_open(struct record **out, const struct run_settings *st, struct err *e);
/* Round 0 is folded and recorded; calls: those through pointers that its inputs show. */
CAROL_MUST_CHECK int record_seeds(struct record *j, const struct play_turn *t,
                                  const struct eval_call *calls, size_t n_calls, struct fold *f,
                                  struct err *e);
/* A turn is dispatched to an instance (a new one is added); sets row->instance. */
CAROL_MUST_CHECK int record_begin(struct record *j, struct store_turn *row,
                                  const struct decision *d, struct play_instance *in,
                                  struct err *e);
/* A turn is folded and recorded. */
CAROL_MUST_CHECK int record_done(struct record *j, struct store_turn *row, const struct decision *d,
                                 const struct play_turn *t, const struct eval_call *calls,
                                 size_t n_calls, struct fold *f, struct err *e);
/* The campaign is over; frees in any case.  rc: what became of it so far, and is returned. */
CAROL_MUST_CHECK int record_close(struct record *j, int64_t now_ns, int rc, struct err *e);

#endif
