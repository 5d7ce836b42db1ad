/* dump: turns the compiler's tables into the table file of docs/FILES.md.  Runs once per build, in
 * the constructor, instead of the program.  If the two do not match to the end (walk.c), they do not
 * belong together, and no table is better than a wrong one. */
#include "cov.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define UNKNOWN_DEPTH UINT16_MAX
#define INDIRECT ((uintptr_t)-1)
#define DEAD_PC ((uintptr_t)1)

enum { FLAG_ENTRY = 1, FLAG_DEAD = 2, FLAG_UNREACHED = 4 };

struct key { /* a block of a function, or (func = 0) the entry of one, by address */
    uint32_t func, edge;
    uintptr_t pc;
};

struct dump {
    struct cov_table_edge *edges;
    const uintptr_t **succ; /* per edge: its successors in the control-flow table */
    struct cov_table_func *funcs;
    struct key *blocks, *entries;
    uint64_t *pairs; /* edge << 32 | predecessor */
    size_t n_pairs, cap_pairs;
    uint32_t n_edges, n_funcs;
    struct cov_syms syms;
    char *names;
    size_t names_len, names_cap;
};

static void *need(void *p)
{
    if (!p) {
        fprintf(stderr, "carol: no memory for the table of this program\n");
        _exit(4);
    }
    return p;
}

static int by_key(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    if (x->func != y->func)
        return x->func < y->func ? -1 : 1;
    if (x->pc != y->pc)
        return x->pc < y->pc ? -1 : 1;
    return x->edge < y->edge ? -1 : x->edge > y->edge;
}

static uint32_t find(const struct key *v, size_t n, uint32_t func, uintptr_t pc)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (v[mid].func < func || (v[mid].func == func && v[mid].pc < pc))
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < n && v[lo].func == func && v[lo].pc == pc ? v[lo].edge : COV_NONE;
}

static void add_func(struct dump *d, uint32_t edge, uintptr_t pc, uint32_t module)
{
    const char *name = carol_cov_syms_name(&d->syms, pc);
    size_t n = strlen(name ? name : "?") + 1;
    if (d->names_len + n > d->names_cap)
        d->names = need(realloc(d->names, d->names_cap = (d->names_cap + n) * 2));
    memcpy(d->names + d->names_len, name ? name : "?", n);
    d->funcs[d->n_funcs++] = (struct cov_table_func){.name = (uint32_t)d->names_len,
                                                     .entry = edge,
                                                     .depth = UNKNOWN_DEPTH,
                                                     .module = (uint16_t)module};
    d->names_len += n;
}

static void add_edge(struct dump *d, uint32_t module, uint32_t j, const uintptr_t *rec)
{
    const struct cov_module *m = &carol_cov_modules[module];
    uint32_t e = m->base + j;
    uintptr_t pc = carol_cov_pc(m, j)->pc;
    bool entry = carol_cov_pc(m, j)->entry & 1;
    if (entry || !d->n_funcs || d->funcs[d->n_funcs - 1].module != module)
        add_func(d, e, pc, module);
    d->succ[e] = rec + 1;
    d->edges[e] = (struct cov_table_edge){
        .pc = pc == DEAD_PC ? pc : pc - m->load,
        .func = d->n_funcs - 1,
        .flags = (uint16_t)((entry ? FLAG_ENTRY : 0) | (pc == DEAD_PC ? FLAG_DEAD : 0)),
        .module = (uint16_t)module};
    d->blocks[e] = (struct key){d->n_funcs - 1, e, pc};
    d->entries[e] = (struct key){entry ? 0 : 1, e, pc};
}

static const char *match_module(struct dump *d, uint32_t module)
{
    const struct cov_module *m = &carol_cov_modules[module];
    struct cov_walk w = carol_cov_walk(m);
    for (const uintptr_t *rec; (rec = carol_cov_walk_next(&w));)
        add_edge(d, module, w.n - 1, rec);
    if (w.broken)
        return "the control-flow table ends in the middle";
    return w.n == m->n ? NULL : "the control-flow table does not match the address table";
}

