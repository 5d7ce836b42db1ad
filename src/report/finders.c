/* finders: which fuzzer found what: edges first, alone, together; and whose inputs the others built on. */
#include "report/part.h"

#include "base/die.h"

#include <stdio.h>
#include <stdlib.h>

#define SETS 24 /* columns of the set view */

struct set {
    uint64_t who;
    uint32_t n;
};

struct sums {
    uint32_t first[SCHED_MAX_ARMS], alone[SCHED_MAX_ARMS], with[SCHED_MAX_ARMS];
    uint32_t found;   /* edges that fuzzers found */
    uint32_t several; /* of them by more than one */
    struct set *sets;
    size_t n, cap;
};

/* Equal masks are one set. */
static void count_sets(struct sums *s, uint64_t *who, size_t n)
{
    if (n)
        qsort(who, n, sizeof *who, sharers_order);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || who[i] != who[i - 1]) {
            XGROW(s->sets, s->n, s->cap);
            s->sets[s->n++] = (struct set){who[i], 0};
        }
        s->sets[s->n - 1].n++;
    }
}

static int by_size(const void *a, const void *b)
{
    const struct set *x = a, *y = b;
    if (x->n != y->n)
        return x->n < y->n ? 1 : -1;
    return (x->who > y->who) - (x->who < y->who);
}

/* Of the edges that neither the initial seeds nor imports cover first. */
static void sum_up(const struct report *r, struct sums *s)
{
    uint64_t *who = xcalloc(r->n_edges, sizeof *who);
    *s = (struct sums){0};
    for (uint32_t i = 0; i < r->n_edges; i++) {
        const struct data_edge *x = &r->edges[i];
        if (!x->covered || x->arm < 0)
            continue;
        bool alone = (x->found_by & (x->found_by - 1)) == 0;
        who[s->found++] = x->found_by;
        s->several += !alone;
        s->first[x->arm]++;
        for (int a = 0; a < r->n_arms; a++)
            if (x->found_by >> a & 1)
                (alone ? s->alone : s->with)[a]++;
    }
    count_sets(s, who, s->found);
    free(who);
    if (s->n)
        qsort(s->sets, s->n, sizeof *s->sets, by_size);
}

static void table(const struct report *r, const struct sums *s, struct buf *out)
{
    buf_str(
        out,
        "<div class=\"scroll\"><table>\n<thead><tr><th class=\"t\">fuzzer</th><th>edges first</th>"
        "<th>only by it</th><th>by others too</th></tr></thead>\n<tbody>\n");
    char first[32], alone[32], with[32];
    for (int a = 0; a < r->n_arms; a++)
        html(out,
             "<tr><th class=\"t\" scope=\"row\"><span class=\"dot %s\"></span>%s</th><td>%s</td>"
             "<td>%s</td><td>%s</td></tr>\n",
             data_class(a), data_arm(r, a), html_count(s->first[a], first),
             html_count(s->alone[a], alone), html_count(s->with[a], with));
    buf_str(out, "</tbody></table></div>\n");
}

/* --- the set view -------------------------------------------------------------------------------- */
#define BARS 120
#define ROW 22
#define NAME 110
#define STEP 25

/* "999", "1.2k", "15k": as wide as a column. */
static const char *in_brief(uint32_t n, char out[32])
{
    snprintf(out, 32, n < 1000 ? "%.0f" : n < 9950 ? "%.1fk" : "%.0fk", n < 1000 ? n : n / 1e3);
    return out;
}

static void set_column(const struct report *r, const struct set *x, double at, uint32_t most,
                       struct buf *out)
{
    double height = (BARS - 18) * (double)x->n / (double)most;
    int top = -1, bottom = -1;
    char count[32], brief[32];
    html(out, "<g><title>%s</title>\n", html_count(x->n, count));
    svg_rect(out, at - 8, BARS - height, 16, height, "setbar");
    svg_text(out, at, BARS - height - 4, "middle", "tick", in_brief(x->n, brief));
    for (int a = 0; a < r->n_arms; a++) {
        bool in = x->who >> a & 1;
        if (in) {
            top = top < 0 ? a : top;
            bottom = a;
        }
        html(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" class=\"%s\"/>\n", at,
             BARS + ROW * (a + 0.8), in ? data_class(a) : "absent");
    }
    if (bottom > top)
        svg_line(out, at, BARS + ROW * (top + 0.8), at, BARS + ROW * (bottom + 0.8), "join");
    buf_str(out, "</g>\n");
}

