/* store: the campaign's durable record: seeds, imports, turns, decisions, crashes, events, settings.
 *
 * One SQLite database per campaign (OUT/carol.db, WAL, synchronous=FULL); docs/FILES.md has the tables.
 * One writer (the supervisor, which holds OUT/lock); readers open read-only and never block it.  A call
 * that returned 0 outside a transaction, or whose transaction's store_commit returned 0, is durable:
 * that is what "acknowledged" means everywhere.
 *
 * The life of a turn, one transaction each:
 *   store_turn_begin   decision + turn + claimed imports, before anything is delivered
 *   store_turn_parked  counters, found seeds (not yet evaluated), crashes, the harvest cursor
 *   store_turn_commit  evaluation results, reward, round number, scheduler state
 * What an instance saved outside its turns has a row of its own without a decision, a late turn, with a
 * negative number: store_late_begin and store_turn_parked in one transaction, then store_turn_commit.
 * Seeds get a `share` number at their evaluation when they may be imported by others; an instance
 * imports in the order of share numbers, so a turn's import costs only what is new. */
#ifndef CAROL_STORE_STORE_H
#define CAROL_STORE_STORE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store;

enum store_mode { STORE_NONE = 0, STORE_CREATE, STORE_RESUME, STORE_READ };

/* CREATE refuses an existing campaign; RESUME and READ refuse a missing one; CREATE and RESUME take
 * the lock and refuse (who holds it, exit 2) when another carol has it.  Older schema versions are
 * migrated forward by CREATE/RESUME; newer ones refused. */
CAROL_MUST_CHECK int store_open(struct store **out, const char *dir, enum store_mode mode,
                                struct err *e);
void store_close(struct store *s);
/* Instead of store_close for a campaign made by STORE_CREATE that came to nothing: the database, the
 * lock and the directory, when it is empty then, are removed; another try may use the same name. */
void store_discard(struct store *s);
/* Does a writer hold the lock of this campaign right now? */
bool store_is_locked(const char *dir);

CAROL_MUST_CHECK int store_begin(struct store *s, struct err *e);
CAROL_MUST_CHECK int store_commit(struct store *s, struct err *e);
void store_rollback(struct store *s);

/* Settings and host facts: text by key. store_get returns NULL when absent; the caller frees. */
CAROL_MUST_CHECK int store_set(struct store *s, const char *key, const char *value, struct err *e);
char *store_get(struct store *s, const char *key);

CAROL_MUST_CHECK int store_event(struct store *s, int64_t now_ns, const char *kind,
                                 const char *text, struct err *e);

/* --- instances ------------------------------------------------------------------------------- */
struct store_instance {
    int64_t id;
    char fuzzer[32];
    int number;
    char *cursor;   /* last committed harvest; NULL: none */
    int64_t shared; /* share number up to which it has imported or been given */
    bool started;
};
CAROL_MUST_CHECK int store_add_instance(struct store *s, const char *fuzzer, int number,
                                        int64_t *id, struct err *e);
CAROL_MUST_CHECK int store_instances(struct store *s, struct store_instance **rows, size_t *n,
                                     struct err *e); /* free with store_instances_free */
void store_instances_free(struct store_instance *rows, size_t n);
CAROL_MUST_CHECK int store_instance_started(struct store *s, int64_t instance, struct err *e);

/* --- seeds ----------------------------------------------------------------------------------- */
enum seed_state { SEED_NONE = 0, SEED_PENDING, SEED_DONE, SEED_QUARANTINED };

struct store_seed {
    int64_t id;
    struct digest hash; /* of data; store_add_seed computes it */
    const void *data;
    size_t size;
    int64_t instance; /* finder; 0: initial seed */
    int64_t turn;     /* turn it was found in; 0: initial */
    int64_t parent;   /* seed it was made from; 0: unknown */
    const char *name; /* lineage text: the fuzzer's own file name, or the user's */
    int64_t found_ns; /* campaign time */
    /* after evaluation */
    enum seed_state state;
    int status, signal; /* enum run_status of eval/eval.h */
    uint32_t cpu_us;
    const void *edges; /* edges_encode */
    size_t edges_size;
    uint32_t round; /* committed in */
    int64_t share;  /* 0: not shared */
};

