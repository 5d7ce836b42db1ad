/* fold: what the campaign knows, as a fold over its journal: ledger, reward bounds, contexts, scheduler,
 * tally.  The running campaign, a simulated one and the replay of a journal call exactly these functions, in
 * the same order, so they cannot come to different states.  Nobody else writes to a fold.
 *
 *     fold_init(&f, &settings, &e);
 *     fold_seeds(&f, &news);                       // round 0
 *     fold_decide(&f, now, worker, dropped, &d);   // every decision ...
 *     fold_turn(&f, &row, &d, &news);              // ... and every completed turn, in the order they happened
 */
#ifndef CAROL_JOURNAL_FOLD_H
#define CAROL_JOURNAL_FOLD_H

#include "context/context.h"
#include "fuzzer/fuzzer.h"
#include "journal/tally.h"
#include "reward/ledger.h"
#include "reward/reward.h"
#include "sched/sched.h"
#include "store/store.h"

struct fold_settings {
    const struct table *table;
    const struct strv *fuzzers; /* roster */
    const char *scheduler, *params;
    int workers;
    uint64_t seed;
    int64_t turn_ns;
    int64_t budget_ns; /* of the start; 0: no end */
    enum reward_kind reward;
};

struct fold {
    struct ledger ledger;
    struct reward_bounds bounds;
    enum reward_kind reward;
    struct context *context;
    struct sched *sched;
    struct tally tally;
    int64_t turn_ns; /* T_I */
    uint64_t t;      /* decisions served */
    uint32_t round;  /* turns completed */
};

/* What the inputs of a turn showed. */
struct news {
    const struct edges *sets; /* one per input */
    size_t n;
    struct store_call *calls; /* indirect calls seen; the fold leaves those that were new */
    size_t n_calls;
};

/* The scheduler of a fold as it is at the start; free with sched_free. */
CAROL_MUST_CHECK int fold_sched(const struct fold_settings *s, struct sched **out, struct err *e);
CAROL_MUST_CHECK int fold_init(struct fold *f, const struct fold_settings *s, struct err *e);
void fold_free(struct fold *f);

void fold_seeds(struct fold *f, struct news *n);
/* From the next decision on the campaign has this budget (0: no end). */
void fold_budget(struct fold *f, int64_t budget_ns);
/* Serve decision number ++t: read the contexts, ask the scheduler, note the dispatch. */
void fold_decide(struct fold *f, int64_t now_ns, int worker, uint64_t dropped, struct decision *d);
/* Its two halves, for a replay, where another arm than the one picked may have run: what the scheduler
 * says; then d->choice, be it whose it may, is running. */
void fold_ask(struct fold *f, int64_t now_ns, int worker, uint64_t dropped, struct decision *d);
void fold_dispatched(struct fold *f, const struct decision *d);
/* How long the turn of d may be (METHOD §3), left_ns of the budget being left (0: it has none). */
struct turn_quota fold_quota(const struct fold *f, const struct decision *d, int64_t left_ns);
/* Is it too late for another turn?  None starts in the last twelfth of a turn (METHOD R8). */
bool fold_too_late(const struct fold *f, int64_t now_ns);
/* Complete a turn: sets row's round, new_edges, raw, reward, rarity and sec from what its inputs
 * covered (row->state says COMMITTED, VOID or LATE, row->end_ns when), and learns from it if it is a committed
 * one.  A late one had no decision: d is not looked at. */
void fold_turn(struct fold *f, struct store_turn *row, const struct decision *d, struct news *n);

#endif
