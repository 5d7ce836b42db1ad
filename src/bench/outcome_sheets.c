/* outcome_sheets: the tables of a benchmark as grids. */
#include "bench/outcome.h"

#include "stats/series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void mean_sd(struct sheet *s, const struct cell *c, int digits)
{
    if (c->n == 0)
        sheet_cell(s, "-");
    else if (c->n == 1) /* has no deviation */
        sheet_number(s, c->v[0], digits);
    else
        sheet_cell(s, "%.*f ±%.*f", digits, stats_mean(c->v, (int)c->n), digits,
                   sqrt(stats_variance(c->v, (int)c->n)));
}

static void contender_heads(const struct outcome *t, struct sheet *s)
{
    for (size_t c = 0; c < t->contenders.n; c++)
        sheet_cell(s, "%s", t->contenders.v[c]);
}

/* Targets down, contenders across; the sum of means where every target has one. */
static void add_means(const struct outcome *t, enum measure_kind m, int digits, const char *title,
                      struct sheets *out)
{
    struct sheet *s = sheet_add(out, t->contenders.n + 1, 1, "%s", title);
    sheet_cell(s, "target");
    contender_heads(t, s);
    for (size_t target = 0; target < t->targets.n; target++) {
        sheet_cell(s, "%s", t->targets.v[target]);
        for (size_t c = 0; c < t->contenders.n; c++) {
            struct cell x = outcome_cell(t, target, c, m);
            mean_sd(s, &x, digits);
            free(x.v);
        }
    }
    sheet_cell(s, "sum of means");
    for (size_t c = 0; c < t->contenders.n; c++) {
        double sum = 0;
        for (size_t target = 0; target < t->targets.n; target++) {
            struct cell x = outcome_cell(t, target, c, m);
            sum += x.n ? stats_mean(x.v, (int)x.n) : NAN;
            free(x.v);
        }
        sheet_number(s, sum, digits);
    }
}

/* Trials of the least and the most often run cell. */
static void say_trials(const struct outcome *t, struct sheet *s)
{
    size_t least = t->n, most = 0;
    for (size_t target = 0; target < t->targets.n; target++)
        for (size_t c = 0; c < t->contenders.n; c++) {
            struct cell x = outcome_cell(t, target, c, MEASURE_BUGS);
            least = x.n < least ? x.n : least;
            most = x.n > most ? x.n : most;
            free(x.v);
        }
    sheet_note(s,
               "mean ± sample standard deviation over %zu to %zu trials of %.9g CPU s on %d core%s",
               least, most, t->budget_s, t->results[0].cores, t->results[0].cores == 1 ? "" : "s");
}

static const char *verdict(const struct match *m)
{
    bool told = m->p_holm < 0.05 && fabs(m->delta) >= m->resolution; /* METHOD R83 */
    return told ? "resolved" : m->delta == 0 ? "equal" : "direction only";
}

static void add_matches(const struct outcome *t, size_t reference, enum measure_kind m,
                        const struct duel *duels, size_t n, struct sheets *out)
{
    static const char *const heads[] = {"against", "target",     "which",  "n", "mean",
                                        "other",   "delta",      "A12",    "p", "p Holm",
                                        "p exact", "resolution", "verdict"};
    struct sheet *s =
        sheet_add(out, 13, 3, "%s against each, %s", t->contenders.v[reference], measure_name(m));
    for (size_t i = 0; i < 13; i++)
        sheet_cell(s, "%s", heads[i]);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < duels[i].n; k++) {
            const struct match *x = &duels[i].match[k];
            sheet_cell(s, "%s", duels[i].name);
            sheet_cell(s, "%s", t->targets.v[x->target]);
            sheet_cell(s, "%s", duels[i].composite ? t->contenders.v[x->opponent] : "");
            sheet_cell(s, "%zu/%zu", x->n, x->n_other);
            sheet_number(s, x->mean, 2);
            sheet_number(s, x->other, 2);
            sheet_cell(s, "%+.2f", x->delta);
            sheet_number(s, x->a12, 2);
            sheet_number(s, x->p, 4);
            sheet_number(s, x->p_holm, 4);
            sheet_number(s, x->p_exact, 4);
            sheet_number(s, x->resolution, 2);
            sheet_cell(s, "%s", verdict(x));
        }
    sheet_note(s, "p: two-sided Mann-Whitney; Holm over the targets of one opponent; resolution: "
                  "the smallest "
                  "difference of means these values could tell from chance at 0.05, - if none; "
                  "resolved: the difference reaches it, and p Holm is below 0.05");
}

