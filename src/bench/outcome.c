/* outcome: results by target and contender, and the comparisons between them.  Prints nothing: sheets are made in
 * outcome_sheets.c, JSON and CSV in outcome_data.c, the page in page.c. */
#include "bench/outcome.h"

#include "base/die.h"
#include "base/fs.h"
#include "stats/blocks.h"
#include "stats/holm.h"
#include "stats/paired.h"
#include "stats/series.h"
#include "stats/survival.h"
#include "stats/twosample.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ALPHA 0.05

static const char *const measure_names[] = {"none", "bugs", "area", "reached", "edges", "execs"};

const char *measure_name(enum measure_kind m)
{
    return measure_names[m < MEASURE_END ? m : MEASURE_NONE];
}

enum measure_kind measure_of(const char *name)
{
    for (int m = MEASURE_BUGS; m < MEASURE_END; m++)
        if (strcmp(name, measure_names[m]) == 0)
            return (enum measure_kind)m;
    return MEASURE_NONE;
}

double measure_value(const struct result *r, enum measure_kind m)
{
    switch (m) {
    case MEASURE_AREA: return result_area(r);
    case MEASURE_REACHED: return (double)result_reached(r);
    case MEASURE_EDGES: return r->edges[RESULT_MOMENTS];
    case MEASURE_EXECS: return (double)r->execs;
    default: return (double)result_triggered(r);
    }
}

/* --- loading ------------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
    const struct result *x = a, *y = b;
    int d = strcmp(x->target, y->target);
    d = d ? d : (int)x->role - (int)y->role;
    d = d ? d : strcmp(x->contender, y->contender);
    return d ? d : x->trial - y->trial;
}

static void list_names(struct outcome *t)
{
    t->roles = xcalloc(t->n + 1, sizeof *t->roles);
    for (size_t i = 0; i < t->n; i++)
        if (!strv_has(&t->targets, t->results[i].target))
            strv_add(&t->targets, t->results[i].target);
    for (int role = ROLE_OURS; role < ROLE_END; role++)
        for (size_t i = 0; i < t->n; i++)
            if ((int)t->results[i].role == role &&
                !strv_has(&t->contenders, t->results[i].contender)) {
                t->roles[t->contenders.n] = (enum role)role;
                strv_add(&t->contenders, t->results[i].contender);
            }
}

static int load_all(struct outcome *t, const char *top, const struct strv *names, struct err *e)
{
    int rc = 0;
    t->results = xcalloc(names->n + 1, sizeof *t->results);
    for (size_t i = 0; rc == 0 && i < names->n; i++) {
        char *path = str_fmt("%s/%s/result.json", top, names->v[i]);
        if (fs_exists(path)) {
            rc = result_read(&t->results[t->n], path, e);
            t->n += rc == 0;
            double budget = rc == 0 ? t->results[t->n - 1].budget_s : t->budget_s;
            if (rc == 0 && t->budget_s > 0 && budget != t->budget_s)
                rc = err_usage(e,
                               "%s has a budget of %.9g CPU s, others have %.9g: they cannot be "
                               "compared",
                               path, budget, t->budget_s);
            t->budget_s = budget;
        }
        free(path);
    }
    return rc;
}

int outcome_check_names(const struct strv *only, const struct strv *there, size_t campaigns,
                        struct err *e)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && only && i < only->n; i++) {
        if (strv_has(there, only->v[i]))
            continue;
        char *all = strv_join(there, ", ");
        rc = err_usage(e, "none of these %zu campaigns is of '%s': they are of %s", campaigns,
                       only->v[i], all);
        free(all);
    }
    return rc;
}

/* Forget the campaigns of others. */
static int keep_only(struct outcome *t, const struct strv *only, struct err *e)
{
    struct strv there = {0};
    for (size_t i = 0; i < t->n; i++)
        if (!strv_has(&there, t->results[i].contender))
            strv_add(&there, t->results[i].contender);
    int rc = outcome_check_names(only, &there, t->n, e);
    strv_free(&there);
    size_t kept = 0;
    for (size_t i = 0; rc == 0 && i < t->n; i++)
        if (strv_has(only, t->results[i].contender))
            t->results[kept++] = t->results[i];
        else
            result_free(&t->results[i]);
    t->n = rc == 0 ? kept : t->n;
    return rc;
}

static bool is_listed(const struct bug *bugs, size_t n, const char *id)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(bugs[i].id, id) == 0)
            return true;
    return false;
}

int outcome_only_bugs(struct outcome *t, const struct bug *bugs, size_t n, struct err *e)
{
    size_t left = 0;
    for (size_t i = 0; i < t->n; i++) {
        struct result *r = &t->results[i];
        size_t kept = 0;
        for (size_t b = 0; b < r->n_bugs; b++)
            if (is_listed(bugs, n, r->bugs[b].id))
                r->bugs[kept++] = r->bugs[b];
        r->n_bugs = kept;
        left += kept;
    }
    return left ? 0
                : err_usage(e, "none of these %zu campaigns looked for a bug of that list", t->n);
}

