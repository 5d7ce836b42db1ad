/* shrink: which candidate comes next, and what the answer to the last one means. */
#include "triage/shrink.h"

#include "base/die.h"

#include <stdlib.h>
#include <string.h>

#define PASSES 8 /* from half of the input to single bytes, at most so often */
#define FLAT '0'

struct shrink {
    char *best, *candidate;
    size_t size, candidate_size;
    size_t block, at; /* the block to try: 0: all is done */
    bool flatten, changed, cut_only;
    int passes;
};

/* The largest power of two that is at most half of n; 1 for what is smaller. */
static size_t half_of(size_t n)
{
    size_t b = 1;
    while (4 * b <= n)
        b *= 2;
    return n ? b : 0;
}

struct shrink *shrink_new(const void *data, size_t size)
{
    struct shrink *s = xcalloc(1, sizeof *s);
    s->best = xmemdup(data, size);
    s->candidate = xmalloc(size + 1);
    s->size = size;
    s->block = half_of(size);
    return s;
}

void shrink_cut_only(struct shrink *s)
{
    s->cut_only = true;
}

/* The pass is over: the next smaller blocks, another pass, zeros instead, or the end. */
static void next_pass(struct shrink *s)
{
    s->at = 0;
    if (s->block > 1) {
        s->block /= 2;
        return;
    }
    bool again = s->changed && ++s->passes < PASSES && !s->flatten;
    s->block = again || !(s->flatten || s->cut_only) ? half_of(s->size) : 0;
    s->flatten = s->flatten || !again;
    s->changed = false;
}

static bool is_flat(const struct shrink *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (s->best[s->at + i] != FLAT)
            return false;
    return true;
}

static size_t block_here(const struct shrink *s)
{
    return s->at + s->block <= s->size ? s->block : s->size - s->at;
}

bool shrink_next(struct shrink *s, const void **data, size_t *size)
{
    while (s->block && (s->at >= s->size || (s->flatten && is_flat(s, block_here(s))))) {
        if (s->at >= s->size)
            next_pass(s);
        else
            s->at += block_here(s);
    }
    if (!s->block)
        return false;
    size_t n = block_here(s);
    memcpy(s->candidate, s->best, s->at);
    if (s->flatten) {
        memcpy(s->candidate, s->best, s->size);
        memset(s->candidate + s->at, FLAT, n);
        s->candidate_size = s->size;
    } else {
        memcpy(s->candidate + s->at, s->best + s->at + n, s->size - s->at - n);
        s->candidate_size = s->size - n;
    }
    *data = s->candidate;
    *size = s->candidate_size;
    return true;
}

void shrink_tell(struct shrink *s, bool still)
{
    if (!still || s->flatten)
        s->at += block_here(s);
    if (!still)
        return;
    memcpy(s->best, s->candidate, s->candidate_size);
    s->size = s->candidate_size;
    s->changed = true;
}

void shrink_best(const struct shrink *s, const void **data, size_t *size)
{
    *data = s->best;
    *size = s->size;
}

void shrink_free(struct shrink *s)
{
    if (!s)
        return;
    free(s->best);
    free(s->candidate);
    free(s);
}
