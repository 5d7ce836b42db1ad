/* choices: what the scheduler expected and what came of it; when it tried something else than what it thought best. */
#include "report/part.h"

#include "base/die.h"
#include "stats/ranks.h"
#include "stats/trend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define DOTS 500   /* turns drawn one by one */
#define GROUPS 10  /* of equal size, by prediction */
#define PAIRS 3000 /* for Kendall's tau, which compares all pairs */

struct pairs {
    double *x, *y; /* predicted, came of it */
    int *arm;
    size_t n;
};

static void pairs_take(const struct report *r, struct pairs *p)
{
    *p = (struct pairs){xcalloc(r->n_turns, sizeof *p->x), xcalloc(r->n_turns, sizeof *p->y),
                        xcalloc(r->n_turns, sizeof *p->arm), 0};
    for (size_t i = 0; i < r->n_turns; i++) {
        const struct data_turn *t = &r->turns[i];
        if (t->state != TURN_COMMITTED || t->warmup || !isfinite(t->mean))
            continue;
        p->x[p->n] = t->mean;
        p->y[p->n] = t->reward;
        p->arm[p->n++] = t->arm;
    }
}

static void pairs_free(struct pairs *p)
{
    free(p->x);
    free(p->y);
    free(p->arm);
}

static double step_of(size_t n, size_t most)
{
    return n > most ? (double)n / (double)most : 1;
}

/* Kendall's tau of an even choice of them. */
static double tau_of(const struct pairs *p)
{
    double *x = xcalloc(PAIRS + 1, sizeof *x), *y = xcalloc(PAIRS + 1, sizeof *y);
    struct kendall k = {.tau = NAN};
    size_t n = 0;
    for (double i = 0; i < (double)p->n && n < PAIRS; i += step_of(p->n, PAIRS), n++) {
        x[n] = p->x[(size_t)i];
        y[n] = p->y[(size_t)i];
    }
    if (n >= 2)
        stats_kendall(x, y, n, &k);
    free(x);
    free(y);
    return k.tau;
}

static void draw_dots(struct plot *p, const struct pairs *v)
{
    for (double i = 0; i < (double)v->n; i += step_of(v->n, DOTS)) {
        size_t k = (size_t)i;
        plot_mark(p, v->x[k], v->y[k], 2.2, data_class(v->arm[k]), "");
    }
}

/* Means of groups of equal size, from the lowest predictions to the highest. */
static void draw_groups(struct plot *p, const struct pairs *v)
{
    size_t *order = ranks_index(v->x, v->n), groups = v->n < GROUPS ? v->n : GROUPS;
    char title[128];
    plot_line_begin(p, "total");
    for (int marks = 0; marks < 2; marks++) {
        for (size_t g = 0; g < groups; g++) {
            double x = 0, y = 0;
            size_t lo = v->n * g / groups, hi = v->n * (g + 1) / groups;
            for (size_t i = lo; i < hi; i++) {
                x += v->x[order[i]] / (double)(hi - lo);
                y += v->y[order[i]] / (double)(hi - lo);
            }
            snprintf(title, sizeof title, "%zu turns: expected %.4g, reward %.4g on average",
                     hi - lo, x, y);
            if (marks)
                plot_mark(p, x, y, 4.5, "group", title);
            else
                plot_point(p, x, y);
        }
        if (!marks)
            plot_line_end(p);
    }
    free(order);
}

