/* plateau: what do the signals do in the stretch before a bug is triggered first, and do they do it at the same time in
 * campaigns that do not trigger it then?  The paper has the first half of the question only. */
#include "analyze/analyze.h"
#include "analyze/first.h"
#include "base/die.h"
#include "stats/holm.h"
#include "stats/paired.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PARTS 16 /* the paper's 90 minutes of a day */
#define MOVED 1.0

/* The signals of one campaign in the window before one event, means over fuzzers. */
struct window {
    bool seen; /* the campaign has decisions before and at the end of it */
    double moved[SIGNAL_COUNT], change[SIGNAL_COUNT], level[SIGNAL_COUNT];
};

/* A first trigger. */
struct event {
    size_t camp, target;
    const char *bug;
    int64_t at_ns;
    bool everywhere; /* every campaign of the target triggers that bug */
    struct window own;
    double others, moved[SIGNAL_COUNT], change[SIGNAL_COUNT]; /* the base: how many, and sums */
};

struct events {
    const struct study *s;
    struct firsts firsts;
    struct event *v;
    size_t n;
};

/* --- events ------------------------------------------------------------------------------------------------ */

static size_t known_campaigns(const struct events *x, size_t target)
{
    size_t n = 0;
    for (size_t c = 0; c < x->s->n; c++)
        n += x->s->camps[c].target == target && x->firsts.trials[c].known;
    return n;
}

static void note_everywhere(struct events *x)
{
    for (size_t i = 0; i < x->n; i++) {
        size_t same = 0;
        for (size_t k = 0; k < x->n; k++)
            same += x->v[k].target == x->v[i].target && strcmp(x->v[k].bug, x->v[i].bug) == 0;
        x->v[i].everywhere = same == known_campaigns(x, x->v[i].target);
    }
}

static int gather(struct events *x, struct err *e)
{
    int rc = firsts_study(&x->firsts, x->s, e);
    if (rc < 0)
        return rc;
    if (!x->firsts.n)
        return err_usage(
            e,
            "no first triggers in these %zu campaigns. A record has crashes, but does not know "
            "which bug each is: "
            "campaigns of 'carol bench run --keep-journals' do, and those that 'carol triage' "
            "looked at",
            x->s->n);
    x->n = x->firsts.n;
    x->v = xcalloc(x->n, sizeof *x->v);
    for (size_t i = 0; i < x->n; i++) {
        const struct first_trigger *t = &x->firsts.v[i];
        x->v[i] = (struct event){.camp = t->trial,
                                 .target = t->target,
                                 .bug = t->bug,
                                 .at_ns = (int64_t)(t->at_s * 1e9)};
    }
    note_everywhere(x);
    return 0;
}

/* --- signals ----------------------------------------------------------------------------------------------- */

/* The last decision at or before a moment; -1: none. */
static long last_before(const struct story *l, int64_t at_ns)
{
    long low = -1, high = (long)l->n_choices - 1;
    while (low < high) {
        long middle = low + (high - low + 1) / 2;
        if (l->choices[middle].now_ns <= at_ns)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Mean and standard deviation of a fuzzer's signal over all decisions. */
static void spread(const struct story *l, int arm, int signal, double *mean, double *sd)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < l->n_choices; i++)
        sum += l->signals[i * (size_t)l->arms + (size_t)arm][signal];
    *mean = sum / (double)l->n_choices;
    for (size_t i = 0; i < l->n_choices; i++) {
        double off = l->signals[i * (size_t)l->arms + (size_t)arm][signal] - *mean;
        squares += off * off;
    }
    *sd = l->n_choices > 1 ? sqrt(squares / (double)(l->n_choices - 1)) : 0;
}

