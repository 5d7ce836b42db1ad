/* table: the neutral build's static table: edges, predecessors, memory calls, call depth.
 *
 * Made once per build by running the neutral binary with CAROL_DUMP=FILE (runtime/cov); read here,
 * never changed.  The binary format is documented in docs/FILES.md.  A truncated file, one of
 * another version or one whose build id is not that of the binary is refused with the fix. */
#ifndef CAROL_TARGET_TABLE_H
#define CAROL_TARGET_TABLE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum edge_flag {
    EDGE_ENTRY = 1,     /* entry block of a function */
    EDGE_DEAD = 2,      /* deleted in code generation: can never be hit */
    EDGE_UNREACHED = 4, /* its function is not reachable by known calls */
};

struct table_edge {
    uint64_t pc;       /* offset in its module */
    uint32_t func;     /* index into funcs */
    uint32_t pred_off; /* first predecessor in preds */
    uint32_t pred_n;
    uint32_t succ_n; /* CFG successors of this block */
    uint16_t depth;  /* call depth of its function; UINT16_MAX: unknown */
    uint16_t mem;    /* direct calls of libc memory functions in the block */
    uint16_t memw;   /* calls of wrappers known by name (xmlMalloc, png_free, ...) */
    uint16_t ind;    /* indirect call sites in the block */
    uint16_t flags;  /* enum edge_flag */
};

struct table_func {
    const char *name;
    uint32_t entry; /* edge index */
    uint16_t depth;
};

struct table {
    char build_id[65];
    uint32_t n_modules, n_edges, n_funcs, n_preds;
    uint64_t layout; /* hash of all block offsets: the running program tells the same */
    struct table_edge *edges;
    uint32_t *preds; /* edge indices: predecessor blocks, for entries the calling blocks */
    struct table_func *funcs;
    char *names;
};

/* Only the header, for callers that need no edges; the rest is not read.  Nothing to free. */
CAROL_MUST_CHECK int table_load_head(const char *path, struct table *t, struct err *e);
CAROL_MUST_CHECK int table_load(const char *path, struct table *t, struct err *e);
void table_free(struct table *t);

#endif
