/* ancestry: the section of lineages: the inputs that covered something first or crashed, and what each was made from.
 * A step is one row that names its parent; the script shows the rows of one chain. */
#include "report/part.h"

#include "base/die.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 1000  /* steps on the page at least; a turn that is not there makes room for another */
#define CRASHES 60 /* whose chains come first */
#define CHAIN 200
#define RANGES 3 /* of edges named in a row */

/* An edge and the input that covered it first. */
struct first {
    int64_t seed;
    uint32_t edge;
};

static int by_seed(const void *a, const void *b)
{
    const struct first *x = a, *y = b;
    if (x->seed != y->seed)
        return x->seed < y->seed ? -1 : 1;
    return (x->edge > y->edge) - (x->edge < y->edge);
}

struct chosen {
    const struct report *r;
    bool *in; /* a flag per step */
    size_t n, most;
    struct first *firsts;
    size_t n_firsts;
};

static size_t index_of(const struct report *r, const struct data_step *s)
{
    return (size_t)(s - r->steps);
}

/* Is it on the page? */
static bool is_here(const struct chosen *c, int64_t seed)
{
    const struct data_step *s = seed ? data_step(c->r, seed) : NULL;
    return s && c->in[index_of(c->r, s)];
}

/* That step and its ancestors, while there are fewer than most. */
static void choose(struct chosen *c, int64_t seed, size_t most)
{
    const struct data_step *s = data_step(c->r, seed);
    for (int i = 0; i < CHAIN && s && c->n < most && !c->in[index_of(c->r, s)]; i++) {
        c->in[index_of(c->r, s)] = true;
        c->n++;
        s = s->parent ? data_step(c->r, s->parent) : NULL;
    }
}

static int by_added(const void *a, const void *b)
{
    const struct data_step *const *x = a, *const *y = b;
    if ((*x)->added != (*y)->added)
        return (*x)->added < (*y)->added ? 1 : -1;
    return ((*x)->seed > (*y)->seed) - ((*x)->seed < (*y)->seed);
}

static bool is_first_of_defect(const struct report *r, int64_t crash)
{
    for (size_t i = 0; i < r->defects.n; i++)
        if (r->defects.v[i].first == crash)
            return true;
    return false;
}

/* The first ones, and the first of every defect. */
static bool is_shown(const struct report *r, size_t crash)
{
    return crash < CRASHES || is_first_of_defect(r, r->crashes[crash].id);
}

static void choose_steps(struct chosen *c)
{
    const struct report *r = c->r;
    const struct data_step **order = xcalloc(r->n_steps, sizeof *order);
    for (size_t i = 0; i < r->n_crashes; i++)
        if (is_first_of_defect(r, r->crashes[i].id))
            choose(c, r->crashes[i].parent, SIZE_MAX);
    for (size_t i = 0; i < r->n_crashes && i < CRASHES; i++)
        choose(c, r->crashes[i].parent, c->most);
    for (size_t i = 0; i < r->n_steps; i++)
        order[i] = &r->steps[i];
    if (r->n_steps)
        qsort(order, r->n_steps, sizeof *order, by_added);
    for (size_t i = 0; i < r->n_steps && c->n < c->most; i++)
        choose(c, order[i]->seed, c->most);
    free(order);
}

static void list_firsts(struct chosen *c)
{
    const struct report *r = c->r;
    c->firsts = xcalloc(r->n_edges, sizeof *c->firsts);
    for (uint32_t i = 0; i < r->n_edges; i++)
        if (r->edges[i].covered && r->edges[i].seed)
            c->firsts[c->n_firsts++] = (struct first){r->edges[i].seed, i};
    if (c->n_firsts)
        qsort(c->firsts, c->n_firsts, sizeof *c->firsts, by_seed);
}

/* --- bytes --------------------------------------------------------------------------------------- */
static void bytes(const uint8_t *p, uint32_t n, struct buf *out)
{
    uint32_t shown = n < 16 ? n : 16;
    for (uint32_t i = 0; i < shown; i++)
        if (isprint(p[i]) && p[i] != '\\')
            html(out, "%c", p[i]);
        else
            html(out, "\\x%02x", (unsigned)p[i]);
    if (n > shown)
        buf_str(out, "…");
}

static void diff(const struct data_diff *d, bool has_parent, struct buf *out)
{
    if (!d->known)
        return;
    if (!has_parent) {
        buf_str(out, "<code class=\"diff\"><ins>");
        bytes(d->new, d->now, out);
        buf_str(out, "</ins></code>");
        return;
    }
    html(out, "<code class=\"diff\">@%u ", d->at);
    if (d->was) {
        buf_str(out, "<del>");
        bytes(d->old, d->was, out);
        buf_str(out, "</del>");
    }
    if (d->now) {
        buf_str(out, "<ins>");
        bytes(d->new, d->now, out);
        buf_str(out, "</ins>");
    }
    html(out, "</code> <small>%u → %u bytes</small>", d->was, d->now);
}

/* --- rows ---------------------------------------------------------------------------------------- */
/* The edges it was the first to cover: "3-7 9"; no more of these ranges than most. */
static void edge_ranges(const struct chosen *c, int64_t seed, size_t most, struct buf *out)
{
    size_t lo = 0, hi = c->n_firsts;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (c->firsts[mid].seed < seed)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (size_t n = 0; lo < c->n_firsts && c->firsts[lo].seed == seed; n++) {
        if (n == most) {
            buf_str(out, " …");
            break;
        }
        uint32_t from = c->firsts[lo].edge, to = from;
        while (++lo < c->n_firsts && c->firsts[lo].seed == seed && c->firsts[lo].edge == to + 1)
            to++;
        html(out, n ? " %u" : "%u", from);
        if (to > from)
            html(out, "-%u", to);
    }
}

