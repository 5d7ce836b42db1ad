/* sites: makes the code of this process set its flags without testing them first.
 *
 * The compiler tests a flag and sets it out of line, which is right for flags that are set once.  Ours are
 * cleared before every input, so each block that an input reaches costs a mispredicted branch: a fifth of
 * all time on libxml2.  In a small loop the test is predicted, and cheaper than a store in every iteration,
 * so small loops stay as they are.
 *
 * Only our own copy of the pages changes, never the file.  Where the kernel does not let us write to them,
 * everything stays as it was built and works the same. */
#include "cov.h"
#include "text.h"

#include <link.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE ((uintptr_t)4096)
#define SMALL_LOOP 16 /* blocks */

/* Note in `keep` the blocks of small loops: from where a block goes back to, up to it. */
static void find_loops(const struct cov_module *m, unsigned char *keep)
{
    struct cov_walk w = carol_cov_walk(m);
    for (const uintptr_t *rec; (rec = carol_cov_walk_next(&w));) {
        uint32_t from = w.n - 1, back = 0;
        for (uint32_t i = 0; i < SMALL_LOOP && i <= from; i++) {
            const struct cov_pc *pc = carol_cov_pc(m, from - i);
            for (const uintptr_t *to = rec + 1; *to; to++)
                if (*to == pc->pc)
                    back = i + 1;
            if (pc->entry & 1)
                break;
        }
        for (uint32_t i = 0; i < back; i++)
            keep[from - i] = 1;
    }
}

static void set_in(const struct cov_module *m, const unsigned char *keep, unsigned char *p,
                   unsigned char *end)
{
    uint32_t flag;
    while ((p = carol_cov_text_find(p, end, m->flags, m->n, &flag))) {
        size_t n = keep[flag] ? 0 : carol_cov_text_set(p, end);
        p += n ? n : 1;
    }
}

static void set_segment(const struct cov_module *m, const unsigned char *keep, uintptr_t lo,
                        uintptr_t hi)
{
    void *page = (void *)(lo & ~(PAGE - 1));
    size_t size = ((hi + PAGE - 1) & ~(PAGE - 1)) - (lo & ~(PAGE - 1));
    /* We run in these pages ourselves: they must stay executable. */
    if (mprotect(page, size, PROT_READ | PROT_WRITE | PROT_EXEC) < 0)
        return;
    set_in(m, keep, (unsigned char *)lo, (unsigned char *)hi);
    mprotect(page, size, PROT_READ | PROT_EXEC);
}

struct job {
    const struct cov_module *m;
    const unsigned char *keep;
};

static int set_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    const struct job *job = arg;
    if (info->dlpi_addr != job->m->load)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t lo = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD && p->p_flags == (PF_R | PF_X))
            set_segment(job->m, job->keep, lo, lo + p->p_memsz);
    }
    return 1;
}

void carol_cov_sites_set(void)
{
    if (getenv(COV_ENV_ASK))
        return;
    for (uint32_t i = 0; i < carol_cov_n_modules; i++) {
        struct cov_module *m = &carol_cov_modules[i];
        unsigned char *keep =
            mmap(NULL, m->n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (keep == MAP_FAILED) /* also of a module without edges */
            continue;
        find_loops(m, keep);
        dl_iterate_phdr(set_object, &(struct job){m, keep});
        munmap(keep, m->n);
    }
}
