/* synthetic: a made-up program: functions of some tens of blocks that call each other, written in the same
 * form as a real neutral table.  Says nothing about how hard its blocks are to reach. */
#include "sim/graph.h"

#include "base/buf.h"
#include "base/die.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/rng.h"
#include "base/str.h"
#include "runtime/cov/protocol.h"
#include "target/manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTION_MIN 10
#define FUNCTION_MAX 40
#define CALLERS_MAX 3
#define NEAR 30 /* half of the callers are among the NEAR functions before */

static void add_pred(struct table *t, uint32_t edge, uint32_t pred)
{
    struct table_edge *e = &t->edges[edge];
    if (!e->pred_n)
        e->pred_off = t->n_preds;
    e->pred_n++;
    t->preds[t->n_preds++] = pred;
    t->edges[pred].succ_n++;
}

/* The function that calls function f: often a neighbour, sometimes anybody before it. */
static uint32_t caller_of(struct rng *r, uint32_t f)
{
    uint32_t near = f < NEAR ? f : NEAR;
    return rng_below(r, 2) ? f - 1 - (uint32_t)rng_below(r, near) : (uint32_t)rng_below(r, f);
}

/* Any block of a function that is made already; `made` is the first that is not. */
static uint32_t block_of(const struct table *t, struct rng *r, const struct table_func *f,
                         uint32_t made)
{
    uint32_t end = f->entry + 1;
    while (end < made && t->edges[end].func == t->edges[f->entry].func)
        end++;
    return f->entry + (uint32_t)rng_below(r, end - f->entry);
}

static void make_entry(struct table *t, struct rng *r, uint32_t f, uint32_t first)
{
    struct table_edge *e = &t->edges[first];
    uint16_t depth = 0;
    e->flags = EDGE_ENTRY;
    if (f) {
        uint32_t callers = 1 + (uint32_t)rng_below(r, CALLERS_MAX);
        depth = UINT16_MAX;
        for (uint32_t i = 0; i < callers; i++) {
            const struct table_func *by = &t->funcs[caller_of(r, f)];
            add_pred(t, first, block_of(t, r, by, first));
            depth = by->depth + 1 < depth ? (uint16_t)(by->depth + 1) : depth;
        }
    }
    t->funcs[f] = (struct table_func){.entry = first, .depth = depth};
}

/* One function: each block follows one of the four before it, half of them also a second one. */
static void make_function(struct table *t, struct rng *r, uint32_t f, uint32_t first, uint32_t end)
{
    bool handles_memory = rng_below(r, 4) == 0;
    for (uint32_t i = first; i < end; i++) {
        struct table_edge *e = &t->edges[i];
        *e = (struct table_edge){.pc = 0x1000 + (uint64_t)i * 16, .func = f};
        if (i == first) {
            make_entry(t, r, f, first);
        } else {
            uint32_t back = i - first < 4 ? i - first : 4;
            add_pred(t, i, i - 1 - (uint32_t)rng_below(r, back));
            if (i - first > 8 && rng_below(r, 2) == 0)
                add_pred(t, i, i - 5 - (uint32_t)rng_below(r, 4));
        }
        e->depth = t->funcs[f].depth;
        e->mem = (uint16_t)(handles_memory && rng_below(r, 3) == 0);
    }
}

/* The identity of a table that no program has: the digest of what it was made from. */
static void identify(struct table *t, uint64_t seed)
{
    struct digest d;
    char *text = str_fmt("simulated %u %llu", t->n_edges, (unsigned long long)seed);
    hash_bytes(text, strlen(text), &d);
    digest_hex(&d, t->build_id);
    memcpy(&t->layout, d.b, sizeof t->layout);
    free(text);
}

