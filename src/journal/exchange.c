/* exchange: what is shared, what every instance has of it, and what it is offered next.  Reads the store, writes
 * nothing to it. */
#include "journal/exchange.h"

#include "base/die.h"
#include "base/heap.h"
#include "journal/worth.h"

#include <stdlib.h>
#include <string.h>

#define CALIBRATION 10 /* an import costs its receiver so many executions */
#define TURN_PART 10   /* and all imports of a turn one part of it in so many, */
#define START_PART 2   /* a start corpus one in so many; */
#define REST_PART 4    /* what brings no edge gets one part of that in so many */
#define FEW 16         /* however long they take */
#define LOOK_MAX 20000 /* so many are looked at per turn; the others wait */
#define LOOK_REST_MAX 1000

/* A seed that is shared. */
struct good {
    int64_t seed, finder;
    uint32_t cpu_us, size;
};

/* What is known of one instance. */
struct receiver {
    int64_t instance;    /* 0: not in the record yet */
    uint64_t *has;       /* edges, one bit each */
    size_t seen;         /* so many goods have been sorted in */
    struct heap waiting; /* may bring it an edge, lightest first */
    struct heap rest;    /* brings it none */
};

struct exchange {
    uint32_t n_edges;
    struct worth usual; /* of the goods */
    struct good *goods;
    size_t n, cap;
    struct receiver *receivers;
    size_t n_receivers, cap_receivers;
};

struct exchange *exchange_new(uint32_t n_edges)
{
    struct exchange *x = xcalloc(1, sizeof *x);
    x->n_edges = n_edges;
    return x;
}

void exchange_free(struct exchange *x)
{
    if (!x)
        return;
    for (size_t i = 0; i < x->n_receivers; i++) {
        free(x->receivers[i].has);
        heap_free(&x->receivers[i].waiting);
        heap_free(&x->receivers[i].rest);
    }
    free(x->receivers);
    free(x->goods);
    free(x);
}

/* --- sets of edges ------------------------------------------------------------------------------ */

static uint64_t *bits_new(const struct exchange *x)
{
    return xcalloc(x->n_edges / 64 + 1, sizeof(uint64_t));
}

static void bits_add(uint64_t *bits, const struct edges *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        bits[s->ids[i] / 64] |= UINT64_C(1) << s->ids[i] % 64;
}

static bool bits_lack(const uint64_t *bits, uint32_t id)
{
    return !(bits[id / 64] >> id % 64 & 1);
}

/* --- what is shared ----------------------------------------------------------------------------- */

static bool opens(const struct ledger *l, const uint64_t *had, const struct edges *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (l->first_round[s->ids[i]] == LEDGER_NEVER && bits_lack(had, s->ids[i]))
            return true;
    return false;
}

/* First the light ones, then of the heavy ones those with an edge that neither the campaign nor another shared
 * one of these has. */
void exchange_judge(const struct exchange *x, const struct ledger *l, struct exchange_input *v,
                    size_t n)
{
    uint64_t *had = bits_new(x);
    enum weight *weight = xcalloc(n, sizeof *weight);
    for (size_t i = 0; i < n; i++) {
        weight[i] = worth_weigh(&x->usual, v[i].cpu_us, v[i].size);
        if (v[i].share && weight[i] == WEIGHT_LIGHT)
            bits_add(had, v[i].edges);
    }
    for (size_t i = 0; i < n; i++) {
        if (!v[i].share || weight[i] == WEIGHT_LIGHT)
            continue;
        v[i].share = weight[i] == WEIGHT_HEAVY && opens(l, had, v[i].edges);
        if (v[i].share)
            bits_add(had, v[i].edges);
    }
    free(weight);
    free(had);
}

static uint64_t lightness(uint32_t cpu_us, uint32_t size)
{
    return ((uint64_t)cpu_us + 1) * ((uint64_t)size + 1);
}

static void take_missed(const struct ledger *l, const uint64_t *had, const struct edges *s,
                        struct edges *keep)
{
    keep->ids = xmalloc((s->n + 1) * sizeof *keep->ids);
    for (uint32_t i = 0; i < s->n; i++)
        if (l->first_round[s->ids[i]] == LEDGER_NEVER && bits_lack(had, s->ids[i]))
            keep->ids[keep->n++] = s->ids[i];
}

