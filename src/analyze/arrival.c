/* arrival: when is each bug triggered first, by which contender?  From the results of `carol bench run`; a campaign's own
 * record does not know which bug an input triggers. */
#include "analyze/analyze.h"
#include "base/die.h"
#include "base/fs.h"
#include "bench/outcome.h"
#include "stats/holm.h"
#include "stats/ranks.h"
#include "stats/series.h"
#include "stats/survival.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum kind { NEVER, EVERYWHERE, DIFFERING };
static const char *const kinds[] = {"never", "everywhere", "differing"};

/* One bug under one contender. */
struct times {
    size_t triggered, trials;
    double median;    /* CPU seconds; NaN: less than half triggered it */
    double p, p_holm; /* log-rank against the reference; Holm over the bugs of the target */
};

struct bug_row {
    size_t target;
    const char *id;
    enum kind kind;
    struct times *by; /* per contender */
};

struct table_of {
    struct outcome o;
    size_t reference;
    struct bug_row *rows;
    size_t n, cap;
};

static const struct bug_result *find_bug(const struct result *r, const char *id)
{
    for (size_t i = 0; i < r->n_bugs; i++)
        if (strcmp(r->bugs[i].id, id) == 0)
            return &r->bugs[i];
    return NULL;
}

/* When each campaign of a contender triggered the bug; censored where it did not. */
static size_t lifetimes(const struct outcome *o, size_t target, size_t contender, const char *id,
                        struct lifetime *out)
{
    size_t n = 0;
    for (size_t i = 0; i < o->n; i++) {
        const struct result *r = &o->results[i];
        const struct bug_result *b = find_bug(r, id);
        if (!b || strcmp(r->target, o->targets.v[target]) != 0 ||
            strcmp(r->contender, o->contenders.v[contender]) != 0)
            continue;
        bool did = b->triggered.exec > 0;
        out[n++] = (struct lifetime){did ? b->triggered.cpu_s : r->budget_s, did};
    }
    return n;
}

static void compare(const struct table_of *t, const struct bug_row *row, size_t contender,
                    struct lifetime *room)
{
    struct times *c = &row->by[contender];
    struct lifetime *other = room + t->o.n;
    struct logrank lr;
    size_t n = lifetimes(&t->o, row->target, contender, row->id, room);
    size_t m = lifetimes(&t->o, row->target, t->reference, row->id, other);
    c->p = NAN;
    if (contender == t->reference || !n || !m)
        return;
    stats_logrank(other, m, room, n, &lr);
    c->p = lr.p;
}

static enum kind kind_of(const struct table_of *t, const struct bug_row *row)
{
    bool all = true, any = false, same = true;
    const struct times *first = NULL;
    for (size_t k = 0; k < t->o.contenders.n; k++) {
        const struct times *c = &row->by[k];
        if (!c->trials)
            continue;
        all &= c->triggered == c->trials;
        any |= c->triggered > 0;
        same &= !first || c->triggered * first->trials == first->triggered * c->trials;
        first = first ? first : c;
    }
    return !any ? NEVER : all ? EVERYWHERE : same && t->o.contenders.n > 1 ? EVERYWHERE : DIFFERING;
}

static void add_bug(struct table_of *t, size_t target, const char *id, struct lifetime *room)
{
    struct bug_row row = {.target = target, .id = id};
    row.by = xcalloc(t->o.contenders.n, sizeof *row.by);
    for (size_t k = 0; k < t->o.contenders.n; k++) {
        row.by[k].median =
            outcome_bug_median(&t->o, target, k, id, &row.by[k].triggered, &row.by[k].trials);
        compare(t, &row, k, room);
    }
    row.kind = kind_of(t, &row);
    XGROW(t->rows, t->n, t->cap);
    t->rows[t->n++] = row;
}

/* Every bug of every target, as the first result of the target lists them. */
static void gather(struct table_of *t)
{
    struct lifetime *room = xcalloc(2 * t->o.n, sizeof *room);
    for (size_t target = 0; target < t->o.targets.n; target++) {
        const struct result *r = NULL;
        for (size_t i = 0; i < t->o.n && !r; i++)
            if (strcmp(t->o.results[i].target, t->o.targets.v[target]) == 0)
                r = &t->o.results[i];
        for (size_t b = 0; r && b < r->n_bugs; b++)
            add_bug(t, target, r->bugs[b].id, room);
    }
    free(room);
}

