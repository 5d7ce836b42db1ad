/* end: time, budgets, plateaus, signals, failure: everything about when a campaign stops. */
#include "campaign/state.h"

#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t campaign_now(const struct campaign *c)
{
    return c->since_ns < 0 ? c->before_ns : c->before_ns + loop_now(c->loop) - c->since_ns;
}

void campaign_note(struct campaign *c, const char *kind, const char *fmt, ...)
{
    char text[512];
    struct err e = {0};
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    log_info("%s", text);
    if (store_event(c->store, campaign_now(c), kind, text, &e) < 0)
        campaign_fail(c, &e);
}

int arm_index(const struct campaign *c, const char *name)
{
    for (int a = 0; a < c->f.tally.n_arms; a++)
        if (strcmp(c->f.tally.arm[a].name, name) == 0)
            return a;
    return -1;
}

uint64_t arms_dropped(const struct campaign *c)
{
    uint64_t mask = 0;
    for (int a = 0; a < c->f.tally.n_arms; a++)
        mask |= (uint64_t)c->f.tally.arm[a].dropped << a;
    return mask;
}

void arm_drop(struct campaign *c, int arm, const char *why)
{
    struct tally_arm *a = &c->f.tally.arm[arm];
    if (a->dropped)
        return;
    a->dropped = true;
    snprintf(a->why, sizeof a->why, "%s", why);
    struct err e = {0};
    char *key = str_fmt("dropped.%s", a->name);
    if (store_set(c->store, key, why, &e) < 0)
        campaign_fail(c, &e);
    free(key);
    campaign_note(c, "dropped", "%s is dropped: %s", a->name, why);
    int left = 0;
    for (int i = 0; i < c->f.tally.n_arms; i++)
        left += !c->f.tally.arm[i].dropped;
    if (!left) {
        err_env(
            &e,
            "no fuzzer can run on this target; the last one (%s) was dropped because: %s. 'carol "
            "engine selftest -b %s' tells more",
            a->name, why, c->o.build ? c->o.build : "DIR");
        campaign_fail(c, &e);
    }
}

void campaign_drop(struct campaign *c, const char *fuzzer, const char *why)
{
    int arm = arm_index(c, fuzzer);
    if (arm >= 0)
        arm_drop(c, arm, why);
}

void campaign_fail(struct campaign *c, const struct err *e)
{
    if (!c->failed) {
        c->failed = e->code < 0 ? e->code : -EIO;
        c->error = *e;
        c->reason = "failed";
    }
    c->stopping = 2;
    loop_stop(c->loop);
}

void campaign_finish(struct campaign *c, const char *reason)
{
    if (c->stopping)
        return;
    c->stopping = 1;
    c->reason = reason;
    pool_suspend(c);
    campaign_maybe_done(c);
}

void campaign_interrupt(struct campaign *c)
{
    if (c->started && c->stopping < 2 && !c->interrupted) { /* also while a used budget ends it */
        c->interrupted = true;
        log_info("finishing the running turns; once more stops at once");
        campaign_finish(c, "interrupted");
        return;
    }
    c->reason = "interrupted";
    c->stopping = 2;
    loop_stop(c->loop);
}

static void leave_loop(struct campaign *c)
{
    loop_stop(c->loop);
}

/* All slots idle: stop the fuzzers; all fuzzers stopped: gather what they saved meanwhile, leave the loop. */
void campaign_maybe_done(struct campaign *c)
{
    if (!c->stopping)
        return;
    for (int i = 0; i < c->n_slots; i++)
        if (c->slots[i].turn)
            return;
    if (c->waiting_stop == 0 && c->started) {
        c->started = false;
        pool_stop(c);
    }
    if (c->waiting_stop > 0 || c->leaving)
        return;
    c->leaving = true;
    if (c->stopping == 2)
        leave_loop(c);
    else
        late_begin(c, leave_loop);
}

/* No turn starts in the last 10 s of a 120 s-turn campaign (schedulers.md 5 item 12), scaled; a budget
 * shorter than a turn is one turn. */
bool campaign_spent(const struct campaign *c)
{
    int64_t budget = c->o.budget_ns, turn = c->o.turn_ns < budget ? c->o.turn_ns : budget;
    return budget && campaign_now(c) >= budget - turn / 12;
}

bool campaign_over(struct campaign *c)
{
    if (!c->stopping && c->o.stop_on_crash && c->found_crash)
        campaign_finish(c, "crash found");
    if (!c->stopping && campaign_spent(c)) {
        bool busy = false;
        for (int i = 0; i < c->n_slots; i++)
            busy = busy || c->slots[i].turn;
        if (!busy)
            campaign_finish(c, "budget used");
        return true;
    }
    campaign_maybe_done(c);
    return c->stopping != 0;
}

static void on_deadline(void *arg)
{
    struct campaign *c = arg;
    campaign_finish(c, "budget used");
}

static void watch_plateau(struct campaign *c)
{
    int64_t quiet = campaign_now(c) - c->f.tally.last_new_ns;
    if (c->o.plateau_ns && quiet >= c->o.plateau_ns)
        campaign_finish(c, "plateau");
    bool flat = quiet > 30 * c->o.turn_ns;
    if (flat && !c->plateau_told)
        campaign_note(
            c, "plateau",
            "no new edge for %lld s: more seeds, a dictionary (-x) or another harness may "
            "help more than more time",
            (long long)(quiet / NS_PER_S));
    c->plateau_told = flat;
}

static void on_tick(void *arg)
{
    struct campaign *c = arg;
    struct err e = {0};
    c->f.tally.elapsed_ns = campaign_now(c);
    tally_point(&c->f.tally, c->f.tally.elapsed_ns);
    if (store_clock(c->store, c->f.tally.elapsed_ns, &e) < 0) {
        campaign_fail(c, &e);
        return;
    }
    if (c->started && !c->stopping)
        watch_plateau(c);
    if (c->env.progress)
        c->env.progress(c->env.arg, c);
    /* A long virtual campaign need not tick every second of it. */
    int64_t every = c->o.turn_ns / 2 > 5 * NS_PER_S ? 5 * NS_PER_S : NS_PER_S;
    loop_timer(c->loop, &c->tick, loop_now(c->loop) + (c->env.progress ? NS_PER_S : every));
}

void campaign_start_clock(struct campaign *c)
{
    c->since_ns = loop_now(c->loop);
    c->tick = (struct timer){.fn = on_tick, .arg = c};
    loop_timer(c->loop, &c->tick, c->since_ns + NS_PER_S);
    c->deadline = (struct timer){.fn = on_deadline, .arg = c};
    if (c->o.budget_ns)
        loop_timer(c->loop, &c->deadline, c->since_ns + c->o.budget_ns - c->before_ns);
}