void exchange_missed(const struct exchange *x, const struct ledger *l,
                     const struct exchange_input *v, const bool *good, size_t n, struct edges *keep)
{
    uint64_t *had = bits_new(x);
    struct heap left = {0};
    memset(keep, 0, n * sizeof *keep);
    for (size_t i = 0; i < n; i++) {
        if (v[i].share)
            bits_add(had, v[i].edges);
        else if (good[i])
            heap_push(&left, (struct heap_item){lightness(v[i].cpu_us, v[i].size), v[i].seed,
                                                (uint32_t)i});
    }
    while (left.n) {
        uint32_t i = heap_pop(&left).what;
        if (!opens(l, had, v[i].edges))
            continue;
        take_missed(l, had, v[i].edges, &keep[i]);
        bits_add(had, v[i].edges);
    }
    heap_free(&left);
    free(had);
}

bool exchange_is_light(const struct exchange *x, uint32_t cpu_us, size_t size)
{
    return size <= UINT32_MAX && worth_weigh(&x->usual, cpu_us, (uint32_t)size) == WEIGHT_LIGHT;
}

static struct receiver *receiver_of(struct exchange *x, int64_t instance)
{
    for (size_t i = 0; i < x->n_receivers; i++)
        if (x->receivers[i].instance == instance)
            return &x->receivers[i];
    XGROW(x->receivers, x->n_receivers, x->cap_receivers);
    x->receivers[x->n_receivers] = (struct receiver){.instance = instance, .has = bits_new(x)};
    return &x->receivers[x->n_receivers++];
}

static void add_good(struct exchange *x, int64_t finder, const struct exchange_input *in)
{
    XGROW(x->goods, x->n, x->cap);
    x->goods[x->n++] = (struct good){in->seed, finder, in->cpu_us, in->size};
    worth_add(&x->usual, in->cpu_us, in->size);
}

void exchange_add(struct exchange *x, int64_t instance, const struct exchange_input *v, size_t n)
{
    struct receiver *r = instance ? receiver_of(x, instance) : NULL;
    for (size_t i = 0; i < n; i++) {
        if (v[i].share)
            add_good(x, instance, &v[i]);
        if (r)
            bits_add(r->has, v[i].edges);
    }
}

/* --- what is offered ---------------------------------------------------------------------------- */

static uint64_t key_of(const struct good *g)
{
    return lightness(g->cpu_us, g->size);
}

static void put(struct heap *h, const struct exchange *x, uint32_t i)
{
    heap_push(h, (struct heap_item){key_of(&x->goods[i]), x->goods[i].seed, i});
}

static enum weight weigh(const struct exchange *x, uint32_t i)
{
    return worth_weigh(&x->usual, x->goods[i].cpu_us, x->goods[i].size);
}

/* Of the first n goods those it has not been told of wait for it, except its own. */
static void catch_up(const struct exchange *x, struct receiver *r, size_t n)
{
    for (; r->seen < n; r->seen++)
        if (!r->instance || x->goods[r->seen].finder != r->instance)
            put(&r->waiting, x, (uint32_t)r->seen);
}

struct look {
    const struct exchange *x;
    struct receiver *r;
    bool adds;
};

static int look_at(void *arg, const struct store_seed *seed, struct err *e)
{
    struct look *k = arg;
    struct edges s;
    int rc = edges_decode(seed->edges, seed->edges_size, k->x->n_edges, &s, e);
    for (uint32_t i = 0; rc == 0 && !k->adds && i < s.n; i++)
        k->adds = bits_lack(k->r->has, s.ids[i]);
    if (rc == 0 && k->adds)
        bits_add(k->r->has, &s);
    if (rc == 0)
        edges_free(&s);
    return rc;
}

/* A portion while it is being filled. */
struct filling {
    struct exchange *x;
    struct store *s;
    struct receiver *r;
    const struct exchange_portion *p;
    struct exchange_list *list;
    struct heap aside; /* looked at and not wanted now */
    uint64_t room_us, us;
    size_t bytes;
};

static uint64_t cost_us(const struct good *g)
{
    return CALIBRATION * ((uint64_t)g->cpu_us + 1);
}

static bool fits(const struct filling *f, const struct good *g, uint64_t room_us, size_t few)
{
    return f->list->n < f->p->max_inputs && f->bytes <= f->p->max_bytes &&
           (f->list->n < few || f->us + cost_us(g) <= room_us);
}

static void take(struct filling *f, const struct good *g)
{
    XGROW(f->list->seeds, f->list->n, f->list->cap);
    f->list->seeds[f->list->n++] = g->seed;
    f->us += cost_us(g);
    f->bytes += g->size;
}

static void put_back(struct filling *f, struct heap *to)
{
    for (size_t i = 0; i < f->aside.n; i++)
        heap_push(to, f->aside.v[i]);
    f->aside.n = 0;
}

