/* rate_state: the scheduler's state as bytes and back, exactly.  What can be computed from the rest (log rates,
 * 1/sd, the solution) is not stored but computed again.  Layout:
 *   u8 context, u64 workers, the generator, turns completed, the best log rate, for each fuzzer its last turn
 *   and its three sums, for each worker its flight, and with context=full for each fuzzer the means of log rate
 *   and signals, then the standardiser, A and b. */
#include "sched/rate.h"

#include "base/die.h"
#include "sched/wire.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void put_doubles(struct buf *out, const double *v, int n)
{
    for (int i = 0; i < n; i++)
        wire_put_double(out, v[i]);
}

/* NaN or infinity means damage. */
static void get_doubles(struct wire *w, double *v, int n)
{
    for (int i = 0; i < n; i++) {
        v[i] = wire_double(w);
        w->bad |= !isfinite(v[i]);
    }
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

static void load_context(struct rate *r, struct wire *w)
{
    for (int i = 0; i < r->base.n_arms; i++) {
        get_doubles(w, &r->arm[i].turn_level, 1);
        get_doubles(w, r->arm[i].signals, SIGNAL_COUNT);
    }
    r->standard.n = wire_u64(w);
    get_doubles(w, r->standard.mean, SIGNAL_COUNT);
    get_doubles(w, r->standard.m2, SIGNAL_COUNT);
    for (int k = 0; k < SIGNAL_COUNT; k++)
        w->bad |= r->standard.m2[k] < 0;
    for (int i = 0; i < LINEAR_DIM; i++) {
        get_doubles(w, r->factors.a[i], i + 1);
        w->bad |= r->factors.a[i][i] < 0.999 * r->o.ridge; /* A is lambda I and squares */
    }
    get_doubles(w, r->factors.b, LINEAR_DIM);
    standard_refresh(&r->standard);
    linear_solve(&r->factors);
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

static void load_arm(struct rate *r, struct rate_arm *a, struct wire *w)
{
    a->last = wire_u64(w);
    get_doubles(w, &a->turns, 1);
    get_doubles(w, &a->edges, 1);
    get_doubles(w, &a->seconds, 1);
    bool untried = a->turns == 0 && a->edges == 0 && a->seconds == 0;
    bool tried = a->turns >= 1 && a->edges >= 0 && a->seconds > 0;
    w->bad |= a->last > r->completed || (a->last ? !tried : !untried);
    if (tried)
        a->level = rate_log(r, a->edges, a->seconds);
}

static void read_state(struct rate *r, struct wire *w)
{
    wire_rng(w, &r->rng);
    r->completed = wire_u64(w);
    get_doubles(w, &r->best, 1);
    for (int i = 0; i < r->base.n_arms; i++)
        load_arm(r, &r->arm[i], w);
    for (int i = 0; i < r->workers; i++) {
        r->flight[i].t = wire_u64(w);
        r->flight[i].arm = wire_u8(w);
        w->bad |= r->flight[i].arm >= r->base.n_arms;
    }
    if (r->o.context == RATE_FULL)
        load_context(r, w);
}

/* Into a copy, which replaces the old state only when it is complete. */
int rate_load(struct sched *s, const void *data, size_t n, struct err *e)
{
    struct rate *r = (struct rate *)s;
    struct wire w = {.p = data, .left = n};
    int context = wire_u8(&w);
    uint64_t workers = wire_u64(&w);
    if (context != r->o.context || workers != (uint64_t)r->workers)
        return err_set(e, -EBADMSG,
                       "the saved state of the scheduler rate was made with other options");
    struct rate *fresh = xmemdup(r, rate_size(r->workers));
    read_state(fresh, &w);
    bool whole = !w.bad && !w.left;
    if (whole)
        memcpy(r, fresh, rate_size(r->workers));
    free(fresh);
    return whole ? 0 : err_set(e, -EBADMSG, "the saved state of the scheduler rate is damaged");
}
