/* input: a growing list of inputs.  Knows nothing of where they come from or go to. */
#include "fuzzer/input.h"

#include "base/die.h"

#include <stdlib.h>

void inputs_add(struct inputs *l, int64_t id, const void *data, size_t size)
{
    XGROW(l->v, l->n, l->cap);
    l->v[l->n++] = (struct input){.id = id, .data = xmemdup(data, size), .size = size};
    l->bytes += size;
}

void inputs_free(struct inputs *l)
{
    for (size_t i = 0; i < l->n; i++)
        free((void *)(uintptr_t)l->v[i].data);
    free(l->v);
    *l = (struct inputs){0};
}
