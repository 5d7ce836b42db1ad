/* compare: several campaigns side by side.  Those whose settings are equal but for the seed are trials of one group; groups are
 * compared by what they had when the shortest campaign ended. */
#include "report/part.h"

#include "base/die.h"
#include "base/str.h"
#include "stats/bootstrap.h"
#include "stats/twosample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct group {
    char *label;
    double *edges, *found; /* of its campaigns at the common end: defects or crashes */
    size_t n;
};

struct lineup {
    struct report *const *v;
    size_t n;
    size_t *group_of; /* per campaign */
    struct group *groups;
    size_t n_groups;
    double end_s; /* of the shortest */
    bool triaged; /* all of them: then defects are compared, else crashing inputs */
};

/* What campaigns of one group share. */
static const char *const keys[] = {"target", "build",     "scheduler", "params", "fuzzers",
                                   "share",  "instances", "reward",    "jobs",   "turn_ns",
                                   "dict",   "seeds",     NULL};

static const char *value(const struct report *r, const char *key)
{
    const char *v = data_fact(r, key);
    return v ? v : "";
}

static bool differs(const struct lineup *t, const char *key)
{
    for (size_t i = 1; i < t->n; i++)
        if (strcmp(value(t->v[0], key), value(t->v[i], key)) != 0)
            return true;
    return false;
}

/* The values in which the campaigns differ. */
static char *label_of(const struct lineup *t, size_t i)
{
    struct buf b = BUF_INIT(1 << 16);
    for (const char *const *k = keys; *k; k++)
        if (differs(t, *k) && strcmp(*k, "params") != 0)
            buf_printf(&b, "%s%s", b.len ? ", " : "", value(t->v[i], *k));
    if (differs(t, "params") && !differs(t, "scheduler"))
        buf_printf(&b, "%s%s", b.len ? ", " : "", value(t->v[i], "params"));
    if (!b.len)
        buf_str(&b, "all alike");
    return buf_take(&b);
}

static uint32_t edges_at(const struct report *r, double at_s)
{
    uint32_t edges = r->st.tally.seed_edges;
    for (size_t i = 0; i < r->n_gains && (double)r->gains[i].at_ns / 1e9 <= at_s; i++)
        edges += r->gains[i].added;
    return edges;
}

static uint32_t crashes_at(const struct report *r, double at_s)
{
    uint32_t n = 0;
    for (size_t i = 0; i < r->n_crashes; i++)
        n += !r->crashes[i].hang && (double)r->crashes[i].at_ns / 1e9 <= at_s;
    return n;
}

static uint32_t defects_at(const struct report *r, double at_s)
{
    uint32_t n = 0;
    for (size_t i = 0; i < r->defects.n; i++)
        n += (double)r->defects.v[i].first_seen_ns / 1e9 <= at_s;
    return n;
}

static size_t find_group(struct lineup *t, char *label)
{
    for (size_t g = 0; g < t->n_groups; g++)
        if (strcmp(t->groups[g].label, label) == 0) {
            free(label);
            return g;
        }
    t->groups[t->n_groups] = (struct group){.label = label,
                                            .edges = xcalloc(t->n, sizeof(double)),
                                            .found = xcalloc(t->n, sizeof(double))};
    return t->n_groups++;
}

static void lineup_make(struct lineup *t, struct report *const *v, size_t n)
{
    *t = (struct lineup){.v = v,
                         .n = n,
                         .group_of = xcalloc(n, sizeof *t->group_of),
                         .groups = xcalloc(n, sizeof *t->groups),
                         .end_s = INFINITY};
    for (size_t i = 0; i < n; i++) {
        t->end_s = fmin(t->end_s, (double)v[i]->st.gauges.elapsed_ns / 1e9);
        t->triaged = t->triaged || v[i]->defects.rows;
    }
    for (size_t i = 0; i < n; i++)
        t->triaged = t->triaged && !v[i]->defects.waiting;
    for (size_t i = 0; i < n; i++) {
        struct group *g = &t->groups[t->group_of[i] = find_group(t, label_of(t, i))];
        g->edges[g->n] = edges_at(v[i], t->end_s);
        g->found[g->n++] = t->triaged ? defects_at(v[i], t->end_s) : crashes_at(v[i], t->end_s);
    }
}

