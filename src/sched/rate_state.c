/* rate_state: the scheduler's state as bytes, exactly.  What follows from the rest (log rates, 1/sd, the
 * solution) is left out.  Layout:
 *   u8 context, u64 workers, the generator, turns completed, the best log rate, for each fuzzer its last turn
 *   and its three sums, for each worker its flight, and with context=full for each fuzzer the means of log rate
 *   and signals, then the standardiser, A and b. */
#include "sched/rate.h"

#include "sched/wire.h"

static void put_doubles(struct buf *out, const double *v, int n)
{
    for (int i = 0; i < n; i++)
        wire_put_double(out, v[i]);
}

static void save_context(const struct rate *r, struct buf *out)
{
    for (int i = 0; i < r->base.n_arms; i++) {
        wire_put_double(out, r->arm[i].turn_level);
        put_doubles(out, r->arm[i].signals, SIGNAL_COUNT);
    }
    wire_put_u64(out, r->standard.n);
    put_doubles(out, r->standard.mean, SIGNAL_COUNT);
    put_doubles(out, r->standard.m2, SIGNAL_COUNT);
    for (int i = 0; i < LINEAR_DIM; i++)
        put_doubles(out, r->factors.a[i], i + 1);
    put_doubles(out, r->factors.b, LINEAR_DIM);
}

void rate_save(const struct sched *s, struct buf *out)
{
    const struct rate *r = (const struct rate *)s;
    wire_put_u8(out, (uint8_t)r->o.context);
    wire_put_u64(out, (uint64_t)r->workers);
    wire_put_rng(out, &r->rng);
    wire_put_u64(out, r->completed);
    wire_put_double(out, r->best);
    for (int i = 0; i < s->n_arms; i++) {
        wire_put_u64(out, r->arm[i].last);
        wire_put_double(out, r->arm[i].turns);
        wire_put_double(out, r->arm[i].edges);
        wire_put_double(out, r->arm[i].seconds);
    }
    for (int i = 0; i < r->workers; i++) {
        wire_put_u64(out, r->flight[i].t);
        wire_put_u8(out, (uint8_t)r->flight[i].arm);
    }
    if (r->o.context == RATE_FULL)
        save_context(r, out);
}
