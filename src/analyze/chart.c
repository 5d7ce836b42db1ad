/* chart: bars from the cells of a table.  Computes no cell. */
#include "analyze/chart.h"

#include "report/html.h"
#include "report/svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_BARS 200
#define STEP 16   /* of bars */
#define LABEL 300 /* room for the names of rows */
#define VALUE 60  /* room for the numbers at the end of bars */

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

/* Where a value is, and how it is written. */
struct scale {
    double zero, unit;
    int digits;
};

static void draw_bar(const struct scale *s, double v, const char *name, double y, struct buf *out)
{
    char text[32];
    svg_text(out, LABEL - 6, y + STEP - 5, "end", "", name);
    if (isnan(v))
        return;
    double end = s->zero + s->unit * v;
    svg_rect(out, fmin(end, s->zero), y + 2, fabs(end - s->zero), STEP - 5, "setbar");
    snprintf(text, sizeof text, "%.*f", s->digits, v);
    svg_text(out, end + (v < 0 ? -4 : 4), y + STEP - 5, v < 0 ? "end" : "start", "", text);
}

static void draw_bars(const struct grid *g, size_t column, size_t n, struct buf *out)
{
    double low, high, width = PLOT_WIDTH - LABEL - 2 * VALUE, y = 4;
    span_of(g, column, n, &low, &high);
    struct scale s = {.unit = high > low ? width / (high - low) : 0,
                      .digits = g->columns[column].kind};
    s.zero = LABEL + VALUE - s.unit * low;
    svg_begin(out, PLOT_WIDTH, (int)(grid_rows(g) * n) * STEP + 8, g->title);
    for (size_t r = 0; r < grid_rows(g); r++)
        for (size_t c = column; c < column + n; c++, y += STEP) {
            char name[200], row[96], key[64];
            name_row(g, r, column, row);
            snprintf(name, sizeof name, "%s%s%s", row, n > 1 ? ", " : "",
                     n > 1 ? grid_heading(g->columns[c].key, key) : "");
            draw_bar(&s, grid_cell_at(g, r, c)->v, name, y, out);
        }
    svg_line(out, s.zero, 2, s.zero, y + 2, "axis");
    svg_end(out);
}

void chart_draw(const struct grid *g, struct buf *out)
{
    size_t column = column_of(g), rows = grid_rows(g), n = g->n_drawn ? g->n_drawn : 1;
    char key[64];
    if (column == g->n_columns || !rows || rows * n > MOST_BARS || g->detail)
        return;
    html(out, "<figure><figcaption>%s%s%s</figcaption>\n", g->title, n > 1 ? "" : ": ",
         n > 1 ? "" : grid_heading(g->drawn, key));
    draw_bars(g, column, n, out);
    buf_str(out, "</figure>\n");
}
