/* arrival: when is each bug triggered first, by which contender?  From the results of `carol bench run`, or from the defects
 * of campaigns that triage looked at: a record alone does not know which bug an input triggers. */
#include "analyze/analyze.h"
#include "analyze/first.h"
#include "base/die.h"
#include "base/fs.h"
#include "stats/holm.h"
#include "stats/ranks.h"
#include "stats/series.h"
#include "stats/survival.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum kind { EVERYWHERE, MORE, OTHER, KINDS };
static const char *const kinds[KINDS] = {"everywhere", "more often", "other"};

/* One bug under one contender. */
struct times {
    size_t triggered, trials;
    double median;    /* seconds; NaN: less than half triggered it */
    double part;      /* the same in percent of a campaign */
    double p, p_holm; /* log-rank against the reference; Holm over the bugs of the target */
};

struct bug_row {
    size_t target;
    const char *id;
    enum kind kind;
    struct times *by; /* per contender */
};

struct table_of {
    struct firsts f;
    size_t reference;
    struct bug_row *rows;
    size_t n, cap;
};

/* When each trial of a contender triggered the bug; censored where it did not. */
static size_t lifetimes(const struct firsts *f, const struct bug_row *row, size_t contender,
                        struct lifetime *out)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n_trials; i++) {
        const struct trial *t = &f->trials[i];
        if (t->target != row->target || t->contender != contender || !t->known)
            continue;
        out[n] = (struct lifetime){t->length_s, false};
        for (size_t k = 0; k < f->n; k++)
            if (f->v[k].trial == i && strcmp(f->v[k].bug, row->id) == 0)
                out[n] = (struct lifetime){f->v[k].at_s, true};
        n++;
    }
    return n;
}

/* Of one target and contender: how long a trial is. */
static double length_of(const struct firsts *f, size_t target, size_t contender)
{
    double length = NAN;
    for (size_t i = 0; i < f->n_trials; i++)
        if (f->trials[i].target == target && f->trials[i].contender == contender)
            length = fmax(isnan(length) ? 0 : length, f->trials[i].length_s);
    return length;
}

/* Log-rank's p comes from a normal approximation, which can be smaller than any order of few campaigns deserves: of n + m
 * campaigns the most extreme order has 2 / C(n + m, n). */
static bool could_differ(size_t n, size_t m)
{
    double orders = 1;
    for (size_t i = 1; i <= m; i++)
        orders *= (double)(n + i) / (double)i;
    return n && m && 2 / orders < 0.05;
}

static void time_bug(const struct table_of *t, const struct bug_row *row, size_t contender,
                     struct lifetime *room)
{
    struct times *c = &row->by[contender];
    struct lifetime *other = room + t->f.n_trials;
    struct logrank lr;
    struct km km;
    size_t n = lifetimes(&t->f, row, contender, room);
    size_t m = lifetimes(&t->f, row, t->reference, other);
    *c = (struct times){.trials = n, .median = NAN, .part = NAN, .p = NAN, .p_holm = NAN};
    if (!n)
        return;
    for (size_t i = 0; i < n; i++)
        c->triggered += room[i].event;
    stats_km(room, n, &km);
    c->median = stats_km_median(&km);
    c->part = 100 * c->median / length_of(&t->f, row->target, contender);
    km_free(&km);
    if (contender == t->reference || !could_differ(n, m))
        return;
    stats_logrank(other, m, room, n, &lr);
    c->p = lr.p;
}

/* Every campaign of every contender triggers it; or the reference does in a larger part of its campaigns than each other;
 * or neither. */
static enum kind kind_of(const struct table_of *t, const struct bug_row *row)
{
    const struct times *ours = &row->by[t->reference];
    bool all = true, more = ours->trials > 0;
    for (size_t k = 0; k < t->f.contenders.n; k++) {
        const struct times *c = &row->by[k];
        if (!c->trials)
            continue;
        all &= c->triggered == c->trials;
        more &= k == t->reference || ours->triggered * c->trials > c->triggered * ours->trials;
    }
    return all ? EVERYWHERE : more ? MORE : OTHER;
}