int outcome_load(struct outcome *t, const char *dir, const struct strv *only, struct err *e)
{
    struct strv names = {0};
    char *top = fs_join(dir, "campaigns");
    *t = (struct outcome){0};
    int rc = fs_is_dir(top) ? fs_list(top, &names, e)
                            : err_usage(e, "%s has no results of 'carol bench run'", dir);
    rc = rc < 0 ? rc : load_all(t, top, &names, e);
    if (rc == 0 && t->n == 0)
        rc = err_usage(e, "no campaign in %s is done yet", dir);
    if (rc == 0 && only && only->n)
        rc = keep_only(t, only, e);
    if (rc == 0) {
        qsort(t->results, t->n, sizeof *t->results, by_place);
        list_names(t);
    }
    strv_free(&names);
    free(top);
    if (rc < 0)
        outcome_free(t);
    return rc;
}

void outcome_free(struct outcome *t)
{
    for (size_t i = 0; i < t->n; i++)
        result_free(&t->results[i]);
    free(t->results);
    strv_free(&t->targets);
    strv_free(&t->contenders);
    free(t->roles);
    *t = (struct outcome){0};
}

static bool is_at(const struct outcome *t, const struct result *r, size_t target, size_t contender)
{
    return strcmp(r->target, t->targets.v[target]) == 0 &&
           strcmp(r->contender, t->contenders.v[contender]) == 0;
}

struct cell outcome_cell(const struct outcome *t, size_t target, size_t contender,
                         enum measure_kind m)
{
    struct cell c = {.v = xcalloc(t->n + 1, sizeof *c.v)};
    for (size_t i = 0; i < t->n; i++)
        if (is_at(t, &t->results[i], target, contender))
            c.v[c.n++] = measure_value(&t->results[i], m);
    return c;
}

int outcome_reference(const struct outcome *t, const char *name, size_t *out, struct err *e)
{
    for (*out = 0; *out < t->contenders.n; (*out)++)
        if (!name || strcmp(t->contenders.v[*out], name) == 0)
            return 0;
    return err_usage(e, "there are no results of a contender '%s'", name);
}

/* --- duels --------------------------------------------------------------------------------------- */

static double mean_of(const struct cell *c)
{
    return c->n ? stats_mean(c->v, (int)c->n) : NAN;
}

/* The best of a role on a target; contenders.n: none of them was run there. */
static size_t best_of(const struct outcome *t, size_t target, enum role role, size_t but,
                      enum measure_kind m)
{
    size_t best = t->contenders.n;
    double most = -INFINITY;
    for (size_t c = 0; c < t->contenders.n; c++) {
        struct cell x = outcome_cell(t, target, c, m);
        if (t->roles[c] == role && c != but && x.n && mean_of(&x) > most) {
            best = c;
            most = mean_of(&x);
        }
        free(x.v);
    }
    return best;
}

static void compare(const struct cell *x, const struct cell *y, struct match *m)
{
    struct mwu u;
    struct resolution r;
    stats_mwu(x->v, x->n, y->v, y->n, &u);
    m->n = x->n;
    m->n_other = y->n;
    m->mean = mean_of(x);
    m->other = mean_of(y);
    m->delta = m->mean - m->other;
    m->a12 = u.a12;
    m->p = u.p;
    m->p_exact = u.p_exact;
    m->resolution = stats_resolution(x->v, x->n, y->v, y->n, ALPHA, &r) == 0 ? r.least : NAN;
}

/* Over the targets: corrected p-values, sums, signs. */
static void finish(struct duel *d)
{
    double *p = xcalloc(d->n + 1, sizeof *p), *holm = xcalloc(d->n + 1, sizeof *holm);
    for (size_t i = 0; i < d->n; i++)
        p[i] = d->match[i].p;
    stats_holm(p, d->n, holm);
    for (size_t i = 0; i < d->n; i++) {
        struct match *m = &d->match[i];
        m->p_holm = holm[i];
        d->sum += m->mean;
        d->sum_other += m->other;
        d->wins += m->delta > 0;
        d->losses += m->delta < 0;
        d->ties += m->delta == 0;
    }
    d->sign_p = stats_sign((uint64_t)d->wins, (uint64_t)d->losses);
    free(p);
    free(holm);
}

/* Against contender c, or with a role against the best of it. */
static void make_duel(const struct outcome *t, size_t reference, size_t c, enum role role,
                      enum measure_kind m, struct duel *d)
{
    d->match = xcalloc(t->targets.n + 1, sizeof *d->match);
    for (size_t target = 0; target < t->targets.n; target++) {
        size_t other = role ? best_of(t, target, role, reference, m) : c;
        struct cell x = outcome_cell(t, target, reference, m),
                    y = other < t->contenders.n ? outcome_cell(t, target, other, m)
                                                : (struct cell){0};
        if (x.n && y.n) {
            struct match *to = &d->match[d->n++];
            *to = (struct match){.target = target, .opponent = other};
            compare(&x, &y, to);
        }
        free(x.v);
        free(y.v);
    }
    finish(d);
}

