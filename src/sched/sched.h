/* sched: which fuzzer runs next.  One interface, one file per scheduler, one table.
 *
 * A scheduler is a deterministic machine: same settings, same sequence of picks and outcomes, same
 * decisions, bit for bit.  Its random numbers come from its own generator, seeded once.  Its whole
 * state can be written and read back (save/load), and is the same as after replaying the journal.
 *
 *     sched_new(&s, "contextual", &settings, &e);
 *     sched_pick(s, &view, &d);          // d is journalled before the turn starts
 *     ... the turn runs, others are picked ...
 *     sched_learn(s, &d, &outcome);      // in the order turns complete, with the d of its dispatch
 */
#ifndef CAROL_SCHED_SCHED_H
#define CAROL_SCHED_SCHED_H

#include "base/buf.h"
#include "base/err.h"
#include "context/context.h"

#include <stdbool.h>
#include <stdint.h>

#define SCHED_MAX_ARMS CONTEXT_MAX_ARMS
#define SCHED_FEATURES 17

struct sched_settings {
    int n_arms;
    const char *const *arms; /* names in roster order */
    int workers;
    uint64_t seed;
    int64_t turn_ns;    /* T_I; every other time constant scales with it */
    const char *params; /* "key=value,..." or NULL */
};

/* Everything a scheduler may look at when it decides. */
struct sched_view {
    int64_t now_ns; /* campaign time */
    uint64_t t;     /* selection requests served so far including this one, from 1 */
    int worker;
    bool dropped[SCHED_MAX_ARMS]; /* arms that cannot run: never choose them */
    double signals[SCHED_MAX_ARMS][SIGNAL_COUNT];
};

/* The record of one decision: what `explain` shows and `replay` checks.  Unused numbers are 0. */
struct decision {
    uint64_t t;
    int worker, choice;
    int64_t now_ns;
    int n_arms;
    uint32_t dropped; /* bit per arm: it could not be chosen */
    double signals[SCHED_MAX_ARMS][SIGNAL_COUNT];
    double standardised[SCHED_MAX_ARMS][SIGNAL_COUNT];
    double phi[SCHED_MAX_ARMS][SCHED_FEATURES];
    double mean[SCHED_MAX_ARMS], width[SCHED_MAX_ARMS], noise[SCHED_MAX_ARMS], draw[SCHED_MAX_ARMS];
};

/* What came of a turn. */
struct sched_outcome {
    int64_t now_ns;
    double reward;      /* normalised common reward */
    uint32_t new_edges; /* first covered by this turn */
    uint32_t crashes;
    bool died;
};

struct sched { /* set by sched_new */
    const struct sched_ops *ops;
    int n_arms;
};

struct sched_ops {
    const char *name; /* "equal"; a trailing ':' takes an argument: "single:" */
    const char *summary;
    int (*create)(struct sched **out, const char *arg, const struct sched_settings *st,
                  struct err *e);
    void (*pick)(struct sched *s, const struct sched_view *v, struct decision *d);
    void (*learn)(struct sched *s, const struct decision *d, const struct sched_outcome *o);
    /* What sched_save and sched_load leave to it; any length, checked by load. */
    void (*save)(const struct sched *s, struct buf *out);
    int (*load)(struct sched *s, const void *data, size_t n, struct err *e);
    void (*free)(struct sched *s);
};

extern const struct sched_ops *const sched_table[]; /* NULL at the end */

CAROL_MUST_CHECK int sched_new(struct sched **out, const char *name,
                               const struct sched_settings *st, struct err *e);
/* Fills the common fields of d from v, then asks the scheduler.  d->choice is -1 when every arm it
 * could choose is dropped. */
void sched_pick(struct sched *s, const struct sched_view *v, struct decision *d);
void sched_learn(struct sched *s, const struct decision *d, const struct sched_outcome *o);
/* The whole state, with the scheduler's name and number of arms before it; load refuses another's. */
void sched_save(const struct sched *s, struct buf *out);
CAROL_MUST_CHECK int sched_load(struct sched *s, const void *data, size_t n, struct err *e);
void sched_free(struct sched *s);

/* The journal's form of a decision: little-endian, versioned, exact. */
void decision_encode(const struct decision *d, struct buf *out);
CAROL_MUST_CHECK int decision_decode(const void *data, size_t n, struct decision *d, struct err *e);

#endif