static void set_view(const struct report *r, const struct sums *s, struct buf *out)
{
    size_t n = s->n < SETS ? s->n : SETS;
    uint32_t left = 0;
    svg_begin(out, NAME + STEP * SETS + 20, BARS + ROW * r->n_arms + 10,
              "how many edges were found by which fuzzers together");
    for (int a = 0; a < r->n_arms; a++)
        svg_text(out, NAME - 8, BARS + ROW * (a + 0.8) + 4, "end", "name", data_arm(r, a));
    for (size_t i = 0; i < s->n; i++)
        if (i < n)
            set_column(r, &s->sets[i], NAME + 12 + STEP * (double)i, s->sets[0].n, out);
        else
            left += s->sets[i].n;
    svg_end(out);
    buf_str(out, "<figcaption>Each column is a set of fuzzers and the edges that exactly these "
                 "have in inputs of "
                 "their own.");
    if (left)
        html(out, " %zu smaller sets with %u edges together are left out.", s->n - n, left);
    buf_str(out, "</figcaption>");
}

void finders_write(const struct report *r, struct buf *out)
{
    struct sums s;
    char found[32], one[32], several[32];
    if (!part_begin(r, "finders", out))
        return;
    sum_up(r, &s);
    if (!s.found) {
        buf_str(out,
                "<p class=\"none\">No fuzzer has found an edge that the seeds do not cover.</p>\n");
    } else {
        html(out,
             "<p>The fuzzers found %s edges beyond the seeds: %s of them only one fuzzer has, %s "
             "several have.</p>\n",
             html_count(s.found, found), html_count(s.found - s.several, one),
             html_count(s.several, several));
        table(r, &s, out);
        buf_str(out, "<figure class=\"sets\">");
        set_view(r, &s, out);
        buf_str(out, "</figure>\n");
    }
    free(s.sets);
    part_end(out);
}

/* --- imports ------------------------------------------------------------------------------------- */
static uint64_t most_built(const struct report *r)
{
    uint64_t most = 0;
    for (int b = 0; b < r->n_arms; b++)
        for (int a = 0; a < r->n_arms; a++)
            most = a != b && r->built_on[b][a] > most ? r->built_on[b][a] : most;
    return most;
}

static void matrix_row(const struct report *r, int b, uint64_t most, struct buf *out)
{
    char text[32];
    html(out, "<tr><th class=\"t\" scope=\"row\"><span class=\"dot %s\"></span>%s</th>",
         data_class(b), data_arm(r, b));
    for (int a = 0; a < r->n_arms + 2; a++) {
        double n = (double)r->built_on[b][a];
        html(out, "<td class=\"%s\">%s</td>",
             a == b || a >= r->n_arms ? "self" : part_heat(n, (double)most),
             n > 0 ? html_count(n, text) : "");
    }
    buf_str(out, "</tr>\n");
}

void imports_write(const struct report *r, struct buf *out)
{
    uint64_t most = most_built(r);
    if (!part_begin(r, "imports", out))
        return;
    if (!part_empty(r, out)) {
        buf_str(out, "<p>How many inputs of the fuzzer on the left were made from an input of the "
                     "one above. "
                     "Unknown: its fuzzer does not say, or combined several.</p>\n"
                     "<div class=\"scroll\"><table class=\"matrix\">\n<thead><tr><th "
                     "class=\"t\">made by</th>");
        for (int a = 0; a < r->n_arms; a++)
            html(out, "<th>%s</th>", data_arm(r, a));
        buf_str(out, "<th>seeds, imports</th><th>unknown</th></tr></thead>\n<tbody>\n");
        for (int b = 0; b < r->n_arms; b++)
            matrix_row(r, b, most, out);
        buf_str(out, "</tbody></table></div>\n");
    }
    part_end(out);
}
