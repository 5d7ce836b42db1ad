/* ranking: does the order of the fuzzers in one stretch of a campaign say anything about the next?  The agreement of
 * adjacent windows against that of two random halves of one window, which differ by chance alone. */
#include "analyze/analyze.h"
#include "analyze/shuffle.h"
#include "analyze/windows.h"
#include "base/die.h"
#include "stats/bootstrap.h"
#include "stats/holm.h"
#include "stats/paired.h"
#include "stats/trend.h"

#include <math.h>
#include <stdlib.h>

static const int widths[] = {2, 4, 12};
static const char *const width_names[] = {"halves", "quarters", "twelfths"};
#define WIDTHS (sizeof widths / sizeof *widths)
#define SPLITS 50

/* A mean that grows. */
struct mean {
    double sum, n;
};

static void mean_add(struct mean *m, double v)
{
    if (isnan(v))
        return;
    m->sum += v;
    m->n++;
}

static double mean_of(const struct mean *m)
{
    return m->n > 0 ? m->sum / m->n : NAN;
}

/* Over the pairs of adjacent windows of a campaign. */
struct agree {
    struct mean adjacent, within, whole;          /* Kendall's tau: matched, matched, unmatched */
    struct mean leads, leads_within, leads_whole; /* how often the leaders differ */
    struct mean chance;                           /* how often two leaders drawn at random do */
};

struct answer {
    struct agree at[WIDTHS];
};

static double tau(const double *x, const double *y, int n)
{
    struct kendall k;
    stats_kendall(x, y, (size_t)n, &k);
    return k.tau;
}

/* The chance that the leaders differ; of several equal ones each leads as often. */
static double leaders_differ(const double *x, const double *y, int n)
{
    double top_x = x[0], top_y = y[0], in_x = 0, in_y = 0, both = 0;
    for (int i = 1; i < n; i++) {
        top_x = fmax(top_x, x[i]);
        top_y = fmax(top_y, y[i]);
    }
    for (int i = 0; i < n; i++) {
        in_x += x[i] == top_x;
        in_y += y[i] == top_y;
        both += x[i] == top_x && y[i] == top_y;
    }
    return 1 - both / (in_x * in_y);
}

/* The turns of each admitted fuzzer in two windows. */
struct pair {
    const struct story *l;
    int n; /* fuzzers */
    size_t *turns[2][SCHED_MAX_ARMS], count[2][SCHED_MAX_ARMS];
};

static void pair_open(struct pair *p, const struct story *l, int width, int first, const int *arm,
                      int n)
{
    *p = (struct pair){.l = l, .n = n};
    for (int w = 0; w < 2; w++)
        for (int i = 0; i < n; i++) {
            p->turns[w][i] = xcalloc(l->n_turns, sizeof **p->turns[w]);
            p->count[w][i] = windows_turns(l, width, first + w, arm[i], p->turns[w][i]);
        }
}

static void pair_close(struct pair *p)
{
    for (int w = 0; w < 2; w++)
        for (int i = 0; i < p->n; i++)
            free(p->turns[w][i]);
}

/* Rates of the fuzzers in the two halves of window w, after a shuffle; one turn of an odd number is left out. */
static void halve(struct pair *p, int w, struct rng *rng, double rate[2][SCHED_MAX_ARMS])
{
    for (int i = 0; i < p->n; i++) {
        size_t half = p->count[w][i] / 2;
        shuffle(rng, p->turns[w][i], p->count[w][i]);
        for (int h = 0; h < 2; h++)
            rate[h][i] = windows_rate(p->l, p->turns[w][i] + (size_t)h * half, half);
    }
}

static void compare_whole(struct pair *p, struct agree *a)
{
    double rate[2][SCHED_MAX_ARMS];
    for (int w = 0; w < 2; w++)
        for (int i = 0; i < p->n; i++)
            rate[w][i] = windows_rate(p->l, p->turns[w][i], p->count[w][i]);
    mean_add(&a->whole, tau(rate[0], rate[1], p->n));
    mean_add(&a->leads_whole, leaders_differ(rate[0], rate[1], p->n));
    mean_add(&a->chance, 1 - 1.0 / p->n);
}

