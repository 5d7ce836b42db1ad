/* figure: draws lines and ranks as SVG.  Computes nothing but places. */
#include "bench/figure.h"

#include "base/die.h"
#include "report/html.h"
#include "report/svg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 200

/* The colour of a contender, of twelve. */
static const char *colour(size_t contender, bool rival)
{
    static char class[24];
    snprintf(class, sizeof class, "f%zu%s", contender % 12, rival ? " rival" : "");
    return class;
}

/* Bugs per campaign by time at, averaged over the trials of each target, summed over the targets. */
static double bugs_by(const struct outcome *t, size_t contender, double at)
{
    double sum = 0;
    for (size_t target = 0; target < t->targets.n; target++) {
        size_t trials = 0, hits = 0;
        for (size_t i = 0; i < t->n; i++) {
            const struct result *r = &t->results[i];
            if (strcmp(r->target, t->targets.v[target]) != 0 ||
                strcmp(r->contender, t->contenders.v[contender]) != 0)
                continue;
            trials++;
            for (size_t b = 0; b < r->n_bugs; b++)
                hits += r->bugs[b].triggered.seen && r->bugs[b].triggered.cpu_s <= at;
        }
        sum += trials ? (double)hits / (double)trials : 0;
    }
    return sum;
}

static void legend(const struct outcome *t, struct buf *out)
{
    buf_str(out, "<ul class=\"legend\">");
    for (size_t c = 0; c < t->contenders.n; c++)
        html(out, "<li><span class=\"key %s\">%s</span></li>", colour(c, false),
             t->contenders.v[c]);
    buf_str(out, "</ul>\n");
}

void figure_bugs(const struct outcome *t, struct buf *out)
{
    struct plot p;
    double top = 1;
    for (size_t c = 0; c < t->contenders.n; c++)
        top = fmax(top, bugs_by(t, c, t->budget_s));
    legend(t, out);
    buf_str(out, "<figure>");
    plot_begin(&p, out, "bugs triggered over CPU time", 0, t->budget_s, 0, top);
    plot_y_axis(&p, "bugs");
    plot_x_axis(&p, "CPU seconds");
    for (size_t c = 0; c < t->contenders.n; c++) {
        plot_line_begin(&p, colour(c, t->roles[c] == ROLE_RIVAL));
        for (int i = 0; i <= STEPS; i++)
            plot_point(&p, t->budget_s * i / STEPS, bugs_by(t, c, t->budget_s * i / STEPS));
        plot_line_end(&p);
    }
    plot_end(&p);
    buf_str(out, "<figcaption>Rivals are dashed.</figcaption></figure>\n");
}

static void draw_steps(struct plot *p, const struct km *k, double end)
{
    double level = 1;
    plot_point(p, 0, level);
    for (size_t i = 0; i < k->n; i++) {
        plot_point(p, k->step[i].time, level);
        level = k->step[i].survival;
        plot_point(p, k->step[i].time, level);
    }
    plot_point(p, end, level);
}

void figure_survival(const struct outcome *t, size_t target, struct buf *out)
{
    struct plot p;
    char title[128];
    snprintf(title, sizeof title, "bugs of %s not triggered yet", t->targets.v[target]);
    buf_str(out, "<figure>");
    plot_begin(&p, out, title, 0, t->budget_s, 0, 1);
    plot_y_axis(&p, "part of the bugs");
    plot_x_axis(&p, "CPU seconds");
    for (size_t c = 0; c < t->contenders.n; c++) {
        size_t n;
        struct lifetime *x = outcome_lifetimes(t, target, c, &n);
        struct km k;
        if (n) {
            stats_km(x, n, &k);
            plot_line_begin(&p, colour(c, t->roles[c] == ROLE_RIVAL));
            draw_steps(&p, &k, t->budget_s);
            plot_line_end(&p);
            km_free(&k);
        }
        free(x);
    }
    plot_end(&p);
    html(out,
         "<figcaption>%s: Kaplan-Meier, all bugs and campaigns together.</figcaption></figure>\n",
         t->targets.v[target]);
}

/* Over the targets that have all contenders; NaN: there are none. */
static double edges_by(const struct outcome *t, size_t contender, int moment)
{
    double sum = 0;
    size_t targets = 0;
    for (size_t target = 0; target < t->targets.n; target++) {
        double all = 0;
        for (size_t c = 0; c < t->contenders.n; c++)
            all += outcome_edges(t, target, c, moment);
        if (isnan(all))
            continue;
        sum += outcome_edges(t, target, contender, moment);
        targets++;
    }
    return targets ? sum : NAN;
}

