/* end: time, budgets, plateaus, signals, failure: everything about when a campaign stops. */
#include "campaign/state.h"

#include "base/log.h"
#include "journal/write.h"

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
    int64_t now = campaign_now(c);
    if (store_event(c->store, now, kind, text, &e) < 0)
        campaign_fail(c, &e);
    gauge_clock(&c->gauges, now);
}

void arm_drop(struct campaign *c, int arm, const char *why)
{
    const char *name = c->f.tally.arm[arm].name;
    struct gauges *g = &c->gauges;
    struct err e = {0};
    if (gauge_dropped(g, arm))
        return;
    g->dropped |= UINT64_C(1) << arm;
    snprintf(g->why[arm], sizeof g->why[arm], "%s", why);
    if (journal_set_dropped(c->store, name, why, &e) < 0)
        campaign_fail(c, &e);
    campaign_note(c, "dropped", "%s is dropped: %s", name, why);
    for (int i = 0; i < c->f.tally.n_arms; i++)
        if (!gauge_dropped(g, i))
            return;
    err_env(&e,
            "no fuzzer can run on this target; the last one (%s) was dropped because: %s. 'carol "
            "engine selftest -b %s' tells more",
            name, why, c->o.build ? c->o.build : "DIR");
    campaign_fail(c, &e);
}

void campaign_fail(struct campaign *c, const struct err *e)
{
    if (!c->failed) {
        c->failed = e->code < 0 ? e->code : -EIO;
        c->error = *e;
        c->reason = "failed";
    }
    c->ending = ENDING_AT_ONCE;
    loop_stop(c->loop);
}

static void finish(struct campaign *c, const char *reason)
{
    if (c->ending)
        return;
    c->ending = ENDING_CLEANLY;
    c->reason = reason;
    pool_suspend(c);
    loop_timer(c->loop, &c->next, loop_now(c->loop)); /* all may be idle already */
}

void campaign_interrupt(struct campaign *c)
{
    bool clean = c->phase >= PHASE_RUN && c->ending != ENDING_AT_ONCE && !c->interrupted;
    if (!clean) {
        c->reason = "interrupted";
        c->ending = ENDING_AT_ONCE;
        loop_stop(c->loop);
        return;
    }
    c->interrupted = true;
    log_info(c->phase == PHASE_RUN ? "finishing the running turns; once more stops at once"
                                   : "it is ending; once more stops at once");
    finish(c, "interrupted"); /* unless it ends already, of a used budget */
}

bool slots_idle(const struct campaign *c)
{
    for (int i = 0; i < c->n_slots; i++)
        if (c->slots[i].turn)
            return false;
    return true;
}

bool campaign_goes_on(struct campaign *c)
{
    bool too_late = fold_too_late(&c->f, campaign_now(c));
    if (c->o.stop_on_crash && c->found_crash)
        finish(c, "crash found");
    else if (campaign_found_defects(c))
        finish(c, "defects found");
    else if (too_late && slots_idle(c))
        finish(c, "budget used");
    return !c->ending && !too_late;
}

/* --- time --------------------------------------------------------------------------------------- */

static void on_deadline(void *arg)
{
    finish(arg, "budget used");
}

static void watch_plateau(struct campaign *c)
{
    int64_t quiet = campaign_quiet(c);
    if (c->o.plateau_ns && quiet >= c->o.plateau_ns)
        finish(c, "plateau");
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
    gauge_clock(&c->gauges, campaign_now(c));
    if (store_clock(c->store, c->gauges.elapsed_ns, &e) < 0) {
        campaign_fail(c, &e);
        return;
    }
    if (c->phase == PHASE_RUN && !c->ending)
        watch_plateau(c);
    live_pump(c->live, c->gauges.elapsed_ns);
    if (c->phase == PHASE_RUN && !c->ending && campaign_found_defects(c))
        finish(c, "defects found");
    for (int i = 0; i < c->n_watchers; i++)
        c->watcher[i].fn(c->watcher[i].arg, c);
    /* A long virtual campaign that nobody watches need not tick every second of it. */
    bool rarely = !c->n_watchers && c->o.turn_ns > 10 * NS_PER_S;
    loop_timer(c->loop, &c->tick, loop_now(c->loop) + (rarely ? 5 : 1) * NS_PER_S);
}

void campaign_start_clock(struct campaign *c)
{
    int64_t budget = c->f.tally.budget_ns;
    c->since_ns = loop_now(c->loop);
    c->quiet_ns = campaign_now(c);
    c->tick = (struct timer){.fn = on_tick, .arg = c};
    loop_timer(c->loop, &c->tick, c->since_ns + NS_PER_S);
    c->deadline = (struct timer){.fn = on_deadline, .arg = c};
    if (budget)
        loop_timer(c->loop, &c->deadline, c->since_ns + budget - c->before_ns);
}
