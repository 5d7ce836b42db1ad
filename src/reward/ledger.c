/* ledger: the fold of evaluated inputs into first covers, hit counts and per-turn gains.  Runs
 * nothing, reads no clock: the same inputs in the same order give the same ledger, bit for bit. */
#include "reward/ledger.h"

#include "base/det.h"
#include "base/die.h"

#include <stdlib.h>
#include <string.h>

struct ledger_call {
    uint32_t callee, caller; /* sorted by callee, then caller */
};

void ledger_init(struct ledger *l, const struct table *t)
{
    size_t n = t->n_edges;
    *l = (struct ledger){.table = t};
    l->first_round = xmalloc(n * sizeof *l->first_round);
    l->first_fuzzer = xmalloc(n * sizeof *l->first_fuzzer);
    l->hits = xcalloc(n, sizeof *l->hits);
    for (size_t i = 0; i < n; i++) {
        l->first_round[i] = LEDGER_NEVER;
        l->first_fuzzer[i] = -1;
    }
}

void ledger_free(struct ledger *l)
{
    free(l->first_round);
    free(l->first_fuzzer);
    free(l->hits);
    free(l->calls);
    paths_free(&l->paths);
    *l = (struct ledger){0};
}

void gain_free(struct gain *g)
{
    edges_free(&g->fresh);
    edges_free(&g->touched);
    *g = (struct gain){0};
}

/* --- learned calls -------------------------------------------------------------------------- */

/* Position of the first learned call not below (callee, caller). */
static size_t call_position(const struct ledger *l, uint32_t callee, uint32_t caller)
{
    size_t lo = 0, hi = l->n_calls;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        const struct ledger_call *c = &l->calls[mid];
        if (c->callee < callee || (c->callee == callee && c->caller < caller))
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static bool is_static_predecessor(const struct table *t, uint32_t edge, uint32_t of)
{
    const struct table_edge *e = &t->edges[of];
    for (uint32_t i = 0; i < e->pred_n; i++)
        if (t->preds[e->pred_off + i] == edge)
            return true;
    return false;
}

int ledger_learn_call(struct ledger *l, uint32_t caller, uint32_t callee)
{
    uint32_t n = l->table->n_edges;
    if (caller >= n || callee >= n || is_static_predecessor(l->table, caller, callee))
        return 0;
    size_t at = call_position(l, callee, caller);
    if (at < l->n_calls && l->calls[at].callee == callee && l->calls[at].caller == caller)
        return 0;
    if (l->n_calls == l->cap_calls) {
        l->cap_calls = l->cap_calls ? 2 * l->cap_calls : 64;
        l->calls = xrealloc(l->calls, l->cap_calls * sizeof *l->calls);
    }
    memmove(&l->calls[at + 1], &l->calls[at], (l->n_calls - at) * sizeof *l->calls);
    l->calls[at] = (struct ledger_call){.callee = callee, .caller = caller};
    l->n_calls++;
    return 1;
}

/* --- the source of an edge ------------------------------------------------------------------ */

/* With block guards an edge's source is its earliest covered predecessor (METHOD R31). */
struct source {
    uint32_t round; /* LEDGER_NEVER: no predecessor is covered */
    bool branches;  /* it, or one discovered in the same round, has two or more successors */
};

static void consider(const struct ledger *l, uint32_t pred, struct source *s)
{
    uint32_t round = l->first_round[pred];
    bool branches = l->table->edges[pred].succ_n >= 2;
    if (round == LEDGER_NEVER || round > s->round)
        return;
    s->branches = branches || (round == s->round && s->branches);
    s->round = round;
}

static struct source source_of(const struct ledger *l, uint32_t edge)
{
    struct source s = {.round = LEDGER_NEVER};
    const struct table_edge *e = &l->table->edges[edge];
    for (uint32_t i = 0; i < e->pred_n; i++)
        consider(l, l->table->preds[e->pred_off + i], &s);
    for (size_t i = call_position(l, edge, 0); i < l->n_calls && l->calls[i].callee == edge; i++)
        consider(l, l->calls[i].caller, &s);
    return s;
}

/* --- folding -------------------------------------------------------------------------------- */

static void append(struct edges *s, uint32_t *cap, uint32_t id)
{
    if (s->n == *cap) {
        *cap = *cap ? 2 * *cap : 64;
        s->ids = xrealloc(s->ids, *cap * sizeof *s->ids);
    }
    s->ids[s->n++] = id;
}

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* The distinct edges of all sets, ascending. */
static void unite(const struct edges *sets, size_t n, struct edges *out)
{
    uint32_t cap = 0, kept = 0;
    *out = (struct edges){0};
    for (size_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < sets[i].n; j++)
            append(out, &cap, sets[i].ids[j]);
    if (out->n)
        qsort(out->ids, out->n, sizeof *out->ids, ascending);
    for (uint32_t i = 0; i < out->n; i++)
        if (!kept || out->ids[kept - 1] != out->ids[i])
            out->ids[kept++] = out->ids[i];
    out->n = kept;
}

static void count_hits(struct ledger *l, const struct edges *sets, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < sets[i].n; j++) {
            BUG_ON(sets[i].ids[j] >= l->table->n_edges);
            l->hits[sets[i].ids[j]]++;
        }
}

