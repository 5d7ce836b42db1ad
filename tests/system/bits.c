/* bits: every scheduler, with its ablations, through a made-up campaign; prints one line per run with a hash
 * of every decision and every saved state.  tests/system/bits.py compiles it in many ways: all must print the
 * same.  Needs no library, so that it compiles anywhere. */
#include <stdio.h>
#include <stdlib.h>

/* The world of the unit tests, without their framework. */
#define fail_msg(...) (fprintf(stderr, __VA_ARGS__), exit(4))
#define assert_non_null(p) ((p) ? (void)0 : exit(4))
#define assert_memory_equal(a, b, n) ((void)0)
#include "../unit/sched_world.h"

#include "base/det.h"
#include "reward/reward.h"

static uint64_t mix(uint64_t hash, const void *data, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ ((const uint8_t *)data)[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static void run(const char *name, int arms, int steps, const char *params)
{
    struct sched *s = world_sched(name, arms, 11, params);
    struct world w;
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    world_start(&w, arms, 3);
    for (int i = 0; i < steps; i++) {
        world_step(&w, &s, 1);
        buf_clear(&b);
        decision_encode(&w.last, &b);
        if (i % 10 == 0)
            sched_save(s, &b);
        hash = mix(hash, b.p, b.len);
        for (int k = 0; k < SIGNAL_COUNT; k++) {
            int other = sched_without(s, &w.last, (enum signal_id)k);
            hash = mix(hash, &other, sizeof other);
        }
    }
    printf("%s %d %s %016llx\n", name, arms, params ? params : "-", (unsigned long long)hash);
    world_end(&w);
    buf_free(&b);
    sched_free(s);
}

/* The signals and the rewards' bounds, from outcomes that vary. */
static void run_context(void)
{
    struct context_settings st = {.budget_ns = 1000000000000, .velocity_ns = 120000000000};
    struct context *c = context_new(3, &st);
    struct reward_bounds bounds = {0};
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    struct rng rng;
    rng_seed(&rng, 5);
    for (int64_t t = 1; t <= 600; t++) {
        int arm = (int)rng_below(&rng, 3);
        double x[SIGNAL_COUNT], raw = det_exp(5 * rng_normal(&rng));
        context_dispatched(c, arm, t * 1000000000);
        struct context_outcome o = {.end_ns = t * 1700000000,
                                    .reward = reward_normalise(&bounds, raw),
                                    .new_edges = (uint32_t)rng_below(&rng, 4),
                                    .rarity = 1 / det_log(2 + rng_unit(&rng)),
                                    .sec = det_tanh(rng_unit(&rng)),
                                    .crashes = (uint32_t)rng_below(&rng, 3)};
        context_completed(c, arm, &o);
        context_read(c, arm, t * 1800000000, x);
        hash = mix(hash, x, sizeof x);
    }
    printf("context %016llx\n", (unsigned long long)hash);
    context_free(c);
}

int main(void)
{
    static const char *const ablations[] = {"explore=0",
                                            "context=intercept",
                                            "context=intercept,icpt.width=common",
                                            "form=linear",
                                            "rank=3",
                                            "models=shared",
                                            "ridge=100",
                                            "gamma=0.995",
                                            "rank=2,form=linear,gamma=0.99",
                                            "features=7",
                                            "sigma=0.05,clamp=100",
                                            "warmup=5"};
    for (int i = 0; sched_table[i]; i++)
        run(world_name(sched_table[i]), 6, 400, NULL);
    for (size_t i = 0; i < sizeof ablations / sizeof *ablations; i++)
        run("contextual", 6, 150, ablations[i]);
    run("rate", 6, 300, "context=full");
    run("rate", 64, 100, "half=7,prior=0.3,idle=0.5,cap=2");
    run("contextual", 64, 150, NULL);
    run("contextual", 1, 50, NULL);
    run_context();
    return 0;
}
