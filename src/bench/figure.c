/* figure: draws lines and ranks as SVG.  Computes nothing but places. */
#include "bench/figure.h"

#include "base/die.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 760
#define HEIGHT 380
#define LEFT 50
#define RIGHT 200 /* room for names */
#define TOP 15
#define BOTTOM 40
#define STEPS 200

static const char *const colours[] = {"#1b6ca8", "#d1495b", "#2e933c", "#8e5ea2", "#e08e1b",
                                      "#3b3b3b", "#17a2b8", "#a0522d", "#c2185b", "#6b8e23"};
#define COLOURS (sizeof colours / sizeof *colours)

static void text(struct buf *out, double x, double y, const char *anchor, const char *s)
{
    buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    html_text(out, s);
    buf_str(out, "</text>\n");
}

static void line(struct buf *out, double x1, double y1, double x2, double y2, const char *style)
{
    buf_printf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x1, y1, x2, y2,
               style);
}

static void begin(struct buf *out, int width, int height, const char *title)
{
    buf_printf(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 "
               "%d %d\" font-family=\"sans-serif\" font-size=\"12\" role=\"img\"><title>",
               width, height, width, height);
    html_text(out, title);
    buf_str(out, "</title>\n");
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
                hits += r->bugs[b].triggered.exec && r->bugs[b].triggered.cpu_s <= at;
        }
        sum += trials ? (double)hits / (double)trials : 0;
    }
    return sum;
}

/* A round number of the size of top/5. */
static double tick_of(double top)
{
    double raw = top / 5, unit = pow(10, floor(log10(raw)));
    return raw / unit < 1.5   ? unit
           : raw / unit < 3.5 ? 2 * unit
           : raw / unit < 7.5 ? 5 * unit
                              : 10 * unit;
}

static void axes(struct buf *out, double budget, double top)
{
    double x0 = LEFT, x1 = WIDTH - RIGHT, y0 = HEIGHT - BOTTOM, y1 = TOP;
    char label[32];
    for (double v = 0; v <= top * 1.0001; v += tick_of(top)) {
        double y = y0 - (y0 - y1) * v / top;
        line(out, x0, y, x1, y, "stroke=\"#ddd\"");
        snprintf(label, sizeof label, "%g", v);
        text(out, x0 - 6, y + 4, "end", label);
    }
    for (double v = 0; v <= budget * 1.0001; v += tick_of(budget)) {
        double x = x0 + (x1 - x0) * v / budget;
        snprintf(label, sizeof label, "%g", v);
        text(out, x, y0 + 16, "middle", label);
    }
    line(out, x0, y0, x1, y0, "stroke=\"#333\"");
    line(out, x0, y0, x0, y1, "stroke=\"#333\"");
    text(out, (x0 + x1) / 2, HEIGHT - 6, "middle", "CPU seconds");
}

void figure_bugs(const struct outcome *t, struct buf *out)
{
    double top = 1, x0 = LEFT, x1 = WIDTH - RIGHT, y0 = HEIGHT - BOTTOM, y1 = TOP;
    for (size_t c = 0; c < t->contenders.n; c++)
        top = fmax(top, bugs_by(t, c, t->budget_s));
    begin(out, WIDTH, HEIGHT, "bugs triggered over CPU time");
    axes(out, t->budget_s, top);
    for (size_t c = 0; c < t->contenders.n; c++) {
        const char *colour = colours[c % COLOURS];
        buf_printf(out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.8\"%s points=\"",
                   colour, t->roles[c] == ROLE_RIVAL ? " stroke-dasharray=\"5 3\"" : "");
        for (int i = 0; i <= STEPS; i++) {
            double at = t->budget_s * i / STEPS;
            buf_printf(out, "%.1f,%.1f ", x0 + (x1 - x0) * i / STEPS,
                       y0 - (y0 - y1) * bugs_by(t, c, at) / top);
        }
        buf_str(out, "\"/>\n");
        double y = TOP + 10 + 16 * (double)c;
        buf_printf(out, "<rect x=\"%d\" y=\"%.1f\" width=\"12\" height=\"3\" fill=\"%s\"/>\n",
                   WIDTH - RIGHT + 12, y - 5, colour);
        text(out, WIDTH - RIGHT + 30, y, "start", t->contenders.v[c]);
    }
    buf_str(out, "</svg>\n");
}

/* --- ranks --------------------------------------------------------------------------------------- */

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
            line(out, x_of(v[i].rank, k) - 3, y, x_of(v[j].rank, k) + 3, y,
                 "stroke=\"#333\" stroke-width=\"3\"");
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
    begin(out, WIDTH, height, "mean ranks and critical difference");
    line(out, x_of(1, k), RANK_AXIS, x_of((double)k, k), RANK_AXIS, "stroke=\"#333\"");
    for (size_t i = 1; i <= k; i++) {
        line(out, x_of((double)i, k), RANK_AXIS - 5, x_of((double)i, k), RANK_AXIS,
             "stroke=\"#333\"");
        snprintf(label, sizeof label, "%zu", i);
        text(out, x_of((double)i, k), RANK_AXIS - 9, "middle", label);
    }
    double unit = (WIDTH - 2 * RANK_LEFT) / (double)(k - 1), cd = fmin(r->cd, (double)(k - 1));
    line(out, RANK_LEFT, 14, RANK_LEFT + unit * cd, 14, "stroke=\"#d1495b\" stroke-width=\"2\"");
    snprintf(label, sizeof label, "critical difference %.2f", r->cd);
    text(out, RANK_LEFT + unit * cd + 8, 18, "start", label);
    double base = RANK_AXIS + 14 + 6 * draw_bars(v, k, r->cd, out);
    for (size_t i = 0; i < k; i++) {
        bool left = i < (k + 1) / 2;
        double y = base + RANK_STEP * (double)(left ? i + 1 : k - i), x = x_of(v[i].rank, k),
               end = left ? RANK_LEFT - 20 : WIDTH - RANK_LEFT + 20;
        line(out, x, RANK_AXIS, x, y, "stroke=\"#777\"");
        line(out, x, y, end, y, "stroke=\"#777\"");
        snprintf(label, sizeof label, "%s %.2f", v[i].name, v[i].rank);
        text(out, left ? end - 4 : end + 4, y + 4, left ? "end" : "start", label);
    }
    buf_str(out, "</svg>\n");
    free(v);
}
