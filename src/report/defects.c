/* defects: what crashed and hung: when, by whom, and how to see it again. */
#include "report/part.h"

#include "base/fs.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 60

/* The name of its copy in OUT/crashes or OUT/hangs. */
static char *path_of(const struct report *r, const struct data_crash *c)
{
    if (c->hang)
        return str_fmt("%s/hangs/%s-%s", r->dir, data_arm(r, c->arm), c->hash);
    return str_fmt("%s/crashes/%s-sig%d-%s", r->dir, data_arm(r, c->arm), c->signal, c->hash);
}

static void row(const struct report *r, const struct data_crash *c, struct buf *out)
{
    char at[32], *path = path_of(r, c), *quoted = str_shell(path);
    char *build = str_shell(r->j.o.build ? r->j.o.build : "DIR");
    html(out, "<tr><td class=\"t\">%s</td><td class=\"t\"><span class=\"dot %s\"></span>%s</td>",
         html_clock(c->at_ns, at), data_class(c->arm), data_arm(r, c->arm));
    if (c->hang)
        buf_str(out, "<td class=\"t\">hang</td>");
    else
        html(out, "<td class=\"t\">signal %d%s</td>", c->signal,
             c->by_eval ? " (seen when measured)" : "");
    html(out, "<td>%u</td><td class=\"t\"><a href=\"#%sx%lld\">%s</a></td>", c->size, r->prefix,
         (long long)c->id, c->hash);
    html(out, "<td class=\"t\"><code>carol cover -b %s %s</code></td></tr>\n", build, quoted);
    free(path);
    free(quoted);
    free(build);
}

static void table(const struct report *r, struct buf *out)
{
    buf_str(out, "<div class=\"scroll tall\" tabindex=\"0\"><table>\n<thead><tr><th "
                 "class=\"t\">first seen</th><th "
                 "class=\"t\">by</th>"
                 "<th class=\"t\">what</th><th>bytes</th><th class=\"t\">input</th><th "
                 "class=\"t\">see it again"
                 "</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < r->n_crashes && i < ROWS; i++)
        row(r, &r->crashes[i], out);
    buf_str(out, "</tbody></table></div>\n");
    if (r->n_crashes > ROWS)
        html(out, "<p class=\"note\">%zu more are in %s/crashes and %s/hangs.</p>\n",
             r->n_crashes - ROWS, r->dir, r->dir);
}

void defects_write(const struct report *r, struct buf *out)
{
    part_begin(r, "defects", out);
    if (!r->n_crashes) {
        buf_str(out, "<p class=\"none\">Nothing has crashed or hung.</p>\n");
    } else {
        html(out, "<p class=\"note\">These are inputs, not defects: many may show the same one. "
                  "Triage, which tells them "
                  "apart, has not run on this campaign.</p>\n");
        table(r, out);
    }
    part_end(out);
}
