/* deal: whole cores from shares, and whose turn it is.  Knows no scheduler's rule. */
#include "sched/deal.h"

#include "base/die.h"
#include "sched/schedulers.h"

/* The weights that count: 0 for arms that cannot run; the same for all others if none of them has any. */
static uint64_t effective(const struct deal *d, uint64_t weight[SCHED_MAX_ARMS])
{
    uint64_t sum = 0;
    for (int i = 0; i < d->n_arms; i++)
        sum += weight[i] = deal_may(d, i) ? d->weight[i] : 0;
    if (sum)
        return sum;
    for (int i = 0; i < d->n_arms; i++)
        sum += weight[i] = deal_may(d, i);
    return sum;
}

/* The arm to round up next: the largest remainder, then the larger weight, then the first in the order. */
static int best_remainder(const struct deal *d, const uint64_t *weight, const uint64_t *rest)
{
    int best = d->order[0];
    for (int i = 1; i < d->n_arms; i++) {
        int arm = d->order[i];
        if (rest[arm] > rest[best] || (rest[arm] == rest[best] && weight[arm] > weight[best]))
            best = arm;
    }
    return best;
}

static void make_whole(struct deal *d)
{
    uint64_t weight[SCHED_MAX_ARMS], rest[SCHED_MAX_ARMS], sum = effective(d, weight);
    d->slots = d->asked ? d->asked : d->n_arms - __builtin_popcountll(d->dropped);
    int left = d->slots;
    for (int i = 0; i < d->n_arms; i++) {
        uint64_t whole = weight[i] * (uint64_t)d->slots;
        d->share[i] = (double)weight[i] / (double)sum;
        d->cores[i] = (int)(whole / sum);
        rest[i] = whole % sum;
        left -= d->cores[i];
    }
    for (; left > 0; left--) {
        int up = best_remainder(d, weight, rest);
        d->cores[up]++;
        rest[up] = 0;
    }
}

void deal_init(struct deal *d, int n_arms, uint64_t seed)
{
    *d = (struct deal){.n_arms = n_arms};
    choose_order(seed, n_arms, d->order);
    deal_start(d, NULL, DEAL_ONE_EACH);
}

void deal_start(struct deal *d, const uint64_t *weight, int slots)
{
    BUG_ON(slots < 0);
    d->asked = slots < DEAL_MAX_SLOTS ? slots : DEAL_MAX_SLOTS;
    d->next = 0;
    for (int i = 0; i < d->n_arms; i++) {
        uint64_t w = weight ? weight[i] : 1;
        d->weight[i] = w < DEAL_MAX_WEIGHT ? w : DEAL_MAX_WEIGHT;
    }
    make_whole(d);
}

bool deal_without(struct deal *d, uint64_t dropped)
{
    uint64_t all = d->n_arms < 64 ? (UINT64_C(1) << d->n_arms) - 1 : UINT64_MAX;
    dropped &= all;
    if (dropped == all)
        return false;
    if (dropped != d->dropped) {
        d->dropped = dropped;
        d->next = 0;
        make_whole(d);
    }
    return true;
}

int deal_next(struct deal *d, uint64_t dropped)
{
    if (!deal_without(d, dropped))
        return -1;
    const int *arm = d->order;
    for (int slot = d->next; slot >= d->cores[*arm]; arm++)
        slot -= d->cores[*arm];
    d->next = (d->next + 1) % d->slots;
    return *arm;
}

void deal_save(const struct deal *d, struct buf *out)
{
    wire_put_u64(out, (uint64_t)d->asked);
    wire_put_u64(out, (uint64_t)d->next);
    wire_put_u64(out, d->dropped);
    for (int i = 0; i < d->n_arms; i++)
        wire_put_u64(out, d->weight[i]);
}
