/* random: picks each arm that can run with the same probability.  Learns nothing. */
#include "base/die.h"
#include "base/rng.h"
#include "sched/params.h"
#include "sched/schedulers.h"
#include "sched/wire.h"

#include <stdlib.h>

struct uniform {
    struct sched base;
    struct rng rng;
};

static int random_create(struct sched **out, const char *arg, const struct sched_settings *st,
                         struct err *e)
{
    (void)arg;
    int rc = params_read(NULL, NULL, "random", st, e);
    if (rc < 0)
        return rc;
    struct uniform *u = xcalloc(1, sizeof *u);
    rng_seed(&u->rng, st->seed);
    *out = &u->base;
    return 0;
}

static void random_pick(struct sched *s, struct decision *d)
{
    int able[SCHED_MAX_ARMS], n = 0;
    for (int i = 0; i < s->n_arms; i++)
        if (decision_may(d, i))
            able[n++] = i;
    if (n)
        d->choice = able[rng_below(&((struct uniform *)s)->rng, (uint64_t)n)];
}

static void random_learn(struct sched *s, const struct decision *d, const struct sched_outcome *o)
{
    (void)s;
    (void)d;
    (void)o;
}

static void random_save(const struct sched *s, struct buf *out)
{
    wire_put_rng(out, &((const struct uniform *)s)->rng);
}

static void random_free(struct sched *s)
{
    free(s);
}

const struct sched_ops sched_random = {
    .name = "random",
    .summary = "a fuzzer at random for every turn, all equally likely",
    .create = random_create,
    .pick = random_pick,
    .learn = random_learn,
    .save = random_save,
    .free = random_free,
};
