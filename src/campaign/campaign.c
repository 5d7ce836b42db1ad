/* campaign: making one, running it, ending it.  The loop itself is in loop.c. */
#include "campaign/state.h"

#include "base/die.h"
#include "base/fs.h"
#include "base/log.h"
#include "campaign/settings.h"
#include "proc/cpus.h"
#include "proc/sweep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void on_next(void *arg)
{
    slot_free(arg);
}

static int open_slots(struct campaign *c, struct err *e)
{
    int rc = 0, cpu[TALLY_SLOTS], claim[TALLY_SLOTS];
    if (c->o.jobs < 1 || c->o.jobs > TALLY_SLOTS)
        return err_usage(e, "a campaign has 1 to %d slots, not %d", TALLY_SLOTS, c->o.jobs);
    c->n_slots = c->o.jobs;
    c->slots = xcalloc((size_t)c->n_slots, sizeof *c->slots);
    cpus_take("carol-cpu", c->n_slots, cpu, claim);
    for (int i = 0; i < c->n_slots; i++) {
        struct slot *s = &c->slots[i];
        *s = (struct slot){.c = c, .n = i, .cpu = cpu[i], .claim = claim[i]};
        s->next = (struct timer){.fn = on_next, .arg = s};
    }
    for (int i = 0; rc == 0 && i < c->n_slots; i++)
        rc = c->env.open_evaluator(c->env.arg, &c->slots[i].ev, i, cpu[i], e);
    return rc;
}

static int begin_store(struct campaign *c, struct err *e)
{
    int rc = store_open(&c->store, c->o.out, c->o.resume ? STORE_RESUME : STORE_CREATE, e);
    if (rc < 0)
        return rc;
    if (c->o.resume) {
        c->new_budget_ns = c->o.budget_given ? c->o.budget_ns : -1;
        return settings_read(&c->o, c->store, e);
    }
    c->new_budget_ns = -1;
    char total[32];
    snprintf(total, sizeof total, "%u", c->env.table->n_edges);
    rc = store_begin(c->store, e);
    if (rc == 0)
        rc = settings_write(&c->o, c->store, e);
    if (rc == 0)
        rc = settings_host(c->store, e);
    if (rc == 0)
        rc = store_set(c->store, "edges_total", total, e);
    if (rc == 0)
        rc = store_set(c->store, "build_id", c->env.table->build_id, e);
    return rc == 0 ? store_commit(c->store, e) : rc;
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

int campaign_new(struct campaign **out, struct campaign_opts *o, const struct campaign_env *env,
                 const struct manifest *target, struct err *e)
{
    struct campaign *c = xcalloc(1, sizeof *c);
    c->o = *o;
    *o = (struct campaign_opts){0};
    c->env = *env;
    c->loop = env->loop;
    c->target = target;
    c->since_ns = -1;
    int rc = c->o.resume ? 0 : settings_resolve(&c->o, c->env.table, e);
    if (rc == 0 && (rc = fs_mkdirs(c->o.out, e)) < 0)
        e->exit = ERR_EXIT_USAGE;
    if (rc == 0)
        rc = begin_store(c, e);
    if (rc == 0)
        sweep_leftovers(c); /* we hold the lock: whatever has our mark is nobody's */
    if (rc == 0)
        rc = settings_check_build(c->store, c->env.table, c->o.build, e);
    if (rc == 0)
        rc = open_slots(c, e);
    if (rc == 0)
        rc = recover_load(c, e);
    if (rc < 0) {
        campaign_free(c);
        return rc;
    }
    *out = c;
    return 0;
}

/* Seeds are measured, leftovers finished, arms tested: time starts to count. */
void campaign_begin_turns(struct campaign *c)
{
    campaign_start_clock(c);
    c->started = true;
    c->f.tally.last_new_ns = campaign_now(c);
    if (c->stopping) {
        campaign_maybe_done(c);
        return;
    }
    for (int i = 0; i < c->n_slots; i++)
        loop_timer(c->loop, &c->slots[i].next, loop_now(c->loop));
}

/* Whatever the reason, the journal says how it ended; a killed campaign says nothing and is
 * "interrupted" for that. */
static int say_end(struct campaign *c, struct err *e)
{
    bool cut = strcmp(c->reason, "interrupted") == 0 || strcmp(c->reason, "failed") == 0;
    const char *state = cut ? "interrupted" : "ended";
    int64_t now = campaign_now(c);
    int rc = store_clock(c->store, now, e);
    for (int i = 0; rc == 0 && i < c->n_slots; i++) {
        struct store_slot *u = &c->slots[i].used;
        u->wall_ns = now;
        u->idle_ns = u->wall_ns - u->fuzz_ns - u->eval_ns;
        c->f.tally.slot[i] = *u;
        rc = store_slot_put(c->store, i, u, e);
    }
    if (rc == 0)
        rc = store_event(c->store, now, "end", c->reason, e);
    return rc == 0 ? store_set(c->store, "state", state, e) : rc;
}

int campaign_begin(struct campaign *c, struct err *e)
{
    int rc = store_set(c->store, "state", "running", e);
    if (rc == 0)
        rc = store_event(c->store, campaign_now(c), c->o.resume ? "resume" : "start", c->o.out, e);
    return rc == 0 ? seeds_begin(c, e) : rc;
}

int campaign_run(struct campaign *c, struct err *e)
{
    int rc = campaign_begin(c, e);
    if (rc < 0)
        campaign_fail(c, e);
    else if (!c->failed)
        loop_run(c->loop);
    loop_timer_clear(c->loop, &c->tick);
    loop_timer_clear(c->loop, &c->deadline);
    if (!c->reason)
        c->reason = rc < 0 ? "failed" : "ended";
    struct err late = {0};
    int end = say_end(c, &late);
    if (c->failed) {
        *e = c->error;
        return c->failed;
    }
    if (rc == 0 && end < 0) {
        *e = late;
        rc = end;
    }
    return rc;
}

/* Without a seed, or because of something the user must change, such as a build that cannot be used, before
 * any seed was measured. */
static bool came_to_nothing(struct campaign *c)
{
    struct store_totals t = {0};
    char *done = store_get(c->store, "seeds_done");
    bool wrong = c->failed && c->error.exit == ERR_EXIT_USAGE && !done;
    free(done);
    return wrong || (store_totals(c->store, &t, NULL) == 0 && t.seeds == 0);
}

/* A new campaign that came to nothing leaves nothing in the way of the next try. */
static void close_store(struct campaign *c)
{
    if (c->store && !c->o.resume && came_to_nothing(c))
        store_discard(c->store);
    else
        store_close(c->store);
}

void campaign_free(struct campaign *c)
{
    if (!c)
        return;
    for (int i = 0; i < c->n_slots; i++) {
        loop_timer_clear(c->loop, &c->slots[i].next);
        if (c->slots[i].turn)
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
    fold_free(&c->f);
    close_store(c);
    campaign_opts_free(&c->o);
    free(c);
}

const struct tally *campaign_tally(const struct campaign *c)
{
    return &c->f.tally;
}

int64_t campaign_elapsed(const struct campaign *c)
{
    return campaign_now(c);
}

int campaign_slot_arm(const struct campaign *c, int slot, bool *evaluating)
{
    const struct slot *s = &c->slots[slot];
    *evaluating = s->evaluating;
    return s->turn ? s->turn->row.arm : -1;
}

bool campaign_found_crash(const struct campaign *c)
{
    return c->found_crash;
}

const char *campaign_end_reason(const struct campaign *c)
{
    return c->reason;
}