static void add_duels(const struct outcome *t, size_t reference, enum measure_kind m,
                      const struct duel *duels, size_t n, struct sheets *out)
{
    static const char *const heads[] = {"against", "targets", "sum",    "other", "delta",
                                        "percent", "wins",    "losses", "ties",  "p sign"};
    struct sheet *s = sheet_add(out, 10, 1, "%s over all targets, %s", t->contenders.v[reference],
                                measure_name(m));
    for (size_t i = 0; i < 10; i++)
        sheet_cell(s, "%s", heads[i]);
    for (size_t i = 0; i < n; i++) {
        const struct duel *d = &duels[i];
        sheet_cell(s, "%s", d->name);
        sheet_cell(s, "%zu", d->n);
        sheet_number(s, d->sum, 2);
        sheet_number(s, d->sum_other, 2);
        sheet_cell(s, "%+.2f", d->sum - d->sum_other);
        sheet_number(s, d->sum_other > 0 ? 100 * (d->sum / d->sum_other - 1) : NAN, 1);
        sheet_cell(s, "%d", d->wins);
        sheet_cell(s, "%d", d->losses);
        sheet_cell(s, "%d", d->ties);
        sheet_number(s, d->sign_p, 4);
    }
    sheet_note(
        s,
        "strongest baseline, best single and best rival are the best of their kind on each target, "
        "chosen after the campaigns");
}

static void add_bugs(const struct outcome *t, size_t target, struct sheets *out)
{
    const struct result *one = NULL;
    for (size_t i = 0; i < t->n && !one; i++)
        if (strcmp(t->results[i].target, t->targets.v[target]) == 0)
            one = &t->results[i];
    struct sheet *s =
        sheet_add(out, t->contenders.n + 1, 1,
                  "bugs of %s: campaigns that triggered it, median CPU s", t->targets.v[target]);
    sheet_cell(s, "bug");
    contender_heads(t, s);
    for (size_t b = 0; b < one->n_bugs; b++) {
        sheet_cell(s, "%s", one->bugs[b].id);
        for (size_t c = 0; c < t->contenders.n; c++) {
            size_t hit, trials;
            double median = outcome_bug_median(t, target, c, one->bugs[b].id, &hit, &trials);
            size_t near = outcome_bug_reached(t, target, c, one->bugs[b].id);
            if (trials == 0)
                sheet_cell(s, "-");
            else if (isnan(median))
                sheet_cell(s, hit < near ? "%zu/%zu r%zu" : "%zu/%zu", hit, trials, near);
            else
                sheet_cell(s, "%zu/%zu %.1f", hit, trials, median);
        }
    }
    sheet_note(
        s,
        "Kaplan-Meier medians, campaigns without the bug censored at %.9g s; no median: fewer "
        "than half triggered it; rN: so many reached it",
        t->budget_s);
}

/* Neutral edges as the budget is used. */
static void add_edges(const struct outcome *t, struct sheets *out)
{
    static const int moments[] = {0, 1, 5, 10, 15, 20};
    enum { N = sizeof moments / sizeof *moments };
    struct sheet *s =
        sheet_add(out, N + 2, 2, "neutral edges of what was kept, mean, by CPU seconds used");
    sheet_cell(s, "target");
    sheet_cell(s, "contender");
    for (size_t i = 0; i < N; i++)
        sheet_cell(s, "%.9g", t->budget_s * moments[i] / RESULT_MOMENTS);
    for (size_t target = 0; target < t->targets.n; target++)
        for (size_t c = 0; c < t->contenders.n; c++) {
            if (isnan(outcome_edges(t, target, c, 0)))
                continue;
            sheet_cell(s, "%s", t->targets.v[target]);
            sheet_cell(s, "%s", t->contenders.v[c]);
            for (size_t i = 0; i < N; i++)
                sheet_number(s, outcome_edges(t, target, c, moments[i]), 0);
        }
}

