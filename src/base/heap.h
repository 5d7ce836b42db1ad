/* heap: numbered things, the one with the smallest key on top.
 *
 *     struct heap h = {0};
 *     heap_push(&h, (struct heap_item){.key = cost, .tie = id, .what = i});
 *     while (h.n) use(heap_pop(&h).what);          // h.v[0] looks without taking
 *     heap_free(&h); */
#ifndef CAROL_BASE_HEAP_H
#define CAROL_BASE_HEAP_H

#include <stddef.h>
#include <stdint.h>

struct heap_item {
    uint64_t key;
    int64_t tie; /* the smaller one first where keys are equal */
    uint32_t what;
};
struct heap {
    struct heap_item *v;
    size_t n, cap;
};

void heap_push(struct heap *h, struct heap_item item);
struct heap_item heap_pop(struct heap *h); /* of one that is not empty */
void heap_free(struct heap *h);

#endif
