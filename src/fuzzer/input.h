/* input: inputs on their way from one part to another, each with its number in the store. */
#ifndef CAROL_FUZZER_INPUT_H
#define CAROL_FUZZER_INPUT_H

#include <stddef.h>
#include <stdint.h>

struct input {
    int64_t id; /* the store's number of the seed */
    const void *data;
    size_t size;
};

/* A list that owns the bytes of its inputs. */
struct inputs {
    struct input *v;
    size_t n, cap;
    size_t bytes; /* of all of them */
};

void inputs_add(struct inputs *l, int64_t id, const void *data, size_t size); /* copies */
void inputs_free(struct inputs *l);                                           /* back to empty */

#endif
