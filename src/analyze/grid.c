/* grid: cells, and their four forms.  Knows nothing of what is in them. */
#include "analyze/grid.h"

#include "analyze/chart.h"
#include "base/die.h"
#include "report/html.h"
#include "report/page.h"
#include "report/sheet.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *text_of(const char *fmt, va_list ap)
{
    char text[2048];
    vsnprintf(text, sizeof text, fmt, ap);
    return xstrdup(text);
}

struct grid *grid_add(struct grids *g, const char *name, const struct grid_column *columns,
                      size_t n_columns, const char *title, ...)
{
    va_list ap;
    XGROW(g->v, g->n, g->cap);
    struct grid *x = &g->v[g->n++];
    va_start(ap, title);
    *x = (struct grid){.name = xstrdup(name),
                       .title = text_of(title, ap),
                       .columns = columns,
                       .n_columns = n_columns};
    va_end(ap);
    return x;
}

static void put(struct grid *g, char *text, double v)
{
    XGROW(g->cells, g->n, g->cap);
    g->cells[g->n++] = (struct grid_cell){text, isfinite(v) ? v : NAN};
}

void grid_text(struct grid *g, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    put(g, text_of(fmt, ap), NAN);
    va_end(ap);
}

void grid_count(struct grid *g, uint64_t v)
{
    put(g, NULL, (double)v);
}

void grid_real(struct grid *g, double v)
{
    put(g, NULL, v);
}

void grid_numbers(struct grid *g, const double *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        grid_real(g, v[i]);
}

void grid_note(struct grid *g, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    strv_take(&g->notes, text_of(fmt, ap));
    va_end(ap);
}

void grids_note(struct grids *g, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *text = text_of(fmt, ap);
    va_end(ap);
    if (strv_has(&g->notes, text))
        free(text);
    else
        strv_take(&g->notes, text);
}

size_t grid_rows(const struct grid *g)
{
    return g->n / g->n_columns;
}

void grids_free(struct grids *g)
{
    for (size_t i = 0; i < g->n; i++) {
        for (size_t k = 0; k < g->v[i].n; k++)
            free(g->v[i].cells[k].text);
        free(g->v[i].cells);
        free(g->v[i].name);
        free(g->v[i].title);
        strv_free(&g->v[i].notes);
    }
    free(g->v);
    strv_free(&g->notes);
    strv_free(&g->targets);
    *g = (struct grids){0};
}

const struct grid_cell *grid_cell_at(const struct grid *g, size_t row, size_t column)
{
    return &g->cells[row * g->n_columns + column];
}

/* --- for people ------------------------------------------------------------------------------------- */

static void show_cell(struct sheet *s, const struct grid_cell *c, int kind)
{
    if (kind == GRID_TEXT)
        sheet_cell(s, "%s", c->text ? c->text : "");
    else if (kind == GRID_P && c->v < 0.001 && c->v > 0)
        sheet_cell(s, "%.1e", c->v);
    else
        sheet_number(s, c->v, kind == GRID_P ? 4 : kind);
}

const char *grid_heading(const char *key, char out[64])
{
    size_t n = 0;
    bool percent = str_ends(key, "_pct");
    for (const char *p = key; *p && n + 4 < 64 && !(percent && strcmp(p, "_pct") == 0); p++)
        out[n++] = *p == '_' ? ' ' : *p;
    snprintf(out + n, 64 - n, "%s", percent ? " %" : "");
    return out;
}

static size_t left_columns(const struct grid *g)
{
    size_t n = 0;
    while (n < g->n_columns && g->columns[n].kind == GRID_TEXT)
        n++;
    return n;
}

/* Lines of about 110 characters. */
static void put_note(struct buf *out, const char *note)
{
    int column = 0;
    for (const char *p = note; *p;) {
        size_t n = strcspn(p, " ");
        if (column && column + 1 + (int)n > 110) {
            buf_str(out, "\n");
            column = 0;
        }
        buf_printf(out, "%s%.*s", column ? " " : "", (int)n, p);
        column += (int)n + (column ? 1 : 0);
        p += n + (p[n] == ' ');
    }
}

static char *notes_of(const struct strv *notes, const char *between)
{
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    for (size_t i = 0; i < notes->n; i++) {
        buf_str(&b, i ? between : "");
        put_note(&b, notes->v[i]);
    }
    return buf_take(&b);
}

