/* glance: the state of a campaign in a few numbers, its worst defects, what each slot does now, whether it is on a plateau, and its fuzzers. */
#include "report/part.h"

#include <stdio.h>
#include <string.h>

#define LOOK_BACK 20 /* turns of a fuzzer that say whether it still earns */

#define WORST 5 /* defects named here */

static void metric(const struct report *r, const char *name, struct buf *out)
{
    part_value(r, METRIC_CAMPAIGN, name, 0, out);
}

static void big(struct buf *out, const char *class, const char *name)
{
    html(out, "<div class=\"%s\"><dt>%s</dt><dd>", class, name);
}

/* Defects, where triage has told them apart; else inputs. */
static void found(const struct report *r, struct buf *out)
{
    bool triaged = r->defects.rows > 0;
    const struct gauges *g = &r->st.gauges;
    big(out, (triaged ? g->defects : g->crashes) ? "bad" : "",
        triaged ? "distinct defects" : "crashing inputs");
    metric(r, triaged ? "distinct_defects" : "crashes", out);
    buf_str(out, "<small>");
    if (triaged) {
        metric(r, "confirmed_defects", out);
        buf_str(out, " confirmed; ");
        metric(r, "crashes", out);
        buf_str(out, " crashing inputs, ");
    }
    metric(r, "hangs", out);
    buf_str(out, " hangs");
    if (triaged) {
        buf_str(out, "; ");
        metric(r, "untriaged", out);
        buf_str(out, " not triaged");
    }
    buf_str(out, "</small></dd></div>\n");
}

static void covered(const struct report *r, struct buf *out)
{
    const struct tally *t = &r->st.tally;
    big(out, "", "coverage");
    metric(r, "edges", out);
    buf_str(out, "<small>of ");
    metric(r, "edges_total", out);
    html(out, " edges (%.0f %%), ", t->edges_total ? 100.0 * t->edges / t->edges_total : 0);
    metric(r, "seed_edges", out);
    buf_str(out, " from the seeds</small></dd></div>\n");
}

static void last_new(const struct report *r, struct buf *out)
{
    char text[32];
    int64_t quiet = r->st.gauges.elapsed_ns - r->st.tally.last_new_ns;
    big(out, "", "last new edge");
    if (r->st.tally.last_new_ns) {
        html(out, "%s<small>before now, at ", html_span(quiet > 0 ? quiet : 0, text));
        metric(r, "last_new_s", out);
    } else {
        buf_str(out, "–<small>none yet");
    }
    buf_str(out, "</small></dd></div>\n");
}

static void speed(const struct report *r, struct buf *out)
{
    big(out, "", "executions a second");
    metric(r, "execs_per_s_recent", out);
    buf_str(out, "<small>lately; ");
    metric(r, "execs_per_s", out);
    buf_str(out, " since the start, ");
    metric(r, "execs", out);
    buf_str(out, " in all</small></dd></div>\n");
}

static void stored(const struct report *r, struct buf *out)
{
    big(out, "", "stored inputs");
    metric(r, "seeds", out);
    buf_str(out, "<small>in ");
    metric(r, "turns", out);
    buf_str(out, " turns</small></dd></div>\n");
}

static void passed(const struct report *r, struct buf *out)
{
    big(out, "", "time");
    metric(r, "elapsed_s", out);
    buf_str(out, "<small>");
    if (r->st.tally.budget_ns) {
        buf_str(out, "of ");
        metric(r, "budget_s", out);
    } else {
        buf_str(out, "no end set");
    }
    buf_str(out, "</small></dd></div>\n");
}

static void numbers(const struct report *r, struct buf *out)
{
    buf_str(out, "<dl class=\"numbers\">\n");
    found(r, out);
    covered(r, out);
    last_new(r, out);
    speed(r, out);
    stored(r, out);
    passed(r, out);
    buf_str(out, "</dl>\n");
}

/* Memory corruption before other crashes, confirmed before not, then in the order of the list. */
static int weight(const struct defect *d)
{
    return 2 * d->withheld + d->confirmed;
}

