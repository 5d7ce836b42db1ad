/* replay: walks the journal in the order things happened.  Changes nothing in it. */
#include "journal/replay.h"

#include "base/die.h"
#include "journal/write.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct call {
    uint32_t round;
    struct store_call call;
};

struct walk {
    struct replay *r;
    struct store *s;
    const char *const *arms;
    struct replay_how how;
    struct store_turns *done; /* completed turns by round; */
    struct store_turn next;   /* the next of them, */
    bool has_next;            /* if there is one */
    struct call *calls;
    size_t n_calls, cap_calls, next_call;
    struct edges *sets; /* of the turn at hand */
    size_t n_sets, cap_sets;
};

static int read_next(struct walk *w, struct err *e)
{
    int rc = store_turns_next(w->done, &w->next, NULL, e);
    w->has_next = rc > 0;
    bool imported = rc > 0 && w->next.state == TURN_LATE && w->next.arm == -1;
    if (rc > 0 && !imported && (w->next.arm < 0 || w->next.arm >= w->r->fold.tally.n_arms))
        return err_set(e, -EBADMSG, "turn %lld names a fuzzer that the roster does not have",
                       (long long)w->next.id);
    return rc < 0 ? rc : 0;
}

static int note_call(void *arg, uint32_t round, uint32_t caller, uint32_t callee)
{
    struct walk *w = arg;
    XGROW(w->calls, w->n_calls, w->cap_calls);
    w->calls[w->n_calls++] = (struct call){round, {caller, callee}};
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

/* What the inputs of a turn showed, from the journal. */
struct told {
    struct news news;
    struct store_call *calls;
};

static int load_turn(struct walk *w, int64_t turn, uint32_t round, struct told *t, struct err *e)
{
    size_t first = w->next_call;
    for (size_t i = 0; i < w->n_sets; i++)
        edges_free(&w->sets[i]);
    w->n_sets = 0;
    while (w->next_call < w->n_calls && w->calls[w->next_call].round <= round)
        w->next_call++;
    size_t n = w->next_call - first;
    t->calls = xcalloc(n, sizeof *t->calls);
    for (size_t i = 0; i < n; i++)
        t->calls[i] = w->calls[first + i].call;
    int rc = store_turn_results(w->s, turn, note_seed, w, e);
    t->news = (struct news){w->sets, w->n_sets, t->calls, n};
    return rc;
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
static int compare_state(struct replay *r, struct store *s, struct err *e)
{
    struct buf stored = BUF_INIT(BUF_TEXT_MAX), now = BUF_INIT(BUF_TEXT_MAX);
    int rc = store_sched_state(s, &stored, e);
    sched_save(r->fold.sched, &now);
    r->state_equal =
        !stored.len || (stored.len == now.len && memcmp(stored.p, now.p, now.len) == 0);
    buf_free(&stored);
    buf_free(&now);
    return rc;
}

static int complete(struct walk *w, const struct store_turn *logged, struct err *e)
{
    struct replay *r = w->r;
    struct replay_open *o = find_open(r, logged->id);
    struct told told = {0};
    if (!o && logged->state != TURN_LATE)
        return err_set(e, -EINVAL, "the journal completes turn %lld, which it never began",
                       (long long)logged->id);
    int rc = load_turn(w, logged->id, logged->round, &told, e);
    if (rc == 0) {
        struct store_turn row = *logged;
        fold_turn(&r->fold, &row, o ? &o->d : NULL, &told.news);
        compare_turn(w, logged, &row);
        if (o)
            *o = r->open[--r->n_open];
    }
    free(told.calls);
    return rc;
}

/* Completions that came before decision number t. */
static int complete_until(struct walk *w, int64_t t, struct err *e)
{
    int rc = 0;
    while (rc == 0 && w->has_next && w->next.at_decision < t) {
        struct store_turn row = w->next;
        rc = complete(w, &row, e);
        if (rc == 0)
            rc = read_next(w, e);
        if (rc == 0 && !w->has_next && !w->how.other)
            rc = compare_state(w->r, w->s, e);
    }
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

/* A budget given at a resume counts from the decision it is noted for. */
static int take_budget(struct walk *w, struct err *e)
{
    int64_t ns;
    int rc = journal_budget_at(w->s, (int64_t)w->r->fold.t + 1, &ns, e);
    if (rc > 0)
        fold_budget(&w->r->fold, ns);
    return rc < 0 ? rc : 0;
}

static int read_decision(struct walk *w, const struct store_turn *row,
                         const struct store_blob *blob, struct decision *was, struct err *e)
{
    int rc = decision_decode(blob->data, blob->size, was, e);
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

static int decide_again(struct walk *w, const struct store_turn *row, const struct store_blob *blob,
                        struct err *e)
{
    struct replay *r = w->r;
    struct decision was, now;
    int rc = complete_until(w, row->id, e);
    if (rc == 0)
        rc = read_decision(w, row, blob, &was, e);
    if (rc == 0)
        rc = take_budget(w, e);
    if (rc < 0)
        return rc;
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

static int fold_round0(struct walk *w, struct err *e)
{
    struct told told = {0};
    int rc = load_turn(w, 0, 0, &told, e);
    if (rc == 0)
        fold_seeds(&w->r->fold, &told.news);
    free(told.calls);
    return rc;
}

static bool is_late(const struct walk *w)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return w->how.until_ns && (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec > w->how.until_ns;
}

static int decide_all(struct walk *w, struct err *e)
{
    struct store_turns *turns;
    struct store_turn row;
    struct store_blob decision;
    int rc = store_turns_open(&turns, w->s, TURNS_BY_ID, 0, e);
    while (rc == 0 && (rc = store_turns_next(turns, &row, &decision, e)) > 0)
        rc = is_late(w) ? err_set(e, -ETIME, "a replay of the campaign takes too long")
                        : decide_again(w, &row, &decision, e);
    store_turns_close(turns);
    return rc;
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
        rc = store_calls(s, note_call, &w, e);
    if (rc == 0)
        rc = fold_round0(&w, e);
    if (rc == 0)
        rc = store_turns_open(&w.done, s, TURNS_BY_ROUND, 0, e);
    if (rc == 0)
        rc = read_next(&w, e);
    if (rc == 0)
        rc = decide_all(&w, e);
    if (rc == 0)
        rc = complete_until(&w, INT64_MAX, e);
    if (rc == 0)
        rc = take_budget(&w, e);
    store_turns_close(w.done);
    for (size_t i = 0; i < w.n_sets; i++)
        edges_free(&w.sets[i]);
    free(w.sets);
    free(w.calls);
    return rc;
}

void replay_free(struct replay *r)
{
    fold_free(&r->fold);
    free(r->open);
    *r = (struct replay){0};
}
