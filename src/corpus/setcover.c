/* setcover: weighted set cover over neutral edges.  Knows nothing of inputs. */
#include "corpus/setcover.h"

#include "base/die.h"
#include "base/heap.h"
#include "eval/edges.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Sets stay encoded, a byte per edge, and are decoded when looked at: a corpus of 100,000 fits. */
struct state {
    const struct setcover_set *sets;
    uint32_t n_edges;
    uint32_t *covers; /* per edge: how many of the chosen have it */
    struct heap heap;
};

/* Positive doubles are ordered like their bits. */
static uint64_t price(double cost, uint32_t gain)
{
    double per_edge = cost / gain;
    uint64_t key;
    memcpy(&key, &per_edge, sizeof key);
    return key;
}

static int decode(const struct state *st, uint32_t i, struct edges *s, struct err *e)
{
    return edges_decode(st->sets[i].edges, st->sets[i].edges_size, st->n_edges, s, e);
}

static uint32_t gain_of(const struct state *st, const struct edges *s)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < s->n; k++)
        n += st->covers[s->ids[k]] == 0;
    return n;
}

/* Puts it (back) at its price of now, unless it has nothing new. */
static void offer(struct state *st, uint32_t i, uint32_t gain)
{
    if (gain)
        heap_push(&st->heap, (struct heap_item){price(st->sets[i].cost, gain), i, i});
}

static int offer_all(struct state *st, size_t n, struct err *e)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < n; i++) {
        struct edges s;
        rc = decode(st, i, &s, e);
        if (rc == 0)
            offer(st, i, s.n);
        if (rc == 0)
            edges_free(&s);
    }
    return rc;
}

/* Prices only rise, so one that is up to date and still first is the least of all. */
static int choose(struct state *st, struct setcover *out, struct err *e)
{
    size_t cap = 0;
    int rc = 0;
    while (rc == 0 && st->heap.n) {
        struct heap_item top = heap_pop(&st->heap);
        struct edges s;
        rc = decode(st, top.what, &s, e);
        if (rc < 0)
            break;
        uint32_t gain = gain_of(st, &s);
        if (gain && price(st->sets[top.what].cost, gain) == top.key) {
            XGROW(out->v, out->n, cap);
            out->v[out->n++] = (struct setcover_pick){top.what, gain};
            for (uint32_t k = 0; k < s.n; k++)
                st->covers[s.ids[k]]++;
            out->covered += gain;
        } else {
            offer(st, top.what, gain);
        }
        edges_free(&s);
    }
    return rc;
}

static int drop_if_needless(struct state *st, uint32_t set, bool *dropped, struct err *e)
{
    struct edges s;
    int rc = decode(st, set, &s, e);
    if (rc < 0)
        return rc;
    *dropped = true;
    for (uint32_t k = 0; k < s.n; k++)
        *dropped = *dropped && st->covers[s.ids[k]] > 1;
    for (uint32_t k = 0; *dropped && k < s.n; k++)
        st->covers[s.ids[k]]--;
    edges_free(&s);
    return 0;
}

struct dear {
    double cost;
    size_t at;
};

static int dearest_first(const void *a, const void *b)
{
    const struct dear *x = a, *y = b;
    if (x->cost != y->cost)
        return x->cost > y->cost ? -1 : 1;
    return x->at > y->at ? -1 : 1; /* chosen later: dropped first */
}

static int prune(struct state *st, struct setcover *out, struct err *e)
{
    struct dear *order = xcalloc(out->n, sizeof *order);
    bool *gone = xcalloc(out->n, sizeof *gone);
    int rc = 0;
    for (size_t i = 0; i < out->n; i++)
        order[i] = (struct dear){st->sets[out->v[i].set].cost, i};
    if (out->n)
        qsort(order, out->n, sizeof *order, dearest_first);
    for (size_t i = 0; rc == 0 && i < out->n; i++)
        rc = drop_if_needless(st, out->v[order[i].at].set, &gone[order[i].at], e);
    size_t kept = 0;
    for (size_t i = 0; i < out->n; i++)
        if (!gone[i])
            out->v[kept++] = out->v[i];
    out->n = kept;
    free(order);
    free(gone);
    return rc;
}

/* What each of those left adds to those before it. */
static int recount(struct state *st, struct setcover *out, struct err *e)
{
    int rc = 0;
    memset(st->covers, 0, st->n_edges * sizeof *st->covers);
    for (size_t i = 0; rc == 0 && i < out->n; i++) {
        struct edges s;
        rc = decode(st, out->v[i].set, &s, e);
        if (rc < 0)
            break;
        out->v[i].fresh = gain_of(st, &s);
        for (uint32_t k = 0; k < s.n; k++)
            st->covers[s.ids[k]]++;
        edges_free(&s);
    }
    return rc;
}

int setcover_find(struct setcover *out, const struct setcover_set *sets, size_t n, uint32_t n_edges,
                  struct err *e)
{
    struct state st = {.sets = sets, .n_edges = n_edges};
    st.covers = xcalloc(n_edges, sizeof *st.covers);
    *out = (struct setcover){0};
    int rc = offer_all(&st, n, e);
    if (rc == 0)
        rc = choose(&st, out, e);
    if (rc == 0)
        rc = prune(&st, out, e);
    if (rc == 0)
        rc = recount(&st, out, e);
    heap_free(&st.heap);
    free(st.covers);
    if (rc < 0)
        setcover_free(out);
    return rc;
}

void setcover_free(struct setcover *s)
{
    free(s->v);
    *s = (struct setcover){0};
}