static void add_pair(struct dump *d, uint32_t edge, uint32_t pred)
{
    if (d->n_pairs == d->cap_pairs)
        d->pairs = need(realloc(d->pairs, (d->cap_pairs = d->cap_pairs * 2 + 4096) * 8));
    d->pairs[d->n_pairs++] = (uint64_t)edge << 32 | pred;
}

static void count(uint16_t *n)
{
    *n = (uint16_t)(*n + (*n < UINT16_MAX));
}

static void add_call(struct dump *d, uint32_t e, uintptr_t callee)
{
    struct cov_table_edge *edge = &d->edges[e];
    if (callee == INDIRECT) {
        count(&edge->ind);
        return;
    }
    uint32_t entry = find(d->entries, d->n_edges, 0, callee);
    if (entry != COV_NONE)
        add_pair(d, entry, e);
    if (carol_cov_is_memory(callee)) {
        count(&edge->mem);
        return;
    }
    const char *name = carol_cov_syms_name(&d->syms, callee);
    if (name && carol_cov_is_wrapper(name))
        count(&edge->memw);
}

static void add_relations(struct dump *d, uint32_t e)
{
    const uintptr_t *w = d->succ[e];
    for (; *w; w++) {
        uint32_t to = *w == DEAD_PC ? COV_NONE : find(d->blocks, d->n_edges, d->edges[e].func, *w);
        d->edges[e].succ_n++;
        if (to != COV_NONE)
            add_pair(d, to, e);
    }
    for (w++; *w; w++)
        add_call(d, e, *w);
}

static int by_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void sort_pairs(struct dump *d)
{
    size_t n = 0;
    if (d->n_pairs)
        qsort(d->pairs, d->n_pairs, 8, by_u64);
    for (size_t i = 0; i < d->n_pairs; i++)
        if (i == 0 || d->pairs[i] != d->pairs[i - 1])
            d->pairs[n++] = d->pairs[i];
    d->n_pairs = n;
    for (size_t i = n; i-- > 0;) {
        struct cov_table_edge *e = &d->edges[d->pairs[i] >> 32];
        e->pred_off = (uint32_t)i;
        e->pred_n++;
    }
}

/* Go on from the functions of depth `level` to what they call, level by level. */
static void spread(struct dump *d, unsigned level)
{
    for (bool more = true; more && level < UNKNOWN_DEPTH - 1; level++) {
        more = false;
        for (size_t i = 0; i < d->n_pairs; i++) {
            const struct cov_table_edge *to = &d->edges[d->pairs[i] >> 32];
            const struct cov_table_edge *from = &d->edges[(uint32_t)d->pairs[i]];
            if (!(to->flags & FLAG_ENTRY) || d->funcs[to->func].depth != UNKNOWN_DEPTH ||
                d->funcs[from->func].depth != level)
                continue;
            d->funcs[to->func].depth = (uint16_t)(level + 1);
            more = true;
        }
        for (uint32_t f = 0; f < d->n_funcs && !more; f++)
            more = d->funcs[f].depth != UNKNOWN_DEPTH && d->funcs[f].depth > level;
    }
}

extern char carol_cov_root_lib[] __asm__("LLVMFuzzerTestOneInput") __attribute__((weak));
extern char carol_cov_root_main[] __asm__("main") __attribute__((weak));

/* Depth 0 is the entry point; a function nobody calls by name is taken to be called from the
 * shallowest indirect call that can be reached. */
static void measure_depth(struct dump *d)
{
    uint32_t root = find(d->entries, d->n_edges, 0, (uintptr_t)carol_cov_root_lib);
    if (root == COV_NONE)
        root = find(d->entries, d->n_edges, 0, (uintptr_t)carol_cov_root_main);
    if (root != COV_NONE)
        d->funcs[d->edges[root].func].depth = 0;
    spread(d, 0);
    unsigned shallow = root == COV_NONE ? 0 : UNKNOWN_DEPTH;
    for (uint32_t e = 0; e < d->n_edges; e++)
        if (d->edges[e].ind && d->funcs[d->edges[e].func].depth + 1U < shallow)
            shallow = d->funcs[d->edges[e].func].depth + 1U;
    for (uint32_t f = 0; f < d->n_funcs && shallow < UNKNOWN_DEPTH; f++)
        if (d->funcs[f].depth == UNKNOWN_DEPTH && !d->edges[d->funcs[f].entry].pred_n)
            d->funcs[f].depth = (uint16_t)shallow;
    if (shallow < UNKNOWN_DEPTH)
        spread(d, shallow);
    for (uint32_t e = 0; e < d->n_edges; e++) {
        d->edges[e].depth = d->funcs[d->edges[e].func].depth;
        if (d->edges[e].depth == UNKNOWN_DEPTH)
            d->edges[e].flags |= FLAG_UNREACHED;
    }
}