/* Half a window against half of the next, and against the other half of its own: the same number of turns in both. */
static void compare_halves(struct pair *p, struct rng *rng, struct agree *a)
{
    struct agree sum = {0};
    for (int i = 0; i < SPLITS; i++) {
        double rate[2][2][SCHED_MAX_ARMS];
        for (int w = 0; w < 2; w++)
            halve(p, w, rng, rate[w]);
        for (int h = 0; h < 2; h++) {
            mean_add(&sum.adjacent, tau(rate[0][h], rate[1][h], p->n));
            mean_add(&sum.within, tau(rate[h][0], rate[h][1], p->n));
            mean_add(&sum.leads, leaders_differ(rate[0][h], rate[1][h], p->n));
            mean_add(&sum.leads_within, leaders_differ(rate[h][0], rate[h][1], p->n));
        }
    }
    if (isnan(mean_of(&sum.adjacent)) || isnan(mean_of(&sum.within)))
        return;
    mean_add(&a->adjacent, mean_of(&sum.adjacent));
    mean_add(&a->within, mean_of(&sum.within));
    mean_add(&a->leads, mean_of(&sum.leads));
    mean_add(&a->leads_within, mean_of(&sum.leads_within));
}

static int compare(void *arg, const struct story *l, size_t camp, void *result, struct err *e)
{
    struct answer *r = result;
    struct rng rng;
    (void)arg;
    (void)camp;
    (void)e;
    rng_stream(&rng, l->camp->seed, "analyze.ranking");
    for (size_t i = 0; i < WIDTHS; i++)
        for (int w = 0; w + 1 < widths[i]; w++) {
            int arm[SCHED_MAX_ARMS], n = windows_admit(l, widths[i], w, w + 1, arm);
            struct pair p;
            if (n < 2)
                continue;
            pair_open(&p, l, widths[i], w, arm, n);
            compare_whole(&p, &r->at[i]);
            compare_halves(&p, &rng, &r->at[i]);
            pair_close(&p);
        }
    return 0;
}

/* --- over the campaigns ---------------------------------------------------------------------------------- */

struct row {
    size_t campaigns;
    double pairs, adjacent, within, ratio, low, high, p, p_holm;
    double leads, leads_within, whole_pairs, whole, leads_whole, chance;
};

/* Mean over the campaigns that have it, of the means over their pairs. */
static double over_campaigns(const struct study *s, const struct answer *a, size_t target,
                             size_t width, size_t field)
{
    struct mean m = {0};
    for (size_t c = 0; c < s->n; c++)
        if (target == s->targets.n || s->camps[c].target == target)
            mean_add(&m, mean_of((const struct mean *)((const char *)&a[c].at[width] + field)));
    return mean_of(&m);
}

static void differences(const struct study *s, const struct answer *a, size_t target, size_t width,
                        struct row *r)
{
    double *d = xcalloc(s->n, sizeof *d);
    for (size_t c = 0; c < s->n; c++) {
        const struct agree *g = &a[c].at[width];
        if (target < s->targets.n && s->camps[c].target != target)
            continue;
        r->whole_pairs += g->chance.n;
        if (g->adjacent.n > 0) {
            d[r->campaigns++] = mean_of(&g->within) - mean_of(&g->adjacent);
            r->pairs += g->adjacent.n;
        }
    }
    r->p = r->low = r->high = NAN;
    if (r->campaigns >= 2) {
        struct wilcoxon w;
        struct bootstrap b;
        stats_wilcoxon(d, r->campaigns, &w);
        stats_bootstrap(d, r->campaigns, NULL, 0,
                        &(struct bootstrap_settings){.level = 0.95, .resamples = 10000, .seed = 1},
                        &b);
        r->p = w.p;
        r->low = b.low;
        r->high = b.high;
    }
    free(d);
}

#define OVER(field) over_campaigns(s, a, target, width, offsetof(struct agree, field))

static void fill(const struct study *s, const struct answer *a, size_t target, size_t width,
                 struct row *r)
{
    *r = (struct row){0};
    differences(s, a, target, width, r);
    r->adjacent = OVER(adjacent);
    r->within = OVER(within);
    r->ratio = r->within > 0 ? r->adjacent / r->within : NAN;
    r->leads = OVER(leads);
    r->leads_within = OVER(leads_within);
    r->whole = OVER(whole);
    r->leads_whole = OVER(leads_whole);
    r->chance = OVER(chance);
}

