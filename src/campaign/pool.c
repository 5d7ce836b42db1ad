/* pool: the instances of all arms.  A dispatch gets the arm's most recently suspended idle instance, or a
 * new one when all are busy (METHOD R3).  Arms that are modes of one program share theirs when instances are fused
 * (METHOD R19e). */
#include "campaign/state.h"

#include "base/die.h"
#include "base/fs.h"
#include "base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void on_event(void *arg, struct instance *in, enum instance_event ev)
{
    struct member *m = arg;
    struct campaign *c = m->c;
    (void)in;
    if (ev == INSTANCE_STOPPED) {
        c->waiting_stop--;
        campaign_next(c);
        return;
    }
    if (c->ending == ENDING_AT_ONCE || !m->slot || !m->slot->turn || m->slot->measuring)
        return;
    if (ev == INSTANCE_PARKED || ev == INSTANCE_DIED)
        on_turn_done(m->slot->turn);
}

const char *arm_instances(const struct campaign *c, int arm)
{
    const char *name = c->f.tally.arm[arm].name;
    bool fused = c->o.instances == INSTANCES_FUSED && c->env.host;
    const char *host = fused ? c->env.host(name) : NULL;
    return host ? host : name;
}

int arm_host(const struct campaign *c, int arm)
{
    int first = 0;
    while (first < arm && strcmp(arm_instances(c, first), arm_instances(c, arm)) != 0)
        first++;
    return first;
}

void instance_opts_of(const struct campaign *c, int arm, int number, struct instance_opts *o)
{
    *o = (struct instance_opts){.fuzzer = arm_instances(c, arm),
                                .as = c->f.tally.arm[arm].name,
                                .number = number,
                                .target = c->target,
                                .args = c->o.args.n ? (const char *const *)c->o.args.v : NULL,
                                .dict = c->o.dict,
                                .timeout_ms = c->o.timeout_ms,
                                .exec_ms = c->exec_ms,
                                .mem_bytes = c->o.mem_bytes,
                                .varied = c->o.instances == INSTANCES_VARIED,
                                .seed = c->o.seed * 1000003u + (uint64_t)arm_host(c, arm) * 1009u +
                                        (uint64_t)number};
}

static int open_member(struct member *m, const char *cursor, struct err *e)
{
    struct campaign *c = m->c;
    struct instance_opts o;
    instance_opts_of(c, m->arm, m->number, &o);
    char *dir = str_fmt("%s/fuzzers/%s-%d", c->o.out, o.fuzzer, m->number);
    o.dir = dir;
    int rc = m->started ? 0 : fs_remove_tree(dir, e); /* half made by a killed supervisor */
    if (rc == 0)
        rc = c->env.open_instance(c->env.arg, &m->in, &o, e);
    if (rc == 0) {
        m->in->on_event = on_event;
        m->in->arg = m;
        free(m->in->cursor);
        m->in->cursor = cursor ? xstrdup(cursor) : NULL;
    }
    free(dir);
    return rc;
}

static struct member *new_member(struct campaign *c, const struct store_instance *row, int arm,
                                 struct err *e)
{
    struct member *m = xcalloc(1, sizeof *m);
    *m = (struct member){.c = c,
                         .row = row->id,
                         .arm = arm,
                         .host = arm_host(c, arm),
                         .number = row->number,
                         .started = row->started,
                         .owed = row->id != 0, /* a killed supervisor may have left claims */
                         .looked = PHASE_OVER};
    if (open_member(m, row->cursor, e) < 0) {
        free(m);
        return NULL;
    }
    c->n_members[m->host]++;
    struct member **last = &c->members;
    while (*last)
        last = &(*last)->next;
    return *last = m;
}

struct member *pool_add(struct campaign *c, const struct store_instance *row, struct err *e)
{
    int arm = row->last_arm;
    if (arm < 0 || arm >= c->f.tally.n_arms || strcmp(arm_instances(c, arm), row->fuzzer) != 0) {
        err_set(e, -EINVAL, "the campaign has an instance of '%s', which is not in its roster",
                row->fuzzer);
        return NULL;
    }
    return new_member(c, row, arm, e);
}

struct member *pool_take(struct campaign *c, int arm, struct err *e)
{
    int host = arm_host(c, arm);
    struct member *m = idle_pop(&c->idle[host]);
    struct store_instance fresh = {.number = c->n_members[host]};
    if (!m)
        return new_member(c, &fresh, arm, e);
    m->arm = arm;
    return m;
}

void pool_give_back(struct campaign *c, struct member *m)
{
    m->slot = NULL;
    if (c->phase == PHASE_RUN)
        idle_push(&c->idle[m->host], m);
}

void pool_ready(struct campaign *c)
{
    for (struct member *m = c->members; m; m = m->next)
        idle_push(&c->idle[m->host], m);
}

void pool_suspend(struct campaign *c)
{
    for (struct member *m = c->members; m; m = m->next)
        if (m->slot && !m->slot->measuring)
            m->in->ops->suspend(m->in);
}

void pool_stop(struct campaign *c)
{
    for (struct member *m = c->members; m; m = m->next)
        if (m->in->state != INST_NEW && m->in->state != INST_STOPPED && m->in->state != INST_DEAD) {
            c->waiting_stop++;
            m->in->ops->stop(m->in);
        }
}

void pool_free(struct campaign *c)
{
    for (int a = 0; a < SCHED_MAX_ARMS; a++)
        idle_free(&c->idle[a]);
    while (c->members) {
        struct member *m = c->members;
        c->members = m->next;
        m->in->ops->free(m->in);
        free(m);
    }
}
