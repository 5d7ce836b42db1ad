/* heap: a binary heap in an array. */
#include "base/heap.h"

#include "base/die.h"

#include <stdbool.h>
#include <stdlib.h>

static bool before(const struct heap_item *a, const struct heap_item *b)
{
    return a->key != b->key ? a->key < b->key : a->tie < b->tie;
}

void heap_push(struct heap *h, struct heap_item item)
{
    XGROW(h->v, h->n, h->cap);
    size_t at = h->n++;
    for (; at && before(&item, &h->v[(at - 1) / 2]); at = (at - 1) / 2)
        h->v[at] = h->v[(at - 1) / 2];
    h->v[at] = item;
}

struct heap_item heap_pop(struct heap *h)
{
    BUG_ON(!h->n);
    struct heap_item top = h->v[0], last = h->v[--h->n];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < h->n; at = child) {
        if (child + 1 < h->n && before(&h->v[child + 1], &h->v[child]))
            child++;
        if (!before(&h->v[child], &last))
            break;
        h->v[at] = h->v[child];
    }
    h->v[at] = last;
    return top;
}

void heap_free(struct heap *h)
{
    free(h->v);
    *h = (struct heap){0};
}
