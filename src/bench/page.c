/* page: figures and sheets as one HTML file that loads nothing else. */
#include "bench/figure.h"
#include "bench/outcome.h"

#include <stdlib.h>

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n<title>carol bench</title>\n<style>\n"
    "body{font:14px/1.45 sans-serif;margin:2em auto;max-width:76em;padding:0 1em;color:#222}\n"
    "h1{font-size:1.5em}h2{font-size:1.1em;margin:2em 0 .4em}\n"
    "table{border-collapse:collapse;display:block;overflow-x:auto}\n"
    "th,td{padding:.15em .7em;text-align:right;border-bottom:1px solid #ddd;white-space:nowrap}\n"
    "th.t,td.t{text-align:left}th{border-bottom:2px solid #999}p{color:#555;margin:.4em 0}\n"
    "</style></head><body>\n";

void outcome_html(const struct outcome *t, size_t reference, enum measure_kind m, struct buf *out)
{
    struct sheets sheets = {0};
    struct ranking r;
    buf_str(out, head);
    buf_printf(out,
               "<h1>Planted bugs for the same CPU time</h1>\n<p>%zu campaigns of %.9g CPU s: %zu "
               "targets, %zu contenders.</p>\n",
               t->n, t->budget_s, t->targets.n, t->contenders.n);
    buf_str(out, "<h2>bugs triggered over CPU time, mean, summed over the targets</h2>\n");
    figure_bugs(t, out);
    if (outcome_ranking(t, m, &r)) {
        buf_str(out, "<h2>mean ranks</h2>\n");
        figure_ranks(t, &r, out);
        free(r.rank);
    }
    outcome_sheets(t, reference, m, &sheets);
    sheets_html(&sheets, out);
    sheets_free(&sheets);
    buf_str(out, "</body></html>\n");
}