/* Insert unless the content is known.  *id is the row either way; *fresh says which. */
CAROL_MUST_CHECK int store_add_seed(struct store *s, const struct store_seed *seed, int64_t *id,
                                    bool *fresh, struct err *e);
/* Results of an evaluation; share=true gives it the next share number. */
CAROL_MUST_CHECK int store_seed_done(struct store *s, int64_t id, int status, int signal,
                                     uint32_t cpu_us, const void *edges, size_t edges_size,
                                     uint32_t round, bool share, struct err *e);
CAROL_MUST_CHECK int store_seed_quarantine(struct store *s, int64_t id, uint32_t round,
                                           struct err *e);
/* Callbacks get rows that live until they return, and may call the store themselves; a negative
 * return ends the walk and becomes its result. */
typedef int store_seed_fn(void *arg, const struct store_seed *seed, struct err *e);
/* Every seed of one turn (0: initial seeds) in id order, with bytes and results. */
CAROL_MUST_CHECK int store_turn_seeds(struct store *s, int64_t turn, store_seed_fn *fn, void *arg,
                                      struct err *e);
/* The same without the bytes (data is NULL), for folding the journal: a resume reads no inputs. */
CAROL_MUST_CHECK int store_turn_results(struct store *s, int64_t turn, store_seed_fn *fn, void *arg,
                                        struct err *e);
/* Up to max shared seeds after share number `after`, not found by `instance`, in share order; *last
 * is the share number reached (also over own seeds skipped).  A positive return of fn: enough. */
CAROL_MUST_CHECK int store_shared_after(struct store *s, int64_t after, int64_t instance,
                                        size_t max, store_seed_fn *fn, void *arg, int64_t *last,
                                        struct err *e);
CAROL_MUST_CHECK int store_seed_get(struct store *s, int64_t id, store_seed_fn *fn, void *arg,
                                    struct err *e);

/* The fuzzer's own numbering, for lineage: entry of an instance's corpus -> seed.  0: not known.  A seed
 * number the store does not have (it was read from a file name) is not put. */
CAROL_MUST_CHECK int store_entry_put(struct store *s, int64_t instance, int64_t entry, int64_t seed,
                                     struct err *e);
int64_t store_entry_seed(struct store *s, int64_t instance, int64_t entry);

/* --- imports --------------------------------------------------------------------------------- */
/* Record that `instance` is given `seed` (unique: -EEXIST when it was given before). */
CAROL_MUST_CHECK int store_import(struct store *s, int64_t instance, int64_t seed, int64_t turn,
                                  struct err *e);
CAROL_MUST_CHECK int store_imported_upto(struct store *s, int64_t instance, int64_t share,
                                         struct err *e);
/* Imports claimed but not known to be delivered, in order, of the first turn after *turn that has some;
 * *turn becomes its number, 0: there is none.  After a crash they go again, as the batch of that turn. */
CAROL_MUST_CHECK int store_undelivered(struct store *s, int64_t instance, int64_t *turn,
                                       store_seed_fn *fn, void *arg, struct err *e);
/* All that was claimed up to that turn is delivered. */
CAROL_MUST_CHECK int store_delivered(struct store *s, int64_t instance, int64_t turn,
                                     struct err *e);

/* --- turns ----------------------------------------------------------------------------------- */
enum turn_state {
    TURN_NONE = 0,
    TURN_RUNNING,   /* dispatched */
    TURN_PARKED,    /* harvested, not evaluated */
    TURN_COMMITTED, /* evaluated, rewarded, learned */
    TURN_VOID,      /* the supervisor was killed during it: seeds evaluated, nothing learned */
    TURN_LATE,      /* no turn: finds made between two, evaluated (round > 0) or not yet */
};

struct store_turn {
    int64_t id; /* = decision number t; late: -1, -2, ... */
    enum turn_state state;
    uint32_t round;      /* serial number of completion; 0: not yet */
    int64_t at_decision; /* decisions served when it was committed: replay interleaves by this */
    int arm, slot;       /* arm: roster index */
    int64_t instance;
    int64_t start_ns, parked_ns, end_ns; /* campaign time */
    uint64_t quota_cycles;
    uint64_t execs, cycles, offered, taken;
    int64_t active_ns, park_ns, cpu_ns, cpu_parked_ns, eval_ns;
    uint32_t inputs, new_edges, crashes, hangs;
    double raw, reward, rarity, sec;
    bool died;
    char why[256];
};

