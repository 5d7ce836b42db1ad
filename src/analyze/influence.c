/* influence: which signals move the choices?  The share of decisions whose choice changes when a signal is replaced by its
 * mean, everything else, the draw too, as it was (METHOD R80). */
#include "analyze/analyze.h"
#include "base/die.h"
#include "stats/trend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HALVES = 2 };

struct answer {
    bool own;         /* the campaign's own scheduler was asked */
    uint64_t differs; /* it was, and some choice did not come out as logged */
    uint64_t warmup, compared[HALVES];
    uint64_t changed[HALVES][SIGNAL_COUNT];
};

struct asking {
    const struct story *l;
    struct answer *a;
};

static void count(void *arg, size_t choice, const struct sched *s, const struct decision *d)
{
    const struct asking *q = arg;
    int half = 2 * choice >= q->l->n_choices;
    q->a->differs += q->a->own && d->choice != q->l->choices[choice].choice;
    if (d->choice < 0)
        return;
    if (sched_is_warmup(s->ops, d)) {
        q->a->warmup++;
        return;
    }
    q->a->compared[half]++;
    for (int k = 0; k < SIGNAL_COUNT; k++)
        q->a->changed[half][k] += sched_without(s, d, (enum signal_id)k) != d->choice;
}

/* Does the campaign's own scheduler, with its options, look at signals? */
static bool reads_signals(const struct study *s, const struct camp *c)
{
    struct sched *made = NULL;
    const struct sched_settings st = {.n_arms = c->arms,
                                      .arms = (const char *const *)s->fuzzers.v,
                                      .workers = c->workers,
                                      .seed = c->seed,
                                      .turn_ns = c->turn_ns,
                                      .params = c->params};
    const struct sched_ops *ops = sched_find(c->scheduler);
    if (!ops || !ops->without || sched_new(&made, c->scheduler, &st, NULL) < 0)
        return false;
    bool reads = sched_reads_signals(made);
    sched_free(made);
    return reads;
}

static int ask(void *arg, const struct story *l, size_t camp, void *result, struct err *e)
{
    const struct study *s = arg;
    struct answer *a = result;
    struct asking q = {l, a};
    (void)camp;
    a->own = reads_signals(s, l->camp);
    return story_replay(l, (const char *const *)s->fuzzers.v,
                        &(struct story_ask){.scheduler = a->own ? l->camp->scheduler : "contextual",
                                            .params = a->own ? l->camp->params : NULL,
                                            .decided = count,
                                            .arg = &q},
                        e);
}

static double share(const struct answer *a, int signal, int from, int to)
{
    uint64_t changed = 0, compared = 0;
    for (int h = from; h < to; h++) {
        changed += a->changed[h][signal];
        compared += a->compared[h];
    }
    return compared ? 100.0 * (double)changed / (double)compared : NAN;
}

/* Mean over campaigns of a target; those of one parity only, or all (-1). */
static double mean_share(const struct study *s, const struct answer *a, size_t target, int signal,
                         int from, int to, int parity)
{
    double sum = 0;
    size_t n = 0, seen = 0;
    for (size_t c = 0; c < s->n; c++) {
        if (s->camps[c].target != target)
            continue;
        double v = share(&a[c], signal, from, to);
        if ((parity < 0 || (int)(seen & 1) == parity) && !isnan(v)) {
            sum += v;
            n++;
        }
        seen++;
    }
    return n ? sum / (double)n : NAN;
}

static void put_signals(const struct study *s, const struct answer *a, struct grids *out)
{
    static const struct grid_column columns[] = {
        {"target", GRID_TEXT},     {"signal", GRID_TEXT}, {"campaigns", GRID_COUNT},
        {"decisions", GRID_COUNT}, {"influence_pct", 2},  {"first_half_pct", 2},
        {"second_half_pct", 2}};
    struct grid *g = grid_add(out, "influence", GRID_COLUMNS(columns),
                              "decisions that change with a signal at its mean");
    g->drawn = "influence_pct";
    for (size_t t = 0; t < s->targets.n; t++) {
        double all[SIGNAL_COUNT];
        bool shown[SIGNAL_COUNT] = {false};
        uint64_t decisions = 0;
        for (size_t c = 0; c < s->n; c++)
            if (s->camps[c].target == t)
                decisions += a[c].compared[0] + a[c].compared[1];
        for (int k = 0; k < SIGNAL_COUNT; k++)
            all[k] = mean_share(s, a, t, k, 0, HALVES, -1);
        for (int i = 0; i < SIGNAL_COUNT; i++) { /* the strongest first */
            int best = -1;
            for (int k = 0; k < SIGNAL_COUNT; k++)
                if (!shown[k] && (best < 0 || all[k] > all[best]))
                    best = k;
            shown[best] = true;
            grid_text(g, "%s", s->targets.v[t]);
            grid_text(g, "%s", signal_name((enum signal_id)best));
            grid_count(g, study_count(s, t));
            grid_count(g, decisions);
            grid_real(g, all[best]);
            grid_real(g, mean_share(s, a, t, best, 0, 1, -1));
            grid_real(g, mean_share(s, a, t, best, 1, 2, -1));
        }
    }
    grid_note(g, "means over campaigns of the share of decisions after the warm-up; no test: this "
                 "describes what "
                 "the scheduler did, not what predicts reward");
}