static void one_defect(const struct report *r, const struct defect *d, struct buf *out)
{
    const char *slash = strrchr(d->file, '/');
    char at[32];
    html(out, "<li class=\"%s\">", defect_class(d));
    part_crash(r, d->first, d->fault, out);
    html(out, " in <code>%s</code>", *d->function ? d->function : "unknown code");
    if (*d->file)
        html(out, " <small>%s:%d</small>", slash ? slash + 1 : d->file, d->line);
    html(out, " <small>%s%s after %s by %s, %llu input%s</small></li>\n",
         d->withheld ? "memory corrupted or disclosed, " : "",
         d->confirmed ? "confirmed, first seen" : "not confirmed, first seen",
         html_span(d->first_seen_ns, at), d->found_by, (unsigned long long)d->inputs,
         d->inputs == 1 ? "" : "s");
}

static void worst(const struct report *r, struct buf *out)
{
    const struct defects *d = &r->defects;
    size_t shown = 0;
    if (!d->n)
        return;
    buf_str(out, "<ul class=\"worst\" aria-label=\"the worst defects\">\n");
    for (int w = 3; w >= 0; w--)
        for (size_t i = 0; i < d->n && shown < WORST; i++)
            if (weight(&d->v[i]) == w) {
                one_defect(r, &d->v[i], out);
                shown++;
            }
    if (d->n > shown)
        html(out, "<li><a href=\"#%sdefects\">%zu more</a></li>\n", r->prefix, d->n - shown);
    buf_str(out, "</ul>\n");
}

static void slots_now(const struct report *r, struct buf *out)
{
    int n = r->st.gauges.n_slots > r->j.o.jobs ? r->st.gauges.n_slots : r->j.o.jobs;
    if (strcmp(r->st.state, "running") != 0)
        return;
    buf_str(out, "<ol class=\"slots\" start=\"0\" aria-label=\"what each slot does now\">");
    for (int i = 0; i < n && i < GAUGE_SLOTS; i++)
        if (r->now[i].turn)
            html(out, "<li class=\"%s\"><b>%s</b> turn %lld%s</li>", data_class(r->now[i].arm),
                 data_arm(r, r->now[i].arm), (long long)r->now[i].turn,
                 r->now[i].measuring ? ", measuring" : "");
        else
            buf_str(out, "<li class=\"fx\"><b>free</b></li>");
    buf_str(out, "</ol>\n");
}

/* --- plateau ------------------------------------------------------------------------------------- */
/* Has it been quiet for a fifth of the campaign, and for as long as 20 turns of every slot take? */
static bool is_plateau(const struct report *r, int64_t *quiet)
{
    const struct tally *t = &r->st.tally;
    int64_t elapsed = r->st.gauges.elapsed_ns;
    *quiet = elapsed - t->last_new_ns;
    return t->turns >= LOOK_BACK && *quiet >= elapsed / 5 && *quiet >= LOOK_BACK * r->j.o.turn_ns;
}

/* Who covered the last edges first: "honggfuzz (7), aflpp (3)". */
static void last_finders(const struct report *r, struct buf *out)
{
    uint32_t by[SCHED_MAX_ARMS] = {0}, left = 10;
    for (size_t i = r->n_gains; i > 0 && left; i--) {
        uint32_t n = r->gains[i - 1].added < left ? r->gains[i - 1].added : left;
        if (r->gains[i - 1].arm < 0) /* imported */
            continue;
        by[r->gains[i - 1].arm] += n;
        left -= n;
    }
    if (left == 10)
        return;
    html(out, "; the last %u came from ", 10 - left);
    for (bool first = true;; first = false) {
        int most = 0;
        for (int a = 1; a < r->n_arms; a++)
            if (by[a] > by[most])
                most = a;
        if (!by[most])
            break;
        html(out, "%s%s (%u)", first ? "" : ", ", data_arm(r, most), by[most]);
        by[most] = 0;
    }
}

/* Fuzzers whose last turns earned nothing. */
static int idle_fuzzers(const struct report *r)
{
    int idle = 0;
    for (int a = 0; a < r->n_arms; a++) {
        int seen = 0;
        double earned = 0;
        for (size_t i = r->n_turns; i > 0 && seen < LOOK_BACK; i--)
            if (r->turns[i - 1].arm == a && r->turns[i - 1].state == TURN_COMMITTED) {
                seen++;
                earned += r->turns[i - 1].reward;
            }
        idle += earned <= 0;
    }
    return idle;
}

