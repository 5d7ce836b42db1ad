/* store: the campaign's durable record: seeds, imports, turns, decisions, crashes, events, facts.
 *
 * Every call that writes is one whole step and one transaction: when it returns 0 the step is durable, all of
 * it; when it fails nothing of it happened.  That is what "acknowledged" means everywhere.  docs/FILES.md has
 * the tables.
 *
 * The life of a turn:
 *   store_turn_begin      the turn, its decision, its instance if that is new, and the inputs it imports
 *   store_turn_delivered  the instance has those inputs
 *   store_turn_park       counters, what it found (not yet measured), the harvest cursor
 *   store_turn_commit     what its inputs cover, the reward, learned calls, scheduler state, slot account
 * What an instance saved outside its turns has a row of its own without a decision, a late turn with a
 * negative number: store_turn_park makes it, store_turn_commit completes it.  So has what the user imports into
 * the campaign: a late turn of nobody, instance 0 and arm -1.
 *
 * Seeds get a `share` number when they are measured and may be imported by others.  An instance imports in
 * the order of share numbers, so an import costs only what is new; or its turn names what it imports (whoever
 * chooses knows why: journal/exchange.h).  Either way it gets a seed once.
 *
 * Reads fail like writes: a negative result is an error, never "absent".  Callbacks get rows that live until
 * they return; they must not call the store (it stops with a BUG).
 *
 * Order.  Decisions and commits have one order, which every fold follows.  Whoever decides or commits holds
 * it: store_order_take, fold what store_turns_open gives after one's own position, decide or fold, write,
 * store_order_leave.  store_turn_begin and store_turn_commit insist on it.  The one supervisor of today is never
 * behind and waits for nobody, so this costs it nothing.
 *
 * One writer.  What follows is true only because one supervisor writes, and must change for several:
 *   - share numbers are the highest one plus 1; late turns the lowest number minus 1;
 *   - decision numbers and rounds come from the supervisor's memory (its fold);
 *   - the number of a new instance is how many its fuzzer has in this supervisor's memory;
 *   - there is one learner state, one clock and one account per slot number, with no machine in the key;
 *   - an instance's import position is read and moved without looking at who runs it;
 *   - what is chosen for an instance (store_claim) is chosen by what one supervisor knows of all claims;
 *   - the writer's lock is a lock on this machine. */
#ifndef CAROL_STORE_STORE_H
#define CAROL_STORE_STORE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "fuzzer/input.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store;

enum store_mode {
    STORE_NONE = 0,
    STORE_CREATE,
    STORE_CREATE_LAZY, /* of a simulation: many steps become durable together, the last with store_flush */
    STORE_RESUME,
    STORE_TRIAGE, /* a second writer, of the rows of triage alone, beside a campaign that may be running */
    STORE_READ, /* one moment of a campaign that may be running: what is written later is not seen */
    STORE_READ_JOURNAL, /* the same; also where store_copy_journal left only the journal: without seeds and crashes */
};

/* CREATE refuses an existing campaign; RESUME, TRIAGE, READ and READ_JOURNAL refuse a missing one.  Writers take the lock and
 * refuse (who holds it, exit 2) when another carol has it; TRIAGE needs it only to bring an older record up to date.
 * Records of other versions are refused with what to do. */
CAROL_MUST_CHECK int store_open(struct store **out, const char *dir, enum store_mode mode,
                                struct err *e);
/* Of a lazy one: what was not made durable yet becomes so; 0, or why it could not.  Without it store_close
 * loses that; a step that fails does, too, and every later one is refused. */
CAROL_MUST_CHECK int store_flush(struct store *s, struct err *e);
void store_close(struct store *s);
/* Instead of store_close for a created campaign that came to nothing: the record and the directory, when it
 * is empty then, are removed; another try may use the same name. */
void store_discard(struct store *s);
/* Does a writer hold the lock of this campaign right now? */
bool store_is_locked(const char *dir);
/* The journal of the campaign in `from` as one small file, `to`/journal.db: settings, events, instances, turns, decisions,
 * the scheduler's state, clock and slots; no input, and nothing said of one.  Whole or not at all. */
#define STORE_JOURNAL_FILE "journal.db"
CAROL_MUST_CHECK int store_copy_journal(const char *from, const char *to, struct err *e);

CAROL_MUST_CHECK int store_order_take(struct store *s, struct err *e);
void store_order_leave(struct store *s);

