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
    struct store_turn *done; /* completed turns by round */
    size_t n_done, cap_done, next_done;
    struct call *calls;
    size_t n_calls, cap_calls, next_call;
    struct edges *sets; /* of the turn at hand */
    size_t n_sets, cap_sets;
};

#define GROW(array, n, cap)                                                                        \
    do {                                                                                           \
        if ((n) == (cap)) {                                                                        \
            (cap) = (cap) ? (cap) * 2 : 64;                                                        \
            (array) = xrealloc((array), (cap) * sizeof *(array));                                  \
        }                                                                                          \
    } while (0)

static int note_done(void *arg, const struct store_turn *row, const void *d, size_t n,
                     struct err *e)
{
    (void)d;
    (void)n;
    (void)e;
    struct walk *w = arg;
    GROW(w->done, w->n_done, w->cap_done);
    w->done[w->n_done++] = *row;
    return 0;
}

static int note_call(void *arg, uint32_t round, uint32_t caller, uint32_t callee)
{
    struct walk *w = arg;
    GROW(w->calls, w->n_calls, w->cap_calls);
    w->calls[w->n_calls++] = (struct call){round, caller, callee};
    return 0;
}

static int note_seed(void *arg, const struct store_seed *seed, struct err *e)
{
    struct walk *w = arg;
    GROW(w->sets, w->n_sets, w->cap_sets);
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

static void differ(struct replay *r, int64_t turn, const char *what, const char *fmt, double logged,
                   double computed)
{
    if (r->mismatch.turn)
        return;
    r->mismatch.turn = turn;
    snprintf(r->mismatch.what, sizeof r->mismatch.what, "%s", what);
    snprintf(r->mismatch.logged, sizeof r->mismatch.logged, fmt, logged);
    snprintf(r->mismatch.computed, sizeof r->mismatch.computed, fmt, computed);
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
    if (!o)
        return err_set(e, -EINVAL, "the journal completes turn %lld, which it never began",
                       (long long)logged->id);
    int rc = load_turn(w, logged->id, logged->round, e);
    if (rc < 0)
        return rc;
    struct store_turn row = *logged;
    fold_turn(&r->fold, &row, &o->d, w->sets, w->n_sets);
    if (row.round != logged->round)
        differ(r, row.id, "round", "%.0f", logged->round, row.round);
    if (row.new_edges != logged->new_edges)
        differ(r, row.id, "new_edges", "%.0f", logged->new_edges, row.new_edges);
    if (row.reward != logged->reward)
        differ(r, row.id, "reward", "%.17g", logged->reward, row.reward);
    *o = r->open[--r->n_open];
    if (w->next_done == w->n_done)
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

static void compare(struct replay *r, const struct store_turn *row, const struct decision *was,
                    const struct decision *now)
{
    struct buf a = BUF_INIT(BUF_TEXT_MAX), b = BUF_INIT(BUF_TEXT_MAX);
    decision_encode(was, &a);
    decision_encode(now, &b);
    if (a.len == b.len && memcmp(a.p, b.p, a.len) == 0)
        r->matched++;
    else if (was->choice != now->choice)
        differ(r, row->id, "choice", "%.0f", was->choice, now->choice);
    else
        differ(r, row->id, "decision", "%.17g", was->arm[was->choice].draw,
               now->arm[now->choice].draw);
    buf_free(&a);
    buf_free(&b);
}

/* A budget given at a resume counts from the decision it is noted for (settings.h). */
static void take_budget(struct walk *w)
{
    int64_t ns;
    if (settings_budget_at(w->s, (int64_t)w->r->fold.t + 1, &ns))
        fold_budget(&w->r->fold, ns);
}

static int decide_again(void *arg, const struct store_turn *row, const void *blob, size_t n,
                        struct err *e)
{
    struct walk *w = arg;
    struct replay *r = w->r;
    struct decision was, now;
    int rc = complete_until(w, row->id, e);
    if (rc == 0)
        rc = decision_decode(blob, n, &was, e);
    if (rc < 0)
        return rc;
    take_budget(w);
    fold_decide(&r->fold, was.now_ns, was.worker, was.dropped, &now);
    r->decisions++;
    compare(r, row, &was, &now);
    GROW(r->open, r->n_open, r->cap_open);
    r->open[r->n_open++] = (struct replay_open){.row = *row, .d = was};
    return 0;
}

int replay_journal(struct replay *r, struct store *s, const struct fold_settings *st, struct err *e)
{
    *r = (struct replay){.state_equal = true};
    struct walk w = {.r = r, .s = s};
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
