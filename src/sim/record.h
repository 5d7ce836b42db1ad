/* record: a simulated campaign in the store, in the form of a real one: status, replay, explain and the
 * analyses read it unchanged.  Everything says that it is simulated: the setting `simulated`, the first
 * event, the bytes of every input.  Written in large transactions: nothing here needs to survive a kill. */
#ifndef CAROL_SIM_RECORD_H
#define CAROL_SIM_RECORD_H

#include "sim/play.h"
#include "sim/run.h"
#include "store/store.h"

struct record;

CAROL_MUST_CHECK int record_open(struct record **out, const struct run_settings *st, struct err *e);
CAROL_MUST_CHECK int record_seeds(struct record *j, const struct play_turn *t, const struct fold *f,
                                  struct err *e);
/* A turn is dispatched to an instance (a new one is added); sets row->instance, row->offered and taken. */
CAROL_MUST_CHECK int record_begin(struct record *j, struct store_turn *row,
                                  const struct decision *d, struct play_instance *in,
                                  struct err *e);
/* A call through a pointer was learned in that round. */
CAROL_MUST_CHECK int record_call(struct record *j, uint32_t round, uint32_t caller, uint32_t callee,
                                 struct err *e);
/* A turn is folded in. */
CAROL_MUST_CHECK int record_done(struct record *j, const struct store_turn *row,
                                 const struct play_turn *t, const struct fold *f, struct err *e);
/* The campaign is over; frees in any case.  rc: what became of it so far, and is returned. */
CAROL_MUST_CHECK int record_close(struct record *j, const struct fold *f, int64_t now_ns, int rc,
                                  struct err *e);

#endif
