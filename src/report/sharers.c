/* sharers: which fuzzers have inputs of their own with each edge, as data that the script of the page asks for one edge. */
#include "report/part.h"

#include "base/die.h"

#include <stdlib.h>

int sharers_order(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The distinct sets of fuzzers, sorted; *n of them. */
static uint64_t *distinct(const struct report *r, size_t *n)
{
    uint64_t *v = xcalloc(r->n_edges, sizeof *v);
    size_t all = 0;
    for (uint32_t i = 0; i < r->n_edges; i++)
        if (r->edges[i].found_by)
            v[all++] = r->edges[i].found_by;
    if (all)
        qsort(v, all, sizeof *v, sharers_order);
    *n = 0;
    for (size_t i = 0; i < all; i++)
        if (!*n || v[i] != v[*n - 1])
            v[(*n)++] = v[i];
    return v;
}

static void write_set(const struct report *r, uint64_t who, struct buf *out)
{
    const char *comma = "";
    buf_str(out, "[");
    for (int a = 0; a < r->n_arms; a++)
        if (who >> a & 1) {
            html(out, "%s%d", comma, a);
            comma = ",";
        }
    buf_str(out, "]");
}

/* "3-7:0 9:2": edges 3 to 7 have the first set, edge 9 the third. */
static void write_edges(const struct report *r, const uint64_t *sets, size_t n, struct buf *out)
{
    const char *space = "";
    for (uint32_t i = 0, to; i < r->n_edges; i = to) {
        uint64_t who = r->edges[i].found_by;
        for (to = i + 1; to < r->n_edges && r->edges[to].found_by == who;)
            to++;
        if (!who)
            continue;
        const uint64_t *at = bsearch(&who, sets, n, sizeof *sets, sharers_order);
        html(out, "%s%u", space, i);
        if (to > i + 1)
            html(out, "-%u", to - 1);
        html(out, ":%zu", (size_t)(at - sets));
        space = " ";
    }
}

void sharers_write(const struct report *r, struct buf *out)
{
    size_t n;
    uint64_t *sets = distinct(r, &n);
    buf_str(out, "<script type=\"application/json\" class=\"sharers\">{\"sets\":[");
    for (size_t i = 0; i < n; i++) {
        buf_str(out, i ? "," : "");
        write_set(r, sets[i], out);
    }
    buf_str(out, "],\"edges\":\"");
    write_edges(r, sets, n, out);
    buf_str(out, "\"}</script>\n");
    free(sets);
}