static const struct duel *duel_with(const struct duel *duels, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(duels[i].name, name) == 0)
            return &duels[i];
    return NULL;
}

static const char *definition_of(const struct outcome *t, const char *contender)
{
    for (size_t i = 0; i < t->n; i++)
        if (strcmp(t->results[i].contender, contender) == 0)
            return t->results[i].definition;
    return "";
}

/* The words of its command line, which comes first in a definition, up to a semicolon. */
static struct strv options_of(const struct outcome *t, const char *contender)
{
    struct strv words = {0};
    const char *text = definition_of(t, contender);
    char *line = str_fmt("%.*s", (int)strcspn(text, ";"), text);
    strv_split(&words, line, ' ');
    free(line);
    return words;
}

/* Is it the reference with more options? */
static bool is_variant(const struct outcome *t, size_t reference, const char *contender)
{
    struct strv base = options_of(t, t->contenders.v[reference]), more = options_of(t, contender);
    bool all = true;
    for (size_t i = 0; i < base.n; i++)
        all = all && strv_has(&more, base.v[i]);
    strv_free(&base);
    strv_free(&more);
    return all;
}

/* The contenders of one role, each with its means and how far it is from the reference; ablations and rewards only
 * when they are the reference's. */
static void add_role(const struct outcome *t, size_t reference, enum measure_kind m, enum role role,
                     const char *title, const struct duel *duels, size_t n, struct sheets *out)
{
    struct sheet *s = NULL;
    for (size_t c = 0; c < t->contenders.n; c++) {
        const struct duel *d = duel_with(duels, n, t->contenders.v[c]);
        if (t->roles[c] != role || !d ||
            (role != ROLE_SINGLE && !is_variant(t, reference, t->contenders.v[c])))
            continue;
        if (!s) {
            s = sheet_add(out, t->targets.n + 5, 1, "%s, %s", title, measure_name(m));
            sheet_cell(s, "contender");
            for (size_t target = 0; target < t->targets.n; target++)
                sheet_cell(s, "%s", t->targets.v[target]);
            static const char *const heads[] = {"sum", "delta", "percent", "p sign"};
            for (size_t i = 0; i < 4; i++)
                sheet_cell(s, "%s", heads[i]);
            sheet_note(s,
                       "sum: of means; delta, percent: from %s on the same targets; p sign: "
                       "over the targets",
                       t->contenders.v[reference]);
        }
        sheet_cell(s, "%s", t->contenders.v[c]);
        for (size_t target = 0; target < t->targets.n; target++) {
            struct cell x = outcome_cell(t, target, c, m);
            mean_sd(s, &x, 2);
            free(x.v);
        }
        sheet_number(s, d->sum_other, 2);
        sheet_cell(s, "%+.2f", d->sum_other - d->sum);
        sheet_number(s, d->sum > 0 ? 100 * (d->sum_other / d->sum - 1) : NAN, 1);
        sheet_number(s, d->sign_p, 4);
    }
}

static void add_shares(const struct outcome *t, struct sheets *out)
{
    struct sheet *s = sheet_add(out, GROWTH_QUARTERS + 1, 1,
                                "largest share of one fuzzer, percent, by quarter of the campaign");
    sheet_cell(s, "contender");
    for (int q = 1; q <= GROWTH_QUARTERS; q++)
        sheet_cell(s, "Q%d", q);
    for (size_t c = 0; c < t->contenders.n; c++) {
        if (t->roles[c] == ROLE_RIVAL)
            continue;
        sheet_cell(s, "%s", t->contenders.v[c]);
        for (int q = 0; q < GROWTH_QUARTERS; q++) {
            double sum = 0;
            size_t n = 0;
            for (size_t i = 0; i < t->n; i++)
                if (strcmp(t->results[i].contender, t->contenders.v[c]) == 0 &&
                    t->results[i].top_share[q] >= 0) {
                    sum += t->results[i].top_share[q];
                    n++;
                }
            sheet_number(s, n ? 100 * sum / (double)n : NAN, 1);
        }
    }
}

