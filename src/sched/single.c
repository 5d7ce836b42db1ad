/* single: one named fuzzer, always: the bare fuzzer under Carol's accounting, for comparison. */
#include "base/die.h"
#include "sched/params.h"
#include "sched/schedulers.h"

#include <stdlib.h>
#include <string.h>

struct single {
    struct sched base;
    int arm;
};

static int single_create(struct sched **out, const char *arg, const struct sched_settings *st,
                         struct err *e)
{
    int rc = params_read(NULL, NULL, "single", st, e), arm = 0;
    if (rc < 0)
        return rc;
    while (arm < st->n_arms && strcmp(st->arms[arm], arg) != 0)
        arm++;
    if (arm == st->n_arms) {
        struct buf b = BUF_INIT(512);
        for (int i = 0; i < st->n_arms; i++)
            buf_printf(&b, "%s%s", i ? ", " : "", st->arms[i]);
        rc = err_usage(e, "--scheduler single:%s: no such fuzzer in this campaign; there are: %s",
                       arg, b.p);
        buf_free(&b);
        return rc;
    }
    struct single *q = xcalloc(1, sizeof *q);
    q->arm = arm;
    *out = &q->base;
    return 0;
}

static void single_pick(struct sched *s, struct decision *d)
{
    int arm = ((struct single *)s)->arm;
    d->choice = !decision_may(d, arm) ? -1 : arm;
}

static void single_learn(struct sched *s, const struct decision *d, const struct sched_outcome *o)
{
    (void)s;
    (void)d;
    (void)o;
}

static void single_save(const struct sched *s, struct buf *out)
{
    char arm = (char)((const struct single *)s)->arm;
    buf_add(out, &arm, 1);
}

static void single_free(struct sched *s)
{
    free(s);
}

const struct sched_ops sched_single = {
    .name = "single:",
    .summary = "only the fuzzer NAME, for comparison",
    .create = single_create,
    .pick = single_pick,
    .learn = single_learn,
    .save = single_save,
    .free = single_free,
};
