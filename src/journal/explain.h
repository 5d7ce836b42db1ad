/* explain: why a decision fell as it did, and which signals moved the choices of a whole campaign.
 *
 *     explain_turn(&x, store, 417, &e);              // one decision, as it was logged
 *     explain_why(ops, &x.d, arms, &words);
 *     explain_campaign(&f, store, &settings, 0, &e); // a replay with questions in between
 *
 * Influence of a signal (the paper's): the share of decisions whose choice is another one when that signal
 * is replaced by its mean for every fuzzer and everything else, the draw too, stays as it was.  Turns of
 * the warm-up compare nothing: they are counted apart, and no share is of them. */
#ifndef CAROL_JOURNAL_EXPLAIN_H
#define CAROL_JOURNAL_EXPLAIN_H

#include "journal/fold.h"

struct explained {
    struct store_turn row; /* also what came of it */
    struct decision d;
    bool asked;                /* explain_without was, of a scheduler that reads signals: */
    int without[SIGNAL_COUNT]; /* the choice with that signal at its mean */
};

/* A turn that is not in the journal is wrong usage; the message says which ones are. */
CAROL_MUST_CHECK int explain_turn(struct explained *x, struct store *s, int64_t turn,
                                  struct err *e);

/* Replays the journal for x->without. */
CAROL_MUST_CHECK int explain_without(struct explained *x, struct store *s,
                                     const struct fold_settings *st, struct err *e);

/* In words why d->choice won: the scheduler's own words, or what its numbers say.  No newline. */
void explain_why(const struct sched_ops *ops, const struct decision *d, const char *const *arms,
                 struct buf *out);

/* Was another than the highest prediction chosen?  Means something where the scheduler predicts, after the warm-up. */
bool explain_explored(const struct decision *d);

struct influence {
    uint64_t decisions;
    uint64_t warmup; /* of them */
    uint64_t choices[SCHED_MAX_ARMS];
    bool signals; /* the scheduler reads signals: */
    uint64_t changed[SIGNAL_COUNT];
    bool predicts;     /* it expects something of each fuzzer: */
    uint64_t explored; /* choices whose prediction was not the highest */
};

/* Of the decisions in which fuzzers were compared, those after the warm-up. */
double influence_share(const struct influence *f, uint64_t part);
/* A fuzzer's part of all choices, warm-up included. */
double influence_chosen(const struct influence *f, int arm);
/* Signals by influence, the strongest first, ties in the order of METHOD §7. */
void influence_order(const struct influence *f, int order[SIGNAL_COUNT]);

/* until_ns: as for a replay. */
CAROL_MUST_CHECK int explain_campaign(struct influence *f, struct store *s,
                                      const struct fold_settings *st, int64_t until_ns,
                                      struct err *e);

#endif