static bool is_new(const struct table_of *t, const struct first_trigger *v)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->rows[i].target == v->target && strcmp(t->rows[i].id, v->bug) == 0)
            return false;
    return true;
}

static int by_target_and_name(const void *a, const void *b)
{
    const struct bug_row *x = a, *y = b;
    return x->target != y->target ? (x->target < y->target ? -1 : 1) : strcmp(x->id, y->id);
}

/* Every bug that some trial triggers. */
static void gather(struct table_of *t)
{
    struct lifetime *room = xcalloc(2 * t->f.n_trials, sizeof *room);
    for (size_t i = 0; i < t->f.n; i++) {
        if (!is_new(t, &t->f.v[i]))
            continue;
        struct bug_row row = {.target = t->f.v[i].target, .id = t->f.v[i].bug};
        row.by = xcalloc(t->f.contenders.n, sizeof *row.by);
        for (size_t k = 0; k < t->f.contenders.n; k++)
            time_bug(t, &row, k, room);
        row.kind = kind_of(t, &row);
        XGROW(t->rows, t->n, t->cap);
        t->rows[t->n++] = row;
    }
    if (t->n)
        qsort(t->rows, t->n, sizeof *t->rows, by_target_and_name);
    free(room);
}

/* Holm over the bugs of a target, for each contender. */
static void correct(struct table_of *t)
{
    double *p = xcalloc(2 * t->n + 1, sizeof *p), *adjusted = p + t->n;
    for (size_t target = 0; target < t->f.targets.n; target++)
        for (size_t k = 0; k < t->f.contenders.n; k++) {
            for (size_t i = 0; i < t->n; i++)
                p[i] = t->rows[i].target == target ? t->rows[i].by[k].p : NAN;
            stats_holm_fields(p, adjusted, t->n, sizeof *p);
            for (size_t i = 0; i < t->n; i++)
                if (t->rows[i].target == target)
                    t->rows[i].by[k].p_holm = adjusted[i];
        }
    free(p);
}

static void put_bugs(const struct table_of *t, struct grids *out)
{
    static const struct grid_column columns[] = {
        {"target", GRID_TEXT},    {"bug", GRID_TEXT},        {"kind", GRID_TEXT},
        {"contender", GRID_TEXT}, {"campaigns", GRID_COUNT}, {"triggered", GRID_COUNT},
        {"median_s", 1},          {"campaign_pct", 1},       {"p", GRID_P},
        {"p_holm", GRID_P}};
    struct grid *g = grid_add(out, "arrival", GRID_COLUMNS(columns),
                              "%s to the first trigger of each bug", t->f.clock);
    g->drawn = "campaign_pct";
    for (size_t i = 0; i < t->n; i++)
        for (size_t k = 0; k < t->f.contenders.n; k++) {
            const struct times *c = &t->rows[i].by[k];
            if (!c->trials)
                continue;
            grid_text(g, "%s", t->f.targets.v[t->rows[i].target]);
            grid_text(g, "%s", t->rows[i].id);
            grid_text(g, "%s", kinds[t->rows[i].kind]);
            grid_text(g, "%s", t->f.contenders.v[k]);
            GRID_NUMBERS(g, (double)c->trials, (double)c->triggered, c->median, c->part, c->p,
                         c->p_holm);
        }
    grid_note(g,
              "median: Kaplan-Meier, a dash when fewer than half of the campaigns trigger it; p: "
              "log-rank against %s, two-sided, a dash when no result of so few campaigns could be "
              "significant; p holm: Holm over the bugs of the target",
              t->f.contenders.v[t->reference]);
    grid_note(g,
              "everywhere: every campaign of every contender triggers it; more often: %s does, in "
              "a larger part of its campaigns than each other contender; bugs that nobody triggers "
              "are left out",
              t->f.contenders.v[t->reference]);
}

