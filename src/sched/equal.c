/* equal: round robin in an order that the seed draws, skipping dropped arms.  Learns nothing. */
#include "base/die.h"
#include "sched/params.h"
#include "sched/schedulers.h"
#include "sched/wire.h"

#include <stdlib.h>

struct equal {
    struct sched base;
    int order[SCHED_MAX_ARMS];
    int next; /* place in the order */
};

static int equal_create(struct sched **out, const char *arg, const struct sched_settings *st,
                        struct err *e)
{
    (void)arg;
    int rc = params_read(NULL, NULL, "equal", st, e);
    if (rc < 0)
        return rc;
    struct equal *q = xcalloc(1, sizeof *q);
    choose_order(st->seed, st->n_arms, q->order);
    *out = &q->base;
    return 0;
}

static void equal_pick(struct sched *s, struct decision *d)
{
    struct equal *q = (struct equal *)s;
    for (int i = 0; i < s->n_arms; i++) {
        int place = (q->next + i) % s->n_arms;
        if (!decision_may(d, q->order[place]))
            continue;
        d->choice = q->order[place];
        q->next = (place + 1) % s->n_arms;
        return;
    }
}

static void equal_learn(struct sched *s, const struct decision *d, const struct sched_outcome *o)
{
    (void)s;
    (void)d;
    (void)o;
}

static void equal_save(const struct sched *s, struct buf *out)
{
    wire_put_u8(out, (uint8_t)((const struct equal *)s)->next);
}

static void equal_free(struct sched *s)
{
    free(s);
}

const struct sched_ops sched_equal = {
    .name = "equal",
    .summary = "round robin: every fuzzer the same number of turns",
    .create = equal_create,
    .pick = equal_pick,
    .learn = equal_learn,
    .save = equal_save,
    .free = equal_free,
};
