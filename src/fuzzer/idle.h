/* idle: the instances of one fuzzer that wait.  A dispatch takes the one suspended last (METHOD R3): its
 * corpus is the newest and its pages are the warmest. */
#ifndef CAROL_FUZZER_IDLE_H
#define CAROL_FUZZER_IDLE_H

#include <stddef.h>

struct idle {
    void **v;
    size_t n, cap;
};

void idle_push(struct idle *l, void *instance);
void *idle_pop(struct idle *l); /* NULL: all are busy, or there is none yet */
void idle_free(struct idle *l); /* the list, not what is in it */

#endif