static void look(const struct story *l, const struct event *v, const double *mean, const double *sd,
                 struct window *w)
{
    int64_t length = l->camp->elapsed_ns / PARTS;
    long from = last_before(l, v->at_ns - length), to = last_before(l, v->at_ns);
    w->seen = from >= 0 && to > from && v->at_ns <= l->camp->elapsed_ns;
    for (int k = 0; w->seen && k < l->arms * SIGNAL_COUNT; k++) {
        int arm = k / SIGNAL_COUNT, i = k % SIGNAL_COUNT;
        double a = l->signals[(size_t)from * (size_t)l->arms + (size_t)arm][i];
        double b = l->signals[(size_t)to * (size_t)l->arms + (size_t)arm][i];
        double change = sd[k] > 1e-6 ? (b - a) / sd[k] : 0;
        w->moved[i] += (fabs(change) > MOVED) / (double)l->arms;
        w->change[i] += change / l->arms;
        w->level[i] += (sd[k] > 1e-6 ? (b - mean[k]) / sd[k] : 0) / l->arms;
    }
}

/* result: a window per event. */
static int measure(void *arg, const struct story *l, size_t camp, void *result, struct err *e)
{
    const struct events *x = arg;
    struct window *w = result;
    double *mean = xcalloc(2 * (size_t)l->arms * SIGNAL_COUNT, sizeof *mean);
    double *sd = mean + l->arms * SIGNAL_COUNT;
    (void)camp;
    (void)e;
    for (int k = 0; k < l->arms * SIGNAL_COUNT; k++)
        spread(l, k / SIGNAL_COUNT, k % SIGNAL_COUNT, &mean[k], &sd[k]);
    for (size_t i = 0; i < x->n; i++)
        if (x->v[i].target == l->camp->target)
            look(l, &x->v[i], mean, sd, &w[i]);
    free(mean);
    return 0;
}

/* --- the comparison ---------------------------------------------------------------------------------------- */

/* Does campaign c trigger the bug of the event in the window before that moment? */
static bool triggers_too(const struct events *x, size_t c, const struct event *v)
{
    int64_t length = x->s->camps[c].elapsed_ns / PARTS;
    for (size_t i = 0; i < x->n; i++)
        if (x->v[i].camp == c && strcmp(x->v[i].bug, v->bug) == 0 &&
            x->v[i].at_ns > v->at_ns - length && x->v[i].at_ns <= v->at_ns)
            return true;
    return false;
}

/* One campaign's windows: its own triggers keep them, those of the target's other campaigns compare with them unless the
 * campaign triggers the bug then, too. */
static void take(struct events *x, size_t camp, const struct window *w)
{
    for (size_t i = 0; i < x->n; i++) {
        struct event *v = &x->v[i];
        if (v->camp == camp) {
            v->own = w[i];
        } else if (x->s->camps[camp].target == v->target && w[i].seen &&
                   x->firsts.trials[camp].known && !triggers_too(x, camp, v)) {
            v->others++;
            for (int k = 0; k < SIGNAL_COUNT; k++) {
                v->moved[k] += w[i].moved[k];
                v->change[k] += w[i].change[k];
            }
        }
    }
}

/* A few campaigns at a time, so that memory does not grow with the square of their number. */
static int look_at_all(struct events *x, struct err *e)
{
    size_t some = 2 * (size_t)x->s->processes;
    struct window *w = NULL;
    int rc = 0;
    for (size_t from = 0; rc == 0 && from < x->s->n; from += some) {
        struct study part = *x->s;
        part.camps += from;
        part.n = x->s->n - from < some ? x->s->n - from : some;
        free(w);
        w = xcalloc(part.n * x->n, sizeof *w);
        rc = study_each(&part, x->n * sizeof *w, measure, x, w, e);
        for (size_t c = 0; rc == 0 && c < part.n; c++)
            take(x, from + c, &w[c * x->n]);
    }
    free(w);
    return rc;
}

struct row {
    size_t n, matched;
    double moved, change, level; /* before a trigger */
    double base_moved, base_change;
    double p, p_holm;
};