static void lineup_free(struct lineup *t)
{
    for (size_t g = 0; g < t->n_groups; g++) {
        free(t->groups[g].label);
        free(t->groups[g].edges);
        free(t->groups[g].found);
    }
    free(t->groups);
    free(t->group_of);
}

/* Its colour, of twelve; not the class of a fuzzer, which can be switched off. */
static const char *group_class(size_t g)
{
    static char name[8];
    snprintf(name, sizeof name, "f%zu", g % 12);
    return name;
}

static const struct bootstrap_settings interval = {
    .median = true, .level = 0.95, .resamples = 2000, .seed = 1};

/* --- drawing ------------------------------------------------------------------------------------- */
static void campaigns(const struct lineup *t, struct buf *out)
{
    buf_str(out, "<div class=\"scroll\"><table>\n<thead><tr><th>number</th><th "
                 "class=\"t\">campaign</th><th class=\"t\">"
                 "group</th><th>seed</th><th>time</th><th>edges</th><th>defects</th><th>crashes</"
                 "th><th>executions "
                 "a second</th>"
                 "<th>turns</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < t->n; i++) {
        static const char *const names[] = {"elapsed_s", "edges",       "distinct_defects",
                                            "crashes",   "execs_per_s", "turns"};
        size_t g = t->group_of[i];
        html(out,
             "<tr><td>%zu</td><td class=\"t\">%s</td><td class=\"t\"><span class=\"dot "
             "%s\"></span>%s</td><td>%s</td>",
             i + 1, t->v[i]->dir, group_class(g), t->groups[g].label, value(t->v[i], "seed"));
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            buf_str(out, "<td>");
            part_value(t->v[i], METRIC_CAMPAIGN, names[k], 0, out);
            buf_str(out, "</td>");
        }
        buf_str(out, "</tr>\n");
    }
    buf_str(out, "</tbody></table></div>\n");
}

#define MOMENTS 60

/* The median of a group's campaigns at that time, and its interval. */
static void median_at(const struct lineup *t, size_t g, double at_s, struct bootstrap *b)
{
    double *x = xcalloc(t->n, sizeof *x);
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++)
        if (t->group_of[i] == g)
            x[n++] = edges_at(t->v[i], at_s);
    stats_bootstrap(x, n, NULL, 0, &interval, b);
    free(x);
}

/* Up to the end of the shortest, after which there are fewer campaigns. */
static void draw_median(const struct lineup *t, size_t g, struct plot *p)
{
    struct bootstrap b[MOMENTS + 1];
    double step = t->end_s / MOMENTS;
    for (int k = 0; k <= MOMENTS; k++)
        median_at(t, g, step * k, &b[k]);
    html(p->out, "<path class=\"band %s\" d=\"", group_class(g));
    for (int k = 0; k <= MOMENTS; k++)
        html(p->out, "%c%.1f %.1f", k ? 'L' : 'M', plot_x(p, step * k), plot_y(p, b[k].high));
    for (int k = MOMENTS; k >= 0; k--)
        html(p->out, "L%.1f %.1f", plot_x(p, step * k), plot_y(p, b[k].low));
    buf_str(p->out, "Z\"/>\n");
    html(p->out, "<path class=\"line median %s\" d=\"", group_class(g));
    for (int k = 0; k <= MOMENTS; k++)
        html(p->out, "%c%.1f %.1f", k ? 'L' : 'M', plot_x(p, step * k), plot_y(p, b[k].value));
    buf_str(p->out, "\"/>\n");
}

static void draw_campaign(const struct report *r, const char *class, struct plot *p)
{
    double edges = r->st.tally.seed_edges;
    plot_line_begin(p, class);
    plot_point(p, 0, edges);
    for (size_t k = 0; k < r->n_gains; k++) {
        plot_point(p, (double)r->gains[k].at_ns / 1e9, edges);
        edges += r->gains[k].added;
        plot_point(p, (double)r->gains[k].at_ns / 1e9, edges);
    }
    plot_point(p, part_end_s(r), edges);
    plot_line_end(p);
}

