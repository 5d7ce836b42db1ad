/* wire: little-endian numbers to and from bytes.  Knows no record. */
#include "sched/wire.h"

#include <string.h>

void wire_put_u8(struct buf *b, uint8_t v)
{
    buf_add(b, &v, 1);
}

void wire_put_u64(struct buf *b, uint64_t v)
{
    uint8_t out[8];
    for (int i = 0; i < 8; i++)
        out[i] = (uint8_t)(v >> (8 * i));
    buf_add(b, out, sizeof out);
}

void wire_put_double(struct buf *b, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    wire_put_u64(b, bits);
}

void wire_put_rng(struct buf *b, const struct rng *r)
{
    for (int i = 0; i < 4; i++)
        wire_put_u64(b, r->s[i]);
}

static const uint8_t *take(struct wire *w, size_t n)
{
    if (w->bad || w->left < n) {
        w->bad = true;
        return NULL;
    }
    const uint8_t *p = w->p;
    w->p += n;
    w->left -= n;
    return p;
}

uint8_t wire_u8(struct wire *w)
{
    const uint8_t *p = take(w, 1);
    return p ? *p : 0;
}

uint64_t wire_u64(struct wire *w)
{
    const uint8_t *p = take(w, 8);
    uint64_t v = 0;
    for (int i = 0; p && i < 8; i++)
        v |= (uint64_t)p[i] << (8 * i);
    return v;
}

double wire_double(struct wire *w)
{
    uint64_t bits = wire_u64(w);
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}