/* --- facts and events ------------------------------------------------------------------------- */
/* What is true of the whole campaign: text by key. */
struct store_fact {
    const char *key, *value;
};
CAROL_MUST_CHECK int store_put(struct store *s, const struct store_fact *facts, size_t n,
                               struct err *e);
/* *value is NULL when there is none; the caller frees it. */
CAROL_MUST_CHECK int store_get(struct store *s, const char *key, char **value, struct err *e);
CAROL_MUST_CHECK int store_event(struct store *s, int64_t now_ns, const char *kind,
                                 const char *text, struct err *e);

/* --- instances -------------------------------------------------------------------------------- */
struct store_instance {
    int64_t id;
    char fuzzer[32]; /* or the host of several that share it (METHOD R19e) */
    int number;
    char *cursor; /* last committed harvest; NULL: none */
    bool started;
    int last_arm; /* whose turn was its last; -1: it had none */
};
CAROL_MUST_CHECK int store_instances(struct store *s, struct store_instance **rows, size_t *n,
                                     struct err *e); /* free with store_instances_free */
void store_instances_free(struct store_instance *rows, size_t n);

/* --- seeds ------------------------------------------------------------------------------------ */
enum seed_state { SEED_NONE = 0, SEED_PENDING, SEED_DONE, SEED_QUARANTINED };

struct store_seed {
    int64_t id;
    struct digest hash;
    const void *data;
    size_t size;
    int64_t instance; /* finder; 0: initial seed */
    int64_t turn;     /* turn it was found in; 0: initial */
    int64_t parent;   /* seed it was made from; 0: unknown */
    const char *name; /* lineage text: the fuzzer's own file name, or the user's */
    int64_t found_ns; /* campaign time */
    /* when it has been measured */
    enum seed_state state;
    int status, signal; /* enum run_status of eval/eval.h */
    uint32_t cpu_us;
    const void *edges; /* edges_encode */
    size_t edges_size;
    uint32_t round; /* committed in */
    int64_t share;  /* 0: not shared */
};

/* Initial seeds: data, size and name of each; a content that is there already is left out. */
CAROL_MUST_CHECK int store_add_seeds(struct store *s, const struct store_seed *seeds, size_t n,
                                     struct err *e);
/* *id: the seed with this content; 0: there is none. */
CAROL_MUST_CHECK int store_seed_find(struct store *s, const struct digest *hash, int64_t *id,
                                     struct err *e);
/* A negative return of a callback ends the walk and becomes its result. */
typedef int store_seed_fn(void *arg, const struct store_seed *seed, struct err *e);
/* Every seed of one turn (0: initial seeds) in id order, with bytes and results. */
CAROL_MUST_CHECK int store_turn_seeds(struct store *s, int64_t turn, store_seed_fn *fn, void *arg,
                                      struct err *e);
/* The same without the bytes (data is NULL), for folding the journal: a resume reads no inputs. */
CAROL_MUST_CHECK int store_turn_results(struct store *s, int64_t turn, store_seed_fn *fn, void *arg,
                                        struct err *e);
/* Likewise every seed there is. */
CAROL_MUST_CHECK int store_results(struct store *s, store_seed_fn *fn, void *arg, struct err *e);
/* -ENOENT: there is no such seed. */
CAROL_MUST_CHECK int store_seed_get(struct store *s, int64_t id, store_seed_fn *fn, void *arg,
                                    struct err *e);
/* The same without the bytes. */
CAROL_MUST_CHECK int store_seed_results(struct store *s, int64_t id, store_seed_fn *fn, void *arg,
                                        struct err *e);
/* The first n shared seeds. */
CAROL_MUST_CHECK int store_first_shared(struct store *s, size_t n, struct inputs *out,
                                        struct err *e);

/* --- turns ------------------------------------------------------------------------------------ */
enum turn_state {
    TURN_NONE = 0,
    TURN_RUNNING,   /* dispatched */
    TURN_PARKED,    /* harvested, not measured */
    TURN_COMMITTED, /* measured, rewarded, learned */
    TURN_VOID,      /* the supervisor was killed during it: seeds measured, nothing learned */
    TURN_LATE,      /* no turn: finds made between two, measured (round > 0) or not yet */
};

