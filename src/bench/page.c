/* page: figures and sheets as one HTML file that loads nothing else. */
#include "report/page.h"
#include "bench/figure.h"
#include "bench/outcome.h"
#include "report/html.h"

#include <stdlib.h>

void outcome_html(const struct outcome *t, size_t reference, enum measure_kind m, struct buf *out)
{
    struct sheets sheets = {0};
    struct ranking r;
    page_begin(out, "carol bench", REPORT_FILE);
    html(
        out,
        "<header><h1>Planted bugs for the same CPU time</h1></header>\n<main>\n<p>%zu campaigns of "
        "%.9g CPU s: %zu targets, %zu contenders.</p>\n",
        t->n, t->budget_s, t->targets.n, t->contenders.n);
    buf_str(out, "<section><h2>bugs triggered over CPU time, mean, summed over the targets</h2>\n");
    figure_bugs(t, out);
    buf_str(out, "</section>\n");
    if (outcome_ranking(t, m, &r)) {
        buf_str(out, "<section><h2>mean ranks</h2>\n");
        figure_ranks(t, &r, out);
        buf_str(out, "</section>\n");
        free(r.rank);
    }
    buf_str(out, "<section><h2>neutral edges over CPU time, mean, summed over the targets</h2>\n");
    figure_edges(t, out);
    buf_str(out, "</section>\n<section><h2>bugs not triggered yet</h2>\n");
    for (size_t target = 0; target < t->targets.n; target++)
        figure_survival(t, target, out);
    buf_str(out, "</section>\n");
    outcome_sheets(t, reference, m, &sheets);
    sheets_html(&sheets, out);
    sheets_free(&sheets);
    page_end(out, REPORT_FILE);
}
