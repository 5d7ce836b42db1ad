/* calls: the indirect calls that were seen, from addresses to edge numbers.  Notes none itself (cov.c does). */
#include "cov.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct place {
    uint64_t pc;
    uint32_t edge, entry;
};

static struct place *places; /* every block by address, made when first needed */

static int by_pc(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->pc != y->pc)
        return x->pc < y->pc ? -1 : 1;
    return x->edge < y->edge ? -1 : 1;
}

static void make_places(void)
{
    size_t size = carol_cov_n_edges * sizeof *places + 8;
    places = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (places == MAP_FAILED)
        _exit(5);
    madvise(places, size, MADV_DONTFORK);
    uint32_t n = 0;
    for (uint32_t m = 0; m < carol_cov_n_modules; m++)
        for (uint32_t j = 0; j < carol_cov_modules[m].n; j++) {
            const struct cov_pc *pc = carol_cov_pc(&carol_cov_modules[m], j);
            places[n] =
                (struct place){pc->pc, carol_cov_modules[m].base + j, (uint32_t)pc->entry & 1};
            n++;
        }
    qsort(places, n, sizeof *places, by_pc);
}

/* The block that holds pc: the last one that begins at or before it. */
static const struct place *place_of(uint64_t pc)
{
    uint32_t lo = 0, hi = carol_cov_n_edges;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (places[mid].pc <= pc)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo ? &places[lo - 1] : NULL;
}

uint32_t carol_cov_calls_resolve(const struct cov_shm *s)
{
    uint32_t n = s->live->ring_n;
    if (n > s->h.ring_cap)
        n = s->h.ring_cap;
    if (n && !places)
        make_places();
    for (uint32_t i = 0; i < n; i++) {
        struct cov_call *c = &carol_cov_ring[i];
        const struct place *from = place_of(c->caller - 1), *to = place_of(c->callee);
        while (to && to > places && !to->entry && to[-1].pc == to->pc)
            to--;
        c->caller = from ? from->edge : COV_NONE;
        c->callee = to && to->pc == c->callee && to->entry ? to->edge : COV_NONE;
    }
    s->live->ring_n = 0;
    return n;
}
