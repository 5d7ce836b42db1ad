/* decision: the journal's form of a decision.  Version 1:
 *   u8 version, u8 arms, u8 signals per arm, u8 features per arm, u8 blocks present,
 *   u64 t, u64 worker, u64 choice (two's complement), u64 now_ns, u64 dropped (a bit per arm),
 *   then, for each block whose bit is set, its doubles arm by arm.
 * A block of nothing but zero bits is left out: simple schedulers fill only the signals. */
#include "sched/sched.h"
#include "sched/wire.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#define VERSION 1
#define BLOCKS 7

struct block {
    double *v; /* SCHED_MAX_ARMS rows of `width` */
    int width;
};

static void blocks_of(struct decision *d, struct block out[BLOCKS])
{
    out[0] = (struct block){d->signals[0], SIGNAL_COUNT};
    out[1] = (struct block){d->standardised[0], SIGNAL_COUNT};
    out[2] = (struct block){d->phi[0], SCHED_FEATURES};
    out[3] = (struct block){d->mean, 1};
    out[4] = (struct block){d->width, 1};
    out[5] = (struct block){d->noise, 1};
    out[6] = (struct block){d->draw, 1};
}

static bool is_zero(const double *v, int n)
{
    for (int i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &v[i], sizeof bits);
        if (bits)
            return false;
    }
    return true;
}

void decision_encode(const struct decision *d, struct buf *out)
{
    struct decision copy = *d;
    struct block b[BLOCKS];
    blocks_of(&copy, b);
    unsigned present = 0;
    for (int i = 0; i < BLOCKS; i++)
        if (!is_zero(b[i].v, d->n_arms * b[i].width))
            present |= 1u << i;
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
    for (int i = 0; i < BLOCKS; i++)
        for (int j = 0; (present & 1u << i) && j < d->n_arms * b[i].width; j++)
            wire_put_double(out, b[i].v[j]);
}

static int bad(struct err *e, const char *what)
{
    return err_set(e, -EBADMSG, "a decision in the journal cannot be read: %s", what);
}

static bool fits_int(int64_t v)
{
    return v >= INT_MIN && v <= INT_MAX;
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
    if (!fits_int(worker) || dropped >> d->n_arms || choice < -1 || choice >= d->n_arms)
        return bad(e, "its choice, worker or dropped arms are out of range");
    d->worker = (int)worker;
    d->choice = (int)choice;
    d->dropped = (uint32_t)dropped;
    struct block b[BLOCKS];
    blocks_of(d, b);
    for (int i = 0; i < BLOCKS; i++)
        for (int j = 0; (present & 1u << i) && j < d->n_arms * b[i].width; j++)
            b[i].v[j] = wire_double(&w);
    return w.bad || w.left ? bad(e, "its length is wrong") : 0;
}
