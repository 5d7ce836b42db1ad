/* sched: the table of schedulers, their names, and what is common to all.  Decides nothing. */
#include "sched/sched.h"

#include "base/str.h"
#include "sched/params.h"
#include "sched/schedulers.h"
#include "sched/wire.h"

#include <string.h>

#define STATE_VERSION 1

const struct sched_ops *const sched_table[] = {
    &sched_contextual, &sched_phase, &sched_bandfuzz, &sched_autofz, &sched_legion,
    &sched_rate,       &sched_equal, &sched_random,   &sched_single, NULL};

static const struct sched_ops *find(const char *name, const char **arg)
{
    for (int i = 0; sched_table[i]; i++) {
        const char *n = sched_table[i]->name;
        size_t len = strlen(n);
        bool takes = n[len - 1] == ':';
        if (takes ? str_starts(name, n) : strcmp(name, n) == 0) {
            *arg = takes ? name + len : NULL;
            return sched_table[i];
        }
    }
    return NULL;
}

const struct sched_ops *sched_find(const char *name)
{
    const char *arg;
    return find(name, &arg);
}

static int unknown(const char *name, struct err *e)
{
    struct buf b = BUF_INIT(512);
    for (int i = 0; sched_table[i]; i++)
        buf_printf(&b, "%s%s%s", i ? ", " : "", sched_table[i]->name,
                   str_ends(sched_table[i]->name, ":") ? "NAME" : "");
    int rc = err_usage(e, "--scheduler %s: there is no such scheduler; there are: %s", name, b.p);
    buf_free(&b);
    return rc;
}

int sched_new(struct sched **out, const char *name, const struct sched_settings *st, struct err *e)
{
    const char *arg = NULL;
    const struct sched_ops *ops = find(name, &arg);
    *out = NULL;
    if (!ops)
        return unknown(name, e);
    if (st->n_arms < 1 || st->n_arms > SCHED_MAX_ARMS)
        return err_usage(e, "a campaign takes 1 to %d fuzzers, not %d", SCHED_MAX_ARMS, st->n_arms);
    int rc = ops->create(out, arg, st, e);
    if (rc < 0)
        return rc;
    (*out)->ops = ops;
    (*out)->n_arms = st->n_arms;
    return 0;
}

void sched_pick(struct sched *s, struct decision *d)
{
    s->ops->pick(s, d);
}

void sched_tick(struct sched *s, int64_t now_ns, const struct ledger *map)
{
    if (s->ops->tick)
        s->ops->tick(s, now_ns, map);
}

void sched_learn(struct sched *s, const struct decision *d, const struct sched_outcome *o)
{
    s->ops->learn(s, d, o);
}

int sched_without(const struct sched *s, const struct decision *d, enum signal_id signal)
{
    return sched_reads_signals(s) ? s->ops->without(s, d, signal) : d->choice;
}

bool sched_reads_signals(const struct sched *s)
{
    return s->ops->without && !s->blind;
}

bool sched_is_warmup(const struct sched_ops *ops, const struct decision *d)
{
    return d->choice >= 0 && ops->is_warmup && ops->is_warmup(d);
}

void sched_save(const struct sched *s, struct buf *out)
{
    wire_put_u8(out, STATE_VERSION);
    wire_put_u8(out, (uint8_t)s->n_arms);
    buf_add(out, s->ops->name, strlen(s->ops->name) + 1);
    s->ops->save(s, out);
}

void sched_free(struct sched *s)
{
    if (s)
        s->ops->free(s);
}

void sched_describe(const struct sched *s, struct buf *out)
{
    if (s->ops->params)
        params_print(s->ops->params, s->opts, out);
}

int sched_help(const char *name, struct buf *out, struct err *e)
{
    const char *arg = NULL;
    const struct sched_ops *ops = find(name, &arg);
    if (!ops)
        return unknown(name, e);
    buf_printf(out, "%s: %s\n", name, ops->summary);
    if (ops->params)
        params_help(ops->params, out);
    else
        buf_str(out, "  no options\n");
    return 0;
}
