/* mutator: a mutator of ours that takes the place of afl-fuzz's own stages. */
#ifndef CAROL_CTL_MUTATOR_H
#define CAROL_CTL_MUTATOR_H

#include <stddef.h>
#include <stdint.h>

struct mutator {
    void (*init)(void); /* reads its environment and takes it out of the target's way */
    /* The next input to execute. */
    size_t (*fuzz)(uint8_t *buf, size_t n, uint8_t **out, const uint8_t *other, size_t other_n,
                   size_t max);
    void (*found)(void);     /* a new entry of the fuzzer's own; may be NULL */
    void (*take_over)(void); /* another mode ran before; may be NULL */
};

extern const struct mutator mutator_darwin, mutator_radamsa;

#endif