void graph_synthetic(struct graph *g, uint32_t n_edges, uint64_t seed)
{
    struct table t = {.n_modules = 1, .n_edges = n_edges};
    struct rng r;
    rng_stream(&r, seed, "graph");
    t.edges = xcalloc(n_edges + 1, sizeof *t.edges);
    t.preds = xcalloc((size_t)n_edges * 2 + CALLERS_MAX, sizeof *t.preds);
    t.funcs = xcalloc(n_edges / FUNCTION_MIN + 2, sizeof *t.funcs);
    for (uint32_t at = 0; at < n_edges; t.n_funcs++) {
        uint32_t size = FUNCTION_MIN + (uint32_t)rng_below(&r, FUNCTION_MAX - FUNCTION_MIN + 1);
        uint32_t end = n_edges - at < size + FUNCTION_MIN ? n_edges : at + size;
        make_function(&t, &r, t.n_funcs, at, end);
        at = end;
    }
    const size_t width = 16; /* of a name */
    t.names = xcalloc(t.n_funcs, width);
    for (uint32_t i = 0; i < t.n_funcs; i++) {
        snprintf(t.names + i * width, width, "sim_%u", i);
        t.funcs[i].name = t.names + i * width;
    }
    identify(&t, seed);
    graph_of(g, &t);
    g->own = t;
    g->table = &g->own;
}

/* --- its build directory ---------------------------------------------------------------------- */

static void put_edges(const struct table *t, struct buf *b)
{
    for (uint32_t i = 0; i < t->n_edges; i++) {
        const struct table_edge *e = &t->edges[i];
        struct cov_table_edge f = {.pc = e->pc,
                                   .func = e->func,
                                   .pred_off = e->pred_off,
                                   .pred_n = e->pred_n,
                                   .succ_n = e->succ_n,
                                   .depth = e->depth,
                                   .mem = e->mem,
                                   .memw = e->memw,
                                   .ind = e->ind,
                                   .flags = e->flags};
        buf_add(b, &f, sizeof f);
    }
    buf_add(b, t->preds, (size_t)t->n_preds * sizeof *t->preds);
}

static int write_table(const struct table *t, const char *path, struct err *e)
{
    struct buf body = BUF_INIT(BUF_TEXT_MAX), names = BUF_INIT(BUF_TEXT_MAX),
               whole = BUF_INIT(2 * BUF_TEXT_MAX);
    put_edges(t, &body);
    for (uint32_t i = 0; i < t->n_funcs; i++) {
        struct cov_table_func f = {
            .name = (uint32_t)names.len, .entry = t->funcs[i].entry, .depth = t->funcs[i].depth};
        buf_add(&names, t->funcs[i].name, strlen(t->funcs[i].name) + 1);
        buf_add(&body, &f, sizeof f);
    }
    buf_add(&body, names.p, names.len);
    struct cov_table_hdr h = {.version = COV_TABLE_VERSION,
                              .hdr_bytes = sizeof h,
                              .n_modules = t->n_modules,
                              .n_edges = t->n_edges,
                              .n_funcs = t->n_funcs,
                              .n_preds = t->n_preds,
                              .names_bytes = (uint32_t)names.len,
                              .layout = t->layout,
                              .checksum = cov_fnv(COV_FNV_START, body.p, body.len)};
    memcpy(h.magic, COV_TABLE_MAGIC, sizeof h.magic);
    memcpy(h.build_id, t->build_id, sizeof h.build_id);
    buf_add(&whole, &h, sizeof h);
    buf_add(&whole, body.p, body.len);
    int rc = body.over ? err_usage(e, "--edges: a table of %u edges is too large", t->n_edges)
                       : fs_write_atomic(path, whole.p, whole.len, e);
    buf_free(&body);
    buf_free(&names);
    buf_free(&whole);
    return rc;
}

int graph_write(const struct graph *g, const char *dir, struct err *e)
{
    char *sub = fs_join(dir, "neutral"), *path = str_fmt("%s/%s.edges", sub, GRAPH_TARGET);
    struct manifest m = {.dir = xstrdup(dir),
                         .target = xstrdup(GRAPH_TARGET),
                         .kind = TARGET_LIBFUZZER,
                         .table = xstrdup(path),
                         .edges = g->table->n_edges,
                         .functions = g->table->n_funcs};
    int rc = fs_mkdirs(sub, e);
    if (rc == 0)
        rc = write_table(g->table, path, e);
    if (rc == 0)
        rc = manifest_save_all(&m, 1, NULL, e);
    manifest_free(&m);
    free(path);
    free(sub);
    return rc;
}
