/* cov: what the files of the neutral runtime share.  It lives inside programs under test: libc only,
 * names begin with carol_cov_, everything hidden except the compiler's callbacks. */
#ifndef CAROL_RUNTIME_COV_COV_H
#define CAROL_RUNTIME_COV_COV_H

#include "protocol.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define COV_MAX_MODULES 64
#define COV_PAD_PCS 256 /* one page each */
#define COV_PAD_CFS 512

struct cov_pc {
    uintptr_t pc, entry;
};

/* One executable or shared object with coverage: the three tables its constructor announced. */
struct cov_module {
    unsigned char *flags, *flags_end;
    const struct cov_pc *pcs;
    size_t n_pcs, pad, pad_end; /* [pad, pad_end) of them is our padding; pad == n_pcs: none */
    const uintptr_t *cfs, *cfs_end;
    uint32_t base, n; /* its edges are [base, base + n) */
    uintptr_t load;   /* address it was loaded at */
    bool shared;      /* flags are in shared memory; else `mirror` gets a copy */
    unsigned char *mirror;
};

/* The block of edge j of the module. */
static inline const struct cov_pc *carol_cov_pc(const struct cov_module *m, size_t j)
{
    return &m->pcs[j < m->pad ? j : j + (m->pad_end - m->pad)];
}

/* cov.c */
extern struct cov_module carol_cov_modules[COV_MAX_MODULES];
extern uint32_t carol_cov_n_modules, carol_cov_n_edges, carol_cov_late;
extern const char *carol_cov_error; /* the tables disagree: why; NULL: usable */
extern uint64_t *carol_cov_seen;    /* non-NULL: note indirect calls */
extern struct cov_call *carol_cov_ring;
extern uint32_t *carol_cov_ring_n, carol_cov_seen_mask, carol_cov_ring_cap;
uint64_t carol_cov_layout(void);

/* walk.c: for each edge of the module, in order, its record in the control-flow table: address,
 * successors, 0, callees, 0.  NULL: there are no more; all is well if n is the module's and not broken. */
struct cov_walk {
    const struct cov_module *m;
    const uintptr_t *next;
    uint32_t n; /* edges so far */
    bool broken;
};
struct cov_walk carol_cov_walk(const struct cov_module *m);
const uintptr_t *carol_cov_walk_next(struct cov_walk *w);

/* sites.c */
void carol_cov_sites_set(void); /* in the server: flags are set without testing them */

/* threads.c */
bool carol_cov_threads(void);
bool carol_cov_threads_since(void); /* the same at no cost where none was started */

/* flags.c */
/* apart: the server has threads that set flags as well.  Its own flags are then private; each worker, which
 * has no thread but its own, switches to the shared ones with carol_cov_flags_join. */
bool carol_cov_flags_place(unsigned char *area, uint64_t len, int fd, uint64_t off, bool apart);
void carol_cov_flags_join(int fd);
void carol_cov_flags_guard(void); /* in a worker: copy on crash and exit, where not shared */
void carol_cov_flags_clear(void);
void carol_cov_flags_touch(void);                   /* in a worker: map them all at once */
void carol_cov_touch(const void *from, uint64_t n); /* the same with other shared pages */
void carol_cov_flags_read(uint64_t *bits);          /* in the worker: own flags */
void carol_cov_flags_harvest(uint64_t *bits);       /* in the server: of a dead worker */
void carol_cov_flags_rescue(pid_t worker);          /* in the server: before killing a live one */

/* server.c */
typedef int carol_cov_run_fn(const uint8_t *data, size_t size);
/* Serve until the executor goes away.  run is NULL for main() programs: then it returns in each
 * forked child, which goes on to main; it never returns otherwise. */
void carol_cov_serve(carol_cov_run_fn *run);
bool carol_cov_wanted(void); /* started by the executor, with its descriptors */

/* worker.c */
struct cov_shm {
    struct cov_hdr h; /* private copy */
    struct cov_hdr *live;
    unsigned char *base;
    const unsigned char *data; /* read-only view of the inputs */
};
struct cov_slot *carol_cov_slot(const struct cov_shm *s, uint32_t i);
_Noreturn void carol_cov_worker(const struct cov_shm *s, const struct cov_req *q, uint32_t first,
                                uint32_t end, bool backwards, carol_cov_run_fn *run);
void carol_cov_worker_setup(const struct cov_shm *s, const struct cov_req *q);

/* calls.c */
uint32_t carol_cov_calls_resolve(const struct cov_shm *s); /* how many; the ring is empty then */

/* sweep.c */
bool carol_cov_sweep(void); /* kill and reap every child; false: some cannot be got rid of */

/* dump.c */
int carol_cov_dump(const char *path);

/* sha256.c */
bool carol_cov_sha256_file(const char *path, char hex[64]);

/* syms.c */
struct cov_sym {
    uintptr_t addr;
    const char *name;
};
struct cov_syms {
    struct cov_sym *v;
    size_t n;
};
void carol_cov_syms_load(struct cov_syms *s);
const char *carol_cov_syms_name(const struct cov_syms *s, uintptr_t addr); /* NULL: none there */
bool carol_cov_is_memory(uintptr_t addr);    /* one of libc's memory or string functions */
bool carol_cov_is_wrapper(const char *name); /* looks like one by its name */
uintptr_t carol_cov_load_address(uintptr_t addr);

#endif
