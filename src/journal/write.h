/* write: a campaign's steps into its record, the same for a real and a simulated one: the facts by their
 * names, what is shared, the accounts of slots, and every fold together with the commit that records it.
 * Whoever decides or commits holds the store's order (store/store.h). */
#ifndef CAROL_JOURNAL_WRITE_H
#define CAROL_JOURNAL_WRITE_H

#include "eval/eval.h"
#include "journal/exchange.h"
#include "journal/fold.h"
#include "journal/settings.h"
#include "store/store.h"

/* The campaign begins: its settings, its budget, what it is measured by, where it runs. */
CAROL_MUST_CHECK int journal_start(struct store *s, const struct settings *o, const struct table *t,
                                   bool simulated, struct err *e);

/* From decision number t on the budget is this (a resume may change it). */
CAROL_MUST_CHECK int journal_set_budget(struct store *s, int64_t t, int64_t ns, struct err *e);
/* 1: such a note was made for decision t; 0: none. */
CAROL_MUST_CHECK int journal_budget_at(struct store *s, int64_t t, int64_t *ns, struct err *e);
/* Why a fuzzer takes no part; "": it does again. */
CAROL_MUST_CHECK int journal_set_dropped(struct store *s, const char *fuzzer, const char *why,
                                         struct err *e);
/* *why is NULL unless it is dropped; to be freed. */
CAROL_MUST_CHECK int journal_dropped(struct store *s, const char *fuzzer, char **why,
                                     struct err *e);

enum seeds_state { SEEDS_OPEN = 0, SEEDS_MEASURED, SEEDS_NONE_RUNS };
/* Have the initial seeds been measured, and does one of them run through? */
CAROL_MUST_CHECK int journal_seeds_state(struct store *s, enum seeds_state *out, struct err *e);
/* After how long a fuzzer gives a run up, by the initial seeds that were measured (METHOD R22a). */
CAROL_MUST_CHECK int journal_exec_ms(struct store *s, const struct settings *o, uint32_t *ms,
                                     struct err *e);
CAROL_MUST_CHECK int journal_is_simulated(struct store *s, bool *yes, struct err *e);
/* Edge numbers mean nothing on another build than the one the campaign was begun on. */
CAROL_MUST_CHECK int journal_check_build(struct store *s, const struct table *t, const char *build,
                                         struct err *e);

/* What the neutral build said of some inputs. */
struct measured {
    const int64_t *seeds;            /* their numbers */
    const struct eval_input *inputs; /* NULL: nobody asks how large they are (no exchange) */
    const struct eval_result *results;
    size_t n;
    const struct eval_call *calls; /* indirect calls seen */
    size_t n_calls;
    bool *fresh;   /* answer, one each: it is a crash (or an initial seed's hang) not kept before */
    size_t n_good; /* answer: how many run through */
};
/* Round 0.  x: the exchange; NULL: all are given everything, here and below. */
CAROL_MUST_CHECK int journal_seeds(struct store *s, struct fold *f, struct exchange *x,
                                   struct measured *m, struct err *e);
/* A decision is carried out: row becomes its turn, of row->instance or a new one. */
struct journal_begin {
    const char *fuzzer; /* of a new instance (row->instance is 0), */
    int number;
    size_t max_inputs, max_bytes; /* of what it imports */
    struct exchange *x;
    int64_t turn_ns; /* for it: how long the turn is, */
    bool start;      /* and that the instance has not started yet */
};
CAROL_MUST_CHECK int journal_begin(struct store *s, struct store_turn *row,
                                   const struct decision *d, const struct journal_begin *b,
                                   struct inputs *imports, struct err *e);
/* What of a turn is shared, if it runs through. */
struct sharing {
    bool new_only;
    struct exchange *x;
};
/* Before a turn is committed: for each of its inputs the edges that nobody else would get to see, because it is not
 * shared (exchange_missed); to be freed one by one. */
void journal_missed(const struct fold *f, const struct measured *m, const struct exchange *x,
                    struct edges *keep);
/* A turn is measured: crashes that only the neutral build shows count, it is folded, and all of it recorded.
 * Sets what fold_turn sets, row->crashes and row->at_decision; adds the turn to its slot's account.
 * When this fails the fold is ahead of the record: nothing more may be folded. */
CAROL_MUST_CHECK int journal_commit(struct store *s, struct fold *f, struct store_turn *row,
                                    const struct decision *d, struct measured *m,
                                    struct store_slot *account, const struct sharing *how,
                                    struct err *e);
/* The campaign rests.  wall: campaign time; idle is what is left of it. */
CAROL_MUST_CHECK int journal_rest(struct store *s, int64_t wall_ns, struct store_slot *slots,
                                  int n_slots, const char *reason, bool ended, struct err *e);

#endif
