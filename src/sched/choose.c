/* choose: the two ways in which schedulers choose: by warm-up and by the largest draw.  Computes no
 * draws. */
#include "sched/schedulers.h"

void choose_order(uint64_t seed, int n, int order[SCHED_MAX_ARMS])
{
    struct rng rng;
    rng_stream(&rng, seed, "order");
    for (int i = 0; i < n; i++)
        order[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int k = (int)rng_below(&rng, (uint64_t)i + 1), arm = order[i];
        order[i] = order[k];
        order[k] = arm;
    }
}

int choose_warmup(const struct decision *d, const int *order, const uint64_t *dispatched, int turns)
{
    int first = -1;
    for (int i = 0; i < d->n_arms; i++) {
        int arm = order[i];
        if (decision_may(d, arm) && dispatched[arm] < (uint64_t)turns &&
            (first < 0 || dispatched[arm] < dispatched[first]))
            first = arm;
    }
    return first;
}

int choose_largest(const struct decision *d, struct rng *rng)
{
    int best[SCHED_MAX_ARMS], n = 0;
    for (int i = 0; i < d->n_arms; i++) {
        if (!decision_may(d, i) || (n && d->arm[i].draw < d->arm[best[0]].draw))
            continue;
        if (n && d->arm[i].draw > d->arm[best[0]].draw)
            n = 0;
        best[n++] = i;
    }
    if (n < 2)
        return n ? best[0] : -1;
    return best[rng ? rng_below(rng, (uint64_t)n) : 0];
}

int choose_second(const struct decision *d)
{
    int second = -1;
    for (int i = 0; i < d->n_arms; i++)
        if (i != d->choice && decision_may(d, i) &&
            (second < 0 || d->arm[i].draw > d->arm[second].draw))
            second = i;
    return second;
}
