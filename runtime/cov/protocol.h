/* protocol: what the neutral runtime (inside the target) and the executor (src/eval/executor.c) say
 * to each other.  The only header of runtime/ that src/ may include; it includes nothing of ours.
 *
 * One memfd (descriptor 197) and one SOCK_SEQPACKET socket (198), given to the target at start:
 *
 *     target                                executor
 *       hello {edges, layout}       ->        compares with the table
 *                                   <-      req {first, count, limits}
 *       done {runs, workers}        ->        reads the slots
 *
 * The memory: page 0 is struct cov_hdr, then areas at the offsets in it.  The executor lays them out
 * and keeps its own copy of the header; so does the target: nothing read back from the shared page
 * is trusted, since the code under test can write to it.
 *
 * `cur` is the write-ahead marker: the input being run, set before it starts. */
#ifndef CAROL_RUNTIME_COV_PROTOCOL_H
#define CAROL_RUNTIME_COV_PROTOCOL_H

#include <stdint.h>

#define COV_FD_SHM 197
#define COV_FD_SOCK 198
#define COV_FD_INPUT 200 /* main() programs: a memfd with the input, also standard input */
#define COV_INPUT_PATH "/proc/self/fd/200"

#define COV_ENV "CAROL_COV"       /* "lib" or "stdin" or "file": be the executor's server */
#define COV_ENV_DUMP "CAROL_DUMP" /* write the table to this file and exit */
#define COV_ENV_ASK "CAROL_ASK"   /* leave the code as it was built (sites.c) */

#define COV_MAGIC "CAROLCV4" /* another number whenever anything here changes */
#define COV_NONE UINT32_MAX

enum cov_status { /* the numbers of enum run_status */
                  COV_RUN_NONE = 0,
                  COV_RUN_OK,
                  COV_RUN_EXIT,
                  COV_RUN_CRASH,
                  COV_RUN_TIMEOUT,
                  COV_RUN_OOM,
                  COV_RUN_QUARANTINED,
};

struct cov_hdr {
    char magic[8];
    uint32_t n_edges, n_modules, max_inputs, ring_cap, seen_cap, slot_bytes;
    uint64_t total; /* of the memory */
    uint64_t flags; /* bool flags, pages of each module */
    uint64_t flags_len;
    uint64_t known; /* bitset of the edges the executor knows, written before each request */
    uint64_t index; /* struct cov_input[max_inputs] */
    uint64_t slots; /* struct cov_slot + bitset, slot_bytes each */
    uint64_t ring;  /* struct cov_call[ring_cap] */
    uint64_t seen;  /* uint64_t[seen_cap], a power of two: calls already in the ring */
    uint64_t data;  /* the inputs' bytes, last */
    uint64_t data_len;
    /* live words */
    uint32_t cur;  /* input being run; COV_NONE: none */
    uint32_t beat; /* grows while the server is alive */
    uint32_t ring_n;
    uint32_t late; /* modules loaded after start: not counted */
};

struct cov_input {
    uint64_t off, size;
};

struct cov_slot { /* followed by the bitset: bit i of word i/64 is edge i */
    uint32_t status;
    int32_t signal; /* or exit code */
    uint32_t cpu_us;
    uint32_t final; /* this run counts */
};

struct cov_call { /* an indirect call seen: addresses first, edge numbers once `done` is sent */
    uint64_t caller, callee;
};

struct cov_hello {
    char magic[8];
    uint32_t n_edges, n_modules;
    uint64_t layout;   /* hash of all block offsets; also in the table */
    uint32_t remapped; /* modules whose flags are in shared memory; the others are copied */
    uint32_t threads;  /* 1: it has threads besides the one that serves; workers do not have them */
    char error[128];   /* empty: all is well */
};

struct cov_req { /* inputs [first, first + count) whose slot is not final */
    uint32_t first, count, per_worker, cpu_ms, wall_ms;
    uint32_t confirm;   /* 0: only the first tier, nothing becomes final */
    uint64_t mem_bytes; /* address space of a worker beyond the shared memory; 0: no limit */
};

struct cov_done {
    uint32_t runs, workers, late, ring_n;
};

/* The table file (docs/FILES.md); read by src/target/table.c. */
#define COV_TABLE_MAGIC "CAROLTAB"
#define COV_TABLE_VERSION 1

struct cov_table_hdr {
    char magic[8];
    uint32_t version, hdr_bytes;
    char build_id[64]; /* SHA-256 of the program's file, hex, no NUL */
    uint32_t n_modules, n_edges, n_funcs, n_preds, names_bytes, pad;
    uint64_t layout;
    uint64_t checksum; /* FNV-1a of everything after the header */
};

struct cov_table_edge {
    uint64_t pc;
    uint32_t func, pred_off, pred_n, succ_n;
    uint16_t depth, mem, memw, ind, flags, module;
    uint32_t pad;
};

struct cov_table_func {
    uint32_t name, entry;
    uint16_t depth, module;
};

static inline uint64_t cov_fnv(uint64_t h, const void *data, uint64_t n)
{
    const unsigned char *p = (const unsigned char *)data;
    for (uint64_t i = 0; i < n; i++)
        h = (h ^ p[i]) * UINT64_C(0x100000001b3);
    return h;
}
#define COV_FNV_START UINT64_C(0xcbf29ce484222325)

#endif
