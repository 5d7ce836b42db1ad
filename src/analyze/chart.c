/* chart: bars and lines from the cells of a table.  Computes no cell. */
#include "analyze/chart.h"

#include "report/html.h"
#include "report/svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_ROWS 150
#define STEP 16   /* of bars */
#define LABEL 300 /* room for the names of rows */
#define VALUE 60  /* room for the numbers at the end of bars */
#define COLOURS 12

static size_t column_of(const struct grid *g)
{
    size_t c = 0;
    while (c < g->n_columns && (!g->drawn || strcmp(g->columns[c].key, g->drawn) != 0))
        c++;
    return c;
}

/* The texts of a row before the column that is drawn, and after how many updates. */
static void name_row(const struct grid *g, size_t row, size_t drawn, char out[96])
{
    size_t n = 0;
    out[0] = 0;
    for (size_t c = 0; c < drawn && n < 90; c++) {
        const struct grid_cell *cell = grid_cell_at(g, row, c);
        if (g->columns[c].kind == GRID_TEXT)
            n += (size_t)snprintf(out + n, 96 - n, "%s%s", n ? ", " : "",
                                  cell->text ? cell->text : "");
        else if (strcmp(g->columns[c].key, "updates") == 0)
            n += (size_t)snprintf(out + n, 96 - n, ", %.0f", cell->v);
        if (n >= 96)
            n = 95;
    }
}

static void span_of(const struct grid *g, size_t column, size_t n, double *low, double *high)
{
    *low = *high = 0;
    for (size_t r = 0; r < grid_rows(g); r++)
        for (size_t c = column; c < column + n; c++) {
            double v = grid_cell_at(g, r, c)->v;
            if (isnan(v))
                continue;
            *low = fmin(*low, v);
            *high = fmax(*high, v);
        }
}

static void draw_bars(const struct grid *g, size_t column, struct buf *out)
{
    double low, high, width = PLOT_WIDTH - LABEL - 2 * VALUE;
    span_of(g, column, 1, &low, &high);
    double unit = high > low ? width / (high - low) : 0, zero = LABEL + VALUE - unit * low;
    int digits = g->columns[column].kind;
    svg_begin(out, PLOT_WIDTH, (int)grid_rows(g) * STEP + 8, g->title);
    for (size_t r = 0; r < grid_rows(g); r++) {
        double v = grid_cell_at(g, r, column)->v, y = 4 + STEP * (double)r;
        char text[96];
        name_row(g, r, column, text);
        svg_text(out, LABEL - 6, y + STEP - 5, "end", "", text);
        if (isnan(v))
            continue;
        svg_rect(out, v < 0 ? zero + unit * v : zero, y + 2, fabs(unit * v), STEP - 5, "setbar");
        snprintf(text, sizeof text, "%.*f", digits, v);
        svg_text(out, zero + unit * v + (v < 0 ? -4 : 4), y + STEP - 5, v < 0 ? "end" : "start", "",
                 text);
    }
    svg_line(out, zero, 2, zero, 6 + STEP * (double)grid_rows(g), "axis");
    svg_end(out);
}

static void draw_lines(const struct grid *g, size_t column, struct buf *out)
{
    struct plot p;
    double low, high;
    char text[96], class[8];
    span_of(g, column, g->n_drawn, &low, &high);
    plot_begin(&p, out, g->title, 1, (double)g->n_drawn, low, high > low ? high : low + 1);
    plot_x_axis(&p, "quarter");
    plot_y_axis(&p, grid_heading("share_pct", text));
    for (size_t r = 0; r < grid_rows(g); r++) {
        snprintf(class, sizeof class, "f%zu", r % COLOURS);
        plot_line_begin(&p, class);
        for (size_t c = 0; c < g->n_drawn; c++)
            if (!isnan(grid_cell_at(g, r, column + c)->v))
                plot_point(&p, (double)c + 1, grid_cell_at(g, r, column + c)->v);
        plot_line_end(&p);
        name_row(g, r, column, text);
        const struct grid_cell *last = grid_cell_at(g, r, column + g->n_drawn - 1);
        if (!isnan(last->v))
            svg_text(out, plot_x(&p, (double)g->n_drawn) - 4, plot_y(&p, last->v) - 5, "end", class,
                     text);
    }
    plot_end(&p);
}

void chart_draw(const struct grid *g, struct buf *out)
{
    size_t column = column_of(g), rows = grid_rows(g);
    if (column == g->n_columns || !rows || rows > MOST_ROWS || g->detail)
        return;
    html(out, "<figure><figcaption>%s</figcaption>\n", g->title);
    if (g->n_drawn)
        draw_lines(g, column, out);
    else
        draw_bars(g, column, out);
    buf_str(out, "</figure>\n");
}