struct store_turn {
    int64_t id; /* = decision number t; late: -1, -2, ... */
    enum turn_state state;
    uint32_t round;      /* serial number of completion; 0: not yet */
    int64_t at_decision; /* decisions served when it was committed: replay interleaves by this */
    int arm, slot;       /* arm: roster index; -1: nobody, the user imported it (late) */
    int64_t instance;
    int64_t start_ns, parked_ns, end_ns; /* campaign time */
    uint64_t quota_cycles;               /* 0: it was to end by time */
    uint64_t execs, cycles, offered, taken;
    int64_t startup_ns; /* its instance was started for it: until that was ready */
    int64_t active_ns;  /* running, start-up not counted */
    int64_t cycle_ns;   /* of the completed cycles */
    int64_t park_ns, cpu_ns, cpu_parked_ns, eval_ns;
    uint32_t inputs, new_edges, crashes, hangs;
    double raw, reward, rarity, sec;
    bool died;
    char why[256];
};

/* What a turn begins with. */
struct store_claim {
    const void *decision;
    size_t decision_size;
    const char *fuzzer; /* of its instance, when that is new (t->instance is 0), */
    int number;         /* and which one of that fuzzer */
    size_t max_inputs;  /* import so many at the most, */
    size_t max_bytes;   /* and stop at the one that goes beyond this */
    bool chosen;        /* instead: import exactly these, in this order */
    const int64_t *seeds;
    size_t n_seeds;
};
/* Inserts t as running, sets t->instance, and claims for that instance the shared seeds it has not been
 * given and did not find, in share order, or those that are chosen.  Their bytes are put into *imports, which is
 * empty.  -EEXIST: it was given one of the chosen before. */
CAROL_MUST_CHECK int store_turn_begin(struct store *s, struct store_turn *t,
                                      const struct store_claim *c, struct inputs *imports,
                                      struct err *e);
/* All that was claimed for t->instance up to t is delivered, and the instance runs. */
CAROL_MUST_CHECK int store_turn_delivered(struct store *s, const struct store_turn *t,
                                          struct err *e);
/* Inputs claimed by the first turn after *turn whose delivery nobody noted, in order: their supervisor was
 * killed.  *turn becomes its number; 0: there is none. */
CAROL_MUST_CHECK int store_undelivered(struct store *s, int64_t instance, int64_t *turn,
                                       struct inputs *out, struct err *e);

/* Every claim, delivered or not, in no order. */
typedef int store_import_fn(void *arg, int64_t instance, int64_t seed);
CAROL_MUST_CHECK int store_imports(struct store *s, store_import_fn *fn, void *arg, struct err *e);

enum store_find_kind {
    STORE_FIND_NONE = 0,
    STORE_FIND_SEED,
    STORE_FIND_CRASH,
    STORE_FIND_HANG,
    STORE_FIND_ECHO,  /* a crash on an input it was given: kept, not counted as its own */
    STORE_FIND_ENTRY, /* no bytes: entry `entry` of its corpus is seed `seed`, for lineage */
};

struct store_find {
    enum store_find_kind kind;
    const void *data;
    size_t size;
    int64_t entry, parent_entry; /* the fuzzer's own numbers; -1: none */
    int64_t parent;              /* seed it was made from where that is known; else 0 */
    int64_t found_ns;
    int signal;
    const char *name;
    bool measure; /* also a seed, to be measured; of STORE_FIND_SEED always */
    /* answers */
    int64_t seed;     /* its seed number; 0: none.  Of STORE_FIND_ENTRY given */
    bool fresh;       /* that seed is new */
    bool fresh_crash; /* so is that crash or hang */
};
/* What t's instance found.  Sets t->inputs, t->crashes, t->hangs, and the number of a late turn.  A turn
 * whose state is VOID (left running by a killed supervisor) or LATE keeps it, others are parked now.
 * cursor: NULL leaves it. */
CAROL_MUST_CHECK int store_turn_park(struct store *s, struct store_turn *t,
                                     struct store_find *finds, size_t n, const char *cursor,
                                     struct err *e);

/* More of what it found, made from that, before it is committed.  Adds to t->inputs. */
CAROL_MUST_CHECK int store_turn_add(struct store *s, struct store_turn *t, struct store_find *finds,
                                    size_t n, struct err *e);

/* What was measured of one seed. */
struct store_result {
    int64_t seed;
    int status, signal;
    uint32_t cpu_us;
    const void *edges;
    size_t edges_size;
    bool share;
    bool quarantine; /* it kills the evaluator: nothing else of this is known */
    bool crash;      /* it crashes the neutral build (with `hang`: hangs it): kept as a finding, */
    bool hang;       /* credited to who found the seed */
    bool fresh;      /* answer: that finding is new */
};
struct store_call { /* an indirect call the ledger learned */
    uint32_t caller, callee;
};
struct store_slot {
    int64_t start_ns, fuzz_ns, eval_ns, idle_ns, wall_ns; /* the last is the sum of the others */
};
struct store_commit {
    struct store_result *results;
    size_t n;
    const struct store_call *calls;
    size_t n_calls;
    const void *sched; /* the scheduler's state after learning; NULL: as before */
    size_t sched_size;
    const struct store_slot *account; /* of slot t->slot; NULL: as before */
    const struct store_fact *facts;
    size_t n_facts;
};
/* t->state is COMMITTED, VOID or LATE; a second commit is refused. */
CAROL_MUST_CHECK int store_turn_commit(struct store *s, const struct store_turn *t,
                                       const struct store_commit *c, struct err *e);