static void figure(const struct lineup *t, struct buf *out)
{
    struct plot p;
    double end = 0, low = INFINITY, high = 0;
    for (size_t i = 0; i < t->n; i++) {
        end = fmax(end, part_end_s(t->v[i]));
        low = fmin(low, t->v[i]->st.tally.seed_edges);
        high = fmax(high, t->v[i]->st.tally.edges);
    }
    buf_str(out, "<figure class=\"time\">");
    plot_begin(&p, out, "neutral edges over campaign time, a line per campaign", 0, end, low,
               high + fmax(1, 0.04 * (high - low)));
    plot_y_axis(&p, "edges");
    plot_time_axis(&p);
    plot_area(&p);
    bool trials = t->n > t->n_groups;
    for (size_t i = 0; i < t->n; i++) {
        char *class = str_fmt("%s%s", trials ? "trial " : "", group_class(t->group_of[i]));
        draw_campaign(t->v[i], class, &p);
        free(class);
    }
    for (size_t g = 0; g < t->n_groups; g++)
        if (t->groups[g].n > 1)
            draw_median(t, g, &p);
    plot_area_end(&p);
    plot_end(&p);
    html(out,
         "<figcaption>Coverage of each campaign, in the colour of its "
         "group.%s</figcaption></figure>\n",
         trials ? " The strong line is the median of a group's trials, the band around it the "
                  "interval of the median."
                : "");
}

static void group_cells(const double *x, size_t n, const double *y, size_t m, struct buf *out)
{
    struct bootstrap b;
    struct mwu w;
    stats_bootstrap(x, n, NULL, 0, &interval, &b);
    html(out, "<td>%.4g</td>", b.value);
    if (n > 1)
        html(out, "<td>%.4g to %.4g</td>", b.low, b.high);
    else
        buf_str(out, "<td>–</td>");
    if (!y) {
        buf_str(out, "<td></td><td></td>");
        return;
    }
    stats_mwu(x, n, y, m, &w);
    html(out, "<td>%.2f <small>%s</small></td><td>%.3g</td>", w.a12, stats_a12_word(w.a12),
         isnan(w.p_exact) ? w.p : w.p_exact);
}

static void groups(const struct lineup *t, struct buf *out)
{
    char text[32];
    html(out,
         "<p>Campaigns that differ in nothing but their seed are trials of one group. Compared at "
         "%s, when "
         "the shortest ended; A<sub>12</sub> and p (two-sided Mann-Whitney) are against the first "
         "group. Intervals are "
         "bootstrapped at 95 %%: with fewer than about ten trials they are too narrow.</p>\n",
         html_clock((int64_t)(t->end_s * 1e9), text));
    html(out,
         "<div class=\"scroll\"><table>\n<thead><tr><th "
         "class=\"t\">group</th><th>trials</th><th>median edges</th>"
         "<th>interval</th><th>A<sub>12</sub></th><th>p</th><th>median %s</th><th>interval</th>"
         "<th>A<sub>12</sub></th><th>p</th></tr></thead>\n<tbody>\n",
         t->triaged ? "defects" : "crashes");
    for (size_t g = 0; g < t->n_groups; g++) {
        const struct group *x = &t->groups[g], *first = g ? &t->groups[0] : NULL;
        html(out,
             "<tr><th class=\"t\" scope=\"row\"><span class=\"dot %s\"></span>%s</th><td>%zu</td>",
             group_class(g), x->label, x->n);
        group_cells(x->edges, x->n, first ? first->edges : NULL, first ? first->n : 0, out);
        group_cells(x->found, x->n, first ? first->found : NULL, first ? first->n : 0, out);
        buf_str(out, "</tr>\n");
    }
    buf_str(out, "</tbody></table></div>\n");
}

void compare_write(struct report *const *v, size_t n, struct buf *out)
{
    struct lineup t;
    lineup_make(&t, v, n);
    buf_str(out, "<section id=\"compare\"><h2>Side by side</h2>\n");
    if (differs(&t, "target") || differs(&t, "build"))
        buf_str(out, "<p class=\"note\">The campaigns are of different targets or builds: their "
                     "edges do not mean the "
                     "same.</p>\n");
    groups(&t, out);
    figure(&t, out);
    campaigns(&t, out);
    buf_str(out, "</section>\n");
    lineup_free(&t);
}