static void advice(const struct report *r, struct buf *out)
{
    const struct tally *t = &r->st.tally;
    const char *dict = data_fact(r, "dict");
    buf_str(out, "<ul>");
    if (t->edges_total && t->edges * 10 >= t->edges_total * 9)
        buf_str(out, "<li>Nine tenths of the target's edges are covered: a harness that reaches "
                     "more code will "
                     "bring more than time.</li>");
    else
        buf_str(
            out,
            "<li>Inputs that reach other code help most: give them with <code>-i</code> to a new "
            "campaign.</li>");
    if (!dict || !*dict)
        buf_str(out,
                "<li>There is no dictionary: <code>-x FILE</code> gives the fuzzers the target's "
                "words.</li>");
    if (r->n_arms < 6)
        html(out,
             "<li>%d fuzzer%s here: <code>-f paper</code> has six, with other ideas of what to "
             "try.</li>",
             r->n_arms, r->n_arms == 1 ? " runs" : "s run");
    buf_str(out, "<li><code>--stop-on-plateau TIME</code> ends a campaign by itself.</li></ul>\n");
}

static void plateau(const struct report *r, struct buf *out)
{
    int64_t quiet;
    char text[32];
    if (!is_plateau(r, &quiet))
        return;
    html(out, "<div class=\"notice\" role=\"note\"><p><b>A plateau.</b> No new edge for %s",
         html_span(quiet, text));
    last_finders(r, out);
    html(out, "; %d of %d fuzzers earned nothing in their last %d turns.</p>\n", idle_fuzzers(r),
         r->n_arms, LOOK_BACK);
    advice(r, out);
    buf_str(out, "</div>\n");
}

/* --- fuzzers ------------------------------------------------------------------------------------- */
static void cell(const struct report *r, const char *name, int a, struct buf *out)
{
    buf_str(out, "<td>");
    part_value(r, METRIC_FUZZER, name, a, out);
    buf_str(out, "</td>");
}

static void fuzzers(const struct report *r, struct buf *out)
{
    buf_str(out,
            "<div class=\"scroll\"><table>\n<thead><tr><th class=\"t\">fuzzer</th><th>turns</th>"
            "<th>share</th><th>edges first</th><th>defects first</th><th>last "
            "reward</th><th>imports taken</th>"
            "<th>offered</th><th>inputs found</th><th>crashes</th></tr></thead>\n<tbody>\n");
    for (int a = 0; a < r->n_arms; a++) {
        html(out, "<tr><th class=\"t\" scope=\"row\"><span class=\"dot %s\"></span>%s",
             data_class(a), data_arm(r, a));
        if (gauge_dropped(&r->st.gauges, a))
            html(out, " <small>dropped: %s</small>", r->st.gauges.why[a]);
        buf_str(out, "</th>");
        cell(r, "turns", a, out);
        html(out, "<td class=\"bar\"><meter min=\"0\" max=\"1\" value=\"%.3f\"></meter>",
             tally_share(&r->st.tally, a));
        part_value(r, METRIC_FUZZER, "share", a, out);
        buf_str(out, "</td>");
        cell(r, "first_edges", a, out);
        cell(r, "defects", a, out);
        cell(r, "last_reward", a, out);
        cell(r, "taken", a, out);
        cell(r, "offered", a, out);
        cell(r, "exports", a, out);
        cell(r, "crashes", a, out);
        buf_str(out, "</tr>\n");
    }
    buf_str(out, "</tbody></table></div>\n");
}

/* Numbers and defects are known; what takes the turns and inputs is not. */
static void reading(const struct report *r, struct buf *out)
{
    char have[32], all[32];
    html(out,
         "<p class=\"note\">The record is being read: %s of %s turns so far. The figures follow by "
         "themselves.</p>\n",
         html_count((double)r->n_turns, have), html_count((double)r->decisions, all));
}

void glance_write(const struct report *r, struct buf *out)
{
    part_begin(r, "glance", out);
    html(out, "<p class=\"state\"><b class=\"word %s\">%s</b> <code>%s</code></p>\n", r->st.state,
         r->st.state, r->dir);
    if (r->st.simulated)
        buf_str(out, "<p class=\"note\">Simulated: no fuzzer and no target ran.</p>\n");
    numbers(r, out);
    worst(r, out);
    if (r->whole) {
        slots_now(r, out);
        plateau(r, out);
    } else {
        reading(r, out);
    }
    fuzzers(r, out);
    part_end(out);
}
