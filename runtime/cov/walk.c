/* walk: goes through the two tables of a module in lock-step.
 *
 * The control-flow table and the address table list the same blocks in the same order; they are matched
 * by that order, since addresses are not unique (a block without code has the address of what follows
 * it).  Does not say what the records mean. */
#include "cov.h"

/* The word after the zero that ends the list at w; NULL: past the end of the table. */
static const uintptr_t *skip_list(const uintptr_t *w, const uintptr_t *end)
{
    while (w < end && *w)
        w++;
    return w < end ? w + 1 : NULL;
}

static const uintptr_t *skip_pad(const uintptr_t *w, const uintptr_t *end)
{
    while (w < end && !*w)
        w++;
    return w;
}

static const uintptr_t *next_record(const uintptr_t *rec, const uintptr_t *end)
{
    const uintptr_t *calls = skip_list(rec + 1, end);
    const uintptr_t *next = calls ? skip_list(calls, end) : NULL;
    return next ? skip_pad(next, end) : NULL;
}

struct cov_walk carol_cov_walk(const struct cov_module *m)
{
    return (struct cov_walk){.m = m, .next = skip_pad(m->cfs, m->cfs_end)};
}

const uintptr_t *carol_cov_walk_next(struct cov_walk *w)
{
    const struct cov_module *m = w->m;
    while (w->next < m->cfs_end) {
        const uintptr_t *rec = w->next, *next = next_record(rec, m->cfs_end);
        if (!next) {
            w->broken = true;
            return NULL;
        }
        bool hollow = !rec[1] && !rec[2]; /* no successor and no call: maybe a block that is gone */
        bool same_next = next < m->cfs_end && *next == *rec;
        const struct cov_pc *pc = carol_cov_pc(m, w->n < m->n ? w->n : 0);
        w->next = next;
        if (w->n < m->n && *rec == pc->pc && !((pc->entry & 1) && hollow && same_next)) {
            w->n++;
            return rec;
        }
    }
    return NULL;
}
