/* idle: a stack. */
#include "fuzzer/idle.h"

#include "base/die.h"

#include <stdlib.h>

void idle_push(struct idle *l, void *instance)
{
    XGROW(l->v, l->n, l->cap);
    l->v[l->n++] = instance;
}

void *idle_pop(struct idle *l)
{
    return l->n ? l->v[--l->n] : NULL;
}

void idle_free(struct idle *l)
{
    free(l->v);
    *l = (struct idle){0};
}
