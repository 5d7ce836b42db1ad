/* phase: a campaign's life from its seeds to its end, one phase after the other. */
#include "campaign/state.h"

/* Seeds are measured, leftovers finished, arms tested: time starts to count. */
static int run_step(struct campaign *c, struct err *e)
{
    (void)e;
    if (c->since_ns < 0) {
        campaign_start_clock(c);
        pool_ready(c);
        for (int i = 0; i < c->n_slots; i++)
            loop_timer(c->loop, &c->slots[i].next, loop_now(c->loop));
    }
    return !(c->ending && slots_idle(c));
}

static int stop_step(struct campaign *c, struct err *e)
{
    (void)e;
    if (!c->told_to_stop) {
        c->told_to_stop = true;
        pool_stop(c);
    }
    return c->waiting_stop > 0;
}

static int (*const step[])(struct campaign *c, struct err *e) = {
    [PHASE_SEEDS] = seeds_step,         [PHASE_RECOVER] = recover_step, [PHASE_LATE] = late_step,
    [PHASE_SELFTESTS] = selftests_step, [PHASE_RUN] = run_step,         [PHASE_STOP] = stop_step,
    [PHASE_LATE_LAST] = late_step,
};

void campaign_next(struct campaign *c)
{
    struct err e = {0};
    int rc = 0;
    while (!c->failed && c->phase < PHASE_OVER && (rc = step[c->phase](c, &e)) == 0)
        c->phase++;
    if (rc < 0)
        campaign_fail(c, &e);
    else if (c->phase == PHASE_OVER)
        loop_stop(c->loop);
}