static void draw_predictions(const struct report *r, const struct pairs *v, struct buf *out)
{
    double lo = v->x[0], hi = v->x[0], top = 0;
    struct plot p;
    char tau[64];
    for (size_t i = 0; i < v->n; i++) {
        lo = fmin(lo, v->x[i]);
        hi = fmax(hi, v->x[i]);
        top = fmax(top, v->y[i]);
    }
    double margin = 0.03 * (hi - lo);
    part_legend(r, out);
    buf_str(out, "<figure>");
    plot_begin(&p, out, "what was expected of the chosen fuzzer, and the reward of the turn",
               lo - margin, hi + margin, 0, top > 0 ? top * 1.03 : 1);
    plot_y_axis(&p, "reward of the turn");
    plot_x_axis(&p, r->j.ops->columns[0]);
    draw_dots(&p, v);
    draw_groups(&p, v);
    plot_end(&p);
    double t = tau_of(v);
    snprintf(tau, sizeof tau, "%.2f", t);
    html(out,
         "<figcaption>%zu turns after the warm-up. Dots are turns%s, the line joins the means of "
         "groups of equal "
         "size, from the lowest %s to the highest. Kendall's tau of the two is %s: 1 would be a "
         "perfect "
         "order, 0 none.</figcaption></figure>\n",
         v->n, v->n > DOTS ? " (an even choice of them)" : "", r->j.ops->columns[0],
         isnan(t) ? "not defined" : tau);
}

void predictions_write(const struct report *r, struct buf *out)
{
    struct pairs v;
    if (!part_begin(r, "predictions", out))
        return;
    if (!r->j.ops || !r->j.ops->predicts) {
        html(out,
             "<p class=\"none\">The scheduler %s predicts nothing: there is nothing to "
             "compare.</p>\n",
             r->j.o.scheduler);
    } else if (!part_empty(r, out)) {
        pairs_take(r, &v);
        if (v.n)
            draw_predictions(r, &v, out);
        else
            buf_str(out, "<p class=\"none\">Only turns of the warm-up are completed.</p>\n");
        pairs_free(&v);
    }
    part_end(out);
}

/* --- exploration --------------------------------------------------------------------------------- */
static void draw_exploration(const struct report *r, const struct part_bins *b, struct buf *out)
{
    struct plot p;
    buf_str(out,
            "<ul class=\"legend\"><li><span class=\"key explored\">explored</span></li>"
            "<li><span class=\"key exploited\">took the highest</span></li>"
            "<li><span class=\"key warmup\">warm-up</span></li></ul>\n<figure class=\"time\">");
    plot_begin_as(&p, out, "choices against the highest prediction over time", "", 170, 0,
                  part_end_s(r), 0, 100);
    plot_y_axis(&p, "% of choices");
    plot_time_axis(&p);
    plot_area(&p);
    for (int k = 0; k < b->n; k++) {
        double all = b->explored[k] + b->exploited[k] + b->warmup[k];
        if (all <= 0)
            continue;
        double x1 = k * b->width_s, x2 = x1 + b->width_s, e = 100 * b->explored[k] / all,
               w = 100 - 100 * b->warmup[k] / all;
        plot_bar(&p, x1, x2, 0, e, "explored");
        plot_bar(&p, x1, x2, e, w, "exploited");
        plot_bar(&p, x1, x2, w, 100, "warmup");
    }
    plot_area_end(&p);
    plot_end(&p);
    buf_str(out, "</figure>\n");
}

void exploration_write(const struct report *r, struct buf *out)
{
    static struct part_bins b;
    size_t explored = 0, warmup = 0, all = 0;
    if (!part_begin(r, "exploration", out))
        return;
    if (!r->j.ops || !r->j.ops->predicts) {
        html(out,
             "<p class=\"none\">The scheduler %s predicts nothing, so no choice goes against a "
             "prediction.</p>\n",
             r->j.o.scheduler);
    } else if (!r->n_turns) {
        buf_str(out, "<p class=\"none\">No decision has been made yet.</p>\n");
    } else {
        for (size_t i = 0; i < r->n_turns; i++) {
            all += r->turns[i].id != 0;
            explored += r->turns[i].explored;
            warmup += r->turns[i].warmup;
        }
        part_bins(r, &b);
        html(out,
             "<p><data value=\"%zu\" data-metric=\"explored\">%zu</data> of %zu choices after the "
             "warm-up "
             "(%.1f %%) went against the highest %s: the scheduler tried what it knew less about. "
             "The other "
             "%zu took what it thought best.</p>\n",
             explored, explored, all - warmup,
             all > warmup ? 100 * (double)explored / (double)(all - warmup) : 0,
             r->j.ops->columns[0], all - warmup - explored);
        draw_exploration(r, &b, out);
    }
    part_end(out);
}
