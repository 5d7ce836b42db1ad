/* sched: which fuzzer runs next.  One interface, one file per scheduler, one table.
 *
 * A scheduler is a deterministic machine: same settings, same sequence of questions and outcomes, same
 * decisions, bit for bit.  It has no clock and does no I/O; its random numbers come from its own
 * generators, seeded once.  Its whole state can be written as bytes (save).  Nothing reads them
 * back: a campaign that goes on recomputes the state from the journal and must arrive at the same bytes.
 *
 *     sched_new(&s, "contextual", &settings, &e);
 *     decision_ask(&d, n_arms, t, worker, now, dropped);
 *     ... d.arm[i].signals of every arm ...
 *     sched_tick(s, now, &ledger);
 *     sched_pick(s, &d);                 // fills in the answer; d is journalled before the turn starts
 *     ... the turn runs, others are picked ...
 *     sched_tick(s, now, &ledger);       // before the ledger takes the turn's inputs
 *     sched_learn(s, &d, &outcome);      // in the order turns complete, with the d of its dispatch
 */
#ifndef CAROL_SCHED_SCHED_H
#define CAROL_SCHED_SCHED_H

#include "base/buf.h"
#include "base/err.h"
#include "context/context.h"
#include "reward/ledger.h"

#include <stdbool.h>
#include <stdint.h>

#define SCHED_MAX_ARMS CONTEXT_MAX_ARMS
#define SCHED_FEATURES 17
/* T_I of the paper.  Time constants are given for it and scale with T_I (METHOD R14). */
#define SCHED_TURN_S 120
#define SCHED_TURN_NS (SCHED_TURN_S * INT64_C(1000000000))

struct sched_settings {
    int n_arms;
    const char *const *arms; /* names in roster order */
    int workers;
    uint64_t seed;
    int64_t turn_ns;           /* T_I; every time constant that is not given scales with it */
    const char *params;        /* "key=value,..." or NULL (params.h) */
    const struct table *table; /* the target's edges, outlives it; NULL: not known */
};

/* One arm in one decision.  Numbers a scheduler does not use are 0; what mean, width, noise and draw
 * stand for is in its `columns`. */
struct decision_arm {
    double signals[SIGNAL_COUNT];
    double standardised[SIGNAL_COUNT];
    double phi[SCHED_FEATURES];
    double mean, width, noise, draw;
};

/* One decision, question and answer: what `explain` shows and `replay` checks. */
struct decision {
    uint64_t t; /* selection requests served so far including this one, from 1 */
    int worker;
    int64_t now_ns; /* campaign time */
    int n_arms;
    uint64_t dropped; /* bit per arm: it cannot run, never choose it */
    int choice;       /* -1: every arm it could choose is dropped */
    int64_t turn_ns;  /* how long this turn should be; 0: T_I */
    struct decision_arm arm[SCHED_MAX_ARMS];
};

/* The question without its signals; everything else is cleared. */
void decision_ask(struct decision *d, int n_arms, uint64_t t, int worker, int64_t now_ns,
                  uint64_t dropped);

static inline bool decision_may(const struct decision *d, int arm)
{
    return !(d->dropped >> arm & 1);
}

/* What came of a turn. */
struct sched_outcome {
    int64_t now_ns;
    int64_t cost_ns; /* slot time of the turn, from dispatch to here: start-up and measuring too */
    double reward;   /* normalised common reward */
    uint32_t new_edges; /* first covered by this turn */
    uint32_t crashes;
    bool died;
    const struct gain *gain; /* what its inputs covered, lives during the call; NULL: not known */
};

struct sched { /* ops and n_arms are set by sched_new, opts by create */
    const struct sched_ops *ops;
    int n_arms;
    const void *opts; /* its options, described by ops->params; NULL: it has none */
    bool blind;       /* it could read signals, but its options say not to; set by create */
};

struct sched_ops {
    const char *name; /* "equal"; a trailing ':' takes an argument: "single:" */
    const char *summary;
    const struct param *params; /* its options, params.h; NULL: none */
    const char *columns[4];     /* what mean, width, noise and draw are called; NULL: not used */
    bool predicts; /* mean is the reward it expects; choosing another than the highest explores */
    int (*create)(struct sched **out, const char *arg, const struct sched_settings *st,
                  struct err *e);
    void (*pick)(struct sched *s, struct decision *d);
    /* Campaign time is now_ns (for phases and rounds by the clock); map is the ledger before the next event.
     * NULL: it has no clock. */
    void (*tick)(struct sched *s, int64_t now_ns, const struct ledger *map);
    void (*learn)(struct sched *s, const struct decision *d, const struct sched_outcome *o);
    /* Its choice for d, which it has just answered, with that signal replaced by its running mean for every
     * arm and everything else, the noise included, unchanged (METHOD R80).  Changes nothing.
     * NULL: it reads no signals. */
    int (*without)(const struct sched *s, const struct decision *d, enum signal_id signal);
    /* Was d a warm-up turn, given before anything is compared?  From the record alone.  NULL: it has none. */
    bool (*is_warmup)(const struct decision *d);
    /* In words, without a newline, why the choice of d won; arms: the roster.  NULL: nothing to say. */
    void (*why)(const struct decision *d, const char *const *arms, struct buf *out);
    /* What sched_save leaves to it; any length. */
    void (*save)(const struct sched *s, struct buf *out);
    void (*free)(struct sched *s);
};

extern const struct sched_ops *const sched_table[]; /* NULL at the end */

CAROL_MUST_CHECK int sched_new(struct sched **out, const char *name,
                               const struct sched_settings *st, struct err *e);
/* Before every pick, and before a completed turn is added to the map. */
void sched_tick(struct sched *s, int64_t now_ns, const struct ledger *map);
void sched_pick(struct sched *s, struct decision *d);
void sched_learn(struct sched *s, const struct decision *d, const struct sched_outcome *o);
/* The choice for d with that signal replaced by its mean; d->choice if the scheduler reads no signals.  Ask
 * right after the pick of d, before anything else is learned or picked. */
int sched_without(const struct sched *s, const struct decision *d, enum signal_id signal);
/* Does it look at signals, with the options it has? */
bool sched_reads_signals(const struct sched *s);
/* Was d a turn of the warm-up, a choice without a comparison? */
bool sched_is_warmup(const struct sched_ops *ops, const struct decision *d);
/* The whole state, with the scheduler's name and number of arms before it. */
void sched_save(const struct sched *s, struct buf *out);
void sched_free(struct sched *s);
/* The operations behind a name ("single:mopt" too); NULL: there is none. */
const struct sched_ops *sched_find(const char *name);
/* For people: what the scheduler of that name does and every option it takes. */
CAROL_MUST_CHECK int sched_help(const char *name, struct buf *out, struct err *e);
/* Every option with the value in force, "key=value,..."; passed as params it makes the same scheduler. */
void sched_describe(const struct sched *s, struct buf *out);

/* The journal's form of a decision: little-endian, versioned, exact. */
void decision_encode(const struct decision *d, struct buf *out);
CAROL_MUST_CHECK int decision_decode(const void *data, size_t n, struct decision *d, struct err *e);

/* The first number in which two records of one decision differ in a bit: "mopt mean",
 * "aflpp signal win_mean", "choice", "turn_ns".  The order is that of computation: the question, signals,
 * standardised, phi, mean, width, noise, draw, choice. */
struct decision_diff {
    char what[96], a[64], b[64];
};
bool decision_differs(const struct decision *a, const struct decision *b, const char *const *arms,
                      struct decision_diff *out);

#endif