static void put_agreement(const struct study *s, const struct row *rows, struct grids *out)
{
    static const struct grid_column columns[] = {{"target", GRID_TEXT},
                                                 {"windows", GRID_TEXT},
                                                 {"campaigns", GRID_COUNT},
                                                 {"pairs", GRID_COUNT},
                                                 {"adjacent", 3},
                                                 {"within", 3},
                                                 {"difference", 3},
                                                 {"low", 3},
                                                 {"high", 3},
                                                 {"corrected", 2},
                                                 {"p", GRID_P},
                                                 {"p_holm", GRID_P}};
    struct grid *g =
        grid_add(out, "ranking", GRID_COLUMNS(columns),
                 "agreement of the fuzzers' order: adjacent windows against halves of one window");
    g->drawn = "corrected";
    for (size_t t = 0; t <= s->targets.n; t++)
        for (size_t w = 0; w < WIDTHS; w++) {
            const struct row *r = &rows[t * WIDTHS + w];
            if (!r->campaigns || (t == s->targets.n && t == 1))
                continue;
            grid_text(g, "%s", t == s->targets.n ? "all" : s->targets.v[t]);
            grid_text(g, "%s", width_names[w]);
            GRID_NUMBERS(g, (double)r->campaigns, r->pairs, r->adjacent, r->within,
                         r->within - r->adjacent, r->low, r->high, r->ratio, r->p, r->p_holm);
        }
    grid_note(g,
              "Kendall's tau-b of raw reward per turn, both from half of a window's turns, mean of "
              "%d random halvings; means over campaigns; "
              "two windows count when %d fuzzers, or all, complete %d turns in both",
              SPLITS, WINDOWS_FUZZERS, WINDOWS_TURNS);
    grid_note(g, "difference: within less adjacent, with a 95 %% bootstrap interval over campaigns "
                 "(10000 resamples); if it is not above 0, the order "
                 "changes no more from window to window than by chance; below about ten campaigns "
                 "the interval is too narrow; corrected: adjacent / within, the attenuation "
                 "removed, which means nothing while within is near 0");
    grid_note(g, "p: Wilcoxon signed ranks of the difference, two-sided, a value per campaign; p "
                 "holm: Holm over the three widths; below 6 campaigns no difference can be "
                 "significant");
}

static void put_leaders(const struct study *s, const struct row *rows, struct grids *out)
{
    static const struct grid_column columns[] = {
        {"target", GRID_TEXT},           {"windows", GRID_TEXT},   {"pairs", GRID_COUNT},
        {"adjacent_differ_pct", 1},      {"within_differ_pct", 1}, {"all_pairs", GRID_COUNT},
        {"whole_windows_differ_pct", 1}, {"chance_pct", 1},        {"whole_windows_tau", 3}};
    struct grid *g =
        grid_add(out, "leaders", GRID_COLUMNS(columns), "how often another fuzzer leads");
    for (size_t t = 0; t <= s->targets.n; t++)
        for (size_t w = 0; w < WIDTHS; w++) {
            const struct row *r = &rows[t * WIDTHS + w];
            if (!(r->whole_pairs > 0) || (t == s->targets.n && t == 1))
                continue;
            grid_text(g, "%s", t == s->targets.n ? "all" : s->targets.v[t]);
            grid_text(g, "%s", width_names[w]);
            GRID_NUMBERS(g, r->pairs, 100 * r->leads, 100 * r->leads_within, r->whole_pairs,
                         100 * r->leads_whole, 100 * r->chance, r->whole);
        }
    grid_note(g, "adjacent, within: from half of a window's turns, as above; whole windows: all "
                 "turns of both; chance: two leaders drawn at random; "
                 "fuzzers that lead together lead in equal parts; no test: the table above has "
                 "them");
}

int analyze_ranking(const struct study *s, struct grids *out, struct err *e)
{
    struct answer *a = xcalloc(s->n, sizeof *a);
    struct row *rows = xcalloc((s->targets.n + 1) * WIDTHS, sizeof *rows);
    int rc = study_each(s, sizeof *a, compare, NULL, a, e);
    double whole = 0, matched = 0;
    for (size_t t = 0; rc == 0 && t <= s->targets.n; t++) {
        for (size_t w = 0; w < WIDTHS; w++) {
            fill(s, a, t, w, &rows[t * WIDTHS + w]);
            whole += rows[t * WIDTHS + w].whole_pairs;
            matched += rows[t * WIDTHS + w].pairs;
        }
        struct row *r = &rows[t * WIDTHS];
        stats_holm_fields(&r->p, &r->p_holm, WIDTHS, sizeof *r);
    }
    if (rc == 0 && !(whole > 0))
        rc = err_usage(e,
                       "too little data: in no two adjacent windows do enough of two or more "
                       "fuzzers complete %d turns",
                       WINDOWS_TURNS);
    else if (rc == 0 && !(matched > 0))
        rc = err_usage(
            e, "no order to compare: in every window all fuzzers earned the same, mostly nothing");
    if (rc == 0) {
        put_agreement(s, rows, out);
        put_leaders(s, rows, out);
    }
    free(rows);
    free(a);
    return rc;
}