/* The parent, which the page has or not. */
static void origin(const struct chosen *c, int64_t parent, struct buf *out)
{
    if (is_here(c, parent))
        html(out, "<a href=\"#%ss%lld\">from %lld</a> ", c->r->prefix, (long long)parent,
             (long long)parent);
    else
        html(out, "<small>from %lld</small> ", (long long)parent);
}

static void row(const struct chosen *c, const struct data_step *s, struct buf *out)
{
    const struct report *r = c->r;
    char at[32];
    html(out, "<li id=\"%ss%lld\" class=\"%s\" data-parent=\"%lld\" data-edges=\"", r->prefix,
         (long long)s->seed, data_class(s->arm), (long long)s->parent);
    edge_ranges(c, s->seed, SIZE_MAX, out);
    html(out, "\"><b>%s</b> <span>input %lld", data_finder(r, s->arm, s->turn), (long long)s->seed);
    if (s->lost)
        buf_str(out, ", its bytes are lost");
    else
        html(out, ", %s", html_clock(s->at_ns, at));
    if (s->turn > 0)
        html(out, ", turn %lld", (long long)s->turn);
    if (!s->lost)
        html(out, ", %u bytes", s->size);
    if (s->added) {
        html(out, ", <strong>%u %sedge%s</strong> <small>", s->added, s->arm < 0 ? "" : "new ",
             s->added == 1 ? "" : "s");
        edge_ranges(c, s->seed, RANGES, out);
        buf_str(out, "</small>");
    }
    buf_str(out, "</span> ");
    if (s->parent)
        origin(c, s->parent, out);
    else
        html(out, "<small>%s</small> ", s->name);
    diff(&s->diff, s->parent != 0, out);
    buf_str(out, "</li>\n");
}

static void crash_row(const struct chosen *chosen, const struct data_crash *c, struct buf *out)
{
    const struct report *r = chosen->r;
    char at[32];
    html(out,
         "<li id=\"%sx%lld\" class=\"crash %s\" data-parent=\"%lld\"><b>%s</b> <span>%s %s, %s, %u "
         "bytes</span> ",
         r->prefix, (long long)c->id, data_class(c->arm), (long long)c->parent,
         data_finder(r, c->arm, c->turn), c->hang ? "hang" : "crash", c->hash,
         html_clock(c->at_ns, at), c->size);
    if (c->parent)
        origin(chosen, c->parent, out);
    diff(&c->diff, c->parent != 0, out);
    buf_str(out, "</li>\n");
}

static void rows(const struct chosen *c, struct buf *out)
{
    const struct report *r = c->r;
    buf_str(
        out,
        "<ol class=\"steps\" tabindex=\"0\" aria-label=\"inputs and what they were made from\">\n");
    for (size_t i = 0; i < r->n_steps; i++)
        if (c->in[i])
            row(c, &r->steps[i], out);
    for (size_t i = 0; i < r->n_crashes; i++)
        if (is_shown(r, i))
            crash_row(c, &r->crashes[i], out);
    buf_str(out, "</ol>\n");
}

int report_edge(const struct report *r, int64_t edge, struct buf *out, struct err *e)
{
    const struct data_step *s = NULL;
    struct chosen c = {.r = r};
    if (edge >= 0 && edge < r->n_edges && r->edges[edge].covered)
        s = data_step(r, r->edges[edge].seed);
    if (!s)
        return err_set(e, -ENOENT, "there is no lineage of edge %lld", (long long)edge);
    c.in = xcalloc(r->n_steps, sizeof *c.in);
    choose(&c, s->seed, SIZE_MAX);
    list_firsts(&c);
    for (size_t i = 0; i < r->n_steps; i++)
        if (c.in[i])
            row(&c, &r->steps[i], out);
    free(c.in);
    free(c.firsts);
    return 0;
}

void lineage_write(const struct report *r, struct buf *out)
{
    size_t turns = r->n_turns < DATA_WHYS ? r->n_turns : DATA_WHYS;
    struct chosen c = {.r = r, .most = ROWS + DATA_WHYS - turns};
    if (!part_begin(r, "lineage", out))
        return;
    if (!r->n_steps && !r->n_crashes) {
        buf_str(out, "<p class=\"none\">No input has been measured yet.</p>\n");
        part_end(out);
        return;
    }
    c.in = xcalloc(r->n_steps, sizeof *c.in);
    choose_steps(&c);
    list_firsts(&c);
    html(out,
         "<p>Each input that covered an edge first or crashed, what it was made from, and which "
         "bytes changed: "
         "<code class=\"diff\">@offset <del>old</del><ins>new</ins></code>. An input whose parent "
         "is unknown begins a "
         "line.%s</p>\n",
         c.n < r->n_steps ? " Those that brought the fewest edges are left out." : "");
    buf_str(out, "<form class=\"pick\" hidden><label>edge <input type=\"number\" min=\"0\" "
                 "name=\"edge\"></label> "
                 "<label>or input <select name=\"input\"></select></label> "
                 "<button type=\"reset\">all</button> <output></output></form>\n");
    sharers_write(r, out);
    rows(&c, out);
    free(c.in);
    free(c.firsts);
    part_end(out);
}
