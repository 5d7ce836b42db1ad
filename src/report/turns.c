/* turns: every decision in a list; each opens into why it fell so and what came of it. */
#include "report/part.h"

#include "base/die.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define BLOCK 200 /* turns behind one heading */

static const char *const column_at[] = {"mean", "width", "noise", "draw"};

static double number_of(const struct decision_arm *a, int column)
{
    const double v[] = {a->mean, a->width, a->noise, a->draw};
    return v[column];
}

/* --- one decision -------------------------------------------------------------------------------- */
static void head_row(const struct report *r, const struct decision *d, struct buf *out)
{
    buf_str(out, "<thead><tr><td></td>");
    for (int a = 0; a < d->n_arms; a++) {
        html(out, "<th class=\"%s\"><span class=\"dot %s\"></span>%s",
             a == d->choice ? "chosen" : "", data_class(a), data_arm(r, a));
        html(out, "%s</th>", decision_may(d, a) ? "" : " (dropped)");
    }
    buf_str(out, "</tr></thead>\n");
}

static void decision_table(const struct report *r, const struct decision *d, struct buf *out)
{
    buf_str(out, "<div class=\"scroll\"><table class=\"decision\">\n");
    head_row(r, d, out);
    buf_str(out, "<tbody>\n");
    for (int k = 0; k < 4; k++) {
        if (!r->j.ops->columns[k])
            continue;
        html(out, "<tr data-column=\"%s\"><th class=\"t\" scope=\"row\">%s</th>", column_at[k],
             r->j.ops->columns[k]);
        for (int a = 0; a < d->n_arms; a++)
            html(out, "<td>%.4g</td>", number_of(&d->arm[a], k));
        buf_str(out, "</tr>\n");
    }
    for (int k = 0; k < SIGNAL_COUNT; k++) {
        html(out, "<tr><th class=\"t\" scope=\"row\">%s</th>", signal_name((enum signal_id)k));
        for (int a = 0; a < d->n_arms; a++)
            html(out, "<td>%.3g</td>", d->arm[a].signals[k]);
        buf_str(out, "</tr>\n");
    }
    buf_str(out, "</tbody></table></div>\n");
}

/* "3 inputs, "; nothing of none. */
static void some(uint32_t n, const char *word, const char *plural, struct buf *out)
{
    if (n)
        html(out, "%u %s%s, ", n, word, n == 1 ? "" : plural);
}

static void outcome(const struct data_turn *t, struct buf *out)
{
    char n[32];
    if (t->state == TURN_VOID)
        html(
            out,
            "<p>Its supervisor was killed; %u inputs were kept, nothing was learned from it.</p>\n",
            t->inputs);
    else if (!t->round)
        buf_str(out, "<p>What came of it is not known yet.</p>\n");
    else
        html(out, "<p>What came of it: %s", t->new_edges ? "" : "no new edge, ");
    if (t->state == TURN_VOID || !t->round)
        return;
    if (t->new_edges || t->reward > 0)
        html(out, "reward %.4g, ", t->reward);
    some(t->new_edges, "new edge", "s", out);
    some(t->inputs, "input", "s", out);
    some(t->crashes, "crash", "es", out);
    some(t->hangs, "hang", "s", out);
    html(out, "%s executions in %.1f s%s.</p>\n", html_count((double)t->execs, n),
         (double)t->active_ns / 1e9, t->died ? "; the fuzzer died" : "");
}

static void fragment(const struct report *r, const struct data_turn *t, const char *why,
                     const struct decision *d, struct buf *out)
{
    if (why)
        html(out, "<p>Why: %s.</p>\n", why);
    outcome(t, out);
    if (d && r->j.ops && d->n_arms == r->n_arms)
        decision_table(r, d, out);
}

int report_turn(const struct report *r, int64_t turn, struct buf *out, struct err *e)
{
    struct store *s;
    struct explained x;
    struct buf why = BUF_INIT(1 << 16);
    const struct data_turn *t = data_turn(r, turn);
    if (!t || !r->j.ops)
        return err_set(e, -ENOENT, "there is no turn %lld", (long long)turn);
    int rc = store_open(&s, r->dir, STORE_READ, e);
    if (rc < 0)
        return rc;
    rc = explain_turn(&x, s, turn, e);
    if (rc == 0 && x.d.n_arms == r->n_arms) {
        explain_why(r->j.ops, &x.d, r->arm_names, &why);
        fragment(r, t, why.p, &x.d, out);
    }
    buf_free(&why);
    store_close(s);
    return rc;
}

