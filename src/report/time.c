/* time: coverage, shares and rewards over campaign time. */
#include "report/part.h"

#include "base/die.h"

#include <math.h>
#include <stdlib.h>

#define GRID 240 /* moments the script can tell the numbers of */

static double seconds(int64_t ns)
{
    return (double)ns / 1e9;
}

/* --- coverage ------------------------------------------------------------------------------------ */
static void grey_line(const struct report *r, struct plot *p, double end)
{
    double edges = r->st.tally.seed_edges;
    plot_line_begin(p, "total");
    plot_point(p, 0, edges);
    for (size_t i = 0; i < r->n_gains; i++) {
        plot_point(p, seconds(r->gains[i].at_ns), edges);
        edges += r->gains[i].added;
        plot_point(p, seconds(r->gains[i].at_ns), edges);
    }
    plot_point(p, end, edges);
    plot_line_end(p);
}

/* Each step in the colour of who brought it: one path per fuzzer. */
static void coloured_steps(const struct report *r, struct plot *p, int arm)
{
    double edges = r->st.tally.seed_edges;
    html(p->out, "<path class=\"step %s\" d=\"", data_class(arm));
    for (size_t i = 0; i < r->n_gains; i++) {
        const struct data_gain *g = &r->gains[i];
        if (g->arm == arm)
            html(p->out, "M%.1f %.1fV%.1f", plot_x(p, seconds(g->at_ns)), plot_y(p, edges),
                 plot_y(p, edges + g->added));
        edges += g->added;
    }
    buf_str(p->out, "\"/>\n");
}

/* A tick at the bottom for crashes, at most one per pixel. */
static void crash_ticks(const struct report *r, struct plot *p)
{
    double last = -1;
    for (size_t i = 0; i < r->n_crashes; i++) {
        const struct data_crash *c = &r->crashes[i];
        double x = plot_x(p, seconds(c->at_ns));
        if (c->hang || fabs(x - last) < 1)
            continue;
        html(p->out, "<path class=\"crash %s\" d=\"M%.1f %.1fv-9\"/>\n", data_class(c->arm), x,
             p->top + p->height);
        last = x;
    }
}

