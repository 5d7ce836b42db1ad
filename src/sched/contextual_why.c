/* contextual_why: in words, why the winner of a contextual decision won.  Reads the record alone. */
#include "sched/contextual.h"

#include "sched/schedulers.h"

bool contextual_undrawn(const struct decision *d)
{
    for (int i = 0; i < d->n_arms; i++)
        if (d->arm[i].noise != 0)
            return false;
    return true;
}

/* explore=0: no noise counted. */
static bool noise_counts(const struct decision *d)
{
    for (int i = 0; i < d->n_arms; i++)
        if (d->arm[i].draw != d->arm[i].mean)
            return true;
    return false;
}

static void say_exploration(const struct decision *d, const char *const *arms, struct buf *out)
{
    int expected = d->choice; /* the highest prediction */
    for (int i = 0; i < d->n_arms; i++)
        if (decision_may(d, i) && d->arm[i].mean > d->arm[expected].mean)
            expected = i;
    if (expected == d->choice)
        buf_str(out, "; its prediction alone was the highest too");
    else
        buf_printf(out, "; without exploration %s would have run (predicted %.4g)", arms[expected],
                   d->arm[expected].mean);
}

void contextual_why(const struct decision *d, const char *const *arms, struct buf *out)
{
    if (d->choice < 0) {
        buf_str(out, "no fuzzer can run");
        return;
    }
    const struct decision_arm *a = &d->arm[d->choice];
    int next = choose_second(d);
    bool noisy = noise_counts(d);
    if (contextual_undrawn(d)) {
        buf_printf(out, "warm-up: %s has not had its first turns yet, and goes first",
                   arms[d->choice]);
        return;
    }
    if (next < 0) {
        buf_printf(out, "%s is the only fuzzer that can run", arms[d->choice]);
        return;
    }
    if (noisy)
        buf_printf(out, "%s has the highest draw, %.4g: predicted %.4g, width %.4g, luck %+.2f",
                   arms[d->choice], a->draw, a->mean, a->width, a->noise);
    else
        buf_printf(out, "%s has the highest prediction, %.4g (exploration is off)", arms[d->choice],
                   a->mean);
    if (d->arm[next].draw == a->draw)
        buf_printf(out, "; tied with %s, it won by lot", arms[next]);
    else
        buf_printf(out, "; next is %s with %.4g", arms[next], d->arm[next].draw);
    if (noisy)
        say_exploration(d, arms, out);
}