/* --- the list ------------------------------------------------------------------------------------ */
static const struct decision *kept(const struct report *r, const struct data_turn *t)
{
    const struct decision *d = r->full[t->id % DATA_FULL];
    return d && d->t == (uint64_t)t->id ? d : NULL;
}

static void summary(const struct report *r, const struct data_turn *t, struct buf *out)
{
    char at[32];
    html(out, "<summary><i class=\"%s\"></i><b>%lld</b> %s %s", data_class(t->arm),
         (long long)t->id, html_clock(t->start_ns, at), data_arm(r, t->arm));
    if (t->state == TURN_COMMITTED && t->reward > 0)
        html(out, " <u>%.3g</u>", t->reward);
    if (t->new_edges)
        html(out, " <em>+%u edge%s</em>", t->new_edges, t->new_edges == 1 ? "" : "s");
    if (t->crashes)
        html(out, " <em class=\"bad\">%u crash%s</em>", t->crashes, t->crashes == 1 ? "" : "es");
    if (t->explored)
        buf_str(out, " explored");
    if (t->warmup)
        buf_str(out, " warm-up");
    if (t->died)
        buf_str(out, " died");
    if (!t->round)
        buf_str(out, " running");
    buf_str(out, "</summary>");
}

static void one_turn(const struct report *r, const struct data_turn *t, struct buf *out)
{
    const struct decision *d = kept(r, t);
    html(out, "<details data-turn=\"%lld\"", (long long)t->id);
    if (d)
        buf_str(out, " data-whole");
    buf_str(out, ">");
    summary(r, t, out);
    fragment(r, t, t->why, d, out);
    buf_str(out, "</details>\n");
}

static void block(const struct report *r, size_t from, size_t to, bool open, struct buf *out)
{
    uint32_t edges = 0, crashes = 0;
    for (size_t i = from; i < to; i++) {
        edges += r->turns[i].new_edges;
        crashes += r->turns[i].crashes;
    }
    buf_str(out, open ? "<details class=\"block\" open>" : "<details class=\"block\">");
    html(out, "<summary>turns %zu to %zu <small>%u new edges, %u crashes</small></summary>\n",
         from + 1, to, edges, crashes);
    for (size_t i = to; i > from; i--)
        if (r->turns[i - 1].id)
            one_turn(r, &r->turns[i - 1], out);
    buf_str(out, "</details>\n");
}

/* For the served page, which can ask for any turn; elsewhere it stays hidden. */
static void ask_form(struct buf *out)
{
    buf_str(out, "<form class=\"pick\" hidden><label>turn <input type=\"number\" min=\"1\" "
                 "name=\"turn\"></label> <button>explain it</button></form>\n"
                 "<div class=\"answer\" aria-live=\"polite\"></div>\n");
}

void turns_write(const struct report *r, struct buf *out)
{
    if (!part_begin(r, "turns", out))
        return;
    if (!r->n_turns) {
        buf_str(out, "<p class=\"none\">No decision has been made yet.</p>\n");
        part_end(out);
        return;
    }
    html(out,
         "<p>The newest first. A turn opens into why its fuzzer was chosen and what came of it. "
         "All numbers of a "
         "decision: <code class=\"explain\">carol explain %s --turn N</code>.</p>\n",
         r->dir);
    size_t oldest = r->n_turns > DATA_WHYS ? r->n_turns - DATA_WHYS : 0;
    if (oldest)
        html(out,
             "<p class=\"note\">The first %zu turns are not listed here; that command has "
             "them.</p>\n",
             oldest);
    ask_form(out);
    for (size_t to = r->n_turns; to > oldest;) {
        size_t from = (to - 1) / BLOCK * BLOCK;
        from = from > oldest ? from : oldest;
        block(r, from, to, to == r->n_turns, out);
        to = from;
    }
    part_end(out);
}
