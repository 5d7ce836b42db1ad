/* legion_counts: the five counts of a round.  Does not know what they are for. */
#include "sched/legion_counts.h"

#include "base/die.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool has(const uint64_t *bits, uint32_t i)
{
    return bits[i / 64] >> i % 64 & 1;
}

static void set(uint64_t *bits, uint32_t i)
{
    bits[i / 64] |= UINT64_C(1) << i % 64;
}

static uint64_t *hits_of(const struct legion_counts *c, int arm)
{
    return c->hit + (size_t)arm * c->words;
}

/* The largest depth that is not deep. */
static uint32_t shallow_depth(const struct table *t)
{
    uint64_t sum = 0, n = 0;
    for (uint32_t i = 0; i < t->n_funcs; i++)
        if (t->funcs[i].depth != UINT16_MAX) {
            sum += t->funcs[i].depth;
            n++;
        }
    return n ? (uint32_t)(sum / n * 3 / 2) : 0;
}

void legion_counts_init(struct legion_counts *c, int n_arms, const struct table *t)
{
    *c = (struct legion_counts){.n_arms = n_arms, .n_edges = t ? t->n_edges : 0};
    c->words = ((size_t)c->n_edges + 63) / 64;
    c->deep = xcalloc(c->words + 1, sizeof *c->deep);
    c->rare = xcalloc(c->words + 1, sizeof *c->rare);
    c->hit = xcalloc(c->words * (size_t)n_arms + 1, sizeof *c->hit);
    uint32_t shallow = t ? shallow_depth(t) : 0;
    for (uint32_t i = 0; i < c->n_edges; i++)
        if (t->edges[i].depth != UINT16_MAX && t->edges[i].depth > shallow)
            set(c->deep, i);
}

void legion_counts_free(struct legion_counts *c)
{
    free(c->deep);
    free(c->rare);
    free(c->hit);
    *c = (struct legion_counts){0};
}

void legion_counts_begin(struct legion_counts *c, const struct ledger *map)
{
    memset(c->count, 0, sizeof c->count);
    memset(c->hit, 0, c->words * (size_t)c->n_arms * sizeof *c->hit);
    memset(c->rare, 0, c->words * sizeof *c->rare);
    if (!map || map->table->n_edges < c->n_edges)
        return;
    uint64_t sum = 0, covered = 0;
    for (uint32_t i = 0; i < c->n_edges; i++) {
        sum += map->hits[i];
        covered += map->hits[i] > 0;
    }
    for (uint32_t i = 0; i < c->n_edges; i++)
        if (map->hits[i] && 2 * map->hits[i] * covered < sum) /* h < sum / covered / 2 */
            set(c->rare, i);
}

static void hit_edge(struct legion_counts *c, int arm, uint32_t edge)
{
    uint64_t *hit = hits_of(c, arm);
    bool deep = has(c->deep, edge), rare = has(c->rare, edge);
    if (!(deep || rare) || has(hit, edge))
        return;
    set(hit, edge);
    c->count[arm][COUNT_DEEP] += deep;
    c->count[arm][COUNT_RARE] += rare;
}

void legion_counts_add(struct legion_counts *c, int arm, const struct sched_outcome *o)
{
    c->count[arm][COUNT_EDGES] += o->new_edges;
    c->count[arm][COUNT_CRASHES] += o->crashes;
    if (!o->gain)
        return;
    c->count[arm][COUNT_PATHS] += o->gain->new_paths;
    for (uint32_t i = 0; i < o->gain->touched.n; i++)
        if (o->gain->touched.ids[i] < c->n_edges)
            hit_edge(c, arm, o->gain->touched.ids[i]);
}

uint64_t legion_counts_sum(const struct legion_counts *c, int arm)
{
    uint64_t sum = 0;
    for (int k = 0; k < COUNT_KINDS; k++)
        sum += c->count[arm][k];
    return sum;
}

static double deviation(const struct legion_counts *c, uint64_t arms, int kind)
{
    double sum = 0, squares = 0;
    int n = __builtin_popcountll(arms);
    for (int i = 0; i < c->n_arms; i++)
        if (arms >> i & 1)
            sum += (double)c->count[i][kind];
    for (int i = 0; n && i < c->n_arms; i++)
        if (arms >> i & 1) {
            double off = (double)c->count[i][kind] - sum / n;
            squares += off * off;
        }
    return n ? sqrt(squares / n) : 0;
}

void legion_counts_weights(const struct legion_counts *c, uint64_t arms, double weight[COUNT_KINDS])
{
    double sum = 0;
    for (int k = 0; k < COUNT_KINDS; k++)
        sum += weight[k] = deviation(c, arms, k);
    for (int k = 0; k < COUNT_KINDS; k++)
        weight[k] = sum > 0 ? weight[k] / sum : 1.0 / (int)COUNT_KINDS;
}

/* --- its state ------------------------------------------------------------------------------- */

static void save_bits(const struct legion_counts *c, const uint64_t *bits, struct buf *out)
{
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    struct edges s;
    edges_from_bits(&s, bits, c->n_edges);
    edges_encode(&s, &b);
    wire_put_u64(out, b.len);
    if (b.len)
        buf_add(out, b.p, b.len);
    edges_free(&s);
    buf_free(&b);
}

void legion_counts_save(const struct legion_counts *c, struct buf *out)
{
    save_bits(c, c->rare, out);
    for (int i = 0; i < c->n_arms; i++) {
        for (int k = COUNT_EDGES; k <= COUNT_CRASHES; k++)
            wire_put_u64(out, c->count[i][k]);
        save_bits(c, hits_of(c, i), out);
    }
}
