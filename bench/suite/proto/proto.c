/* proto: the server's end of a session of framed messages: greeting, login, channels, windows,
 * fragments.  Written to be fuzzed: the bugs of bugs.csv are marked with CAROL_BUG and harm nothing. */
#include "oracle.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { CHANNELS = 8, CHANNEL_SIZE = 4096 };
enum state { NEW, GREETED, KNOWN, LEFT };

struct channel {
    int open, used; /* now; ever */
    uint8_t name;
    uint32_t window, written;
    uint16_t seq;
};

struct session {
    enum state state;
    unsigned version, features, opened, failures, messages, grants;
    uint32_t nonce;
    struct channel channel[CHANNELS];
    int in_fragment, rekeyed;
    size_t fragment; /* bytes so far */
    uint8_t buffer[256];
};

static unsigned be16(const uint8_t *p)
{
    return (unsigned)p[0] << 8 | p[1];
}

static uint32_t be32(const uint8_t *p)
{
    return (uint32_t)be16(p) << 16 | be16(p + 2);
}

/* What a client that knows the nonce sends to log in. */
static unsigned token(uint32_t nonce)
{
    return ((nonce ^ nonce >> 16) * 31 + 7) & 0xffff;
}

static void hello(struct session *s, const uint8_t *p, size_t n)
{
    if (n < 7)
        return;
    if (s->state == KNOWN)
        CAROL_BUG(9, CAROL_GT(s->opened, 1));
    s->version = p[0];
    s->features = be16(p + 1);
    s->nonce = be32(p + 3);
    s->state = GREETED;
    CAROL_BUG(1, CAROL_EQ(s->version, 0), CAROL_NE(s->features, 0));
}

static void login(struct session *s, const uint8_t *p, size_t n)
{
    if (s->state != GREETED || n < 3)
        return;
    unsigned user = p[0];
    if (be16(p + 1) != token(s->nonce)) {
        s->failures++;
        return;
    }
    s->state = KNOWN;
    CAROL_BUG(8, CAROL_GT(s->failures, 2));
    CAROL_BUG(2, CAROL_EQ(user, 0));
}

/* The channel a message is about, by its first byte. */
static struct channel *channel_of(struct session *s, const uint8_t *p, size_t n)
{
    if (s->state != KNOWN || n < 1 || p[0] >= CHANNELS)
        return NULL;
    return &s->channel[p[0]];
}

static void open_channel(struct session *s, const uint8_t *p, size_t n)
{
    struct channel *c = channel_of(s, p, n);
    if (!c || n < 4)
        return;
    CAROL_BUG(3, CAROL_NE(c->open, 0));
    if (!c->open)
        s->opened++;
    *c = (struct channel){.open = 1, .used = 1, .name = p[1], .window = be16(p + 2)};
    CAROL_BUG(10, CAROL_EQ(s->opened, CHANNELS));
}

static void write_channel(struct session *s, const uint8_t *p, size_t n)
{
    struct channel *c = channel_of(s, p, n);
    if (!c || !c->open || n < 7)
        return;
    uint32_t at = be32(p + 3), len = (uint32_t)n - 7;
    unsigned seq = be16(p + 1);
    if (at + len > CHANNEL_SIZE)
        return;
    CAROL_BUG(5, CAROL_GT((uint64_t)at + len, UINT32_MAX));
    if (c->written > 0)
        CAROL_BUG(11, CAROL_LT(seq, c->seq), CAROL_GT(c->seq, 0x8000), CAROL_GT(c->written, 16));
    c->seq = (uint16_t)seq;
    CAROL_BUG(13, CAROL_GT(len, c->window), CAROL_GT(s->grants, 1));
    c->window -= len < c->window ? len : c->window;
    c->written += len;
}

static void grant(struct session *s, const uint8_t *p, size_t n)
{
    struct channel *c = channel_of(s, p, n);
    if (!c || !c->open || n < 5)
        return;
    s->grants++;
    CAROL_BUG(4, CAROL_GT((uint64_t)c->window + be32(p + 1), UINT32_MAX));
    c->window += be32(p + 1);
}

static void close_channel(struct session *s, const uint8_t *p, size_t n)
{
    struct channel *c = channel_of(s, p, n);
    if (!c || !c->used)
        return;
    CAROL_BUG(6, CAROL_EQ(c->open, 0));
    if (c->open)
        s->opened--;
    c->open = 0;
}

static void rename_channel(struct session *s, const uint8_t *p, size_t n)
{
    struct channel *c = channel_of(s, p, n);
    if (!c || !c->used || n < 2)
        return;
    CAROL_BUG(7, CAROL_EQ(c->open, 0), CAROL_GT(c->written, 0));
    for (unsigned i = 0; i < CHANNELS; i++)
        if (s->channel[i].open && &s->channel[i] != c && s->channel[i].name == p[1])
            return;
    c->name = p[1];
}

/* The first byte says whether more follow. */
static void fragment(struct session *s, const uint8_t *p, size_t n)
{
    if (s->state != KNOWN || n < 1)
        return;
    if (!s->in_fragment) {
        s->fragment = 0;
        s->rekeyed = 0;
    }
    CAROL_BUG(14, CAROL_GT(s->fragment + n - 1, sizeof s->buffer));
    if (s->fragment + n - 1 <= sizeof s->buffer) {
        memcpy(s->buffer + s->fragment, p + 1, n - 1);
        s->fragment += n - 1;
    }
    s->in_fragment = p[0] & 1;
    if (!s->in_fragment)
        CAROL_BUG(12, CAROL_NE(s->rekeyed, 0), CAROL_GT(s->fragment, 8));
}

static void rekey(struct session *s, const uint8_t *p, size_t n)
{
    if (s->state != KNOWN || n < 4 || be32(p) == s->nonce)
        return;
    s->nonce = be32(p);
    s->rekeyed = s->in_fragment;
}

static void message(struct session *s, unsigned type, const uint8_t *p, size_t n)
{
    s->messages++;
    switch (type) {
    case 0x01: hello(s, p, n); break;
    case 0x02: login(s, p, n); break;
    case 0x10: open_channel(s, p, n); break;
    case 0x11: write_channel(s, p, n); break;
    case 0x12: grant(s, p, n); break;
    case 0x13: close_channel(s, p, n); break;
    case 0x14: rename_channel(s, p, n); break;
    case 0x20: fragment(s, p, n); break;
    case 0x21: rekey(s, p, n); break;
    case 0x7f: s->state = LEFT; break;
    }
}

/* type, length in two bytes, exclusive or of the three, payload */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct session s = {0};
    const uint8_t *p = data, *end = data + size;
    carol_input("proto");
    while (end - p >= 4 && s.state != LEFT) {
        unsigned type = p[0], len = be16(p + 1);
        if ((p[0] ^ p[1] ^ p[2]) != p[3])
            break;
        p += 4;
        if (len > (size_t)(end - p))
            break;
        message(&s, type, p, len);
        p += len;
    }
    return 0;
}
