/* shares_kit: what the tests of the schedulers that deal out cores share: making one, asking and telling
 * it, whole cores as expected. */
#ifndef CAROL_TESTS_SHARES_KIT_H
#define CAROL_TESTS_SHARES_KIT_H

#include "sched/deal.h"
#include "sched/sched.h"

#define S INT64_C(1000000000)
/* Draws roster order for up to six arms, so that examples by hand can be followed; the oracle's campaigns
 * have other seeds. */
#define ROSTER_SEED 248713

static const char *const roster[SCHED_MAX_ARMS] = {"f0", "f1", "f2", "f3", "f4", "f5"};

static inline struct sched *make_seeded(const char *name, uint64_t seed, int arms, int workers,
                                        int64_t turn_ns, const char *opts, const struct table *t)
{
    struct sched_settings st = {.n_arms = arms,
                                .arms = roster,
                                .workers = workers,
                                .seed = seed,
                                .turn_ns = turn_ns,
                                .params = opts,
                                .table = t};
    struct sched *s;
    struct err e = {0};
    if (sched_new(&s, name, &st, &e) < 0)
        fail_msg("%s: %s", name, e.msg);
    return s;
}

static inline struct sched *make(const char *name, int arms, int workers, int64_t turn_ns,
                                 const char *opts, const struct table *t)
{
    return make_seeded(name, ROSTER_SEED, arms, workers, turn_ns, opts, t);
}

static inline struct decision ask(struct sched *s, int64_t now_ns, uint64_t dropped)
{
    struct decision d;
    decision_ask(&d, s->n_arms, 1, 0, now_ns, dropped);
    sched_tick(s, now_ns, NULL);
    sched_pick(s, &d);
    return d;
}

static inline void finish(struct sched *s, const struct decision *d, int64_t now_ns,
                          uint32_t new_edges)
{
    sched_tick(s, now_ns, NULL);
    sched_learn(s, d, &(struct sched_outcome){.now_ns = now_ns, .new_edges = new_edges});
}

static inline void expect_cores(uint64_t seed, const uint64_t *weight, int n, int slots,
                                const int *cores)
{
    struct deal d;
    int had[SCHED_MAX_ARMS] = {0};
    deal_init(&d, n, seed);
    deal_start(&d, weight, slots);
    for (int k = 0; k < slots; k++)
        had[deal_next(&d, 0)]++;
    for (int i = 0; i < n; i++) {
        assert_int_equal(d.cores[i], cores[i]);
        assert_int_equal(had[i], cores[i]);
    }
}

#endif
