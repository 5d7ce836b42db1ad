/* legion_state: the scheduler's state as bytes and back, exactly.  Decides nothing. */
#include "sched/legion.h"

#include "base/die.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static void save_arm(const struct legion *l, int i, struct buf *out)
{
    wire_put_double(out, l->arm[i].reward);
    wire_put_double(out, l->arm[i].units);
    wire_put_double(out, l->arm[i].spent);
    wire_put_u64(out, l->arm[i].seen);
    for (int k = 0; k < COUNT_KINDS; k++)
        wire_put_u64(out, l->last[i][k]);
}

void legion_save(const struct sched *s, struct buf *out)
{
    const struct legion *l = (const struct legion *)s;
    wire_put_u8(out, l->begun);
    wire_put_u8(out, l->by_share);
    wire_put_u64(out, l->round);
    wire_put_u64(out, l->looks);
    wire_put_u64(out, l->ran);
    wire_put_u64(out, (uint64_t)l->from_ns);
    wire_put_u64(out, (uint64_t)l->since_ns);
    wire_put_double(out, l->all_units);
    for (int k = 0; k < COUNT_KINDS; k++)
        wire_put_double(out, l->weight[k]);
    for (int i = 0; i < s->n_arms; i++)
        save_arm(l, i, out);
    deal_save(&l->deal, out);
    legion_counts_save(&l->counts, out);
}

static double amount(struct wire *w)
{
    double v = wire_double(w);
    w->bad = w->bad || !(v >= 0) || isinf(v);
    return v;
}

static void load_arm(struct legion *l, int i, struct wire *w)
{
    l->arm[i].reward = amount(w);
    l->arm[i].units = amount(w);
    l->arm[i].spent = amount(w);
    l->arm[i].seen = wire_u64(w);
    for (int k = 0; k < COUNT_KINDS; k++)
        l->last[i][k] = wire_u64(w);
}

static void load_all(struct legion *l, struct wire *w)
{
    unsigned begun = wire_u8(w), by_share = wire_u8(w);
    l->begun = begun;
    l->by_share = by_share;
    l->round = wire_u64(w);
    l->looks = wire_u64(w);
    l->ran = wire_u64(w);
    l->from_ns = (int64_t)wire_u64(w);
    l->since_ns = (int64_t)wire_u64(w);
    l->all_units = amount(w);
    for (int k = 0; k < COUNT_KINDS; k++)
        l->weight[k] = amount(w);
    for (int i = 0; i < l->deal.n_arms; i++)
        load_arm(l, i, w);
    deal_load(&l->deal, w);
    legion_counts_load(&l->counts, w);
    if (begun > 1 || by_share > 1 || l->from_ns < 0 || l->since_ns < l->from_ns || w->left ||
        l->since_ns - l->from_ns > l->o.round_ns ||
        l->looks > (uint64_t)(l->o.round_ns / l->o.check_ns + 1) ||
        (l->deal.n_arms < 64 && l->ran >> l->deal.n_arms))
        w->bad = true;
}

/* Into a second one, so that this one stays as it is if the bytes are damaged. */
int legion_load(struct sched *s, const void *data, size_t n, struct err *e)
{
    struct wire w = {.p = data, .left = n};
    struct legion *l = (struct legion *)s, *in = xmemdup(l, sizeof *l);
    legion_counts_init(&in->counts, s->n_arms, l->table);
    load_all(in, &w);
    bool bad = w.bad;
    legion_counts_free(bad ? &in->counts : &l->counts);
    if (!bad) {
        *l = *in;
        legion_shares(l);
    }
    free(in);
    return bad ? err_set(e, -EBADMSG, "the saved state of the scheduler legion is damaged") : 0;
}
