/* part: what several sections need.  Writes no section of its own. */
#include "report/part.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool part_begin(const struct report *r, const char *id, struct buf *out)
{
    const struct report_section *s = report_sections;
    while (s->id && strcmp(s->id, id) != 0)
        s++;
    html(out,
         "<section id=\"%s%s\" aria-labelledby=\"%s%s-title\">\n<h2 id=\"%s%s-title\">%s</h2>\n",
         r->prefix, id, r->prefix, id, r->prefix, id, s->id ? s->title : id);
    if (r->whole || s->early)
        return true;
    buf_str(out, "<p class=\"none\">The record is being read; this follows by itself.</p>\n");
    part_end(out);
    return false;
}

void part_end(struct buf *out)
{
    buf_str(out, "</section>\n");
}

bool part_empty(const struct report *r, struct buf *out)
{
    if (r->st.tally.turns)
        return false;
    html(out, "<p class=\"none\">No turn has been completed yet.</p>\n");
    return true;
}

void part_legend(const struct report *r, struct buf *out)
{
    buf_str(out, "<ul class=\"legend\" aria-label=\"fuzzers\">");
    for (int a = 0; a < r->n_arms; a++)
        html(out,
             "<li><button type=\"button\" class=\"key %s\" data-arm=\"%d\" "
             "aria-pressed=\"true\">%s</button></li>",
             data_class(a), a, data_arm(r, a));
    buf_str(out, "</ul>\n");
}

static void value_text(const struct metric *m, double v, struct buf *out)
{
    char text[32];
    switch (m->unit) {
    case METRIC_COUNT: html(out, "%s", html_count(v, text)); break;
    case METRIC_SECONDS:
        html(out, "%s",
             v < 60 ? html_span((int64_t)(v * 1e9), text) : html_clock((int64_t)(v * 1e9), text));
        break;
    case METRIC_SHARE: html(out, "%.0f %%", 100 * v); break;
    case METRIC_NUMBER:
        if (v >= 100)
            html(out, "%s", html_count(v, text));
        else
            html(out, "%.3f", v);
        break;
    }
}

void part_value(const struct report *r, enum metric_scope scope, const char *name, int i,
                struct buf *out)
{
    const struct metric *m = metric_find(scope, name);
    double v = m->read(&r->st, i);
    html(out, "<data value=\"%.9g\" data-metric=\"%s\"", v, name);
    if (scope != METRIC_CAMPAIGN)
        html(out, " data-of=\"%s\"", metric_label(m, &r->st, i));
    html(out, " title=\"%s\">", m->help);
    value_text(m, v, out);
    buf_str(out, "</data>");
}

/* A page of several campaigns has no lineages, and nobody has them before the record is read. */
void part_crash(const struct report *r, int64_t crash, const char *text, struct buf *out)
{
    if (r->whole && !*r->prefix)
        html(out, "<a href=\"#x%lld\">%s</a>", (long long)crash, text);
    else
        html(out, "%s", text);
}

const char *part_heat(double v, double most)
{
    static const char *const names[] = {"h0", "h1", "h2", "h3", "h4", "h5", "h6", "h7", "h8", "h9"};
    if (v <= 0 || most <= 0)
        return names[0];
    int k = 1 + (int)(8.999 * sqrt(v / most));
    return names[k > 9 ? 9 : k];
}

double part_end_s(const struct report *r)
{
    int64_t end = r->st.gauges.elapsed_ns;
    for (size_t i = 0; i < r->n_turns; i++)
        if (r->turns[i].end_ns > end)
            end = r->turns[i].end_ns;
    return end > 0 ? (double)end / 1e9 : 1;
}

/* The time a turn was active, spread over the bins it lies in. */
static void spread_active(const struct data_turn *t, struct part_bins *b)
{
    double from = (double)t->start_ns / 1e9, to = (double)t->end_ns / 1e9;
    double active = (double)t->active_ns / 1e9, whole = to > from ? to - from : 0;
    for (int k = (int)(from / b->width_s); whole > 0 && k < b->n && k * b->width_s < to; k++) {
        double lo = fmax(from, k * b->width_s), hi = fmin(to, (k + 1) * b->width_s);
        if (hi > lo)
            b->active[k][t->arm] += active * (hi - lo) / whole;
    }
}

static int bin_of(const struct part_bins *b, int64_t at_ns)
{
    int k = (int)((double)at_ns / 1e9 / b->width_s);
    return k < 0 ? 0 : k >= b->n ? b->n - 1 : k;
}

void part_bins(const struct report *r, struct part_bins *b)
{
    memset(b, 0, sizeof *b);
    int few = (int)r->n_turns / 5;
    b->n = few < 8 ? 8 : few > PART_BINS ? PART_BINS : few;
    b->width_s = part_end_s(r) / b->n;
    for (size_t i = 0; i < r->n_turns; i++) {
        const struct data_turn *t = &r->turns[i];
        if (!t->id || t->arm < 0)
            continue;
        int at = bin_of(b, t->start_ns);
        b->warmup[at] += t->warmup;
        b->explored[at] += t->explored;
        b->exploited[at] += !t->warmup && !t->explored;
        if (!t->round)
            continue;
        spread_active(t, b);
        at = bin_of(b, t->end_ns);
        if (t->state == TURN_COMMITTED) {
            b->reward[at][t->arm] += t->reward;
            b->turns[at][t->arm]++;
        }
    }
}