static uint32_t count_paths(struct ledger *l, const struct edges *sets, size_t n)
{
    uint32_t fresh = 0;
    for (size_t i = 0; i < n; i++)
        fresh += (uint32_t)paths_add(&l->paths, &sets[i]);
    return fresh;
}

static void cover(struct ledger *l, uint32_t round, int fuzzer, const struct edges *touched,
                  struct edges *fresh)
{
    uint32_t cap = 0;
    for (uint32_t i = 0; i < touched->n; i++) {
        uint32_t e = touched->ids[i];
        if (l->first_round[e] != LEDGER_NEVER)
            continue;
        l->first_round[e] = round;
        l->first_fuzzer[e] = (int16_t)fuzzer;
        append(fresh, &cap, e);
    }
    l->covered += fresh->n;
}

void ledger_add_seeds(struct ledger *l, const struct edges *sets, size_t n)
{
    struct edges touched, fresh = {0};
    count_hits(l, sets, n);
    count_paths(l, sets, n);
    unite(sets, n, &touched);
    cover(l, 0, -1, &touched, &fresh);
    edges_free(&touched);
    edges_free(&fresh);
}

/* Mean of 1/ln(2+h) over a set; h counts this turn's inputs too (METHOD R26). */
static double mean_rarity(const struct ledger *l, const struct edges *s)
{
    double sum = 0;
    for (uint32_t i = 0; i < s->n; i++)
        sum += 1.0 / det_log(2.0 + (double)l->hits[s->ids[i]]);
    return s->n ? sum / s->n : 0;
}

static double security(const struct ledger *l, const struct edges *fresh)
{
    double calls = 0;
    for (uint32_t i = 0; i < fresh->n; i++) {
        const struct table_edge *e = &l->table->edges[fresh->ids[i]];
        calls += e->mem + e->memw;
    }
    return fresh->n ? 1.0 - det_exp(-calls / fresh->n) : 0;
}

void ledger_add_turn(struct ledger *l, uint32_t round, int fuzzer, const struct edges *sets,
                     size_t n, struct gain *g)
{
    *g = (struct gain){0};
    count_hits(l, sets, n);
    g->new_paths = count_paths(l, sets, n);
    unite(sets, n, &g->touched);
    cover(l, round, fuzzer, &g->touched, &g->fresh);
    for (uint32_t i = 0; i < g->fresh.n; i++) {
        struct source s = source_of(l, g->fresh.ids[i]);
        if (s.round == LEDGER_NEVER) {
            l->no_predecessor++;
            continue;
        }
        g->interval += round - s.round;
        g->frontier += s.round < round && s.branches;
    }
    g->rarity_density = mean_rarity(l, &g->touched);
    g->rarity = mean_rarity(l, &g->fresh);
    g->sec = security(l, &g->fresh);
}