static const char *build(struct dump *d)
{
    d->n_edges = carol_cov_n_edges;
    d->edges = need(calloc(d->n_edges + 1, sizeof *d->edges));
    d->succ = need(calloc(d->n_edges + 1, sizeof *d->succ));
    d->funcs = need(calloc(d->n_edges + 1, sizeof *d->funcs));
    d->blocks = need(calloc(d->n_edges + 1, sizeof *d->blocks));
    d->entries = need(calloc(d->n_edges + 1, sizeof *d->entries));
    carol_cov_syms_load(&d->syms);
    for (uint32_t m = 0; m < carol_cov_n_modules; m++) {
        const char *error = match_module(d, m);
        if (error)
            return error;
    }
    qsort(d->blocks, d->n_edges, sizeof *d->blocks, by_key);
    qsort(d->entries, d->n_edges, sizeof *d->entries, by_key);
    for (uint32_t e = 0; e < d->n_edges; e++)
        add_relations(d, e);
    sort_pairs(d);
    measure_depth(d);
    return NULL;
}

static bool put(FILE *f, uint64_t *sum, const void *data, size_t n)
{
    *sum = cov_fnv(*sum, data, n);
    return n == 0 || fwrite(data, 1, n, f) == n;
}

static bool write_table(const struct dump *d, FILE *f)
{
    struct cov_table_hdr h = {.version = COV_TABLE_VERSION,
                              .hdr_bytes = sizeof h,
                              .n_modules = carol_cov_n_modules,
                              .n_edges = d->n_edges,
                              .n_funcs = d->n_funcs,
                              .n_preds = (uint32_t)d->n_pairs,
                              .names_bytes = (uint32_t)d->names_len,
                              .layout = carol_cov_layout(),
                              .checksum = COV_FNV_START};
    memcpy(h.magic, COV_TABLE_MAGIC, sizeof h.magic);
    bool ok =
        carol_cov_sha256_file("/proc/self/exe", h.build_id) && fwrite(&h, sizeof h, 1, f) == 1;
    ok = ok && put(f, &h.checksum, d->edges, d->n_edges * sizeof *d->edges);
    for (size_t i = 0; i < d->n_pairs && ok; i++) {
        uint32_t pred = (uint32_t)d->pairs[i];
        ok = put(f, &h.checksum, &pred, sizeof pred);
    }
    ok = ok && put(f, &h.checksum, d->funcs, d->n_funcs * sizeof *d->funcs);
    ok = ok && put(f, &h.checksum, d->names, d->names_len);
    ok = ok && fseek(f, 0, SEEK_SET) == 0 && fwrite(&h, sizeof h, 1, f) == 1;
    return ok && fflush(f) == 0;
}

/* Returns the exit code of the process. */
int carol_cov_dump(const char *path)
{
    struct dump d = {0};
    const char *error = carol_cov_error ? carol_cov_error : build(&d);
    if (error) {
        fprintf(stderr, "carol: this program has no usable neutral table: %s\n", error);
        return 3;
    }
    char tmp[4096];
    if (snprintf(tmp, sizeof tmp, "%s.tmp", path) >= (int)sizeof tmp)
        return 4;
    FILE *f = fopen(tmp, "wb");
    bool ok = f && write_table(&d, f);
    if (f && fclose(f) != 0)
        ok = false;
    if (ok && rename(tmp, path) == 0)
        return 0;
    perror(path);
    unlink(tmp);
    return 4;
}
