/* sched_saved: what resuming relies on in the saved state of a scheduler.  Test programs include it whole, after
 * cmocka. */
#ifndef CAROL_TESTS_SCHED_SAVED_H
#define CAROL_TESTS_SCHED_SAVED_H

#include "sched_world.h"

static inline bool saves_alike(const struct sched *a, const struct sched *b)
{
    struct buf x = BUF_INIT(1 << 24), y = BUF_INIT(1 << 24);
    sched_save(a, &x);
    sched_save(b, &y);
    bool alike = x.len == y.len && memcmp(x.p, y.p, x.len) == 0;
    buf_free(&x);
    buf_free(&y);
    return alike;
}

/* Two new ones that were fed alike for so many steps save the same bytes.  When one of
 * them has answered one question more, or learned of one turn more, its bytes say so; when the other has
 * caught up, they are the same again.  Frees both. */
static inline void expect_saved(struct sched *both[2], int steps)
{
    struct world w;
    world_start(&w, both[0]->n_arms, (uint64_t)steps);
    for (int i = 0; i < steps; i++)
        world_step(&w, both, 2);
    const char *name = both[0]->ops->name;
    bool asks = strcmp(name, "single:") != 0;
    bool learns = asks && strcmp(name, "equal") != 0 && strcmp(name, "random") != 0;
    struct sched_outcome o = {.now_ns = w.now, .reward = 0.75, .new_edges = 1};
    struct decision d = {0}, again;
    world_ask(&w, &d, 0);
    again = d;
    assert_true(saves_alike(both[0], both[1]));
    sched_pick(both[1], &d);
    assert_int_equal(saves_alike(both[0], both[1]), !asks);
    sched_pick(both[0], &again);
    assert_memory_equal(&d, &again, sizeof d);
    assert_true(saves_alike(both[0], both[1]));
    if (strcmp(name, "autofz") == 0 && d.arm[0].phi[0] != 0)
        learns = false; /* in a focus nothing counts */
    sched_learn(both[1], &d, &o);
    assert_int_equal(saves_alike(both[0], both[1]), !learns);
    sched_learn(both[0], &again, &o);
    assert_true(saves_alike(both[0], both[1]));
    sched_free(both[0]);
    sched_free(both[1]);
    world_end(&w);
}

#endif