/* Means of the same shares, added up in another order, differ in their last bits: that is no order. */
#define ALIKE 1e9

static double agreement(double x[SIGNAL_COUNT], double y[SIGNAL_COUNT])
{
    struct kendall k;
    for (int i = 0; i < SIGNAL_COUNT; i++) {
        if (isnan(x[i]) || isnan(y[i]))
            return NAN;
        x[i] = round(x[i] * ALIKE);
        y[i] = round(y[i] * ALIKE);
    }
    stats_kendall(x, y, SIGNAL_COUNT, &k);
    return k.tau;
}

/* Of one campaign, or (camp of SIZE_MAX) of the means of a target. */
static double halves_agree(const struct answer *a)
{
    double x[SIGNAL_COUNT], y[SIGNAL_COUNT];
    for (int k = 0; k < SIGNAL_COUNT; k++) {
        x[k] = share(a, k, 0, 1);
        y[k] = share(a, k, 1, 2);
    }
    return agreement(x, y);
}

static double campaigns_agree(const struct study *s, const struct answer *a, size_t target)
{
    double x[SIGNAL_COUNT], y[SIGNAL_COUNT];
    for (int k = 0; k < SIGNAL_COUNT; k++) {
        x[k] = mean_share(s, a, target, k, 0, HALVES, 0);
        y[k] = mean_share(s, a, target, k, 0, HALVES, 1);
    }
    return agreement(x, y);
}

static void put_stability(const struct study *s, const struct answer *a, struct grids *out)
{
    static const struct grid_column columns[] = {{"target", GRID_TEXT},
                                                 {"campaigns", GRID_COUNT},
                                                 {"tau_campaigns", 3},
                                                 {"tau_halves", 3},
                                                 {"halves", GRID_COUNT}};
    struct grid *g =
        grid_add(out, "stability", GRID_COLUMNS(columns), "does the order of the signals repeat?");
    for (size_t t = 0; t < s->targets.n; t++) {
        double sum = 0;
        size_t n = 0;
        for (size_t c = 0; c < s->n; c++) {
            double tau = s->camps[c].target == t ? halves_agree(&a[c]) : NAN;
            if (!isnan(tau)) {
                sum += tau;
                n++;
            }
        }
        grid_text(g, "%s", s->targets.v[t]);
        grid_count(g, study_count(s, t));
        grid_real(g, campaigns_agree(s, a, t));
        grid_real(g, n ? sum / (double)n : NAN);
        grid_count(g, n);
    }
    grid_note(g, "Kendall's tau-b of the 15 influences: of every other campaign against the rest; "
                 "of the first half of "
                 "a campaign's decisions against the second, mean over those campaigns (halves) in "
                 "which both order the signals");
}

static void put_campaigns(const struct study *s, const struct answer *a, struct grids *out)
{
    static const struct grid_column columns[] = {{"campaign", GRID_TEXT},   {"target", GRID_TEXT},
                                                 {"scheduler", GRID_TEXT},  {"signal", GRID_TEXT},
                                                 {"decisions", GRID_COUNT}, {"changed", GRID_COUNT},
                                                 {"influence_pct", 2}};
    struct grid *g =
        grid_add(out, "campaigns", GRID_COLUMNS(columns), "the same for each campaign");
    g->detail = true;
    for (size_t c = 0; c < s->n; c++)
        for (int k = 0; k < SIGNAL_COUNT; k++) {
            grid_text(g, "%s", s->camps[c].out);
            grid_text(g, "%s", study_target(s, c));
            grid_text(g, "%s", a[c].own ? s->camps[c].scheduler : "contextual, asked afterwards");
            grid_text(g, "%s", signal_name((enum signal_id)k));
            grid_count(g, a[c].compared[0] + a[c].compared[1]);
            grid_count(g, a[c].changed[0][k] + a[c].changed[1][k]);
            grid_real(g, share(&a[c], k, 0, HALVES));
        }
}

int analyze_influence(const struct study *s, struct grids *out, struct err *e)
{
    struct answer *a = xcalloc(s->n, sizeof *a);
    size_t asked = 0, differ = 0;
    int rc = study_each(s, sizeof *a, ask, (void *)s, a, e);
    for (size_t c = 0; c < s->n; c++) {
        asked += !a[c].own;
        differ += a[c].differs > 0;
    }
    if (rc == 0) {
        put_signals(s, a, out);
        put_stability(s, a, out);
        put_campaigns(s, a, out);
        if (asked)
            grids_note(out,
                       "%zu of %zu campaigns ran under a scheduler that reads no signals: "
                       "contextual was asked at "
                       "each of their decisions, learning from what happened",
                       asked, s->n);
        if (differ)
            grids_note(out,
                       "in %zu campaigns not every choice comes out as logged: another version of "
                       "Carol made them",
                       differ);
    }
    free(a);
    return rc;
}