void figure_edges(const struct outcome *t, struct buf *out)
{
    struct plot p;
    double top = 1;
    for (size_t c = 0; c < t->contenders.n; c++)
        top = fmax(top, edges_by(t, c, RESULT_MOMENTS));
    buf_str(out, "<figure>");
    plot_begin(&p, out, "neutral edges over CPU time", 0, t->budget_s, 0, top);
    plot_y_axis(&p, "edges");
    plot_x_axis(&p, "CPU seconds");
    for (size_t c = 0; c < t->contenders.n && !isnan(edges_by(t, c, 0)); c++) {
        plot_line_begin(&p, colour(c, t->roles[c] == ROLE_RIVAL));
        for (int i = 0; i <= RESULT_MOMENTS; i++)
            plot_point(&p, t->budget_s * i / RESULT_MOMENTS, edges_by(t, c, i));
        plot_line_end(&p);
    }
    plot_end(&p);
    buf_str(out, "</figure>\n");
}

/* --- ranks --------------------------------------------------------------------------------------- */

#define WIDTH 760
#define RANK_LEFT 160
#define RANK_AXIS 50
#define RANK_STEP 18

struct place {
    double rank;
    const char *name;
};

static int by_rank(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return x->rank < y->rank ? -1 : x->rank > y->rank ? 1 : strcmp(x->name, y->name);
}

static double x_of(double rank, size_t k)
{
    return RANK_LEFT + (WIDTH - 2 * RANK_LEFT) * (rank - 1) / (double)(k - 1);
}

/* Bars over runs of contenders that do not differ, none inside another; returns how many. */
static int draw_bars(const struct place *v, size_t k, double cd, struct buf *out)
{
    int bars = 0;
    size_t covered = 0;
    for (size_t i = 0; i < k; i++) {
        size_t j = i;
        while (j + 1 < k && v[j + 1].rank - v[i].rank < cd)
            j++;
        if (j > i && j + 1 > covered) {
            double y = RANK_AXIS + 8 + 6 * bars++;
            svg_line(out, x_of(v[i].rank, k) - 3, y, x_of(v[j].rank, k) + 3, y, "bold");
            covered = j + 1;
        }
    }
    return bars;
}

void figure_ranks(const struct outcome *t, const struct ranking *r, struct buf *out)
{
    size_t k = t->contenders.n;
    struct place *v = xcalloc(k, sizeof *v);
    char label[64];
    for (size_t c = 0; c < k; c++)
        v[c] = (struct place){r->rank[c], t->contenders.v[c]};
    qsort(v, k, sizeof *v, by_rank);
    int height = RANK_AXIS + 6 * (int)k + RANK_STEP * ((int)k / 2 + 3);
    buf_str(out, "<figure>");
    svg_begin(out, WIDTH, height, "mean ranks and critical difference");
    svg_line(out, x_of(1, k), RANK_AXIS, x_of((double)k, k), RANK_AXIS, "axis");
    for (size_t i = 1; i <= k; i++) {
        svg_line(out, x_of((double)i, k), RANK_AXIS - 5, x_of((double)i, k), RANK_AXIS, "axis");
        snprintf(label, sizeof label, "%zu", i);
        svg_text(out, x_of((double)i, k), RANK_AXIS - 9, "middle", "", label);
    }
    double unit = (WIDTH - 2 * RANK_LEFT) / (double)(k - 1), cd = fmin(r->cd, (double)(k - 1));
    svg_line(out, RANK_LEFT, 14, RANK_LEFT + unit * cd, 14, "mark");
    snprintf(label, sizeof label, "critical difference %.2f", r->cd);
    svg_text(out, RANK_LEFT + unit * cd + 8, 18, "start", "", label);
    double base = RANK_AXIS + 14 + 6 * draw_bars(v, k, r->cd, out);
    for (size_t i = 0; i < k; i++) {
        bool left = i < (k + 1) / 2;
        double y = base + RANK_STEP * (double)(left ? i + 1 : k - i), x = x_of(v[i].rank, k),
               end = left ? RANK_LEFT - 20 : WIDTH - RANK_LEFT + 20;
        svg_line(out, x, RANK_AXIS, x, y, "lead");
        svg_line(out, x, y, end, y, "lead");
        snprintf(label, sizeof label, "%s %.2f", v[i].name, v[i].rank);
        svg_text(out, left ? end - 4 : end + 4, y + 4, left ? "end" : "start", "", label);
    }
    svg_end(out);
    buf_str(out, "</figure>\n");
    free(v);
}
