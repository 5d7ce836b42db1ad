/* campaign: making one, running it, ending it.  The loop itself is in loop.c. */
#include "campaign/state.h"

#include "base/die.h"
#include "base/fs.h"
#include "base/log.h"
#include "journal/write.h"
#include "proc/cpus.h"
#include "proc/sweep.h"
#include "triage/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void on_next_decision(void *arg)
{
    on_slot_free(arg);
}

static void on_next_step(void *arg)
{
    campaign_next(arg);
}

static int open_slots(struct campaign *c, struct err *e)
{
    int rc = 0, cpu[GAUGE_SLOTS], claim[GAUGE_SLOTS];
    if (c->o.jobs < 1 || c->o.jobs > GAUGE_SLOTS)
        return err_usage(e, "a campaign has 1 to %d slots, not %d", GAUGE_SLOTS, c->o.jobs);
    c->n_slots = c->gauges.n_slots = c->o.jobs;
    c->slots = xcalloc((size_t)c->n_slots, sizeof *c->slots);
    cpus_take("carol-cpu", c->n_slots, cpu, claim);
    for (int i = 0; i < c->n_slots; i++) {
        struct slot *s = &c->slots[i];
        *s = (struct slot){.c = c, .n = i, .cpu = cpu[i], .claim = claim[i]};
        s->next = (struct timer){.fn = on_next_decision, .arg = s};
    }
    for (int i = 0; rc == 0 && i < c->n_slots; i++)
        rc = c->env.open_evaluator(c->env.arg, &c->slots[i].ev, i, cpu[i], e);
    return rc;
}

static int open_store(struct campaign *c, struct err *e)
{
    int rc = store_open(&c->store, c->o.out, c->o.resume ? STORE_RESUME : STORE_CREATE, e);
    c->new_budget_ns = c->o.resume && c->o.budget_given ? c->o.budget_ns : -1;
    if (rc == 0)
        rc = c->o.resume ? settings_read(&c->o, c->store, e)
                         : journal_start(c->store, &c->o, c->env.table, false, e);
    return rc;
}

/* Everything we start inherits the mark. */
static void sweep_leftovers(struct campaign *c)
{
    char *mark = str_fmt("CAROL_CAMPAIGN=%s", c->o.out);
    int n = sweep_processes(mark);
    if (n)
        log_info("%d processes of a killed campaign were still there; they are gone", n);
    setenv("CAROL_CAMPAIGN", c->o.out, 1);
    free(mark);
}

int campaign_new(struct campaign **out, struct settings *o, const struct campaign_env *env,
                 const struct manifest *target, struct err *e)
{
    struct campaign *c = xcalloc(1, sizeof *c);
    c->o = *o;
    *o = (struct settings){0};
    c->env = *env;
    c->loop = env->loop;
    c->target = target;
    c->since_ns = -1;
    c->next = (struct timer){.fn = on_next_step, .arg = c};
    int rc = c->o.resume ? 0 : settings_resolve(&c->o, c->env.table, e);
    if (rc == 0 && (rc = fs_mkdirs_durable(c->o.out, e)) < 0)
        e->exit = ERR_EXIT_USAGE;
    if (rc == 0)
        rc = open_store(c, e);
    if (rc == 0)
        sweep_leftovers(c); /* we hold the lock: whatever has our mark is nobody's */
    if (rc == 0)
        rc = journal_check_build(c->store, c->env.table, c->o.build, e);
    if (rc == 0)
        rc = open_slots(c, e);
    if (rc == 0)
        rc = journal_exec_ms(c->store, &c->o, &c->exec_ms, e);
    if (rc == 0)
        rc = recover_load(c, e);
    if (rc == 0)
        rc = defects_watch(c, e);
    if (rc < 0) {
        campaign_free(c);
        return rc;
    }
    *out = c;
    return 0;
}

int campaign_begin(struct campaign *c, struct err *e)
{
    struct store_fact state = {"state", "running"};
    int rc = store_put(c->store, &state, 1, e);
    if (rc == 0)
        rc = store_event(c->store, campaign_now(c), c->o.resume ? "resume" : "start", c->o.out, e);
    if (rc == 0)
        rc = versions_record(c, e);
    if (rc < 0)
        return rc;
    campaign_next(c);
    if (c->failed)
        *e = c->error;
    return c->failed;
}

