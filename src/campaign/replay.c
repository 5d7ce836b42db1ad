/* replay: walks the journal in the order things happened.  Changes nothing in it. */
#include "campaign/replay.h"

#include "base/die.h"
#include "campaign/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct call {
    uint32_t round, caller, callee;
};

struct walk {
    struct replay *r;
    struct store *s;
    const char *const *arms;
    struct replay_how how;
    struct store_turn *done; /* completed turns by round */
    size_t n_done, cap_done, next_done;
    struct call *calls;
    size_t n_calls, cap_calls, next_call;
    struct edges *sets; /* of the turn at hand */
    size_t n_sets, cap_sets;
};

static int note_done(void *arg, const struct store_turn *row, const void *d, size_t n,
                     struct err *e)
{
    (void)d;
    (void)n;
    struct walk *w = arg;
    if (row->arm < 0 || row->arm >= w->r->fold.tally.n_arms)
        return err_set(e, -EBADMSG, "turn %lld names a fuzzer that the roster does not have",
                       (long long)row->id);
    XGROW(w->done, w->n_done, w->cap_done);
    w->done[w->n_done++] = *row;
    return 0;
}

static int note_call(void *arg, uint32_t round, uint32_t caller, uint32_t callee)
{
    struct walk *w = arg;
    XGROW(w->calls, w->n_calls, w->cap_calls);
    w->calls[w->n_calls++] = (struct call){round, caller, callee};
    return 0;
}

static int note_seed(void *arg, const struct store_seed *seed, struct err *e)
{
    struct walk *w = arg;
    XGROW(w->sets, w->n_sets, w->cap_sets);
    struct edges *s = &w->sets[w->n_sets];
    *s = (struct edges){0};
    if (seed->state == SEED_PENDING)
        return 0;
    w->n_sets++;
    return edges_decode(seed->edges, seed->edges_size, w->r->fold.ledger.table->n_edges, s, e);
}

/* The edge sets of a turn's inputs, and the calls learned with them. */
static int load_turn(struct walk *w, int64_t turn, uint32_t round, struct err *e)
{
    for (size_t i = 0; i < w->n_sets; i++)
        edges_free(&w->sets[i]);
    w->n_sets = 0;
    for (; w->next_call < w->n_calls && w->calls[w->next_call].round <= round; w->next_call++)
        ledger_learn_call(&w->r->fold.ledger, w->calls[w->next_call].caller,
                          w->calls[w->next_call].callee);
    return store_turn_results(w->s, turn, note_seed, w, e);
}

static void differ(struct walk *w, int64_t turn, const char *what, const char *logged,
                   const char *computed)
{
    struct replay *r = w->r;
    if (r->mismatch.turn)
        return;
    r->mismatch.turn = turn;
    snprintf(r->mismatch.what, sizeof r->mismatch.what, "%s", what);
    snprintf(r->mismatch.logged, sizeof r->mismatch.logged, "%s", logged);
    snprintf(r->mismatch.computed, sizeof r->mismatch.computed, "%s", computed);
}

static void compare_number(struct walk *w, int64_t turn, const char *what, double logged,
                           double computed)
{
    char a[64], b[64];
    if (memcmp(&logged, &computed, sizeof logged) == 0)
        return;
    snprintf(a, sizeof a, "%.17g", logged);
    snprintf(b, sizeof b, "%.17g", computed);
    differ(w, turn, what, a, b);
}

/* What a turn was worth does not depend on the scheduler. */
static void compare_turn(struct walk *w, const struct store_turn *was, const struct store_turn *now)
{
    if (w->how.other)
        return;
    compare_number(w, was->id, "round", was->round, now->round);
    compare_number(w, was->id, "new_edges", was->new_edges, now->new_edges);
    compare_number(w, was->id, "rarity", was->rarity, now->rarity);
    compare_number(w, was->id, "sec", was->sec, now->sec);
    compare_number(w, was->id, "raw", was->raw, now->raw);
    compare_number(w, was->id, "reward", was->reward, now->reward);
}

static struct replay_open *find_open(struct replay *r, int64_t id)
{
    for (size_t i = 0; i < r->n_open; i++)
        if (r->open[i].row.id == id)
            return &r->open[i];
    return NULL;
}

/* The scheduler's state is stored with every commit; at the last one both must be the same bytes. */
static void compare_state(struct replay *r, struct store *s)
{
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    size_t n = 0;
    void *stored = store_sched_state(s, &n);
    sched_save(r->fold.sched, &b);
    r->state_equal = !stored || (n == b.len && memcmp(stored, b.p, n) == 0);
    free(stored);
    buf_free(&b);
}