static void fill(const struct events *x, bool differing, int signal, struct row *r)
{
    double *d = xcalloc(x->n, sizeof *d);
    *r = (struct row){.p = NAN};
    for (size_t i = 0; i < x->n; i++) {
        const struct event *v = &x->v[i];
        const struct window *own = &v->own;
        if ((differing && v->everywhere) || !own->seen)
            continue;
        r->n++;
        r->moved += own->moved[signal];
        r->change += own->change[signal];
        r->level += own->level[signal];
        if (!(v->others > 0))
            continue;
        r->base_moved += v->moved[signal] / v->others;
        r->base_change += v->change[signal] / v->others;
        d[r->matched++] = own->moved[signal] - v->moved[signal] / v->others;
    }
    if (r->matched) {
        struct wilcoxon w;
        stats_wilcoxon(d, r->matched, &w);
        r->p = w.p;
    }
    free(d);
}

static void put_rows(const struct events *x, bool differing, struct grid *g)
{
    struct row rows[SIGNAL_COUNT];
    for (int i = 0; i < SIGNAL_COUNT; i++)
        fill(x, differing, i, &rows[i]);
    stats_holm_fields(&rows->p, &rows->p_holm, SIGNAL_COUNT, sizeof *rows);
    for (int i = 0; i < SIGNAL_COUNT && rows[i].n; i++) {
        const struct row *r = &rows[i];
        double n = (double)r->n, m = (double)r->matched;
        grid_text(g, "%s", differing ? "not in every campaign" : "all");
        grid_text(g, "%s", signal_name((enum signal_id)i));
        GRID_NUMBERS(g, n, 100 * r->moved / n, r->change / n, r->level / n, m,
                     m > 0 ? 100 * r->base_moved / m : NAN, m > 0 ? r->base_change / m : NAN, r->p,
                     r->p_holm);
    }
}

static int put(const struct events *x, struct grids *out, struct err *e)
{
    static const struct grid_column columns[] = {
        {"bugs", GRID_TEXT}, {"signal", GRID_TEXT}, {"triggers", GRID_COUNT}, {"moved_pct", 1},
        {"change", 2},       {"level", 2},          {"matched", GRID_COUNT},  {"base_moved_pct", 1},
        {"base_change", 2},  {"p", GRID_P},         {"p_holm", GRID_P}};
    struct grid *g =
        grid_add(out, "plateau", GRID_COLUMNS(columns),
                 "signals in the sixteenth of a campaign before a bug's first trigger");
    g->drawn = "moved_pct";
    put_rows(x, false, g);
    put_rows(x, true, g);
    if (!grid_rows(g))
        return err_usage(e, "too little data: every first trigger comes before a sixteenth of its "
                            "campaign is over, so there is no window before it");
    grid_note(g, "triggers: first triggers with a whole window before them; moved %%: (trigger, "
                 "fuzzer) windows across which the signal changes by more than one "
                 "standard deviation of that fuzzer's signal in that campaign; change, level: "
                 "means in standard deviations, level at the trigger");
    grid_note(g, "base: the same window of time in the target's other campaigns that do not "
                 "trigger the bug in it; matched: triggers that have such campaigns; "
                 "p: Wilcoxon signed ranks of moved less base, two-sided, a value per matched "
                 "trigger; p holm: Holm over the 15 signals; triggers of one campaign share its "
                 "signals, so p is too small: read it as an order, not as a proof");
    size_t benched = 0;
    for (size_t c = 0; c < x->s->n; c++)
        benched += x->s->camps[c].result != NULL;
    if (benched)
        grid_note(g, "a trigger's time is by the clock of the benchmark, which starts a few "
                     "seconds before campaign time");
    return 0;
}

int analyze_plateau(const struct study *s, struct grids *out, struct err *e)
{
    struct events x = {.s = s};
    int rc = gather(&x, e);
    if (rc == 0)
        rc = look_at_all(&x, e);
    if (rc == 0)
        rc = put(&x, out, e);
    if (rc == 0) {
        size_t without = 0;
        for (size_t c = 0; c < s->n; c++)
            without += !x.firsts.trials[c].known;
        if (without)
            grids_note(out,
                       "%zu of %zu campaigns have neither a result.json nor defects: no triggers "
                       "of theirs are known, and they are left out",
                       without, s->n);
    }
    free(x.v);
    firsts_free(&x.firsts);
    return rc;
}