void outcome_duels(const struct outcome *t, size_t reference, enum measure_kind m,
                   struct duel **duels, size_t *n)
{
    static const struct {
        enum role role;
        const char *name;
    } composites[] = {{ROLE_BASELINE, "strongest baseline"},
                      {ROLE_SINGLE, "best single"},
                      {ROLE_RIVAL, "best rival"}};
    *duels = xcalloc(t->contenders.n + 3, sizeof **duels);
    *n = 0;
    for (size_t i = 0; i < 3 + t->contenders.n; i++) {
        struct duel *d = &(*duels)[*n];
        bool composite = i < 3;
        if (!composite && i - 3 == reference)
            continue;
        *d = (struct duel){.name = composite ? composites[i].name : t->contenders.v[i - 3],
                           .composite = composite};
        make_duel(t, reference, composite ? 0 : i - 3, composite ? composites[i].role : ROLE_NONE,
                  m, d);
        if (d->n)
            (*n)++;
        else
            free(d->match);
    }
}

void duels_free(struct duel *duels, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(duels[i].match);
    free(duels);
}

/* --- ranks and times ----------------------------------------------------------------------------- */

/* Means of every contender on the targets that have all; returns how many there are. */
static size_t whole_rows(const struct outcome *t, enum measure_kind m, double **value)
{
    size_t n = 0;
    for (size_t target = 0; target < t->targets.n; target++) {
        bool whole = true;
        for (size_t c = 0; c < t->contenders.n; c++) {
            struct cell x = outcome_cell(t, target, c, m);
            value[c][n] = mean_of(&x);
            whole = whole && x.n;
            free(x.v);
        }
        n += whole;
    }
    return n;
}

bool outcome_ranking(const struct outcome *t, enum measure_kind m, struct ranking *r)
{
    size_t k = t->contenders.n;
    double **value = xcalloc(k + 1, sizeof *value);
    for (size_t c = 0; c < k; c++)
        value[c] = xcalloc(t->targets.n + 1, sizeof **value);
    *r = (struct ranking){.targets = whole_rows(t, m, value)};
    bool enough = k >= 2 && k <= BLOCKS_GROUPS_MAX && r->targets >= 2;
    if (enough) {
        struct friedman f;
        r->rank = xcalloc(k, sizeof *r->rank);
        stats_friedman((const double *const *)value, k, r->targets, ALPHA, r->rank, &f);
        r->chi2 = f.chi2;
        r->p = f.p;
        r->cd = f.cd;
    }
    for (size_t c = 0; c < k; c++)
        free(value[c]);
    free(value);
    return enough;
}

double outcome_edges(const struct outcome *t, size_t target, size_t contender, int moment)
{
    double sum = 0, n = 0;
    for (size_t i = 0; i < t->n; i++)
        if (is_at(t, &t->results[i], target, contender)) {
            sum += t->results[i].edges[moment];
            n++;
        }
    return n > 0 ? sum / n : NAN;
}

/* Of one bug, or of all (NULL). */
static struct lifetime *lifetimes(const struct outcome *t, size_t target, size_t contender,
                                  const char *bug, size_t *n)
{
    struct lifetime *x = NULL;
    size_t cap = 0;
    *n = 0;
    for (size_t i = 0; i < t->n; i++) {
        const struct result *r = &t->results[i];
        for (size_t b = 0; is_at(t, r, target, contender) && b < r->n_bugs; b++) {
            if (bug && strcmp(r->bugs[b].id, bug) != 0)
                continue;
            const struct first *f = &r->bugs[b].triggered;
            XGROW(x, *n, cap);
            x[(*n)++] =
                f->seen ? (struct lifetime){f->cpu_s, true} : (struct lifetime){r->budget_s, false};
        }
    }
    return x;
}

struct lifetime *outcome_lifetimes(const struct outcome *t, size_t target, size_t contender,
                                   size_t *n)
{
    return lifetimes(t, target, contender, NULL, n);
}

double outcome_bug_median(const struct outcome *t, size_t target, size_t contender, const char *bug,
                          size_t *triggered, size_t *trials)
{
    struct lifetime *x = lifetimes(t, target, contender, bug, trials);
    double median = NAN;
    *triggered = 0;
    for (size_t i = 0; i < *trials; i++)
        *triggered += x[i].event;
    if (*trials) {
        struct km k;
        stats_km(x, *trials, &k);
        median = stats_km_median(&k);
        km_free(&k);
    }
    free(x);
    return median;
}

size_t outcome_bug_reached(const struct outcome *t, size_t target, size_t contender,
                           const char *bug)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++) {
        const struct result *r = &t->results[i];
        for (size_t b = 0; is_at(t, r, target, contender) && b < r->n_bugs; b++)
            n += strcmp(r->bugs[b].id, bug) == 0 && r->bugs[b].reached.seen;
    }
    return n;
}
