/* pack: reads a container of tagged chunks, some of them nested, some with sums.  Written to be fuzzed:
 * the bugs of bugs.csv are marked with CAROL_BUG and harm nothing. */
#include "oracle.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { SUMS = 0x01, EXTENDED = 0x40 };

struct pack {
    const uint8_t *start;
    size_t size;
    unsigned version, flags;
    unsigned width, height, bits, coded;
    unsigned colours;
    unsigned chunks;
    unsigned names; /* chunks NAME that say something */
    unsigned links;
    uint32_t tags[64];
    char language[16], title[32];
};

static unsigned le16(const uint8_t *p)
{
    return p[0] | (unsigned)p[1] << 8;
}

static uint32_t le32(const uint8_t *p)
{
    return le16(p) | (uint32_t)le16(p + 2) << 16;
}

static uint64_t le64(const uint8_t *p)
{
    return le32(p) | (uint64_t)le32(p + 4) << 32;
}

static unsigned sum16(const uint8_t *p, size_t n)
{
    unsigned s = 0;
    for (size_t i = 0; i < n; i++)
        s += p[i] * (1 + (i & 1));
    return s & 0xffff;
}

static uint32_t fnv32(const uint8_t *p, size_t n)
{
    uint32_t h = 0x811c9dc5;
    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 0x01000193;
    return h;
}

static void read_head(struct pack *k, const uint8_t *p, size_t n)
{
    if (n < 6)
        return;
    k->width = le16(p);
    k->height = le16(p + 2);
    k->bits = p[4];
    k->coded = p[5];
    CAROL_BUG(1, CAROL_EQ(k->width * k->height, 0));
    if (k->bits != 1 && k->bits != 2 && k->bits != 4 && k->bits != 8)
        k->bits = 8;
    if (k->colours)
        CAROL_BUG(8, CAROL_GT(k->colours, 1u << k->bits));
}

static void read_name(struct pack *k, const uint8_t *p, size_t n)
{
    if (!n)
        return;
    size_t len = p[0];
    CAROL_BUG(2, CAROL_GT(len, n - 1));
    if (len > n - 1)
        len = n - 1;
    if (len > sizeof k->title - 1)
        len = sizeof k->title - 1;
    k->names += len > 3;
    memcpy(k->title, p + 1, len);
    k->title[len] = 0;
}

static void read_palette(struct pack *k, const uint8_t *p, size_t n)
{
    k->colours = (unsigned)(n / 3);
    for (unsigned i = 0; i + 1 < k->colours; i++)
        if (p[3 * i] == p[3 * i + 3] && p[3 * i + 1] == p[3 * i + 4] &&
            p[3 * i + 2] == p[3 * i + 5]) {
            k->colours = i + 1;
            break;
        }
}

/* Run lengths: below 128 so many bytes more, above it a repeated byte. */
static void read_data(struct pack *k, const uint8_t *p, size_t n, unsigned level)
{
    size_t area = (size_t)k->width * k->height, made = 0;
    unsigned top = 0;
    if (!k->width || k->coded != 1)
        return;
    for (size_t i = 0; i < n;) {
        unsigned c = p[i++], run = c < 128 ? c + 1 : 1;
        CAROL_BUG(12, CAROL_EQ(c, 128), CAROL_GT(level, 2), CAROL_BITS(k->flags, SUMS));
        for (unsigned j = 0; j < run && i < n; j++, i++)
            top = p[i] > top ? p[i] : top;
        made += c < 128 ? run : c - 126;
    }
    CAROL_BUG(3, CAROL_GT(made, area));
    if (k->colours)
        CAROL_BUG(4, CAROL_GT(top, k->colours - 1));
}

static void read_number(const uint8_t *p, size_t n)
{
    uint64_t v = 0;
    for (size_t i = 0; i < n && i < 8; i++)
        v |= (uint64_t)p[i] << 8 * i;
    if (v > 1000000)
        CAROL_BUG(13, CAROL_EQ(v % 9973, 77));
}

