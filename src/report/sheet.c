/* sheet: grids as text, CSV and HTML.  Knows nothing of what is in them. */
#include "report/sheet.h"

#include "base/die.h"
#include "report/html.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CELL_MAX 512

static char *text_va(const char *fmt, va_list ap)
{
    char text[CELL_MAX];
    vsnprintf(text, sizeof text, fmt, ap);
    return xstrdup(text);
}

struct sheet *sheet_add(struct sheets *s, size_t columns, size_t left, const char *title, ...)
{
    va_list ap;
    XGROW(s->v, s->n, s->cap);
    struct sheet *x = &s->v[s->n++];
    va_start(ap, title);
    *x = (struct sheet){.title = text_va(title, ap), .columns = columns, .left = left};
    va_end(ap);
    return x;
}

void sheet_cell(struct sheet *s, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    strv_take(&s->cells, text_va(fmt, ap));
    va_end(ap);
}

void sheet_number(struct sheet *s, double v, int digits)
{
    if (isnan(v))
        sheet_cell(s, "-");
    else
        sheet_cell(s, "%.*f", digits, v);
}

void sheet_note(struct sheet *s, const char *fmt, ...)
{
    va_list ap;
    free(s->note);
    va_start(ap, fmt);
    s->note = text_va(fmt, ap);
    va_end(ap);
}

void sheets_free(struct sheets *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->v[i].title);
        free(s->v[i].note);
        strv_free(&s->v[i].cells);
    }
    free(s->v);
    *s = (struct sheets){0};
}

/* Characters on a terminal: bytes that do not continue one. */
static int width_of(const char *s)
{
    int n = 0;
    for (; *s; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

static int column_width(const struct sheet *s, size_t column)
{
    int most = 0;
    for (size_t i = column; i < s->cells.n; i += s->columns) {
        int w = width_of(s->cells.v[i]);
        most = w > most ? w : most;
    }
    return most;
}

static void sheet_text(const struct sheet *s, struct buf *out)
{
    buf_printf(out, "%s\n", s->title);
    for (size_t i = 0; i < s->cells.n; i++) {
        size_t c = i % s->columns;
        const char *text = s->cells.v[i];
        int pad = column_width(s, c) - width_of(text);
        bool last = c + 1 == s->columns;
        if (c < s->left)
            buf_printf(out, "%s%*s", text, last ? 0 : pad, "");
        else
            buf_printf(out, "%*s%s", pad, "", text);
        buf_str(out, last ? "\n" : "  ");
    }
    if (s->note)
        buf_printf(out, "%s\n", s->note);
}

void sheets_text(const struct sheets *s, struct buf *out)
{
    for (size_t i = 0; i < s->n; i++) {
        if (i)
            buf_str(out, "\n");
        sheet_text(&s->v[i], out);
    }
}

void sheets_csv(const struct sheets *s, struct buf *out)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct sheet *x = &s->v[i];
        buf_str(out, i ? "\n" : "");
        for (size_t k = 0; k < x->cells.n; k++) {
            if (k % x->columns == 0)
                buf_csv(out, k ? x->title : "table");
            buf_str(out, ",");
            buf_csv(out, x->cells.v[k]);
            buf_str(out, (k + 1) % x->columns == 0 ? "\n" : "");
        }
    }
}

static void sheet_html(const struct sheet *s, struct buf *out)
{
    html(out, "<section><h2>%s</h2>\n<div class=\"scroll\"><table>\n", s->title);
    for (size_t i = 0; i < s->cells.n; i++) {
        size_t c = i % s->columns;
        const char *tag = i < s->columns ? "th" : "td";
        buf_str(out, c ? "" : "<tr>");
        html(out, c < s->left ? "<%s class=\"t\">" : "<%s>", tag);
        html(out, "%s</%s>", s->cells.v[i], tag);
        buf_str(out, c + 1 == s->columns ? "</tr>\n" : "");
    }
    buf_str(out, "</table></div>\n");
    if (s->note)
        html(out, "<p class=\"note\">%s</p>\n", s->note);
    buf_str(out, "</section>\n");
}

void sheets_html(const struct sheets *s, struct buf *out)
{
    for (size_t i = 0; i < s->n; i++)
        sheet_html(&s->v[i], out);
}
