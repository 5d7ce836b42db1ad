/* defects: what triage says of the crashes and hangs, and the inputs themselves: when, by whom, how to see it again. */
#include "report/part.h"

#include "base/die.h"
#include "base/str.h"
#include "triage/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 60

static double seconds(int64_t ns)
{
    return (double)ns / 1e9;
}

/* --- defects ------------------------------------------------------------------------------------- */
static int arm_of(const struct report *r, const struct defect *d)
{
    return tally_find(&r->st.tally, d->found_by);
}

static int by_time(const void *a, const void *b)
{
    const struct defect *const *x = a, *const *y = b;
    if ((*x)->first_seen_ns != (*y)->first_seen_ns)
        return (*x)->first_seen_ns < (*y)->first_seen_ns ? -1 : 1;
    return strcmp((*x)->id, (*y)->id);
}

/* How many were known when; each in the colour of who was first. */
static void time_line(const struct report *r, struct buf *out)
{
    const struct defects *d = &r->defects;
    const struct defect **order = xcalloc(d->n, sizeof *order);
    struct plot p;
    double end = part_end_s(r);
    for (size_t i = 0; i < d->n; i++)
        order[i] = &d->v[i];
    qsort(order, d->n, sizeof *order, by_time);
    buf_str(out, "<figure class=\"time\">");
    plot_begin_as(&p, out, "distinct defects over time", "", 170, 0, end, 0,
                  d->n > 5 ? (double)d->n : 5); /* so that the axis counts whole ones */
    plot_y_axis(&p, "defects");
    plot_time_axis(&p);
    plot_area(&p);
    plot_line_begin(&p, "total");
    plot_point(&p, 0, 0);
    for (size_t i = 0; i < d->n; i++) {
        plot_point(&p, seconds(order[i]->first_seen_ns), (double)i);
        plot_point(&p, seconds(order[i]->first_seen_ns), (double)i + 1);
    }
    plot_point(&p, end, (double)d->n);
    plot_line_end(&p);
    for (size_t i = 0; i < d->n; i++)
        html(
            out,
            "<path class=\"step %s\" d=\"M%.1f %.1fV%.1f\"><title>%s in %s, by %s</title></path>\n",
            data_class(arm_of(r, order[i])), plot_x(&p, seconds(order[i]->first_seen_ns)),
            plot_y(&p, (double)i), plot_y(&p, (double)i + 1), order[i]->fault, order[i]->function,
            order[i]->found_by);
    plot_area_end(&p);
    plot_end(&p);
    buf_str(out, "</figure>\n");
    free(order);
}

/* Function, file without its directory, line. */
static void place(const struct defect *d, struct buf *out)
{
    const char *slash = strrchr(d->file, '/');
    html(out, "<td class=\"t\" title=\"%s\"><code>%s</code> <small>%s", d->file,
         *d->function ? d->function : "unknown", slash ? slash + 1 : d->file);
    if (d->line)
        html(out, ":%d", d->line);
    buf_str(out, "</small></td>");
}

static void command_row(const struct report *r, const struct defect *d, struct buf *out)
{
    char *dir = str_fmt("%s/triage", r->dir);
    struct output o = {.o = &r->j.o, .target = &r->j.manifest, .dir = dir};
    char *command =
        r->can_reproduce ? output_command(&o, d) : str_fmt("carol triage -b DIR %s", r->dir);
    html(out,
         "<tr class=\"command\"><td class=\"t\" colspan=\"7\"><small>defect %s; see it "
         "again:</small> "
         "<code>%s</code></td></tr>\n",
         d->id, command);
    free(command);
    free(dir);
}

static void defect_row(const struct report *r, const struct defect *d, struct buf *out)
{
    char at[32], inputs[32], *weakness = defect_weakness(d);
    buf_str(out, "<tr>");
    place(d, out);
    html(out, "<td class=\"t\">%s <small>%s</small></td><td class=\"t\">%s</td><td class=\"t\">",
         d->fault, weakness, defect_class(d));
    if (d->confirmed)
        buf_str(out, "confirmed");
    else
        html(out, "not confirmed <small>%s</small>", d->why);
    html(out, "</td><td>%s</td><td class=\"t\"><span class=\"dot %s\"></span>%s</td>",
         html_clock(d->first_seen_ns, at), data_class(arm_of(r, d)), d->found_by);
    snprintf(inputs, sizeof inputs, "%llu", (unsigned long long)d->inputs);
    buf_str(out, "<td>");
    part_crash(r, d->first, inputs, out);
    buf_str(out, "</td></tr>\n");
    command_row(r, d, out);
    free(weakness);
}

