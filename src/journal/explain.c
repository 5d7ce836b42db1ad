/* explain: reads the journal and asks the schedulers; prints nothing. */
#include "journal/explain.h"

#include "journal/replay.h"

#include <errno.h>
#include <string.h>

/* --- one decision ------------------------------------------------------------------------------ */
int explain_turn(struct explained *x, struct store *s, int64_t turn, struct err *e)
{
    struct store_turns *turns;
    struct store_totals totals;
    struct store_blob decision;
    x->asked = false;
    int rc = store_turns_open(&turns, s, TURNS_BY_ID, turn - 1, e);
    if (rc == 0)
        rc = store_turns_next(turns, &x->row, &decision, e);
    bool found = rc > 0 && x->row.id == turn;
    if (found)
        rc = decision_decode(decision.data, decision.size, &x->d, e);
    store_turns_close(turns);
    if (rc < 0 || found)
        return rc;
    if ((rc = store_totals(s, &totals, e)) < 0)
        return rc;
    if (!totals.decisions)
        return err_usage(e, "there is no turn %lld: no decision has been made yet",
                         (long long)turn);
    return err_usage(e, "there is no turn %lld: the campaign has turns 1 to %lld", (long long)turn,
                     (long long)totals.decisions);
}

static void ask_signals(const struct replay_step *step, int without[SIGNAL_COUNT])
{
    for (int k = 0; k < SIGNAL_COUNT; k++)
        without[k] = sched_without(step->r->fold.sched, step->computed, (enum signal_id)k);
}

static void ask_at_turn(void *arg, const struct replay_step *step)
{
    struct explained *x = arg;
    if (step->row->id != x->row.id)
        return;
    x->asked = sched_reads_signals(step->r->fold.sched);
    ask_signals(step, x->without);
}

int explain_without(struct explained *x, struct store *s, const struct fold_settings *st,
                    struct err *e)
{
    struct replay r;
    int rc = replay_journal(&r, s, st, &(struct replay_how){.decided = ask_at_turn, .arg = x}, e);
    replay_free(&r);
    return rc;
}

/* The arm with the highest draw beside the chosen one; -1: there was no other. */
static int runner_up(const struct decision *d)
{
    int best = -1;
    for (int i = 0; i < d->n_arms; i++)
        if (i != d->choice && decision_may(d, i) &&
            (best < 0 || d->arm[i].draw > d->arm[best].draw))
            best = i;
    return best;
}

static void by_numbers(const struct sched_ops *ops, const struct decision *d,
                       const char *const *arms, struct buf *out)
{
    int next = runner_up(d), len = (int)strcspn(ops->name, ":"); /* of "single:" the word */
    const char *name = arms[d->choice];
    if (next < 0)
        buf_printf(out, "%s was the only fuzzer that could run", name);
    else if (!ops->columns[3])
        buf_printf(out, "%.*s: %s; no prediction is made", len, ops->name, ops->summary);
    else if (d->arm[d->choice].draw > d->arm[next].draw)
        buf_printf(out, "%s has the highest %s, %.4g; next is %s with %.4g", name, ops->columns[3],
                   d->arm[d->choice].draw, arms[next], d->arm[next].draw);
    else
        buf_printf(out, "%.*s: %s; %s (%s %.4g) was not chosen for the highest one", len, ops->name,
                   ops->summary, name, ops->columns[3], d->arm[d->choice].draw);
}

void explain_why(const struct sched_ops *ops, const struct decision *d, const char *const *arms,
                 struct buf *out)
{
    size_t before = out->len;
    if (d->choice < 0)
        buf_str(out, "no fuzzer was left that it may choose");
    else if (ops->why)
        ops->why(d, arms, out);
    if (out->len == before)
        by_numbers(ops, d, arms, out);
}

/* --- the campaign ------------------------------------------------------------------------------ */
bool explain_explored(const struct decision *d)
{
    for (int i = 0; i < d->n_arms; i++)
        if (decision_may(d, i) && d->arm[i].mean > d->arm[d->choice].mean)
            return true;
    return false;
}

static void ask(void *arg, const struct replay_step *step)
{
    struct influence *f = arg;
    const struct decision *d = step->computed;
    int without[SIGNAL_COUNT];
    f->decisions++;
    if (d->choice < 0)
        return;
    f->choices[d->choice]++;
    if (sched_is_warmup(step->r->fold.sched->ops, d)) {
        f->warmup++;
        return;
    }
    f->explored += f->predicts && explain_explored(d);
    ask_signals(step, without);
    for (int k = 0; k < SIGNAL_COUNT; k++)
        f->changed[k] += without[k] != d->choice;
}

int explain_campaign(struct influence *f, struct store *s, const struct fold_settings *st,
                     int64_t until_ns, struct err *e)
{
    const struct sched_ops *ops = sched_find(st->scheduler);
    *f = (struct influence){0};
    if (ops) /* else the replay says so */
        f->predicts = ops->predicts;
    struct replay r;
    int rc = replay_journal(
        &r, s, st, &(struct replay_how){.until_ns = until_ns, .decided = ask, .arg = f}, e);
    if (rc == 0)
        f->signals = sched_reads_signals(r.fold.sched);
    replay_free(&r);
    return rc;
}

double influence_share(const struct influence *f, uint64_t part)
{
    uint64_t compared = f->decisions - f->warmup;
    return compared ? (double)part / (double)compared : 0;
}

double influence_chosen(const struct influence *f, int arm)
{
    return f->decisions ? (double)f->choices[arm] / (double)f->decisions : 0;
}

void influence_order(const struct influence *f, int order[SIGNAL_COUNT])
{
    for (int i = 0; i < SIGNAL_COUNT; i++) {
        int at = i;
        for (; at > 0 && f->changed[order[at - 1]] < f->changed[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}