static int by_time(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* When defects were first seen, or crashes found, in order; *n of them. */
static int64_t *moments(const struct report *r, bool defects, size_t *n)
{
    size_t most = defects ? r->defects.n : r->n_crashes;
    int64_t *at = xcalloc(most, sizeof *at);
    *n = 0;
    for (size_t i = 0; i < most; i++)
        if (defects)
            at[(*n)++] = r->defects.v[i].first_seen_ns;
        else if (!r->crashes[i].hang)
            at[(*n)++] = r->crashes[i].at_ns;
    if (*n)
        qsort(at, *n, sizeof *at, by_time);
    return at;
}

/* Edges, each fuzzer's part of them, defects and crashes at GRID moments, for the cursor. */
static void grid_json(const struct report *r, double end, struct buf *out)
{
    uint32_t by[SCHED_MAX_ARMS] = {0}, edges = r->st.tally.seed_edges;
    size_t next = 0, n_defects, n_crashes, defects = 0, crashes = 0;
    int64_t *defect_at = moments(r, true, &n_defects), *crash_at = moments(r, false, &n_crashes);
    html(out, "<script type=\"application/json\" class=\"series\">{\"end\":%.3f,\"fuzzers\":[",
         end);
    for (int a = 0; a < r->n_arms; a++)
        html(out, "%s%d", a ? "," : "", a);
    buf_str(out, "],\"rows\":[");
    for (int k = 0; k <= GRID; k++) {
        double at = end * k / GRID;
        for (; next < r->n_gains && seconds(r->gains[next].at_ns) <= at; next++) {
            edges += r->gains[next].added;
            if (r->gains[next].arm >= 0) /* else imported */
                by[r->gains[next].arm] += r->gains[next].added;
        }
        while (defects < n_defects && seconds(defect_at[defects]) <= at)
            defects++;
        while (crashes < n_crashes && seconds(crash_at[crashes]) <= at)
            crashes++;
        html(out, "%s[%u", k ? "," : "", edges);
        for (int a = 0; a < r->n_arms; a++)
            html(out, ",%u", by[a]);
        html(out, ",%zu,%zu]", defects, crashes);
    }
    buf_str(out, "]}</script>\n");
    free(defect_at);
    free(crash_at);
}

void coverage_write(const struct report *r, struct buf *out)
{
    const struct tally *t = &r->st.tally;
    struct plot p;
    if (!part_begin(r, "coverage", out))
        return;
    if (!part_empty(r, out)) {
        double end = part_end_s(r), gained = t->edges - t->seed_edges;
        double low = fmax(0, t->seed_edges - fmax(1, 0.06 * gained));
        part_legend(r, out);
        buf_str(out, "<figure class=\"time\">");
        plot_begin(&p, out,
                   "neutral edges over campaign time, each step in the colour of the fuzzer that "
                   "brought it",
                   0, end, low, t->edges + fmax(1, 0.04 * gained));
        plot_y_axis(&p, "edges");
        plot_time_axis(&p);
        plot_area(&p);
        grey_line(r, &p, end);
        for (int a = 0; a < r->n_arms; a++)
            coloured_steps(r, &p, a);
        crash_ticks(r, &p);
        plot_area_end(&p);
        plot_end(&p);
        html(out,
             "<figcaption>Each rise has the colour of the fuzzer that brought it. Ticks at the "
             "bottom are "
             "crashing inputs. The axis begins at %.0f: the seeds cover %u.</figcaption>",
             ceil(low), t->seed_edges);
        grid_json(r, end, out);
        buf_str(out, "</figure>\n");
    }
    part_end(out);
}

/* --- shares and rewards -------------------------------------------------------------------------- */
static void share_bars(const struct report *r, const struct part_bins *b, struct buf *out)
{
    struct plot p;
    buf_str(out, "<figure class=\"time\">");
    plot_begin_as(&p, out, "share of the time each fuzzer had", "", 220, 0, part_end_s(r), 0, 100);
    plot_y_axis(&p, "% of active time");
    plot_time_axis(&p);
    plot_area(&p);
    for (int a = 0; a < r->n_arms; a++)
        for (int k = 0; k < b->n; k++) {
            double sum = 0, below = 0;
            for (int i = 0; i < r->n_arms; i++) {
                sum += b->active[k][i];
                below += i < a ? b->active[k][i] : 0;
            }
            if (sum > 0 && b->active[k][a] > sum / 1000)
                plot_bar(&p, k * b->width_s, (k + 1) * b->width_s, 100 * below / sum,
                         100 * (below + b->active[k][a]) / sum, data_class(a));
        }
    plot_area_end(&p);
    plot_end(&p);
    buf_str(
        out,
        "<figcaption>Of the time in which fuzzers ran, the part of each.</figcaption></figure>\n");
}

static double highest_reward(const struct report *r, const struct part_bins *b)
{
    double most = 0;
    for (int k = 0; k < b->n; k++)
        for (int a = 0; a < r->n_arms; a++)
            if (b->turns[k][a])
                most = fmax(most, b->reward[k][a] / b->turns[k][a]);
    return most;
}

static void reward_lines(const struct report *r, const struct part_bins *b, struct buf *out)
{
    struct plot p;
    double most = highest_reward(r, b);
    buf_str(out, "<figure class=\"time\">");
    plot_begin_as(&p, out, "mean reward of each fuzzer's turns", "", 220, 0, part_end_s(r), 0,
                  most > 0 ? most : 1);
    plot_y_axis(&p, "mean reward");
    plot_time_axis(&p);
    plot_area(&p);
    for (int a = 0; a < r->n_arms; a++) {
        plot_line_begin(&p, data_class(a));
        for (int k = 0; k < b->n; k++)
            if (b->turns[k][a])
                plot_point(&p, (k + 0.5) * b->width_s, b->reward[k][a] / b->turns[k][a]);
        plot_line_end(&p);
    }
    plot_area_end(&p);
    plot_end(&p);
    html(out,
         "<figcaption>Mean reward of the turns that ended in each %d<sup>th</sup> of the campaign "
         "(%s).</figcaption></figure>\n",
         b->n, reward_kind_name(r->j.o.reward));
}

void shares_write(const struct report *r, struct buf *out)
{
    static struct part_bins b;
    if (!part_begin(r, "shares", out))
        return;
    if (!part_empty(r, out)) {
        part_bins(r, &b);
        part_legend(r, out);
        buf_str(out, "<div class=\"pair\">");
        share_bars(r, &b, out);
        reward_lines(r, &b, out);
        buf_str(out, "</div>\n");
    }
    part_end(out);
}
