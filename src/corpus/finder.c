/* finder: the fuzzer of every turn, from the record. */
#include "corpus/finder.h"

#include "base/die.h"

#include <stdlib.h>

static void note(struct finder_arms *a, int64_t id, int arm)
{
    while (a->n <= (size_t)id) {
        XGROW(a->arm, a->n, a->cap);
        a->arm[a->n++] = -1;
    }
    a->arm[id] = arm;
}

static int load(struct finder *f, struct store *s, enum turn_order order, struct err *e)
{
    struct store_turns *turns;
    struct store_turn t;
    int rc = store_turns_open(&turns, s, order, 0, e);
    while (rc == 0 && (rc = store_turns_next(turns, &t, NULL, e)) > 0) {
        note(t.id < 0 ? &f->late : &f->turns, t.id < 0 ? -t.id : t.id, t.arm);
        rc = 0;
    }
    store_turns_close(turns);
    return rc;
}

int finder_load(struct finder *f, struct store *s, const struct strv *fuzzers, struct err *e)
{
    *f = (struct finder){.fuzzers = fuzzers};
    int rc = load(f, s, TURNS_BY_ID, e);
    if (rc == 0)
        rc = load(f, s, TURNS_BY_ROUND, e);
    return rc < 0 ? rc : load(f, s, TURNS_LATE_OPEN, e);
}

const char *finder_name(const struct finder *f, int64_t turn)
{
    const struct finder_arms *a = turn < 0 ? &f->late : &f->turns;
    size_t id = (size_t)(turn < 0 ? -turn : turn);
    int arm = turn && id < a->n ? a->arm[id] : -1;
    if (arm >= 0 && (size_t)arm < f->fuzzers->n)
        return f->fuzzers->v[arm];
    return turn ? FINDER_IMPORTED : FINDER_SEEDS;
}

void finder_free(struct finder *f)
{
    free(f->turns.arm);
    free(f->late.arm);
    *f = (struct finder){0};
}
