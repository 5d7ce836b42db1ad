/* wire: numbers in the journal's form: little-endian, doubles by their bits, so that what is read
 * is exactly what was written.  Reading past the end sets `bad` and gives 0. */
#ifndef CAROL_SCHED_WIRE_H
#define CAROL_SCHED_WIRE_H

#include "base/buf.h"
#include "base/rng.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wire {
    const uint8_t *p;
    size_t left;
    bool bad;
};

void wire_put_u8(struct buf *b, uint8_t v);
void wire_put_u64(struct buf *b, uint64_t v);
void wire_put_double(struct buf *b, double v);
void wire_put_rng(struct buf *b, const struct rng *r);
uint8_t wire_u8(struct wire *w);
uint64_t wire_u64(struct wire *w);
double wire_double(struct wire *w);

#endif
