/* edges: sets of edge numbers and their compact form.  Knows nothing of targets. */
#include "eval/edges.h"

#include "base/die.h"

#include <stdlib.h>

void edges_free(struct edges *s)
{
    free(s->ids);
    *s = (struct edges){0};
}

void edges_from_bits(struct edges *s, const uint64_t *bits, uint32_t n_bits)
{
    size_t words = ((size_t)n_bits + 63) / 64, n = 0;
    uint64_t tail = n_bits % 64 ? (UINT64_C(1) << n_bits % 64) - 1 : UINT64_MAX;
    for (size_t w = 0; w < words; w++)
        if (bits[w])
            n += (size_t)__builtin_popcountll(w + 1 == words ? bits[w] & tail : bits[w]);
    *s = (struct edges){.ids = xmalloc((n ? n : 1) * sizeof *s->ids)};
    for (size_t w = 0; w < words; w++)
        for (uint64_t b = w + 1 == words ? bits[w] & tail : bits[w]; b; b &= b - 1)
            s->ids[s->n++] = (uint32_t)(w * 64 + (size_t)__builtin_ctzll(b));
}

void edges_encode(const struct edges *s, struct buf *out)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        unsigned char leb[5];
        size_t n = 0;
        uint32_t d = s->ids[i] - last;
        for (; d >= 0x80; d >>= 7)
            leb[n++] = (unsigned char)(d | 0x80);
        leb[n++] = (unsigned char)d;
        buf_add(out, leb, n);
        last = s->ids[i];
    }
}

/* One LEB128 number below 2^32; NULL: it does not end, or is too large. */
static const unsigned char *take(const unsigned char *p, const unsigned char *end, uint64_t *v)
{
    *v = 0;
    for (unsigned shift = 0; p < end && shift < 35; shift += 7) {
        *v |= (uint64_t)(*p & 0x7f) << shift;
        if (!(*p++ & 0x80))
            return *v <= UINT32_MAX ? p : NULL;
    }
    return NULL;
}

int edges_decode(const void *data, size_t n, uint32_t n_edges, struct edges *s, struct err *e)
{
    const unsigned char *p = data, *end = p + n;
    uint64_t id = 0, d;
    *s = (struct edges){.ids = xmalloc((n ? n : 1) * sizeof *s->ids)}; /* a byte each at least */
    while (p < end) {
        p = take(p, end, &d);
        if (!p || (s->n && !d) || (id += d) >= n_edges) {
            edges_free(s);
            return err_usage(e, "a stored set of edges is damaged or of another build");
        }
        s->ids[s->n++] = (uint32_t)id;
    }
    return 0;
}
