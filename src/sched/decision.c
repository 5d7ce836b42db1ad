/* decision: one decision as a record, and its form in the journal.  Version 2:
 *   u8 version, u8 arms, u8 signals per arm, u8 features per arm, u8 blocks present,
 *   u64 t, u64 worker, u64 choice (two's complement), u64 now_ns, u64 dropped (a bit per arm),
 *   u64 turn_ns,
 *   then, for each block whose bit is set, its doubles arm by arm.
 * A block of nothing but zero bits is left out: simple schedulers fill only the signals. */
#include "sched/sched.h"
#include "sched/wire.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define VERSION 2

struct block {
    const char *name;
    size_t at; /* in struct decision_arm */
    int width;
};

static const struct block blocks[] = {
    {"signal", offsetof(struct decision_arm, signals), SIGNAL_COUNT},
    {"standardised", offsetof(struct decision_arm, standardised), SIGNAL_COUNT},
    {"phi", offsetof(struct decision_arm, phi), SCHED_FEATURES},
    {"mean", offsetof(struct decision_arm, mean), 1},
    {"width", offsetof(struct decision_arm, width), 1},
    {"noise", offsetof(struct decision_arm, noise), 1},
    {"draw", offsetof(struct decision_arm, draw), 1},
};
#define BLOCKS ((int)(sizeof blocks / sizeof *blocks))

void decision_ask(struct decision *d, int n_arms, uint64_t t, int worker, int64_t now_ns,
                  uint64_t dropped)
{
    memset(d, 0, offsetof(struct decision, arm) + (size_t)n_arms * sizeof d->arm[0]);
    d->t = t;
    d->worker = worker;
    d->now_ns = now_ns;
    d->n_arms = n_arms;
    d->dropped = dropped;
    d->choice = -1;
}

static bool is_zero(const struct decision *d, const struct block *b)
{
    for (int i = 0; i < d->n_arms; i++) {
        const uint8_t *v = (const uint8_t *)&d->arm[i] + b->at;
        for (size_t k = 0; k < (size_t)b->width * sizeof(double); k++)
            if (v[k])
                return false;
    }
    return true;
}

static void put_block(const struct decision *d, const struct block *b, struct buf *out)
{
    for (int i = 0; i < d->n_arms; i++) {
        const double *v = (const void *)((const char *)&d->arm[i] + b->at);
        for (int k = 0; k < b->width; k++)
            wire_put_double(out, v[k]);
    }
}

static void get_block(struct wire *w, const struct block *b, struct decision *d)
{
    for (int i = 0; i < d->n_arms; i++) {
        double *v = (void *)((char *)&d->arm[i] + b->at);
        for (int k = 0; k < b->width; k++)
            v[k] = wire_double(w);
    }
}

void decision_encode(const struct decision *d, struct buf *out)
{
    unsigned present = 0;
    for (int i = 0; i < BLOCKS; i++)
        present |= (unsigned)!is_zero(d, &blocks[i]) << i;
    wire_put_u8(out, VERSION);
    wire_put_u8(out, (uint8_t)d->n_arms);
    wire_put_u8(out, SIGNAL_COUNT);
    wire_put_u8(out, SCHED_FEATURES);
    wire_put_u8(out, (uint8_t)present);
    wire_put_u64(out, d->t);
    wire_put_u64(out, (uint64_t)(int64_t)d->worker);
    wire_put_u64(out, (uint64_t)(int64_t)d->choice);
    wire_put_u64(out, (uint64_t)d->now_ns);
    wire_put_u64(out, d->dropped);
    wire_put_u64(out, (uint64_t)d->turn_ns);
    for (int i = 0; i < BLOCKS; i++)
        if (present & 1u << i)
            put_block(d, &blocks[i], out);
}

static int bad(struct err *e, const char *what)
{
    return err_set(e, -EBADMSG, "a decision in the journal cannot be read: %s", what);
}

