/* contrast: medians, counts and Wilcoxon's test of pairs.  Computes no errors. */
#include "analyze/contrast.h"

#include "base/die.h"
#include "stats/holm.h"
#include "stats/paired.h"
#include "stats/series.h"

#include <math.h>
#include <stdlib.h>

static double median(double *v, size_t n)
{
    return n ? stats_median(v, (int)n) : NAN;
}

/* The same model fitted in two ways differs by rounding: that is no difference. */
static double gap(double base, double other)
{
    double d = other - base;
    return fabs(d) > CONTRAST_SAME * fmax(base, other) ? d : 0;
}

void contrast_of(const double *base, const double *other, size_t n, struct contrast *c)
{
    double *d = xcalloc(4 * n + 1, sizeof *d), *b = d + n, *o = d + 2 * n, *more = d + 3 * n;
    size_t ratios = 0;
    struct wilcoxon w;
    *c = (struct contrast){.p = NAN, .p_holm = NAN};
    for (size_t i = 0; i < n; i++) {
        if (isnan(base[i]) || isnan(other[i]))
            continue;
        b[c->n] = base[i];
        o[c->n] = other[i];
        d[c->n] = gap(base[i], other[i]);
        c->worse += d[c->n] > 0;
        c->better += d[c->n] < 0;
        c->n++;
        if (base[i] > 0)
            more[ratios++] = 100 * (other[i] / base[i] - 1);
    }
    if (c->n) {
        stats_wilcoxon(d, c->n, &w);
        c->p = w.p;
        c->up = 4 * w.w_plus > (double)w.n * (double)(w.n + 1);
    }
    c->base = median(b, c->n);
    c->other = median(o, c->n);
    c->more = median(more, ratios);
    free(d);
}

static bool could_be_significant(size_t pairs, size_t tests)
{
    return ldexp(2, -(int)pairs) * (double)tests < CONTRAST_ALPHA;
}

void contrast_holm(struct contrast *c, size_t n, size_t step)
{
    size_t tests = 0, most = 0;
    stats_holm_fields(&c->p, &c->p_holm, n, step * sizeof *c);
    for (size_t i = 0; i < n; i++) {
        tests += !isnan(c[i * step].p);
        most = c[i * step].n > most ? c[i * step].n : most;
    }
    for (size_t i = 0; i < n; i++)
        c[i * step].hopeless =
            !could_be_significant(most, tests) || !could_be_significant(c[i * step].n, 1);
}

const char *contrast_says(const struct contrast *c)
{
    if (c->hopeless)
        return "too few";
    if (!(c->p_holm < CONTRAST_ALPHA))
        return "open";
    return c->up ? "worse" : "better";
}

void contrast_cells(struct grid *g, const struct contrast *c)
{
    grid_count(g, c->n);
    grid_real(g, c->base);
    grid_real(g, c->other);
    grid_real(g, c->more);
    grid_real(g, c->n ? 100.0 * (double)c->worse / (double)c->n : NAN);
    grid_real(g, c->p);
    grid_real(g, c->p_holm);
    grid_text(g, "%s", contrast_says(c));
}

void contrast_note(struct grid *g, const char *base, const char *holm)
{
    grid_note(
        g,
        "base error: %s; errors are mean squares over the turns of a campaign, medians over "
        "campaigns; more error %%: at the median campaign; worse %%: campaigns with a larger error",
        base);
    grid_note(
        g,
        "p: Wilcoxon signed ranks, two-sided, a pair per campaign; p holm: Holm over %s; says: at "
        "p holm < 0.05; 'too few': not even the clearest result of so few campaigns could be "
        "significant",
        holm);
}
