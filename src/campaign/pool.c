/* pool: the instances of all arms.  A dispatch gets the arm's most recently suspended idle instance, or a
 * new one when all are busy (SPEC 1). */
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
        campaign_maybe_done(c);
        return;
    }
    if (c->stopping == 2 || !m->slot || !m->slot->turn || m->slot->evaluating)
        return;
    if (ev == INSTANCE_PARKED || ev == INSTANCE_DIED)
        turn_done(m->slot->turn);
}

void instance_opts_of(const struct campaign *c, int arm, int number, struct instance_opts *o)
{
    *o = (struct instance_opts){.fuzzer = c->f.tally.arm[arm].name,
                                .number = number,
                                .target = c->target,
                                .args = c->o.args.n ? (const char *const *)c->o.args.v : NULL,
                                .dict = c->o.dict,
                                .timeout_ms = c->o.timeout_ms,
                                .mem_bytes = c->o.mem_bytes,
                                .seed = c->o.seed * 1000003u + (uint64_t)arm * 1009u +
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

struct member *pool_add(struct campaign *c, const struct store_instance *row, struct err *e)
{
    struct member *m = xcalloc(1, sizeof *m);
    *m = (struct member){.c = c,
                         .row = row->id,
                         .arm = arm_index(c, row->fuzzer),
                         .number = row->number,
                         .started = row->started,
                         .shared = row->shared,
                         .idle_since = row->id};
    if (m->arm < 0) {
        err_set(e, -EINVAL, "the campaign has an instance of '%s', which is not in its roster",
                row->fuzzer);
        free(m);
        return NULL;
    }
    if (open_member(m, row->cursor, e) < 0) {
        free(m);
        return NULL;
    }
    m->next = c->members;
    c->members = m;
    return m;
}

struct member *pool_take(struct campaign *c, int arm, struct err *e)
{
    struct member *best = NULL;
    int count = 0;
    for (struct member *m = c->members; m; m = m->next) {
        count += m->arm == arm;
        if (m->arm == arm && !m->slot && (!best || m->idle_since > best->idle_since))
            best = m;
    }
    if (best)
        return best;
    struct store_instance row = {.number = count};
    snprintf(row.fuzzer, sizeof row.fuzzer, "%s", c->f.tally.arm[arm].name);
    if (store_add_instance(c->store, row.fuzzer, row.number, &row.id, e) < 0)
        return NULL;
    return pool_add(c, &row, e);
}

void pool_idle(struct campaign *c, struct member *m)
{
    m->slot = NULL;
    m->idle_since = loop_now(c->loop);
}

void pool_suspend(struct campaign *c)
{
    for (struct member *m = c->members; m; m = m->next)
        if (m->slot && !m->slot->evaluating)
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
    while (c->members) {
        struct member *m = c->members;
        c->members = m->next;
        m->in->ops->free(m->in);
        free(m);
    }
}
