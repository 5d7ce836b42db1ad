/* darwin_ops: the seventeen operators of AFL's havoc stage that DARWIN chooses from.  Pure. */
#include "darwin_core.h"

#include <string.h>

#define DELTA_MAX 35
#define BLOCK_XL 32768

static const int32_t interesting[] = {
    /* 8 bits */ -128,
    -1,
    0,
    1,
    16,
    32,
    64,
    100,
    127,
    /* 16 */ -32768,
    -129,
    128,
    255,
    256,
    512,
    1000,
    1024,
    4096,
    32767,
    /* 32 */ INT32_MIN,
    -100663046,
    -32769,
    32768,
    65535,
    65536,
    100663045,
    INT32_MAX};
#define N_8 9
#define N_16 19
#define N_32 27

/* A field of 1, 2 or 4 bytes at a random place, read and written in either byte order. */
static uint32_t load(const uint8_t *p, unsigned width, bool big)
{
    uint32_t v = 0;
    for (unsigned i = 0; i < width; i++)
        v |= (uint32_t)p[big ? width - 1 - i : i] << 8 * i;
    return v;
}

static void store(uint8_t *p, unsigned width, bool big, uint32_t v)
{
    for (unsigned i = 0; i < width; i++)
        p[big ? width - 1 - i : i] = (uint8_t)(v >> 8 * i);
}

static void set_interesting(struct darwin_rng *r, uint8_t *buf, size_t n, unsigned width)
{
    if (n < width)
        return;
    uint8_t *p = buf + darwin_below(r, (uint32_t)(n - width + 1));
    uint32_t count = width == 1 ? N_8 : width == 2 ? N_16 : N_32;
    bool big = width > 1 && darwin_below(r, 2);
    store(p, width, big, (uint32_t)interesting[darwin_below(r, count)]);
}

static void add_delta(struct darwin_rng *r, uint8_t *buf, size_t n, unsigned width, bool subtract)
{
    if (n < width)
        return;
    uint8_t *p = buf + darwin_below(r, (uint32_t)(n - width + 1));
    bool big = width > 1 && darwin_below(r, 2);
    uint32_t delta = 1 + darwin_below(r, DELTA_MAX), v = load(p, width, big);
    store(p, width, big, subtract ? v - delta : v + delta);
}

/* 1..limit, mostly short; longer ones from the later passes over the queue on. */
static size_t block_length(struct darwin_rng *r, size_t limit, unsigned queue_cycle)
{
    static const size_t least[] = {1, 32, 128, 1500}, most[] = {32, 128, 1500, BLOCK_XL};
    uint32_t kind = darwin_below(r, queue_cycle < 3 ? (queue_cycle ? queue_cycle : 1) : 3);
    if (kind == 2 && darwin_below(r, 10) == 0)
        kind = 3;
    size_t lo = least[kind] >= limit ? 1 : least[kind],
           hi = most[kind] < limit ? most[kind] : limit;
    return lo + darwin_below(r, (uint32_t)(hi - lo + 1));
}

static size_t delete_block(struct darwin_rng *r, uint8_t *buf, size_t n,
                           const struct darwin_context *c)
{
    if (n < 2)
        return n;
    size_t len = block_length(r, n - 1, c->queue_cycle);
    size_t from = darwin_below(r, (uint32_t)(n - len + 1));
    memmove(buf + from, buf + from + len, n - from - len);
    return n - len;
}

static uint8_t constant(struct darwin_rng *r, const uint8_t *buf, size_t n)
{
    return darwin_below(r, 2) ? (uint8_t)darwin_below(r, 256) : buf[darwin_below(r, (uint32_t)n)];
}

/* Insert a copy of a block of the input (3 of 4) or a run of one byte. */
static size_t clone_block(struct darwin_rng *r, uint8_t *buf, size_t n, size_t max,
                          const struct darwin_context *c)
{
    if (n + BLOCK_XL >= max)
        return n;
    bool copy = darwin_below(r, 4) != 0;
    size_t len = block_length(r, copy ? n : BLOCK_XL, c->queue_cycle);
    size_t from = copy ? darwin_below(r, (uint32_t)(n - len + 1)) : 0;
    size_t to = darwin_below(r, (uint32_t)n);
    uint8_t fill = copy ? 0 : constant(r, buf, n);
    memmove(buf + to + len, buf + to, n - to);
    for (size_t i = 0; i < len; i++) { /* the source moved with the tail where it lay behind `to` */
        size_t s = from + i;
        buf[to + i] = copy ? buf[s < to ? s : s + len] : fill;
    }
    return n + len;
}

