/* queue: orders the crashes that wait by how much about them is new.  Runs nothing. */
#include "triage/queue.h"

#include "base/die.h"
#include "base/heap.h"
#include "eval/edges.h"

#include <stdlib.h>
#include <string.h>

#define EDGES_MAX ((uint32_t)1 << 26) /* of a record that is not damaged */
#define HINTS 65536    /* bits for origins and places; two that share one only lose their rank */
#define ASKED_MAX 1024 /* crashes whose edges are read again for one that is taken */
#define OLDER_MAX 64   /* and of those that were not measured the last time */
#define NEW_SIGNAL ((uint64_t)1 << 40)
#define NEW_EDGE 4

struct entry {
    struct waiting w;
    int signal;
    uint32_t origin, place; /* hints */
    uint64_t asked;         /* its score is that of then */
};

/* What is new about a crash can only become less, so a score that was right once is never too low. */
struct queue {
    struct entry *v; /* every crash that was ever added */
    size_t n, cap;
    struct heap measured; /* keys: UINT64_MAX - score */
    uint32_t *unmeasured; /* those whose edges are not known, or not yet */
    size_t n_un, cap_un;
    size_t n_fresh; /* how many of them, the last, came since one was taken */
    size_t next_un; /* of the others, who is asked for next */
    uint64_t now;   /* counts what was taken */
    uint64_t signals, hints[HINTS / 64];
    uint64_t *edges; /* bits */
    uint32_t n_words;
};

struct queue *queue_new(void)
{
    return xcalloc(1, sizeof(struct queue));
}

void queue_free(struct queue *q)
{
    if (!q)
        return;
    heap_free(&q->measured);
    free(q->unmeasured);
    free(q->v);
    free(q->edges);
    free(q);
}

size_t queue_size(const struct queue *q)
{
    return q->measured.n + q->n_un;
}

/* FNV-1a. */
static uint32_t hint_of(const void *data, size_t n)
{
    const uint8_t *p = data;
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 16777619u;
    return (h ^ h >> 16) % HINTS;
}

/* honggfuzz names a crash SIGSEGV.PC.x.STACK.y.CODE.z.ADDR...: up to the address it says where.  afl-fuzz numbers its
 * crashes. */
static uint32_t place_of(const char *name)
{
    const char *end = name ? strstr(name, ".ADDR.") : NULL;
    return end ? hint_of(name, (size_t)(end - name)) : hint_of("", 0);
}

void queue_add(struct queue *q, const struct store_crash *c)
{
    XGROW(q->v, q->n, q->cap);
    XGROW(q->unmeasured, q->n_un, q->cap_un);
    q->unmeasured[q->n_un++] = (uint32_t)q->n;
    q->n_fresh++;
    q->v[q->n++] = (struct entry){.w = {.id = c->id, .slot = c->slot},
                                  .signal = c->signal & 63,
                                  .origin = hint_of(&c->parent, sizeof c->parent),
                                  .place = place_of(c->name)};
}

/* --- what is new ---------------------------------------------------------------------------------- */

static bool bit(const uint64_t *words, uint32_t i)
{
    return words[i / 64] >> i % 64 & 1;
}

static void set_bit(uint64_t *words, uint32_t i)
{
    words[i / 64] |= (uint64_t)1 << i % 64;
}

static bool edge_seen(const struct queue *q, uint32_t edge)
{
    return edge / 64 < q->n_words && bit(q->edges, edge);
}

static void see_edge(struct queue *q, uint32_t edge)
{
    if (edge / 64 >= q->n_words) {
        uint32_t n = edge / 64 + 64;
        q->edges = xrealloc(q->edges, n * sizeof *q->edges);
        memset(q->edges + q->n_words, 0, (n - q->n_words) * sizeof *q->edges);
        q->n_words = n;
    }
    set_bit(q->edges, edge);
}

/* 1: they are known. */
static int read_edges(int64_t crash, queue_edges_fn *fn, void *arg, struct edges *out,
                      struct err *e)
{
    struct buf packed = BUF_INIT(BUF_TEXT_MAX);
    *out = (struct edges){0};
    int rc = fn(arg, crash, &packed, e);
    if (rc > 0) {
        int bad = edges_decode(packed.p, packed.len, EDGES_MAX, out, e);
        rc = bad < 0 ? bad : 1;
    }
    buf_free(&packed);
    return rc;
}

static uint64_t score_of(const struct queue *q, const struct entry *x, const struct edges *s)
{
    uint64_t score = (uint64_t)!bit(q->hints, x->origin) + !bit(q->hints, x->place);
    if (!(q->signals >> x->signal & 1))
        score += NEW_SIGNAL;
    for (uint32_t i = 0; i < s->n; i++)
        score += edge_seen(q, s->ids[i]) ? 0 : NEW_EDGE;
    return score;
}