static void put_summary(const struct table_of *t, struct grids *out)
{
    static const struct grid_column columns[] = {{"kind", GRID_TEXT},
                                                 {"contender", GRID_TEXT},
                                                 {"bugs", GRID_COUNT},
                                                 {"medians", GRID_COUNT},
                                                 {"earliest_pct", 1},
                                                 {"middle_pct", 1},
                                                 {"latest_pct", 1},
                                                 {"after_first_quarter", GRID_COUNT},
                                                 {"in_last_quarter", GRID_COUNT}};
    struct grid *g = grid_add(out, "early_late", GRID_COLUMNS(columns),
                              "when bugs arrive, in percent of a campaign");
    double *v = xcalloc(t->n + 1, sizeof *v);
    for (enum kind kind = EVERYWHERE; kind < KINDS; kind++)
        for (size_t k = 0; k < t->f.contenders.n; k++) {
            size_t bugs = 0, n = 0, late = 0, last = 0;
            for (size_t i = 0; i < t->n; i++) {
                const struct times *c = &t->rows[i].by[k];
                double at = c->part;
                if (t->rows[i].kind != kind || !c->trials)
                    continue;
                bugs++;
                late += at > 25;
                last += at > 75;
                if (!isnan(at))
                    v[n++] = at;
            }
            qsort(v, n, sizeof *v, ranks_order);
            grid_text(g, "%s", kinds[kind]);
            grid_text(g, "%s", t->f.contenders.v[k]);
            GRID_NUMBERS(g, (double)bugs, (double)n, n ? v[0] : NAN,
                         n ? stats_quantile(v, n, 0.5) : NAN, n ? v[n - 1] : NAN, (double)late,
                         (double)last);
        }
    free(v);
    grid_note(g, "medians: bugs whose median falls within a campaign; earliest, middle, latest: of "
                 "those medians; no test: the table above has them");
}

static bool is_bench(const char *dir)
{
    char *trials = fs_join(dir, "campaigns");
    bool yes = fs_is_dir(trials);
    free(trials);
    return yes;
}

/* From one directory of `carol bench run`, or from the defects of campaigns. */
static int load(struct firsts *f, const struct strv *outs, const struct strv *only, struct err *e)
{
    if (outs->n == 1 && is_bench(outs->v[0]))
        return firsts_bench(f, outs->v[0], only, e);
    for (size_t i = 0; i < outs->n; i++)
        if (is_bench(outs->v[i]))
            return err_usage(e,
                             "%s is a directory of 'carol bench run': give that one alone, or run "
                             "all suites into one directory",
                             outs->v[i]);
    struct study s = {.only = only};
    int rc = study_open(&s, outs, e);
    if (rc == 0)
        rc = firsts_study(f, &s, e);
    study_free(&s);
    return rc;
}

static int check(const struct firsts *f, struct err *e)
{
    if (f->n)
        return 0;
    return err_usage(
        e,
        "no first triggers in these %zu campaigns. A record has crashes, but does not know which "
        "bug each is: give "
        "the directory of a 'carol bench run', or look at the crashes first: carol triage OUT",
        f->n_trials);
}

int analyze_arrival(const struct strv *outs, const struct strv *only, struct grids *out,
                    struct err *e)
{
    struct table_of t = {0};
    const char *reference = only->n ? only->v[0] : "contextual";
    int rc = load(&t.f, outs, only, e);
    if (rc == 0)
        rc = check(&t.f, e);
    if (rc == 0) {
        for (size_t k = 0; k < t.f.contenders.n; k++)
            if (strcmp(t.f.contenders.v[k], reference) == 0)
                t.reference = k;
        gather(&t);
        correct(&t);
        put_bugs(&t, out);
        put_summary(&t, out);
        out->campaigns = t.f.n_trials;
        for (size_t i = 0; i < t.f.targets.n; i++)
            strv_add(&out->targets, t.f.targets.v[i]);
    }
    for (size_t i = 0; i < t.n; i++)
        free(t.rows[i].by);
    free(t.rows);
    firsts_free(&t.f);
    return rc;
}