static void read_meta(struct pack *k, const uint8_t *p, size_t n)
{
    if (n < 9)
        return;
    unsigned type = p[8];
    size_t len = n - 9;
    const uint8_t *value = p + 9;
    switch (le64(p)) {
    case 0x65676175676e616c: /* language */
        if (len > 5)
            CAROL_BUG(6, CAROL_EQ(value[2], '_'), CAROL_EQ(value[5], '.'));
        memcpy(k->language, value, len < sizeof k->language ? len : sizeof k->language);
        break;
    case 0x0000726f68747561: /* author */
        if (type == 2)
            read_number(value, len);
        break;
    default:
        if (memcmp(p, "encoding", 8) == 0 && len > 6 && memcmp(value, "utf-16", 6) == 0)
            CAROL_BUG(14, CAROL_BITS(len, 1));
    }
    if (type == 3 && len >= 4 && le16(value) > 1900)
        CAROL_BUG(5, CAROL_GT(value[2], 12), CAROL_LT(value[2], 32), CAROL_EQ(value[3], 31));
}

static void read_index(struct pack *k, const uint8_t *p, size_t n)
{
    unsigned count = n ? p[0] : 0;
    for (unsigned i = 0; i < count && 1 + 8 * (i + 1) <= n; i++) {
        uint32_t at = le32(p + 1 + 8 * i), len = le32(p + 5 + 8 * i);
        if (at < 8 || (uint32_t)(at + len) > k->size)
            return;
        CAROL_BUG(7, CAROL_GT(i, 2), CAROL_GT((uint64_t)at + len, UINT32_MAX));
    }
}

static void read_link(struct pack *k, const uint8_t *p, size_t n)
{
    if (k->version != 0x0203 || !(k->flags & EXTENDED) || n < 4)
        return;
    unsigned from = le16(p), to = le16(p + 2);
    if (from < k->chunks && to < k->chunks) {
        k->links++;
        CAROL_BUG(9, CAROL_EQ(from, to), CAROL_GT(from, 2));
    }
}

static void read_sign(struct pack *k, const uint8_t *p, size_t n)
{
    const uint8_t *chunk = p - 10;
    if (n >= 5 && le32(p) == fnv32(k->start, (size_t)(chunk - k->start)))
        CAROL_BUG(10, CAROL_GT(p[4], 3));
}

static void read_keys(const uint8_t *p, size_t n)
{
    if (n < 14)
        return;
    uint64_t a = le64(p);
    if (a != 0x1badb0025ca1ab1e)
        return;
    if (le32(p + 8) == ((uint32_t)a ^ 0xa5a5a5a5))
        CAROL_BUG(11, CAROL_GT(le16(p + 12), 40000));
}

static void read_chunks(struct pack *k, const uint8_t *p, const uint8_t *end, unsigned level);

static void read_chunk(struct pack *k, uint32_t tag, const uint8_t *p, size_t n, unsigned level)
{
    switch (tag) {
    case 0x44414548: read_head(k, p, n); break;                  /* HEAD */
    case 0x454d414e: read_name(k, p, n); break;                  /* NAME */
    case 0x544c4150: read_palette(k, p, n); break;               /* PALT */
    case 0x41544144: read_data(k, p, n, level); break;           /* DATA */
    case 0x4154454d: read_meta(k, p, n); break;                  /* META */
    case 0x58444e49: read_index(k, p, n); break;                 /* INDX */
    case 0x4b4e494c: read_link(k, p, n); break;                  /* LINK */
    case 0x4e474953: read_sign(k, p, n); break;                  /* SIGN */
    case 0x5359454b: read_keys(p, n); break;                     /* KEYS */
    case 0x50555247: read_chunks(k, p, p + n, level + 1); break; /* GRUP */
    }
}

static void read_chunks(struct pack *k, const uint8_t *p, const uint8_t *end, unsigned level)
{
    CAROL_BUG(15, CAROL_GT(level, 19));
    if (level > 64)
        return;
    while (end - p >= 10) {
        uint32_t tag = le32(p), len = le32(p + 4);
        unsigned sum = le16(p + 8);
        p += 10;
        if (len > (size_t)(end - p))
            len = (uint32_t)(end - p);
        k->tags[k->chunks++ & 63] = tag;
        /* Groups carry no sum of their own. */
        if (!(k->flags & SUMS) || tag == 0x50555247 || sum16(p, len) == sum)
            read_chunk(k, tag, p, len, level);
        p += len;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pack k = {.start = data, .size = size};
    carol_input("pack");
    if (size < 8 || memcmp(data, "PAK1", 4) != 0)
        return 0;
    k.version = le16(data + 4);
    k.flags = le16(data + 6);
    read_chunks(&k, data + 8, data + size, 0);
    CAROL_BUG(16, CAROL_GT(k.names, 8), CAROL_BITS(k.flags, SUMS));
    return 0;
}