static void see(struct queue *q, const struct entry *x, const struct edges *s)
{
    q->signals |= (uint64_t)1 << x->signal;
    set_bit(q->hints, x->origin);
    set_bit(q->hints, x->place);
    for (uint32_t i = 0; i < s->n; i++)
        see_edge(q, s->ids[i]);
}

/* --- the next one --------------------------------------------------------------------------------- */

static void push(struct queue *q, uint32_t what, uint64_t score)
{
    struct entry *x = &q->v[what];
    x->asked = q->now;
    heap_push(&q->measured,
              (struct heap_item){.key = UINT64_MAX - score, .tie = x->w.id, .what = what});
}

static void remove_unmeasured(struct queue *q, size_t at)
{
    q->n_un--;
    memmove(q->unmeasured + at, q->unmeasured + at + 1, (q->n_un - at) * sizeof *q->unmeasured);
}

/* Is this one of the unmeasured measured by now?  Then it is sorted in: 1. */
static int ask(struct queue *q, size_t at, queue_edges_fn *fn, void *arg, struct err *e)
{
    struct edges s;
    uint32_t what = q->unmeasured[at];
    int rc = read_edges(q->v[what].w.id, fn, arg, &s, e);
    if (rc <= 0)
        return rc;
    push(q, what, score_of(q, &q->v[what], &s));
    remove_unmeasured(q, at);
    edges_free(&s);
    return 1;
}

/* Those that came since the last time, and some of those before them. */
static int sort_in(struct queue *q, queue_edges_fn *fn, void *arg, struct err *e)
{
    size_t fresh = q->n_fresh < ASKED_MAX ? q->n_fresh : ASKED_MAX, at = q->n_un - fresh;
    size_t older = at < OLDER_MAX ? at : OLDER_MAX;
    q->n_fresh = 0;
    for (; fresh; fresh--) {
        int rc = ask(q, at, fn, arg, e);
        if (rc < 0)
            return rc;
        at += rc == 0;
    }
    for (; older; older--) {
        q->next_un = q->next_un < q->n_un ? q->next_un : 0;
        int rc = ask(q, q->next_un, fn, arg, e);
        if (rc < 0)
            return rc;
        q->next_un += rc == 0;
    }
    return 0;
}

static bool is_settled(const struct queue *q)
{
    return !q->measured.n || q->v[q->measured.v[0].what].asked == q->now;
}

/* Brings the best measured one to the top.  Scores only fall, so one that is of now and still ahead of old ones is the
 * best.  So many are asked; then the best of those that were will do, and the others
 * go to `later`. */
static int settle(struct queue *q, struct heap *later, queue_edges_fn *fn, void *arg, struct err *e)
{
    for (int asked = 0; asked < ASKED_MAX && !is_settled(q); asked++) {
        struct edges s;
        struct heap_item top = heap_pop(&q->measured);
        int rc = read_edges(q->v[top.what].w.id, fn, arg, &s, e);
        push(q, top.what, score_of(q, &q->v[top.what], &s));
        edges_free(&s);
        if (rc < 0)
            return rc;
    }
    while (!is_settled(q))
        heap_push(later, heap_pop(&q->measured));
    return 0;
}

/* The first of the unmeasured with the highest score; n_un: none. */
static size_t best_unmeasured(const struct queue *q, uint64_t *score)
{
    const struct edges none = {0};
    size_t best = q->n_un;
    for (size_t i = 0; i < q->n_un; i++) {
        uint64_t is = score_of(q, &q->v[q->unmeasured[i]], &none);
        if (best == q->n_un || is > *score) {
            best = i;
            *score = is;
        }
    }
    return best;
}

static uint32_t leave(struct queue *q)
{
    uint64_t score = 0;
    size_t best = best_unmeasured(q, &score);
    if (best == q->n_un || (q->measured.n && UINT64_MAX - q->measured.v[0].key >= score))
        return heap_pop(&q->measured).what;
    uint32_t what = q->unmeasured[best];
    remove_unmeasured(q, best);
    return what;
}

int queue_take(struct queue *q, queue_edges_fn *edges, void *arg, struct waiting *w, struct err *e)
{
    struct edges s = {0};
    struct heap later = {0};
    const struct entry *x = NULL;
    q->now++;
    int rc = sort_in(q, edges, arg, e);
    if (rc == 0)
        rc = settle(q, &later, edges, arg, e);
    if (rc == 0 && queue_size(q))
        x = &q->v[leave(q)];
    if (x && (rc = read_edges(x->w.id, edges, arg, &s, e)) >= 0) {
        see(q, x, &s);
        *w = x->w;
    }
    edges_free(&s);
    while (later.n)
        heap_push(&q->measured, heap_pop(&later));
    heap_free(&later);
    return rc < 0 ? rc : x != NULL;
}

int queue_edges(void *store, int64_t crash, struct buf *out, struct err *e)
{
    return store_crash_edges(store, crash, out, e);
}