int decision_decode(const void *data, size_t n, struct decision *d, struct err *e)
{
    struct wire w = {.p = data, .left = n};
    memset(d, 0, sizeof *d);
    unsigned version = wire_u8(&w), arms = wire_u8(&w), signals = wire_u8(&w);
    unsigned features = wire_u8(&w), present = wire_u8(&w);
    if (version != VERSION)
        return bad(e, "it is of another version");
    if (arms < 1 || arms > SCHED_MAX_ARMS || signals != SIGNAL_COUNT ||
        features != SCHED_FEATURES || present >= 1u << BLOCKS)
        return bad(e, "its shape is wrong");
    d->n_arms = (int)arms;
    d->t = wire_u64(&w);
    int64_t worker = (int64_t)wire_u64(&w), choice = (int64_t)wire_u64(&w);
    d->now_ns = (int64_t)wire_u64(&w);
    uint64_t dropped = wire_u64(&w);
    d->turn_ns = (int64_t)wire_u64(&w);
    if (worker < INT_MIN || worker > INT_MAX || (d->n_arms < 64 && dropped >> d->n_arms) ||
        d->turn_ns < 0 || choice < -1 || choice >= d->n_arms)
        return bad(e, "its choice, worker or dropped arms are out of range");
    d->worker = (int)worker;
    d->choice = (int)choice;
    d->dropped = dropped;
    for (int i = 0; i < BLOCKS; i++)
        if (present & 1u << i)
            get_block(&w, &blocks[i], d);
    return w.bad || w.left ? bad(e, "its length is wrong") : 0;
}

/* --- two records of one decision ------------------------------------------------------------------ */
static bool integers_differ(struct decision_diff *out, const char *what, int64_t a, int64_t b)
{
    if (a == b)
        return false;
    snprintf(out->what, sizeof out->what, "%s", what);
    snprintf(out->a, sizeof out->a, "%lld", (long long)a);
    snprintf(out->b, sizeof out->b, "%lld", (long long)b);
    return true;
}

static void name_number(struct decision_diff *out, const char *arm, const struct block *b, int k)
{
    if (b->width == 1)
        snprintf(out->what, sizeof out->what, "%s %s", arm, b->name);
    else if (b->width == SIGNAL_COUNT)
        snprintf(out->what, sizeof out->what, "%s %s %s", arm, b->name,
                 signal_name((enum signal_id)k));
    else
        snprintf(out->what, sizeof out->what, "%s %s %d", arm, b->name, k);
}

static bool block_differs(const struct decision *a, const struct decision *b,
                          const struct block *block, const char *const *arms,
                          struct decision_diff *out)
{
    for (int i = 0; i < a->n_arms; i++) {
        const double *x = (const void *)((const char *)&a->arm[i] + block->at);
        const double *y = (const void *)((const char *)&b->arm[i] + block->at);
        for (int k = 0; k < block->width; k++) {
            if (memcmp(&x[k], &y[k], sizeof x[k]) == 0)
                continue;
            name_number(out, arms[i], block, k);
            snprintf(out->a, sizeof out->a, "%.17g", x[k]);
            snprintf(out->b, sizeof out->b, "%.17g", y[k]);
            return true;
        }
    }
    return false;
}

bool decision_differs(const struct decision *a, const struct decision *b, const char *const *arms,
                      struct decision_diff *out)
{
    if (integers_differ(out, "fuzzers", a->n_arms, b->n_arms) ||
        integers_differ(out, "t", (int64_t)a->t, (int64_t)b->t) ||
        integers_differ(out, "worker", a->worker, b->worker) ||
        integers_differ(out, "now_ns", a->now_ns, b->now_ns) ||
        integers_differ(out, "dropped", (int64_t)a->dropped, (int64_t)b->dropped))
        return true;
    for (int i = 0; i < BLOCKS; i++)
        if (block_differs(a, b, &blocks[i], arms, out))
            return true;
    if (integers_differ(out, "choice", a->choice, b->choice)) {
        snprintf(out->a, sizeof out->a, "%s", a->choice < 0 ? "none" : arms[a->choice]);
        snprintf(out->b, sizeof out->b, "%s", b->choice < 0 ? "none" : arms[b->choice]);
        return true;
    }
    return integers_differ(out, "turn_ns", a->turn_ns, b->turn_ns);
}