static void defects_table(const struct report *r, struct buf *out)
{
    const struct defects *d = &r->defects;
    buf_str(out, "<p>");
    part_value(r, METRIC_CAMPAIGN, "distinct_defects", 0, out);
    buf_str(out, " distinct defects, ");
    part_value(r, METRIC_CAMPAIGN, "confirmed_defects", 0, out);
    buf_str(out, " of them confirmed on the plain build; ");
    part_value(r, METRIC_CAMPAIGN, "untriaged", 0, out);
    buf_str(out, " inputs are not triaged yet.</p>\n");
    if (!d->n)
        return;
    time_line(r, out);
    buf_str(
        out,
        "<div class=\"scroll\"><table>\n<thead><tr><th class=\"t\">where</th><th class=\"t\">what"
        "</th><th class=\"t\">class</th><th class=\"t\">on the plain build</th><th>first seen</th>"
        "<th class=\"t\">by</th><th>inputs</th></tr></thead>\n"
        "<tbody class=\"pairs\">\n");
    for (size_t i = 0; i < d->n; i++)
        defect_row(r, &d->v[i], out);
    buf_str(out, "</tbody></table></div>\n");
}

/* --- inputs -------------------------------------------------------------------------------------- */
/* The name of its copy in OUT/crashes or OUT/hangs. */
static char *path_of(const struct report *r, const struct data_crash *c)
{
    const char *who = c->arm < 0 ? "seed" : data_arm(r, c->arm);
    if (c->hang)
        return str_fmt("%s/hangs/%s-%s", r->dir, who, c->hash);
    return str_fmt("%s/crashes/%s-sig%d-%s", r->dir, who, c->signal, c->hash);
}

static void input_row(const struct report *r, const struct data_crash *c, struct buf *out)
{
    char at[32], *path = path_of(r, c), *quoted = str_shell(path);
    char *build = str_shell(r->j.o.build ? r->j.o.build : "DIR");
    html(out, "<tr><td class=\"t\">%s</td><td class=\"t\"><span class=\"dot %s\"></span>%s</td>",
         html_clock(c->at_ns, at), data_class(c->arm), data_finder(r, c->arm, c->turn));
    if (c->hang)
        buf_str(out, "<td class=\"t\">hang</td>");
    else
        html(out, "<td class=\"t\">signal %d%s</td>", c->signal,
             c->by_eval ? " (seen when measured)" : "");
    html(out, "<td>%u</td><td class=\"t\">", c->size);
    part_crash(r, c->id, c->hash, out);
    html(out, "</td><td class=\"t\"><code>carol cover -b %s %s</code></td></tr>\n", build, quoted);
    free(path);
    free(quoted);
    free(build);
}

static void inputs_table(const struct report *r, struct buf *out)
{
    html(out, "<details class=\"inputs\"%s><summary>inputs that crash or hang</summary>\n",
         r->defects.rows ? "" : " open");
    buf_str(
        out,
        "<div class=\"scroll tall\" tabindex=\"0\"><table>\n<thead><tr><th class=\"t\">first "
        "seen</th>"
        "<th class=\"t\">by</th><th class=\"t\">what</th><th>bytes</th><th class=\"t\">input</th>"
        "<th class=\"t\">see it again</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < r->n_crashes && i < ROWS; i++)
        input_row(r, &r->crashes[i], out);
    buf_str(out, "</tbody></table></div>\n");
    uint64_t all = r->st.gauges.crashes + r->st.gauges.hangs; /* not all of them need be read */
    if (all > ROWS)
        html(out, "<p class=\"note\">%llu more are in %s/crashes and %s/hangs.</p>\n",
             (unsigned long long)all - ROWS, r->dir, r->dir);
    buf_str(out, "</details>\n");
}

void defects_write(const struct report *r, struct buf *out)
{
    part_begin(r, "defects", out);
    if (!r->n_crashes)
        buf_str(out, "<p class=\"none\">Nothing has crashed or hung.</p>\n");
    else if (r->defects.rows)
        defects_table(r, out);
    else
        html(out,
             "<p class=\"note\">Triage, which tells these inputs apart, has not run: <code>carol "
             "triage %s</code>. Many "
             "of them may show the same defect.</p>\n",
             r->dir);
    if (r->n_crashes)
        inputs_table(r, out);
    part_end(out);
}
