/* sheet: a titled grid of short texts that is printed as text, CSV or HTML. */
#ifndef CAROL_REPORT_SHEET_H
#define CAROL_REPORT_SHEET_H

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#include <stddef.h>

struct sheet {
    char *title, *note; /* note: NULL: none */
    size_t columns;     /* the first `left` of them are texts, the others figures */
    size_t left;
    struct strv cells; /* row by row; the first row is the heading */
};

struct sheets {
    struct sheet *v;
    size_t n, cap;
};

/* A new sheet at the end; the pointer is good until the next one. */
struct sheet *sheet_add(struct sheets *s, size_t columns, size_t left, const char *title, ...)
    CAROL_PRINTF(4, 5);
void sheet_cell(struct sheet *s, const char *fmt, ...) CAROL_PRINTF(2, 3);
/* A figure with that many digits behind the point; NaN is a dash. */
void sheet_number(struct sheet *s, double v, int digits);
void sheet_note(struct sheet *s, const char *fmt, ...) CAROL_PRINTF(2, 3);
void sheets_free(struct sheets *s);

void sheets_text(const struct sheets *s, struct buf *out);
/* One after another, a blank line between; each line begins with the title of its sheet, and the first has the headings. */
void sheets_csv(const struct sheets *s, struct buf *out);
void sheets_html(const struct sheets *s, struct buf *out);

#endif