int campaign_run(struct campaign *c, struct err *e)
{
    int rc = campaign_begin(c, e);
    if (rc < 0)
        campaign_fail(c, e);
    else
        loop_run(c->loop);
    loop_timer_clear(c->loop, &c->tick);
    loop_timer_clear(c->loop, &c->deadline);
    while (!c->failed && c->ending != ENDING_AT_ONCE && !hook_idle(c->hook) &&
           loop_step(c->loop, -1))
        ; /* each has its time limit */
    if (!c->reason)
        c->reason = "ended";
    /* Whatever the reason, the journal says how it ended; a killed campaign says nothing and is
     * "interrupted" for that. */
    struct err late = {0};
    bool cut = strcmp(c->reason, "interrupted") == 0 || strcmp(c->reason, "failed") == 0;
    int end =
        journal_rest(c->store, campaign_now(c), c->gauges.slot, c->n_slots, c->reason, !cut, &late);
    if (c->failed) {
        *e = c->error;
        return c->failed;
    }
    if (end < 0)
        *e = late;
    return end;
}

/* Without a seed, or because of something the user must change, such as a build that cannot be used, before
 * any seed was measured. */
static bool came_to_nothing(struct campaign *c)
{
    struct store_totals t = {0};
    enum seeds_state seeds;
    if (journal_seeds_state(c->store, &seeds, NULL) < 0 || store_totals(c->store, &t, NULL) < 0)
        return false;
    return t.seeds == 0 || (c->failed && c->error.exit == ERR_EXIT_USAGE && seeds == SEEDS_OPEN);
}

void campaign_free(struct campaign *c)
{
    if (!c)
        return;
    loop_timer_clear(c->loop, &c->next);
    for (int i = 0; i < c->n_slots; i++) {
        loop_timer_clear(c->loop, &c->slots[i].next);
        turn_free(c->slots[i].turn);
    }
    for (size_t i = c->next_recover; i < c->n_recover; i++)
        turn_free(c->recover[i]);
    free(c->recover);
    seeds_free(c);
    pool_free(c);
    for (int i = 0; i < c->n_slots; i++) {
        if (c->slots[i].ev)
            c->slots[i].ev->ops->free(c->slots[i].ev);
        if (c->slots[i].claim > 0)
            close(c->slots[i].claim);
    }
    free(c->slots);
    live_free(c->live);
    hook_free(c->hook);
    fold_free(&c->f);
    exchange_free(c->exchange);
    if (c->store && !c->o.resume && came_to_nothing(c))
        store_discard(c->store); /* nothing is left in the way of the next try */
    else
        store_close(c->store);
    settings_free(&c->o);
    free(c);
}

void campaign_watch(struct campaign *c, campaign_watch_fn *fn, void *arg)
{
    BUG_ON(c->n_watchers == CAMPAIGN_WATCHERS);
    c->watcher[c->n_watchers++] = (struct watcher){fn, arg};
}

const struct settings *campaign_settings(const struct campaign *c)
{
    return &c->o;
}

const struct tally *campaign_tally(const struct campaign *c)
{
    return &c->f.tally;
}

const struct gauges *campaign_gauges(const struct campaign *c)
{
    return &c->gauges;
}

void campaign_status(const struct campaign *c, struct status *st)
{
    *st = (struct status){.state = "running", .tally = c->f.tally, .gauges = c->gauges};
}

int campaign_look_at_triage(struct campaign *c, struct err *e)
{
    struct defects d;
    int64_t now = loop_now(c->loop), old = now - c->look.at_ns;
    bool due = !c->look.at_ns || (old >= NS_PER_S && old >= 1000 * c->look.cost_ns);
    if (!due && !c->look.stale)
        return 0;
    int rc = defects_load(&d, c->store, e);
    if (rc < 0)
        return rc;
    defects_gauges(&d, &c->f.tally, &c->gauges);
    defects_free(&d);
    c->look.stale = false;
    c->look.at_ns = loop_now(c->loop);
    c->look.cost_ns = c->look.at_ns - now;
    return 0;
}

int64_t campaign_elapsed(const struct campaign *c)
{
    return campaign_now(c);
}

int64_t campaign_quiet(const struct campaign *c)
{
    int64_t last = c->f.tally.last_new_ns;
    return campaign_now(c) - (last > c->quiet_ns ? last : c->quiet_ns);
}

int campaign_slot_arm(const struct campaign *c, int slot, bool *measuring)
{
    const struct slot *s = &c->slots[slot];
    *measuring = s->measuring;
    return s->turn ? s->turn->row.arm : -1;
}

bool campaign_found_crash(const struct campaign *c)
{
    return c->found_crash;
}

bool campaign_cut_off(const struct campaign *c)
{
    return c->ending == ENDING_AT_ONCE;
}

bool campaign_found_defects(const struct campaign *c)
{
    return c->o.stop_on_defect && live_defects(c->live) >= (size_t)c->o.stop_on_defect;
}

const char *campaign_end_reason(const struct campaign *c)
{
    return c->reason;
}