/* What brings it an edge.  A start corpus has no heavy ones, but it has something. */
static int fill_edges(struct filling *f, struct err *e)
{
    struct receiver *r = f->r;
    int rc = 0;
    for (size_t n = 0; rc == 0 && r->waiting.n && n < LOOK_MAX; n++) {
        uint32_t i = r->waiting.v[0].what;
        const struct good *g = &f->x->goods[i];
        bool first = f->p->start && !f->list->n;
        struct look k = {.x = f->x, .r = r};
        if (!fits(f, g, f->room_us, FEW))
            break;
        heap_pop(&r->waiting);
        if (f->p->start && !first && weigh(f->x, i) != WEIGHT_LIGHT) {
            put(&f->aside, f->x, i);
            continue;
        }
        rc = store_seed_results(f->s, g->seed, look_at, &k, e);
        if (k.adds || first)
            take(f, g);
        else
            put(&r->rest, f->x, i);
    }
    put_back(f, &r->waiting);
    return rc;
}

/* When nothing waits that does: hit counts may still be new to it. */
static void fill_rest(struct filling *f)
{
    struct heap *rest = &f->r->rest;
    for (size_t n = 0; rest->n && n < LOOK_REST_MAX; n++) {
        uint32_t i = rest->v[0].what;
        if (!fits(f, &f->x->goods[i], f->room_us / REST_PART, 0))
            break;
        heap_pop(rest);
        if (weigh(f->x, i) == WEIGHT_LIGHT)
            take(f, &f->x->goods[i]);
        else
            put(&f->aside, f->x, i);
    }
    put_back(f, rest);
}

int exchange_offer(struct exchange *x, struct store *s, int64_t instance,
                   const struct exchange_portion *p, struct exchange_list *out, struct err *e)
{
    struct filling f = {.x = x,
                        .s = s,
                        .r = receiver_of(x, instance),
                        .p = p,
                        .list = out,
                        .room_us =
                            (uint64_t)p->turn_ns / 1000 / (p->start ? START_PART : TURN_PART)};
    catch_up(x, f.r, x->n);
    int rc = fill_edges(&f, e);
    if (rc == 0 && !f.r->waiting.n && !p->start)
        fill_rest(&f);
    heap_free(&f.aside);
    return rc;
}

void exchange_given(struct exchange *x, int64_t instance)
{
    for (size_t i = 0; i < x->n_receivers; i++)
        if (!x->receivers[i].instance)
            x->receivers[i].instance = instance;
}

/* --- from the record ---------------------------------------------------------------------------- */

/* One instance was given one seed. */
struct gift {
    int64_t instance, seed;
};
struct load {
    struct exchange *x;
    struct gift *gifts; /* by seed, then by instance */
    size_t n, cap, next;
};

static int note_gift(void *arg, int64_t instance, int64_t seed)
{
    struct load *l = arg;
    receiver_of(l->x, instance);
    XGROW(l->gifts, l->n, l->cap);
    l->gifts[l->n++] = (struct gift){instance, seed};
    return 0;
}

static int by_seed(const void *a, const void *b)
{
    const struct gift *g = a, *h = b;
    return g->seed != h->seed ? (g->seed > h->seed) - (g->seed < h->seed)
                              : (g->instance > h->instance) - (g->instance < h->instance);
}

/* Everybody has what he found and what he was given; the rest of the goods waits for him. */
static int note_seed(void *arg, const struct store_seed *seed, struct err *e)
{
    struct load *l = arg;
    struct exchange *x = l->x;
    struct edges s;
    if (seed->state != SEED_DONE)
        return 0;
    int rc = edges_decode(seed->edges, seed->edges_size, x->n_edges, &s, e);
    if (rc < 0)
        return rc;
    struct exchange_input in = {.seed = seed->id,
                                .cpu_us = seed->cpu_us,
                                .size = (uint32_t)seed->size,
                                .edges = &s,
                                .share = seed->share != 0};
    exchange_add(x, seed->instance, &in, 1);
    while (l->next < l->n && l->gifts[l->next].seed < seed->id)
        l->next++;
    for (; l->next < l->n && l->gifts[l->next].seed == seed->id; l->next++) {
        struct receiver *r = receiver_of(x, l->gifts[l->next].instance);
        bits_add(r->has, &s);
        if (in.share) { /* the last one is this: it does not wait for it */
            catch_up(x, r, x->n - 1);
            r->seen++;
        }
    }
    edges_free(&s);
    return 0;
}

int exchange_load(struct exchange *x, struct store *s, struct err *e)
{
    struct load l = {.x = x};
    int rc = store_imports(s, note_gift, &l, e);
    if (l.n)
        qsort(l.gifts, l.n, sizeof *l.gifts, by_seed);
    if (rc == 0)
        rc = store_results(s, note_seed, &l, e);
    free(l.gifts);
    return rc;
}