static void add_ranks(const struct outcome *t, enum measure_kind m, struct sheets *out)
{
    struct ranking r;
    if (!outcome_ranking(t, m, &r))
        return;
    struct sheet *s =
        sheet_add(out, 2, 1, "mean rank over %zu targets, %s", r.targets, measure_name(m));
    sheet_cell(s, "contender");
    sheet_cell(s, "rank");
    for (size_t c = 0; c < t->contenders.n; c++) {
        sheet_cell(s, "%s", t->contenders.v[c]);
        sheet_number(s, r.rank[c], 2);
    }
    sheet_note(s, "Friedman chi2 %.3f, p %.4f; Nemenyi critical difference at 0.05: %.2f", r.chi2,
               r.p, r.cd);
    free(r.rank);
}

/* How many different texts. */
static size_t kinds(const struct outcome *t, size_t field)
{
    struct strv seen = {0};
    for (size_t i = 0; i < t->n; i++) {
        const char *text = *(char *const *)((const char *)&t->results[i] + field);
        if (!strv_has(&seen, text))
            strv_add(&seen, text);
    }
    size_t n = seen.n;
    strv_free(&seen);
    return n;
}

static void add_care(const struct outcome *t, struct sheets *out)
{
    struct sheet *s = sheet_add(out, 4, 1, "how the campaigns ran");
    static const char *const heads[] = {"contender", "least CPU per core and second", "mean",
                                        "repeated"};
    for (size_t i = 0; i < 4; i++)
        sheet_cell(s, "%s", heads[i]);
    for (size_t c = 0; c < t->contenders.n; c++) {
        double least = INFINITY, sum = 0;
        size_t n = 0, repeated = 0;
        for (size_t i = 0; i < t->n; i++) {
            const struct result *r = &t->results[i];
            if (strcmp(r->contender, t->contenders.v[c]) != 0)
                continue;
            least = r->ratio < least ? r->ratio : least;
            sum += r->ratio;
            n++;
            repeated += r->attempts > 1;
        }
        sheet_cell(s, "%s", t->contenders.v[c]);
        sheet_number(s, least, 2);
        sheet_number(s, sum / (double)n, 2);
        sheet_cell(s, "%zu", repeated);
    }
    size_t hosts = kinds(t, offsetof(struct result, host)),
           versions = kinds(t, offsetof(struct result, version));
    sheet_note(s,
               "%zu campaigns, made by %zu version%s of Carol and its fuzzers on %zu kind%s of "
               "machine; result.json has each",
               t->n, versions, versions == 1 ? "" : "s", hosts, hosts == 1 ? "" : "s");
}

void outcome_sheets(const struct outcome *t, size_t reference, enum measure_kind m,
                    struct sheets *out)
{
    struct duel *duels;
    size_t n;
    add_means(t, MEASURE_BUGS, 2, "bugs triggered", out);
    say_trials(t, &out->v[out->n - 1]);
    outcome_duels(t, reference, m, &duels, &n);
    if (n) {
        add_duels(t, reference, m, duels, n, out);
        add_matches(t, reference, m, duels, n, out);
        add_role(t, reference, m, ROLE_ABLATION, "ablations", duels, n, out);
        add_role(t, reference, m, ROLE_REWARD, "reward sweep", duels, n, out);
        add_role(t, reference, m, ROLE_SINGLE, "each fuzzer alone", duels, n, out);
    }
    duels_free(duels, n);
    add_ranks(t, m, out);
    add_means(t, MEASURE_AREA, 2, "bugs triggered, mean over the budget (area under the curve)",
              out);
    add_means(t, MEASURE_REACHED, 2, "bugs reached", out);
    add_means(t, MEASURE_EDGES, 0, "neutral edges of what was kept", out);
    add_edges(t, out);
    add_means(t, MEASURE_EXECS, 0, "inputs executed", out);
    for (size_t target = 0; target < t->targets.n; target++)
        add_bugs(t, target, out);
    add_shares(t, out);
    add_care(t, out);
}