/* t is the whole row each time; turns only move forward (a second commit is refused). */
CAROL_MUST_CHECK int store_turn_begin(struct store *s, const struct store_turn *t,
                                      const void *decision, size_t decision_size, struct err *e);
/* A late turn for t->instance: sets t->id and t->state. */
CAROL_MUST_CHECK int store_late_begin(struct store *s, struct store_turn *t, struct err *e);
/* A turn whose state is VOID stays so: it is one that a killed supervisor left running.  So does LATE. */
CAROL_MUST_CHECK int store_turn_parked(struct store *s, const struct store_turn *t,
                                       const char *cursor, struct err *e);
/* state COMMITTED, VOID or LATE; sched is the scheduler's saved state after learning (may be NULL). */
CAROL_MUST_CHECK int store_turn_commit(struct store *s, const struct store_turn *t,
                                       const void *sched, size_t sched_size, struct err *e);
typedef int store_turn_fn(void *arg, const struct store_turn *t, const void *decision,
                          size_t decision_size, struct err *e);
enum turn_order {
    TURNS_BY_ID = 1, /* those with a decision */
    TURNS_BY_ROUND,  /* completed ones, late ones too */
    TURNS_LATE_OPEN, /* late ones not completed */
};
CAROL_MUST_CHECK int store_turns(struct store *s, enum turn_order order, store_turn_fn *fn,
                                 void *arg, struct err *e);
/* The scheduler state of the newest commit, or of the start; to be freed.  NULL: none yet. */
void *store_sched_state(struct store *s, size_t *n);

/* --- crashes and hangs ----------------------------------------------------------------------- */
struct store_crash {
    int64_t id;
    bool hang;
    struct digest hash;
    const void *data;
    size_t size;
    int64_t instance, turn, parent;
    int arm;
    int signal;
    const char *name;
    int64_t found_ns;
    bool by_eval; /* seen on the neutral build, not saved by the fuzzer as a crash */
};
/* Insert unless this content is known for this kind; *fresh says which. */
CAROL_MUST_CHECK int store_add_crash(struct store *s, const struct store_crash *c, bool *fresh,
                                     struct err *e);
typedef int store_crash_fn(void *arg, const struct store_crash *c, struct err *e);
CAROL_MUST_CHECK int store_crashes(struct store *s, store_crash_fn *fn, void *arg, struct err *e);

/* --- learned indirect calls (part of the journal: the ledger folds them in) -------------------- */
CAROL_MUST_CHECK int store_call(struct store *s, uint32_t round, uint32_t caller, uint32_t callee,
                                struct err *e);
typedef int store_call_fn(void *arg, uint32_t round, uint32_t caller, uint32_t callee);
CAROL_MUST_CHECK int store_calls(struct store *s, store_call_fn *fn, void *arg, struct err *e);

/* --- clock and slots --------------------------------------------------------------------------- */
/* Campaign time survives restarts: elapsed so far, never less than before, written by a ticker and in every
 * transaction that records a time, so that after a kill it is not behind the journal. */
CAROL_MUST_CHECK int store_clock(struct store *s, int64_t elapsed_ns, struct err *e);
struct store_slot {
    int64_t fuzz_ns, eval_ns, idle_ns, wall_ns;
};
CAROL_MUST_CHECK int store_slot_put(struct store *s, int slot, const struct store_slot *v,
                                    struct err *e);

/* --- totals for status ------------------------------------------------------------------------- */
struct store_totals { /* turns: committed ones */
    int64_t elapsed_ns;
    uint64_t turns, seeds, shared, crashes, hangs, execs, edges_events;
};
CAROL_MUST_CHECK int store_totals(struct store *s, struct store_totals *t, struct err *e);
/* By their numbers, those without an account all 0; returns how many, up to the last that has one. */
int store_slots(struct store *s, struct store_slot *out, int max);

#endif