/* Holm over the bugs of a target, for each contender. */
static void correct(struct table_of *t)
{
    double *p = xcalloc(2 * t->n + 1, sizeof *p), *adjusted = p + t->n;
    for (size_t target = 0; target < t->o.targets.n; target++)
        for (size_t k = 0; k < t->o.contenders.n; k++) {
            for (size_t i = 0; i < t->n; i++)
                p[i] = t->rows[i].target == target && t->rows[i].kind != NEVER ? t->rows[i].by[k].p
                                                                               : NAN;
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
        {"median_cpu_s", 1},      {"budget_pct", 1},         {"p", GRID_P},
        {"p_holm", GRID_P}};
    struct grid *g = grid_add(out, "arrival", GRID_COLUMNS(columns),
                              "CPU time to the first trigger of each bug");
    g->drawn = "budget_pct";
    for (size_t i = 0; i < t->n; i++)
        for (size_t k = 0; k < t->o.contenders.n && t->rows[i].kind != NEVER; k++) {
            const struct times *c = &t->rows[i].by[k];
            if (!c->trials)
                continue;
            grid_text(g, "%s", t->o.targets.v[t->rows[i].target]);
            grid_text(g, "%s", t->rows[i].id);
            grid_text(g, "%s", kinds[t->rows[i].kind]);
            grid_text(g, "%s", t->o.contenders.v[k]);
            grid_count(g, c->trials);
            grid_count(g, c->triggered);
            grid_real(g, c->median);
            grid_real(g, 100 * c->median / t->o.budget_s);
            grid_real(g, c->p);
            grid_real(g, c->p_holm);
        }
    grid_note(g,
              "median: Kaplan-Meier, a dash when fewer than half of the campaigns trigger it; p: "
              "log-rank against %s, two-sided; p holm: Holm over the "
              "bugs of the target",
              t->o.contenders.v[t->reference]);
    grid_note(g, "everywhere: all contenders trigger it equally often, mostly always; differing: "
                 "they do not; bugs that nobody triggers are left out");
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
                              "when bugs arrive, in percent of the budget");
    double *v = xcalloc(t->n + 1, sizeof *v);
    for (int kind = EVERYWHERE; kind <= DIFFERING; kind++)
        for (size_t k = 0; k < t->o.contenders.n; k++) {
            size_t bugs = 0, n = 0, late = 0, last = 0;
            for (size_t i = 0; i < t->n; i++) {
                const struct times *c = &t->rows[i].by[k];
                double at = 100 * c->median / t->o.budget_s;
                if (t->rows[i].kind != (enum kind)kind || !c->trials)
                    continue;
                bugs++;
                late += at > 25;
                last += at > 75;
                if (!isnan(at))
                    v[n++] = at;
            }
            qsort(v, n, sizeof *v, ranks_order);
            grid_text(g, "%s", kinds[kind]);
            grid_text(g, "%s", t->o.contenders.v[k]);
            grid_count(g, bugs);
            grid_count(g, n);
            grid_real(g, n ? v[0] : NAN);
            grid_real(g, n ? stats_quantile(v, n, 0.5) : NAN);
            grid_real(g, n ? v[n - 1] : NAN);
            grid_count(g, late);
            grid_count(g, last);
        }
    free(v);
    grid_note(g, "medians: bugs whose median falls within the budget; earliest, middle, latest: of "
                 "those medians; no test: the table above has them");
}

int analyze_arrival(const struct strv *dirs, struct grids *out, struct err *e)
{
    struct table_of t = {0};
    char *trials = fs_join(dirs->v[0], "campaigns");
    int rc = 0;
    if (dirs->n > 1)
        rc = err_usage(
            e, "arrival compares the contenders of one directory of 'carol bench run': give one");
    else if (!fs_is_dir(trials))
        rc = err_usage(e,
                       "%s is not what 'carol bench run' wrote: it has no results. First triggers "
                       "come from its oracle; "
                       "the record of a campaign has crashes, but does not know which bug each is",
                       dirs->v[0]);
    else
        rc = outcome_load(&t.o, dirs->v[0], e);
    free(trials);
    if (rc == 0 && !t.o.n)
        rc = err_usage(e, "%s has no results yet", dirs->v[0]);
    if (rc == 0)
        rc = outcome_reference(&t.o, strv_has(&t.o.contenders, "contextual") ? "contextual" : NULL,
                               &t.reference, e);
    if (rc == 0) {
        gather(&t);
        correct(&t);
        size_t seen = 0;
        for (size_t i = 0; i < t.n; i++)
            seen += t.rows[i].kind != NEVER;
        if (!seen)
            rc = err_usage(e, "no bug was triggered in any of the %zu campaigns of %s", t.o.n,
                           dirs->v[0]);
        else {
            put_bugs(&t, out);
            put_summary(&t, out);
        }
    }
    for (size_t i = 0; i < t.n; i++)
        free(t.rows[i].by);
    free(t.rows);
    outcome_free(&t.o);
    return rc;
}
