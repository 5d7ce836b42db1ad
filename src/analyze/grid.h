/* grid: a table of typed cells, written once and shown as text, JSON, CSV or HTML.
 *
 *     static const struct grid_column columns[] = {{"target", GRID_TEXT}, {"campaigns", GRID_COUNT}, {"p", GRID_P}};
 *     struct grid *g = grid_add(&grids, "predict", GRID_COLUMNS(columns), "held-out error");
 *     grid_text(g, "%s", target);  grid_count(g, 10);  grid_real(g, 0.03);      // row by row, cell by cell
 *     grid_note(g, "Wilcoxon, Holm over %zu targets", n);
 *
 * A number that is not finite is an empty cell: a dash for people, null for programs. */
#ifndef CAROL_ANALYZE_GRID_H
#define CAROL_ANALYZE_GRID_H

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a column holds; a number from 1 up: reals with so many digits behind the point. */
enum { GRID_TEXT = -1, GRID_COUNT = 0, GRID_P = 100 /* of a test: small ones keep two digits */ };

struct grid_column {
    const char *key; /* in JSON and CSV; people see "_pct" as " %" and "_" as a space */
    int kind;
};
#define GRID_COLUMNS(c) (c), sizeof(c) / sizeof *(c)

struct grid_cell {
    char *text;
    double v; /* NaN: empty */
};

struct grid {
    char *name, *title;
    const struct grid_column *columns;
    size_t n_columns;
    struct grid_cell *cells; /* row by row */
    size_t n, cap;
    struct strv notes;
    const char *drawn; /* key of the column that the page draws as bars; NULL: none */
    size_t n_drawn;    /* so many columns from that one on; 0: it alone */
    bool detail;       /* for programs: people are told how many rows there are */
};

/* An answer: its tables, and what was noticed about the campaigns. */
struct grids {
    struct grid *v;
    size_t n, cap;
    struct strv notes;
    size_t campaigns; /* what it is about */
    struct strv targets;
};

/* A new table at the end; the columns outlive it, the pointer is good until the next one. */
struct grid *grid_add(struct grids *g, const char *name, const struct grid_column *columns,
                      size_t n_columns, const char *title, ...) CAROL_PRINTF(5, 6);
void grid_text(struct grid *g, const char *fmt, ...) CAROL_PRINTF(2, 3);
void grid_count(struct grid *g, uint64_t v);
void grid_real(struct grid *g, double v);
/* Counts and reals, a cell each. */
#define GRID_NUMBERS(g, ...)                                                                       \
    grid_numbers(g, (const double[]){__VA_ARGS__},                                                 \
                 sizeof((const double[]){__VA_ARGS__}) / sizeof(double))
void grid_numbers(struct grid *g, const double *v, size_t n);
void grid_note(struct grid *g, const char *fmt, ...) CAROL_PRINTF(2, 3);
void grids_note(struct grids *g, const char *fmt, ...) CAROL_PRINTF(2, 3);
size_t grid_rows(const struct grid *g);
void grids_free(struct grids *g);

void grids_text(const struct grids *g, struct buf *out);
/* One table after another, a blank line between; each line begins with the name of its table. */
void grids_csv(const struct grids *g, struct buf *out);
/* [{name, title, notes, rows: [{...}]}] */
json_t *grids_json(const struct grids *g);
/* A page that loads nothing else: every table below its picture, if it has one (chart.h). */
void grids_html(const struct grids *g, const char *heading, struct buf *out);
/* The cell, and whether it has a number in it. */
const struct grid_cell *grid_cell_at(const struct grid *g, size_t row, size_t column);
/* What people see of a key, in a buffer of the caller's. */
const char *grid_heading(const char *key, char out[64]);

#endif
