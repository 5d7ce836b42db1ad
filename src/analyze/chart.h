/* chart: the picture of a table for a page: bars of one column or of several beside each other, for every row.  Colours are
 * the page's (report/report.css). */
#ifndef CAROL_ANALYZE_CHART_H
#define CAROL_ANALYZE_CHART_H

#include "analyze/grid.h"

/* By g->drawn and g->n_drawn; nothing when the table has no such column, or too many rows for a picture. */
void chart_draw(const struct grid *g, struct buf *out);

#endif
