/* replay: the state of a campaign from its journal alone, and whether every logged decision and reward
 * comes out again, bit for bit.  Also the journal under another scheduler: what that one would have
 * chosen at each decision, given what really happened up to then.
 *
 *     replay_journal(&r, store, &settings, NULL, &e);            // as it was
 *     settings.scheduler = "equal";
 *     replay_journal(&r, store, &settings, &(struct replay_how){.other = true}, &e);
 *     ... r.differs of r.decisions ...
 *     replay_free(&r);
 *
 * Whatever the scheduler at hand says, the arm in the journal ran: contexts, rewards and learning follow
 * the logged choice, with the features that this scheduler computed for that arm at that decision. */
#ifndef CAROL_JOURNAL_REPLAY_H
#define CAROL_JOURNAL_REPLAY_H

#include "journal/fold.h"

/* A turn that was dispatched and never completed.  d: what is learned from when it does. */
struct replay_open {
    struct store_turn row;
    struct decision d;
};

struct replay {
    struct fold fold;
    uint64_t decisions;
    uint64_t matched; /* the same bits; under another scheduler: the same choice */
    uint64_t differs; /* another choice than the logged one */
    uint64_t logged[SCHED_MAX_ARMS],
        choices[SCHED_MAX_ARMS]; /* how often each; computed: choices */
    uint64_t none;               /* computed: nobody it may choose is left */
    struct {
        int64_t turn; /* 0: none */
        char what[96], logged[64], computed[64];
    } mismatch; /* the first one */
    struct replay_open *open;
    size_t n_open, cap_open;
    bool state_equal; /* the scheduler's state equals the one stored with the last commit */
};

/* One decision computed again; r->fold.sched is as it was right after it.  row is the whole turn, also
 * what came of it if it is completed. */
struct replay_step {
    const struct replay *r;
    const struct store_turn *row;
    const struct decision *logged, *computed;
};

struct replay_how {
    bool other;       /* not the scheduler of the journal: choices are compared, no other numbers */
    int64_t until_ns; /* CLOCK_MONOTONIC: later it ends with -ETIME; 0: it takes what it takes */
    void (*decided)(void *arg, const struct replay_step *step); /* NULL: nobody watches */
    void *arg;
};

/* how may be NULL. */
CAROL_MUST_CHECK int replay_journal(struct replay *r, struct store *s,
                                    const struct fold_settings *st, const struct replay_how *how,
                                    struct err *e);
void replay_free(struct replay *r); /* also the fold, unless it was moved out (zeroed) */

#endif
