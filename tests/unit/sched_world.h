/* sched_world: a small made-up campaign that asks schedulers for decisions and lets their turns complete
 * late and out of order, with a ledger behind it.  Test programs include it whole.
 *
 *     struct world w;
 *     world_start(&w, 6, 1);
 *     for (...) world_step(&w, &s, 1);       // one scheduler; with more, all must decide alike
 *     world_end(&w);
 */
#ifndef CAROL_TESTS_SCHED_WORLD_H
#define CAROL_TESTS_SCHED_WORLD_H

#include "base/rng.h"
#include "sched/sched.h"

#include <stdlib.h>
#include <string.h>

#define WORLD_EDGES 60
#define WORLD_FUNCS 6
#define WORLD_FLYING 5

static const char *const world_roster[SCHED_MAX_ARMS + 1] = {
    "aflpp", "darwin", "honggfuzz", "mopt", "lafintel", "radamsa", "f06", "f07", "f08", "f09",
    "f10",   "f11",    "f12",       "f13",  "f14",      "f15",     "f16", "f17", "f18", "f19",
    "f20",   "f21",    "f22",       "f23",  "f24",      "f25",     "f26", "f27", "f28", "f29",
    "f30",   "f31",    "f32",       "f33",  "f34",      "f35",     "f36", "f37", "f38", "f39",
    "f40",   "f41",    "f42",       "f43",  "f44",      "f45",     "f46", "f47", "f48", "f49",
    "f50",   "f51",    "f52",       "f53",  "f54",      "f55",     "f56", "f57", "f58", "f59",
    "f60",   "f61",    "f62",       "f63"};

/* A chain of blocks, ten to a function, each function called by the one before. */
static inline const struct table *world_table(void)
{
    static struct table_edge edges[WORLD_EDGES];
    static struct table_func funcs[WORLD_FUNCS];
    static uint32_t preds[WORLD_EDGES];
    static const struct table table = {.n_modules = 1,
                                       .n_edges = WORLD_EDGES,
                                       .n_funcs = WORLD_FUNCS,
                                       .n_preds = WORLD_EDGES - 1,
                                       .edges = edges,
                                       .preds = preds,
                                       .funcs = funcs};
    for (uint32_t i = 0; i < WORLD_EDGES; i++) {
        preds[i] = i; /* of i + 1 */
        edges[i] = (struct table_edge){.pc = i,
                                       .func = i / 10,
                                       .pred_off = i ? i - 1 : 0,
                                       .pred_n = i > 0,
                                       .succ_n = 2,
                                       .depth = (uint16_t)(i / 10),
                                       .flags = i % 10 ? 0 : EDGE_ENTRY};
        funcs[i / 10] = (struct table_func){"f", i / 10 * 10, (uint16_t)(i / 10)};
    }
    return &table;
}

static inline struct sched *world_sched(const char *name, int arms, uint64_t seed,
                                        const char *params)
{
    struct sched_settings st = {.n_arms = arms,
                                .arms = world_roster,
                                .workers = WORLD_FLYING,
                                .seed = seed,
                                .params = params,
                                .turn_ns = 120000000000,
                                .table = world_table()};
    struct sched *s;
    struct err e = {0};
    if (sched_new(&s, name, &st, &e) < 0)
        fail_msg("%s: %s", name, e.msg);
    return s;
}

/* The name to make the scheduler of a row of the table by. */
static inline const char *world_name(const struct sched_ops *ops)
{
    return strcmp(ops->name, "single:") == 0 ? "single:mopt" : ops->name;
}

struct world {
    int n_arms;
    struct rng rng;
    uint64_t t;
    uint32_t round;
    int64_t now;
    struct ledger map;
    struct decision *flying; /* dispatched, not completed */
    int n_flying;
    struct decision last; /* what was decided in the latest step */
};

static inline void world_start(struct world *w, int n_arms, uint64_t seed)
{
    *w = (struct world){.n_arms = n_arms};
    rng_stream(&w->rng, seed, "world");
    ledger_init(&w->map, world_table());
    w->flying = calloc(WORLD_FLYING, sizeof *w->flying);
    assert_non_null(w->flying);
}

static inline void world_end(struct world *w)
{
    ledger_free(&w->map);
    free(w->flying);
}

static inline double world_reward(struct world *w)
{
    uint64_t kind = rng_below(&w->rng, 4);
    return kind < 2 ? 0 : kind == 2 ? 0.25 * (double)rng_below(&w->rng, 5) : rng_unit(&w->rng);
}

/* One of the turns under way completes, not always the oldest. */
static inline void world_complete(struct world *w, struct sched **s, int n)
{
    struct decision d;
    int at = (int)rng_below(&w->rng, (uint64_t)w->n_flying);
    d = w->flying[at];
    w->flying[at] = w->flying[--w->n_flying];
    for (int i = 0; i < n; i++)
        sched_tick(s[i], w->now, &w->map);
    uint32_t ids[3], k = (uint32_t)rng_below(&w->rng, WORLD_EDGES - 3);
    for (uint32_t i = 0; i < 3; i++)
        ids[i] = k + i;
    struct gain gain;
    ledger_add_turn(&w->map, ++w->round, d.choice, &(struct edges){ids, 3}, 1, &gain);
    struct sched_outcome o = {.now_ns = w->now,
                              .cost_ns = w->now - d.now_ns,
                              .reward = world_reward(w),
                              .new_edges = gain.fresh.n,
                              .crashes = rng_below(&w->rng, 9) == 0,
                              .gain = &gain};
    for (int i = 0; i < n; i++)
        sched_learn(s[i], &d, &o);
    gain_free(&gain);
}

static inline void world_ask(struct world *w, struct decision *d, uint64_t dropped)
{
    w->t++;
    decision_ask(d, w->n_arms, w->t, (int)(w->t % WORLD_FLYING), w->now, dropped);
    for (int a = 0; a < w->n_arms; a++)
        for (int i = 0; i < SIGNAL_COUNT; i++)
            d->arm[a].signals[i] = rng_unit(&w->rng);
}

/* The n schedulers are asked the same; they must answer the same, bit for bit. */
static inline void world_step(struct world *w, struct sched **s, int n)
{
    struct decision question = {0}, other;
    uint64_t dropped = rng_below(&w->rng, 3) ? 0 : rng_u64(&w->rng) & rng_u64(&w->rng);
    w->now += (int64_t)rng_below(&w->rng, 120) * 1000000000;
    world_ask(w, &question, dropped & ~0ull >> (64 - w->n_arms));
    for (int i = 0; i < n; i++) {
        struct decision *d = i ? &other : &w->last;
        *d = question;
        sched_tick(s[i], w->now, &w->map);
        sched_pick(s[i], d);
        if (i)
            assert_memory_equal(&other, &w->last, sizeof other);
    }
    if (w->last.choice >= 0)
        w->flying[w->n_flying++] = w->last;
    while (w->n_flying == WORLD_FLYING || (w->n_flying && rng_below(&w->rng, 2)))
        world_complete(w, s, n);
}

#endif
