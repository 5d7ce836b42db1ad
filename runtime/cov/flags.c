/* flags: where the bool flags live, so that they outlast the worker that set them.
 *
 * The linker puts the flags between the two constant tables, so the pages that hold them hold
 * nothing else that changes, and can be replaced by shared memory.  Where that cannot be proved (a
 * module too small to fill its pages) the worker copies its flags when it crashes or exits. */
#include "bits.h"
#include "cov.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE ((uintptr_t)4096)
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif
#define GAP 64 /* alignment padding between two sections */

static uint64_t *scratch; /* bits of one module */
static bool any_copied;
static bool apart;          /* the flags of this process are not the shared ones */
static unsigned char *area; /* of all modules, in the shared memory at area_off */
static uint64_t area_off;

/* Do [lo, hi) hold only these three tables of the module? */
static bool pages_are_ours(const struct cov_module *m, uintptr_t lo, uintptr_t hi)
{
    uintptr_t f0 = (uintptr_t)m->flags, f1 = (uintptr_t)m->flags_end;
    uintptr_t a0 = (uintptr_t)m->cfs, a1 = (uintptr_t)m->cfs_end;
    uintptr_t b0 = (uintptr_t)m->pcs, b1 = (uintptr_t)(m->pcs + m->n_pcs);
    if (a0 > b0) {
        uintptr_t t0 = a0, t1 = a1;
        a0 = b0, a1 = b1;
        b0 = t0, b1 = t1;
    }
    bool before = lo == f0 || (a1 <= f0 && f0 - a1 <= GAP && a0 <= lo);
    bool after = hi == f1 || (b0 >= f1 && b0 - f1 <= GAP && b1 >= hi);
    return before && after;
}

static uintptr_t first_page(const struct cov_module *m)
{
    return (uintptr_t)m->flags & ~(PAGE - 1);
}

static uintptr_t last_page(const struct cov_module *m)
{
    return ((uintptr_t)m->flags_end + PAGE - 1) & ~(PAGE - 1);
}

/* The shared memory takes the place of the pages with the module's flags. */
static bool map_shared(const struct cov_module *m, int fd)
{
    uintptr_t lo = first_page(m);
    unsigned char *at = m->mirror - ((uintptr_t)m->flags - lo);
    memcpy(at, (void *)lo, last_page(m) - lo);
    return mmap((void *)lo, last_page(m) - lo, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
                (off_t)(area_off + (uint64_t)(at - area))) != MAP_FAILED;
}

static bool place_module(struct cov_module *m, uint64_t len, int fd, uint64_t *used)
{
    uintptr_t lo = first_page(m), hi = last_page(m);
    if (*used + (hi - lo) > len)
        return false;
    m->mirror = area + *used + ((uintptr_t)m->flags - lo);
    m->shared = pages_are_ours(m, lo, hi) && (apart || map_shared(m, fd));
    any_copied |= !m->shared;
    *used += hi - lo;
    return true;
}

/* The tables are of no use to a worker, and long: spare each fork the copying of their pages. */
static void do_not_fork(const void *from, const void *to)
{
    uintptr_t lo = ((uintptr_t)from + PAGE - 1) & ~(PAGE - 1), hi = (uintptr_t)to & ~(PAGE - 1);
    if (lo < hi)
        madvise((void *)lo, hi - lo, MADV_DONTFORK);
}

bool carol_cov_flags_place(unsigned char *at, uint64_t len, int fd, uint64_t off, bool stay_apart)
{
    uint64_t used = 0;
    uint32_t most = 0;
    area = at;
    area_off = off;
    apart = stay_apart;
    for (uint32_t i = 0; i < carol_cov_n_modules; i++) {
        struct cov_module *m = &carol_cov_modules[i];
        if (!place_module(m, len, fd, &used))
            return false;
        if (m->shared) {
            do_not_fork(m->cfs, (void *)first_page(m));
            do_not_fork((void *)last_page(m), m->pcs + m->n_pcs);
        }
        if (m->n > most)
            most = m->n;
    }
    scratch = mmap(NULL, most / 8 + 64, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return scratch != MAP_FAILED;
}

void carol_cov_flags_join(int fd)
{
    if (!apart)
        return;
    apart = false;
    for (uint32_t i = 0; i < carol_cov_n_modules; i++) {
        struct cov_module *m = &carol_cov_modules[i];
        m->shared = m->shared && map_shared(m, fd); /* if not, it is copied */
        any_copied |= !m->shared;
    }
    carol_cov_flags_clear();
}

static void copy_out(void)
{
    for (uint32_t i = 0; i < carol_cov_n_modules; i++)
        if (!carol_cov_modules[i].shared)
            memcpy(carol_cov_modules[i].mirror, carol_cov_modules[i].flags, carol_cov_modules[i].n);
}

static void on_fatal(int sig)
{
    copy_out();
    signal(sig, SIG_DFL);
    raise(sig);
}

void carol_cov_flags_guard(void)
{
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    static char stack[16384];
    if (!any_copied)
        return;
    atexit(copy_out);
    stack_t alt = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alt, NULL);
    struct sigaction sa = {.sa_handler = on_fatal, .sa_flags = SA_ONSTACK | SA_NODEFER}, old;
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        if (sigaction(fatal[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(fatal[i], &sa, NULL);
}

void carol_cov_flags_clear(void)
{
    for (uint32_t i = 0; i < carol_cov_n_modules; i++) {
        struct cov_module *m = &carol_cov_modules[i];
        memset(m->flags, 0, m->n);
        if (!m->shared || apart)
            memset(m->mirror, 0, m->n);
    }
}

/* A fork does not inherit the page tables of shared memory, and a fault for each page costs more than
 * mapping them together.  Only time is at stake: old kernels refuse. */
void carol_cov_touch(const void *from, uint64_t n)
{
    uintptr_t lo = (uintptr_t)from & ~(PAGE - 1), hi = (uintptr_t)from + n;
    madvise((void *)lo, hi - lo, MADV_POPULATE_WRITE);
}

void carol_cov_flags_touch(void)
{
    for (uint32_t i = 0; i < carol_cov_n_modules; i++)
        if (carol_cov_modules[i].shared)
            carol_cov_touch(carol_cov_modules[i].flags, carol_cov_modules[i].n);
}

static void read_bits(uint64_t *bits, bool mirrors)
{
    size_t words = (carol_cov_n_edges + 63) / 64;
    if (carol_cov_n_modules > 1)
        memset(bits, 0, words * 8);
    for (uint32_t i = 0; i < carol_cov_n_modules; i++) {
        struct cov_module *m = &carol_cov_modules[i];
        const unsigned char *flags = mirrors && (!m->shared || apart) ? m->mirror : m->flags;
        if (m->base % 64 == 0 && carol_cov_n_modules == 1) {
            carol_cov_bits(bits, flags, m->n);
            continue;
        }
        carol_cov_bits(scratch, flags, m->n);
        carol_cov_bits_or(bits, m->base, scratch, m->n);
    }
}

void carol_cov_flags_read(uint64_t *bits)
{
    read_bits(bits, false);
}

void carol_cov_flags_harvest(uint64_t *bits)
{
    read_bits(bits, true);
}

void carol_cov_flags_rescue(pid_t worker)
{
    for (uint32_t i = 0; i < carol_cov_n_modules; i++) {
        struct cov_module *m = &carol_cov_modules[i];
        struct iovec here = {m->mirror, m->n}, there = {m->flags, m->n};
        if (!m->shared && process_vm_readv(worker, &here, 1, &there, 1, 0) < 0)
            continue; /* not allowed to look: the set stays as it was copied, or empty */
    }
}