/* between: what stands between two notes. */
static void sheet_of(const struct grid *x, const char *between, struct sheets *out)
{
    char heading[64];
    struct sheet *s = sheet_add(out, x->n_columns, left_columns(x), "%s", x->title);
    if (x->detail) {
        sheet_note(s, "%zu rows: --json and --csv have them", grid_rows(x));
        return;
    }
    for (size_t c = 0; c < x->n_columns; c++)
        sheet_cell(s, "%s", grid_heading(x->columns[c].key, heading));
    for (size_t k = 0; k < x->n; k++)
        show_cell(s, &x->cells[k], x->columns[k % x->n_columns].kind);
    if (x->notes.n)
        s->note = notes_of(&x->notes, between);
}

void grids_text(const struct grids *g, struct buf *out)
{
    struct sheets sheets = {0};
    for (size_t i = 0; i < g->n; i++)
        sheet_of(&g->v[i], "\n", &sheets);
    sheets_text(&sheets, out);
    sheets_free(&sheets);
    if (g->notes.n) {
        char *notes = notes_of(&g->notes, "\n");
        buf_printf(out, "%s%s\n", g->n ? "\n" : "", notes);
        free(notes);
    }
}

void grids_html(const struct grids *g, const char *heading, struct buf *out)
{
    page_begin(out, heading, REPORT_FILE);
    html(out, "<header><h1>%s</h1></header>\n<main>\n", heading);
    for (size_t i = 0; i < g->notes.n; i++)
        html(out, "<p>%s</p>\n", g->notes.v[i]);
    for (size_t i = 0; i < g->n; i++) {
        struct sheets sheets = {0};
        chart_draw(&g->v[i], out);
        sheet_of(&g->v[i], ". ", &sheets);
        sheets_html(&sheets, out);
        sheets_free(&sheets);
    }
    page_end(out, REPORT_FILE);
}

/* --- for programs ------------------------------------------------------------------------------------ */

static json_t *cell_json(const struct grid_cell *c, int kind)
{
    if (kind == GRID_TEXT)
        return json_string(c->text ? c->text : "");
    if (isnan(c->v))
        return json_null();
    return kind == GRID_COUNT ? json_integer((json_int_t)c->v) : json_real(c->v);
}

static json_t *strings_json(const struct strv *l)
{
    json_t *a = json_array();
    for (size_t i = 0; i < l->n; i++)
        json_array_append_new(a, json_string(l->v[i]));
    return a;
}

json_t *grids_json(const struct grids *g)
{
    json_t *tables = json_array();
    for (size_t i = 0; i < g->n; i++) {
        const struct grid *x = &g->v[i];
        json_t *rows = json_array();
        for (size_t r = 0; r < grid_rows(x); r++) {
            json_t *row = json_object();
            for (size_t c = 0; c < x->n_columns; c++)
                json_object_set_new(row, x->columns[c].key,
                                    cell_json(grid_cell_at(x, r, c), x->columns[c].kind));
            json_array_append_new(rows, row);
        }
        json_array_append_new(tables,
                              json_pack("{s:s,s:s,s:o,s:o}", "name", x->name, "title", x->title,
                                        "notes", strings_json(&x->notes), "rows", rows));
    }
    return tables;
}

static void csv_cell(struct buf *out, const struct grid_cell *c, int kind)
{
    if (kind == GRID_TEXT)
        buf_csv(out, c->text ? c->text : "");
    else if (!isnan(c->v))
        buf_printf(out, "%.17g", c->v);
}

void grids_csv(const struct grids *g, struct buf *out)
{
    for (size_t i = 0; i < g->n; i++) {
        const struct grid *x = &g->v[i];
        buf_printf(out, "%stable", i ? "\n" : "");
        for (size_t c = 0; c < x->n_columns; c++)
            buf_printf(out, ",%s", x->columns[c].key);
        for (size_t k = 0; k < x->n; k++) {
            if (k % x->n_columns == 0)
                buf_printf(out, "\n%s", x->name);
            buf_str(out, ",");
            csv_cell(out, &x->cells[k], x->columns[k % x->n_columns].kind);
        }
        buf_str(out, "\n");
    }
}
