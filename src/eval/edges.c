/* edges: sets of edge numbers and their compact form.  Knows nothing of targets. */
#include "eval/edges.h"

#include "base/die.h"

#include <stdlib.h>

void edges_free(struct edges *s)
{
    free(s->ids);
    *s = (struct edges){0};
}

static inline __attribute__((always_inline)) uint32_t count_words(const uint64_t *bits, size_t n)
{
    uint32_t sum = 0;
    for (size_t w = 0; w < n; w++)
        sum += (uint32_t)__builtin_popcountll(bits[w]);
    return sum;
}

/* The same where the processor has an instruction for it; without, it is a function call per word. */
__attribute__((target("popcnt"))) static uint32_t count_words_fast(const uint64_t *bits, size_t n)
{
    return count_words(bits, n);
}

/* The last word without the bits that are not ours. */
static uint64_t last_word(const uint64_t *bits, uint32_t n_bits)
{
    return n_bits % 64 ? bits[n_bits / 64] & ((UINT64_C(1) << n_bits % 64) - 1) : 0;
}

uint32_t edges_count(const uint64_t *bits, uint32_t n_bits)
{
    uint64_t last = last_word(bits, n_bits);
    uint32_t n = __builtin_cpu_supports("popcnt") ? count_words_fast(bits, n_bits / 64)
                                                  : count_words(bits, n_bits / 64);
    return n + (uint32_t)__builtin_popcountll(last);
}

static uint32_t *put_word(uint32_t *at, uint64_t bits, uint32_t first)
{
    for (; bits; bits &= bits - 1)
        *at++ = first + (uint32_t)__builtin_ctzll(bits);
    return at;
}

void edges_from_bits(struct edges *s, const uint64_t *bits, uint32_t n_bits)
{
    uint32_t n = edges_count(bits, n_bits), i = 0;
    *s = (struct edges){.ids = xmalloc((n ? n : 1) * sizeof *s->ids), .n = n};
    uint32_t *at = s->ids;
    for (; i < n_bits / 64; i++)
        at = put_word(at, bits[i], i * 64);
    put_word(at, last_word(bits, n_bits), i * 64);
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