/* The initial seeds are measured: round 0. */
CAROL_MUST_CHECK int store_seeds_commit(struct store *s, const struct store_commit *c,
                                        struct err *e);

/* Turns one after another.  The record may be read otherwise between two steps.
 *
 *     struct store_turns *w;
 *     rc = store_turns_open(&w, s, TURNS_BY_ROUND, n, &e);    // what was committed after round n
 *     while (rc == 0 && (rc = store_turns_next(w, &t, &d, &e)) > 0) ...
 *     store_turns_close(w);
 */
struct store_turns;
struct store_blob {
    const void *data; /* until the next step; NULL: none */
    size_t size;
};
enum turn_order {
    TURNS_BY_ID = 1, /* those with a decision, from the one after `after` */
    TURNS_BY_ROUND,  /* completed ones, late ones too, from the round after `after` */
    TURNS_LATE_OPEN, /* late ones not completed */
};
CAROL_MUST_CHECK int store_turns_open(struct store_turns **out, struct store *s,
                                      enum turn_order order, int64_t after, struct err *e);
/* 1: a turn; 0: no more.  decision may be NULL. */
CAROL_MUST_CHECK int store_turns_next(struct store_turns *w, struct store_turn *t,
                                      struct store_blob *decision, struct err *e);
void store_turns_close(struct store_turns *w);
/* The scheduler state of the newest commit; nothing is added when there is none yet. */
CAROL_MUST_CHECK int store_sched_state(struct store *s, struct buf *out, struct err *e);

/* --- crashes and hangs ------------------------------------------------------------------------ */
struct store_crash {
    int64_t id;
    bool hang;
    struct digest hash;
    const void *data;
    size_t size;
    int64_t instance, turn, parent;
    int arm; /* -1: an initial seed */
    int signal;
    const char *name;
    int64_t found_ns;
    bool by_eval; /* seen on the neutral build, not saved by the fuzzer as a crash */
    int slot;     /* on which its turn ran; -1: none.  Only read, never written. */
};
typedef int store_crash_fn(void *arg, const struct store_crash *c, struct err *e);
/* Those after number `after`, in order. */
CAROL_MUST_CHECK int store_crashes(struct store *s, int64_t after, store_crash_fn *fn, void *arg,
                                   struct err *e);
/* The same without their bytes (data is NULL): one whose bytes are lost is among them. */
CAROL_MUST_CHECK int store_crash_list(struct store *s, int64_t after, store_crash_fn *fn, void *arg,
                                      struct err *e);
/* -ENOENT: there is no such crash. */
CAROL_MUST_CHECK int store_crash_get(struct store *s, int64_t id, store_crash_fn *fn, void *arg,
                                     struct err *e);
/* Its bytes take the place of what is in out; when this fails out stays as it is. */
CAROL_MUST_CHECK int store_crash_bytes(struct store *s, int64_t id, struct buf *out, struct err *e);
/* 1: what it covers on the neutral build (edges_decode) is added to out; 0: it is not measured. */
CAROL_MUST_CHECK int store_crash_edges(struct store *s, int64_t id, struct buf *out, struct err *e);
/* Is the content of that seed kept as a crash already? */
CAROL_MUST_CHECK int store_crash_known(struct store *s, int64_t seed, bool *known, struct err *e);

/* --- triage ----------------------------------------------------------------------------------- */
/* What came of a crash or hang when it was run again.  One row per crash, in place of one of other builds, one that
 * says it could not be run, or one that nobody tried to confirm; else the row that is there stays.  It is the one
 * kind of row that a second writer may write (STORE_TRIAGE).  src/triage knows what it means. */
