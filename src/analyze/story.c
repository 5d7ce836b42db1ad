/* story: walks a record in the order of events and keeps what analyses ask for.  Writes nothing. */
#include "analyze/story.h"

#include "base/die.h"
#include "sched/features.h"
#include "store/store.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct walk {
    struct story *l;
    struct store *s;
    struct store_turns *done; /* completed turns by round; */
    struct store_turn next;   /* the next of them, */
    bool has_next;            /* if there is one */
    struct standard standard[SCHED_MAX_ARMS];
    bool signals; /* some signal was not 0 */
};

static int read_next(struct walk *w, struct err *e)
{
    int rc = store_turns_next(w->done, &w->next, NULL, e);
    w->has_next = rc > 0;
    return rc < 0 ? rc : 0;
}

static int by_id(const void *key, const void *item)
{
    int64_t a = *(const int64_t *)key, b = ((const struct story_choice *)item)->id;
    return a < b ? -1 : a > b;
}

static int complete(struct walk *w, struct err *e)
{
    struct story *l = w->l;
    const struct store_turn *t = &w->next;
    if (t->state != TURN_COMMITTED)
        return 0;
    const struct story_choice *c =
        bsearch(&t->id, l->choices, l->n_choices, sizeof *l->choices, by_id);
    if (!c || c->choice != t->arm)
        return err_set(e, -EBADMSG, "%s completes turn %lld, which it never began", l->camp->out,
                       (long long)t->id);
    if (!isfinite(t->raw) || !isfinite(t->reward))
        return err_usage(e, "%s: the reward of turn %lld is no number; leave this campaign out",
                         l->camp->out, (long long)t->id);
    size_t at = (size_t)(c - l->choices);
    standard_add(&w->standard[t->arm], l->signals[at * (size_t)l->arms + (size_t)t->arm]);
    XGROW(l->turns, l->n_turns, l->cap_turns);
    l->turns[l->n_turns++] = (struct story_turn){.choice = at,
                                                 .arm = t->arm,
                                                 .end_ns = t->end_ns,
                                                 .cost_ns = t->end_ns - t->start_ns,
                                                 .raw = t->raw,
                                                 .reward = t->reward,
                                                 .new_edges = t->new_edges,
                                                 .crashes = t->crashes,
                                                 .died = t->died};
    return 0;
}

/* Completions that came before decision number t. */
static int complete_until(struct walk *w, int64_t t, struct err *e)
{
    int rc = 0;
    while (rc == 0 && w->has_next && w->next.at_decision < t) {
        rc = complete(w, e);
        if (rc == 0)
            rc = read_next(w, e);
    }
    return rc;
}

static void keep_signals(struct walk *w, const struct decision *d)
{
    struct story *l = w->l;
    for (int k = 0; k < l->arms; k++) {
        double x[FEATURES_X] PAIR_ALIGNED;
        size_t n = l->n_signals;
        XGROW(l->signals, n, l->cap_signals);
        XGROW(l->x, n, l->cap_x);
        standard_apply(&w->standard[k], d->arm[k].signals, STORY_CLAMP, x);
        memcpy(l->signals[n], d->arm[k].signals, sizeof *l->signals);
        memcpy(l->x[n], x, sizeof *l->x);
        for (int i = 0; i < SIGNAL_COUNT; i++)
            w->signals |= d->arm[k].signals[i] != 0;
        l->n_signals++;
    }
}

static int readable(const struct story *l, const struct store_turn *row,
                    const struct store_blob *blob, struct decision *d, struct err *e)
{
    struct err why = {0};
    if (decision_decode(blob->data, blob->size, d, &why) == 0)
        return 0;
    return err_usage(e, "%s: turn %lld: %s; leave this campaign out", l->camp->out,
                     (long long)row->id, why.msg);
}

static int decide(struct walk *w, const struct store_turn *row, const struct store_blob *blob,
                  struct err *e)
{
    struct story *l = w->l;
    struct decision d;
    int rc = complete_until(w, row->id, e);
    if (rc == 0)
        rc = readable(l, row, blob, &d, e);
    if (rc < 0)
        return rc;
    if (d.n_arms != l->arms || row->arm < 0 || row->arm >= l->arms)
        return err_set(e, -EBADMSG, "%s: the decision of turn %lld does not belong to it",
                       l->camp->out, (long long)row->id);
    XGROW(l->choices, l->n_choices, l->cap_choices);
    l->choices[l->n_choices++] = (struct story_choice){.id = row->id,
                                                       .now_ns = d.now_ns,
                                                       .worker = d.worker,
                                                       .choice = row->arm,
                                                       .dropped = d.dropped,
                                                       .completed = l->n_turns};
    keep_signals(w, &d);
    return 0;
}