static void overwrite_block(struct darwin_rng *r, uint8_t *buf, size_t n,
                            const struct darwin_context *c)
{
    if (n < 2)
        return;
    size_t len = block_length(r, n - 1, c->queue_cycle);
    size_t from = darwin_below(r, (uint32_t)(n - len + 1)),
           to = darwin_below(r, (uint32_t)(n - len + 1));
    if (darwin_below(r, 4))
        memmove(buf + to, buf + from, len);
    else
        memset(buf + to, constant(r, buf, n), len);
}

static size_t use_token(struct darwin_rng *r, uint8_t *buf, size_t n, size_t max, bool insert,
                        const struct darwin_context *c)
{
    if (!c->n_tokens)
        return n;
    const struct darwin_token *t = &c->tokens[darwin_below(r, (uint32_t)c->n_tokens)];
    if (insert ? n + t->size >= max : t->size > n)
        return n;
    size_t at = darwin_below(r, (uint32_t)((insert ? n : n - t->size) + 1));
    if (insert)
        memmove(buf + at + t->size, buf + at, n - at);
    memcpy(buf + at, t->data, t->size);
    return insert ? n + t->size : n;
}

size_t darwin_apply(struct darwin_rng *r, unsigned op, uint8_t *buf, size_t n, size_t max,
                    const struct darwin_context *c)
{
    if (n == 0)
        return n;
    switch ((enum darwin_operator)op) {
    case DARWIN_FLIP_BIT: {
        uint32_t bit = darwin_below(r, (uint32_t)(n * 8));
        buf[bit / 8] ^= (uint8_t)(128 >> bit % 8);
        break;
    }
    case DARWIN_INTERESTING_8: set_interesting(r, buf, n, 1); break;
    case DARWIN_INTERESTING_16: set_interesting(r, buf, n, 2); break;
    case DARWIN_INTERESTING_32: set_interesting(r, buf, n, 4); break;
    case DARWIN_SUB_8: add_delta(r, buf, n, 1, true); break;
    case DARWIN_ADD_8: add_delta(r, buf, n, 1, false); break;
    case DARWIN_SUB_16: add_delta(r, buf, n, 2, true); break;
    case DARWIN_ADD_16: add_delta(r, buf, n, 2, false); break;
    case DARWIN_SUB_32: add_delta(r, buf, n, 4, true); break;
    case DARWIN_ADD_32: add_delta(r, buf, n, 4, false); break;
    case DARWIN_XOR:
        buf[darwin_below(r, (uint32_t)n)] ^= (uint8_t)(1 + darwin_below(r, 255));
        break;
    case DARWIN_DELETE:
    case DARWIN_DELETE_2: return delete_block(r, buf, n, c);
    case DARWIN_CLONE: return clone_block(r, buf, n, max, c);
    case DARWIN_OVERWRITE: overwrite_block(r, buf, n, c); break;
    case DARWIN_TOKEN_OVERWRITE: return use_token(r, buf, n, max, false, c);
    case DARWIN_TOKEN_INSERT: return use_token(r, buf, n, max, true, c);
    }
    return n;
}

size_t darwin_splice(struct darwin_rng *r, uint8_t *buf, size_t n, size_t max, const uint8_t *other,
                     size_t other_n)
{
    size_t common = n < other_n ? n : other_n, first = 0, last = common;
    while (first < common && buf[first] == other[first])
        first++;
    while (last > first && buf[last - 1] == other[last - 1])
        last--;
    if (last < first + 2 || last < 3 || other_n > max) /* differ in one byte at most */
        return n;
    size_t split = first + darwin_below(r, (uint32_t)(last - 1 - first));
    memcpy(buf + split, other + split, other_n - split);
    return other_n;
}