static int complete(struct walk *w, const struct store_turn *logged, struct err *e)
{
    struct replay *r = w->r;
    struct replay_open *o = find_open(r, logged->id);
    if (!o && logged->state != TURN_LATE)
        return err_set(e, -EINVAL, "the journal completes turn %lld, which it never began",
                       (long long)logged->id);
    int rc = load_turn(w, logged->id, logged->round, e);
    if (rc < 0)
        return rc;
    struct store_turn row = *logged;
    fold_turn(&r->fold, &row, o ? &o->d : NULL, w->sets, w->n_sets);
    compare_turn(w, logged, &row);
    if (o)
        *o = r->open[--r->n_open];
    if (w->next_done == w->n_done && !w->how.other)
        compare_state(r, w->s);
    return 0;
}

/* Completions that came before decision number t. */
static int complete_until(struct walk *w, int64_t t, struct err *e)
{
    int rc = 0;
    while (rc == 0 && w->next_done < w->n_done && w->done[w->next_done].at_decision < t)
        rc = complete(w, &w->done[w->next_done++], e);
    return rc;
}

static void compare_decision(struct walk *w, const struct store_turn *row,
                             const struct decision *was, const struct decision *now)
{
    struct replay *r = w->r;
    struct decision_diff diff;
    r->logged[was->choice]++;
    if (now->choice < 0)
        r->none++;
    else
        r->choices[now->choice]++;
    r->differs += was->choice != now->choice;
    bool equal =
        w->how.other ? was->choice == now->choice : !decision_differs(was, now, w->arms, &diff);
    r->matched += equal;
    if (equal && was->choice != row->arm)
        differ(w, row->id, "arm", w->arms[row->arm], w->arms[was->choice]);
    if (equal)
        return;
    if (w->how.other)
        differ(w, row->id, "choice", w->arms[was->choice],
               now->choice < 0 ? "none" : w->arms[now->choice]);
    else
        differ(w, row->id, diff.what, diff.a, diff.b);
}

/* A budget given at a resume counts from the decision it is noted for (settings.h). */
static void take_budget(struct walk *w)
{
    int64_t ns;
    if (settings_budget_at(w->s, (int64_t)w->r->fold.t + 1, &ns))
        fold_budget(&w->r->fold, ns);
}

static int read_decision(struct walk *w, const struct store_turn *row, const void *blob, size_t n,
                         struct decision *was, struct err *e)
{
    int rc = decision_decode(blob, n, was, e);
    if (rc < 0)
        return rc;
    if (was->n_arms != w->r->fold.tally.n_arms || was->choice < 0 || row->arm < 0 ||
        row->arm >= was->n_arms)
        return err_set(e, -EBADMSG,
                       "the decision of turn %lld does not belong to it: fuzzer %d of %d, the turn "
                       "is of fuzzer %d of %d",
                       (long long)row->id, was->choice, was->n_arms, row->arm,
                       w->r->fold.tally.n_arms);
    return 0;
}

static int decide_again(void *arg, const struct store_turn *row, const void *blob, size_t n,
                        struct err *e)
{
    struct walk *w = arg;
    struct replay *r = w->r;
    struct decision was, now;
    int rc = complete_until(w, row->id, e);
    if (rc == 0)
        rc = read_decision(w, row, blob, n, &was, e);
    if (rc < 0)
        return rc;
    take_budget(w);
    fold_ask(&r->fold, was.now_ns, was.worker, was.dropped, &now);
    r->decisions++;
    compare_decision(w, row, &was, &now);
    if (w->how.decided)
        w->how.decided(w->how.arg, &(struct replay_step){r, row, &was, &now});
    now.choice = row->arm; /* what ran, with the features of this scheduler */
    fold_dispatched(&r->fold, &now);
    XGROW(r->open, r->n_open, r->cap_open);
    r->open[r->n_open++] = (struct replay_open){.row = *row, .d = now};
    return 0;
}

int replay_journal(struct replay *r, struct store *s, const struct fold_settings *st,
                   const struct replay_how *how, struct err *e)
{
    *r = (struct replay){.state_equal = true};
    struct walk w = {.r = r, .s = s, .arms = (const char *const *)st->fuzzers->v};
    if (how)
        w.how = *how;
    int rc = fold_init(&r->fold, st, e);
    if (rc == 0)
        rc = store_turns(s, TURNS_BY_ROUND, note_done, &w, e);
    if (rc == 0)
        rc = store_calls(s, note_call, &w, e);
    if (rc == 0)
        rc = load_turn(&w, 0, 0, e);
    if (rc == 0) {
        fold_seeds(&r->fold, w.sets, w.n_sets);
        rc = store_turns(s, TURNS_BY_ID, decide_again, &w, e);
    }
    if (rc == 0)
        rc = complete_until(&w, INT64_MAX, e);
    if (rc == 0)
        take_budget(&w);
    for (size_t i = 0; i < w.n_sets; i++)
        edges_free(&w.sets[i]);
    free(w.sets);
    free(w.done);
    free(w.calls);
    return rc;
}

void replay_free(struct replay *r)
{
    fold_free(&r->fold);
    free(r->open);
    *r = (struct replay){0};
}
