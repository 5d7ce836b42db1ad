/* cov: the compiler's callbacks, the list of modules, and the decision what this process is: nothing
 * of ours (almost always), the dump of the table, or the executor's server.  Runs no input itself. */
#include "cov.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LATELY 1024U

#define EXPORT __attribute__((visibility("default")))

struct cov_module carol_cov_modules[COV_MAX_MODULES];
uint32_t carol_cov_n_modules, carol_cov_n_edges, carol_cov_late;
const char *carol_cov_error;
uint64_t *carol_cov_seen;
struct cov_call *carol_cov_ring;
uint32_t *carol_cov_ring_n, carol_cov_seen_mask, carol_cov_ring_cap;

/* An empty page in each of the two constant tables of the executable, so that even the flags of a small
 * program lie in pages that hold nothing but these tables (flags.c). */
#define IN_TABLE(name) __attribute__((section(name), used))
static struct cov_pc pad_pcs[COV_PAD_PCS] IN_TABLE("__sancov_pcs");
static uintptr_t pad_cfs[COV_PAD_CFS] IN_TABLE("__sancov_cfs");

static bool frozen; /* start-up is over: modules that come now are not counted */
static struct cov_module *last;

extern const char carol_cov_driver __attribute__((weak));

EXPORT void __sanitizer_cov_bool_flag_init(unsigned char *start, unsigned char *stop);
EXPORT void __sanitizer_cov_pcs_init(const struct cov_pc *start, const struct cov_pc *stop);
EXPORT void __sanitizer_cov_cfs_init(const uintptr_t *start, const uintptr_t *stop);
EXPORT void __sanitizer_cov_trace_pc_indir(uintptr_t callee);

/* A module's constructor calls the next three in this order. */
void __sanitizer_cov_bool_flag_init(unsigned char *start, unsigned char *stop)
{
    last = NULL;
    if (start == stop)
        return;
    if (frozen) {
        carol_cov_late++;
        return;
    }
    for (uint32_t i = 0; i < carol_cov_n_modules; i++)
        if (carol_cov_modules[i].flags == start)
            return; /* the same module again */
    if (carol_cov_n_modules == COV_MAX_MODULES) {
        carol_cov_error = "more than 64 instrumented modules";
        return;
    }
    last = &carol_cov_modules[carol_cov_n_modules++];
    last->flags = start;
    last->flags_end = stop;
    last->base = carol_cov_n_edges;
    last->n = (uint32_t)(stop - start);
    carol_cov_n_edges += last->n;
}

void __sanitizer_cov_pcs_init(const struct cov_pc *start, const struct cov_pc *stop)
{
    if (!last)
        return;
    last->pcs = start;
    last->n_pcs = last->pad = (size_t)(stop - start);
    if (pad_pcs < start || pad_pcs >= stop)
        return;
    last->pad = last->pad_end = (size_t)(pad_pcs - start);
    while (last->pad && !start[last->pad - 1].pc) /* what aligns it */
        last->pad--;
    while (last->pad_end < last->n_pcs && !start[last->pad_end].pc)
        last->pad_end++;
}

void __sanitizer_cov_cfs_init(const uintptr_t *start, const uintptr_t *stop)
{
    if (!last)
        return;
    last->cfs = start;
    last->cfs_end = stop;
    __asm__ volatile("" : : "r"(pad_cfs)); /* or the linker drops it; zeros are no records */
}

/* A pair not seen before goes to the ring.  The set of pairs is shared by all workers, so each pair
 * costs once; where its four places are taken by others it is dropped.  False: come again. */
static __attribute__((noinline)) bool note_call(uintptr_t caller, uintptr_t callee, uint64_t tag)
{
    tag |= 1;
    uint32_t at = (uint32_t)(tag >> 32);
    for (uint32_t i = 0; i < 4; i++) {
        uint64_t *p = &carol_cov_seen[(at + i) & carol_cov_seen_mask];
        if (*p == tag)
            return true;
        if (*p)
            continue;
        uint32_t n = __atomic_fetch_add(carol_cov_ring_n, 1, __ATOMIC_RELAXED);
        if (n >= carol_cov_ring_cap) {
            __atomic_store_n(carol_cov_ring_n, carol_cov_ring_cap, __ATOMIC_RELAXED);
            return false;
        }
        *p = tag;
        carol_cov_ring[n] = (struct cov_call){.caller = caller, .callee = callee};
        return true;
    }
    return true;
}

/* Nearly every pair was seen a moment ago: half its tag in a small table says so, without the cache
 * lines of the large one. */
void __sanitizer_cov_trace_pc_indir(uintptr_t callee)
{
    static uint32_t lately[LATELY];
    if (!carol_cov_seen)
        return;
    uintptr_t caller = (uintptr_t)__builtin_return_address(0);
    uint64_t tag =
        (caller * UINT64_C(0x9e3779b97f4a7c15)) ^ (callee * UINT64_C(0xff51afd7ed558ccd));
    uint32_t *place = &lately[tag >> 32 & (LATELY - 1)], half = (uint32_t)tag | 1;
    if (*place != half && note_call(caller, callee, tag))
        *place = half;
}

uint64_t carol_cov_layout(void)
{
    uint64_t h = COV_FNV_START;
    for (uint32_t i = 0; i < carol_cov_n_modules; i++) {
        const struct cov_module *m = &carol_cov_modules[i];
        uint64_t n = m->n;
        h = cov_fnv(h, &n, sizeof n);
        for (size_t j = 0; j < m->n; j++) {
            const struct cov_pc *p = carol_cov_pc(m, j);
            uint64_t pc = p->pc == 1 ? 1 : p->pc - m->load;
            h = (h ^ pc ^ (uint64_t)p->entry << 63) * UINT64_C(0x100000001b3);
        }
    }
    return h;
}

static void check_modules(void)
{
    if (!carol_cov_n_modules && !carol_cov_error)
        carol_cov_error = "no instrumented code in it";
    for (uint32_t i = 0; i < carol_cov_n_modules && !carol_cov_error; i++) {
        struct cov_module *m = &carol_cov_modules[i];
        m->load = carol_cov_load_address((uintptr_t)m->flags);
        if (!m->pcs || !m->cfs)
            carol_cov_error = "a module was compiled without pc-table or control-flow";
        else if (m->n_pcs - (m->pad < m->n_pcs ? m->pad_end - m->pad : 0) != m->n)
            carol_cov_error = "a module has another number of flags than of addresses: "
                              "objects compiled with different coverage flags were linked together";
    }
}

/* The last constructor of the program: every module of the start-up has announced itself. */
__attribute__((constructor(65535))) static void carol_cov_begin(void)
{
    frozen = true;
    const char *dump = getenv(COV_ENV_DUMP);
    bool wanted = carol_cov_wanted();
    if (!dump && !wanted)
        return;
    check_modules();
    if (dump)
        _exit(carol_cov_dump(dump));
    if (!&carol_cov_driver) /* the program has a main of its own: fork before it */
        carol_cov_serve(NULL);
}