static int walk_all(struct walk *w, struct err *e)
{
    struct store_turns *turns = NULL;
    struct store_turn row;
    struct store_blob blob;
    int rc = store_turns_open(&w->done, w->s, TURNS_BY_ROUND, 0, e);
    if (rc == 0)
        rc = read_next(w, e);
    if (rc == 0)
        rc = store_turns_open(&turns, w->s, TURNS_BY_ID, 0, e);
    while (rc == 0 && (rc = store_turns_next(turns, &row, &blob, e)) > 0)
        rc = decide(w, &row, &blob, e);
    if (rc == 0)
        rc = complete_until(w, INT64_MAX, e);
    store_turns_close(turns);
    store_turns_close(w->done);
    return rc;
}

static int check(const struct walk *w, struct err *e)
{
    const struct story *l = w->l;
    if (!l->n_choices)
        return err_usage(e, "%s has no decisions yet: leave it out", l->camp->out);
    if (!l->n_turns)
        return err_usage(e, "%s has no completed turns yet: leave it out", l->camp->out);
    if (!w->signals)
        return err_usage(e, "%s: its journal has no contexts, every signal is 0; leave it out",
                         l->camp->out);
    return 0;
}

int story_load(struct story *l, const struct camp *c, struct err *e)
{
    *l = (struct story){.camp = c, .arms = c->arms};
    struct walk *w = xcalloc(1, sizeof *w);
    w->l = l;
    int rc = store_open(&w->s, c->out, STORE_READ_JOURNAL, e);
    if (rc == 0)
        rc = walk_all(w, e);
    if (rc == 0)
        rc = check(w, e);
    store_close(w->s);
    free(w);
    return rc;
}

void story_free(struct story *l)
{
    free(l->turns);
    free(l->choices);
    free(l->signals);
    free(l->x);
    *l = (struct story){0};
}

const double *story_x(const struct story *l, const struct story_turn *t)
{
    return l->x[t->choice * (size_t)l->arms + (size_t)t->arm];
}

int story_able(const struct story *l, const struct story_choice *c)
{
    int n = 0;
    for (int k = 0; k < l->arms; k++)
        n += !(c->dropped >> k & 1);
    return n;
}

/* --- another scheduler along it ----------------------------------------------------------------------- */

static void ask(const struct story *l, size_t choice, struct sched *s, struct decision *d)
{
    const struct story_choice *c = &l->choices[choice];
    decision_ask(d, l->arms, (uint64_t)c->id, c->worker, c->now_ns, c->dropped);
    for (int k = 0; k < l->arms; k++)
        memcpy(d->arm[k].signals, l->signals[choice * (size_t)l->arms + (size_t)k],
               sizeof d->arm[k].signals);
    sched_tick(s, c->now_ns, NULL);
    sched_pick(s, d);
}

/* open: answers whose turns are not completed, by choice. */
static void learn(const struct story *l, struct sched *s, size_t turn, struct decision **open)
{
    const struct story_turn *t = &l->turns[turn];
    struct decision *d = open[t->choice];
    sched_tick(s, t->end_ns, NULL);
    sched_learn(s, d,
                &(struct sched_outcome){.now_ns = t->end_ns,
                                        .cost_ns = t->cost_ns,
                                        .reward = t->reward,
                                        .new_edges = t->new_edges,
                                        .crashes = t->crashes,
                                        .died = t->died});
    free(d);
    open[t->choice] = NULL;
}

int story_replay(const struct story *l, const char *const *arms, const struct story_ask *a,
                 struct err *e)
{
    struct sched *s;
    int rc = sched_new(&s, a->scheduler,
                       &(struct sched_settings){.n_arms = l->arms,
                                                .arms = arms,
                                                .workers = l->camp->workers,
                                                .seed = l->camp->seed,
                                                .turn_ns = l->camp->turn_ns,
                                                .params = a->params},
                       e);
    if (rc < 0)
        return rc;
    struct decision **open = xcalloc(l->n_choices, sizeof *open);
    size_t done = 0;
    for (size_t i = 0; i < l->n_choices; i++) {
        for (; done < l->choices[i].completed; done++)
            learn(l, s, done, open);
        open[i] = xmalloc(sizeof **open);
        ask(l, i, s, open[i]);
        a->decided(a->arg, i, s, open[i]);
        open[i]->choice = l->choices[i].choice; /* what ran, with the features of this scheduler */
    }
    for (size_t i = 0; i < l->n_choices; i++)
        free(open[i]);
    free(open);
    sched_free(s);
    return 0;
}