enum triage_outcome {
    TRIAGE_NONE = 0,
    TRIAGE_CRASH,  /* a fault, seen by the sanitizer or without it */
    TRIAGE_HANG,   /* it does not end in ten times the limit */
    TRIAGE_OOM,    /* it needs more memory than it may have */
    TRIAGE_SLOW,   /* reported as a hang; it ends */
    TRIAGE_CLEAN,  /* nothing happens any more */
    TRIAGE_BROKEN, /* it could not be run; `why` */
};
struct store_triage {
    int64_t crash;
    const char *build; /* of which builds: another one makes the row worthless */
    enum triage_outcome outcome;
    const char *defect; /* the bucket; "": none */
    const char *function, *file;
    int line;
    const char *fault, *entry;
    const char *access;  /* read, write, jump, or "" */
    int64_t bytes;       /* of the access; 0: unknown */
    const char *address; /* hexadecimal, or "" */
    int cwe;             /* 0: none */
    bool withheld;       /* the disclosure class */
    int asan_runs, asan_hits, plain_runs, plain_hits, plain_signal;
    int64_t cpu_us;     /* what its runs took */
    const char *why;    /* what a person should know about the outcome, or "" */
    const char *report; /* the sanitizer's, symbolised and cut; NULL in store_triage_rows */
};
CAROL_MUST_CHECK int store_triage_put(struct store *s, const struct store_triage *t, struct err *e);
/* Only the counts of runs and the remark of a row of this build that is there, from t; its CPU time is added, and what t
 * withholds is withheld. */
CAROL_MUST_CHECK int store_triage_confirm(struct store *s, const struct store_triage *t,
                                          struct err *e);
/* Every crash that has a row, in order of their numbers; the crash without its bytes. */
typedef int store_triage_fn(void *arg, const struct store_triage *t, const struct store_crash *c,
                            struct err *e);
CAROL_MUST_CHECK int store_triage_rows(struct store *s, store_triage_fn *fn, void *arg,
                                       struct err *e);
/* The row of one crash, if there is one; what fn says, else 0. */
typedef int store_triage_row_fn(void *arg, const struct store_triage *t, struct err *e);
CAROL_MUST_CHECK int store_triage_row(struct store *s, int64_t crash, store_triage_row_fn *fn,
                                      void *arg, struct err *e);
/* The report of one; *text is NULL when there is none, and the caller's. */
CAROL_MUST_CHECK int store_triage_report(struct store *s, int64_t crash, char **text,
                                         struct err *e);
/* Crashes after that number that have no row of this build, without their bytes; nothing is run, only listed. */
CAROL_MUST_CHECK int store_untriaged(struct store *s, const char *build, int64_t after,
                                     store_crash_fn *fn, void *arg, struct err *e);

/* The smallest input known that still shows a defect. */
struct store_minimised {
    const char *defect, *build;
    int64_t crash; /* made from this one */
    int64_t runs;
    bool done; /* it cannot be made smaller by the rules; else the time was up */
    const void *data;
    size_t size;
};
CAROL_MUST_CHECK int store_minimised_put(struct store *s, const struct store_minimised *m,
                                         struct err *e);
typedef int store_minimised_fn(void *arg, const struct store_minimised *m, struct err *e);
CAROL_MUST_CHECK int store_minimised(struct store *s, store_minimised_fn *fn, void *arg,
                                     struct err *e);

/* --- learned calls, clock, slots, totals ------------------------------------------------------ */
typedef int store_call_fn(void *arg, uint32_t round, uint32_t caller, uint32_t callee);
CAROL_MUST_CHECK int store_calls(struct store *s, store_call_fn *fn, void *arg, struct err *e);

/* Campaign time survives restarts: elapsed so far, never less than before.  Every step that records a time
 * moves it along, a ticker does in between, so that after a kill it is not behind the journal. */
CAROL_MUST_CHECK int store_clock(struct store *s, int64_t elapsed_ns, struct err *e);
/* By their numbers, those without an account all 0; *n: up to the last that has one, at most max. */
CAROL_MUST_CHECK int store_slots(struct store *s, struct store_slot *out, int max, int *n,
                                 struct err *e);
/* The campaign rests: final accounts, the clock, facts, and an event. */
CAROL_MUST_CHECK int store_rest(struct store *s, int64_t now_ns, const struct store_slot *slots,
                                int n_slots, const struct store_fact *facts, size_t n_facts,
                                const char *reason, struct err *e);

struct store_totals {
    int64_t elapsed_ns;
    int64_t decisions;              /* the highest number of one */
    uint64_t seeds, crashes, hangs; /* distinct inputs */
    uint64_t defects;               /* distinct ones, of the builds that triage used last */
};
CAROL_MUST_CHECK int store_totals(struct store *s, struct store_totals *t, struct err *e);

#endif
