/* greedy: the worked example of docs/ADDING_A_SCHEDULER.md, compiled from that page, is a scheduler. */
#include "sched/sched.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "sched_saved.h"

extern const struct sched_ops sched_greedy;

/* As sched_new does, which knows only its own table. */
static struct sched *greedy(int arms, const char *params)
{
    struct sched_settings st = {
        .n_arms = arms, .arms = world_roster, .workers = 2, .seed = 5, .params = params};
    struct sched *s;
    struct err e = {0};
    if (sched_greedy.create(&s, NULL, &st, &e) < 0)
        fail_msg("%s", e.msg);
    s->ops = &sched_greedy;
    s->n_arms = arms;
    return s;
}

static void it_prefers_the_best(void **state)
{
    (void)state;
    struct sched *s = greedy(4, "epsilon=0.2");
    int count[4] = {0};
    for (uint64_t t = 1; t <= 2000; t++) {
        struct decision d;
        decision_ask(&d, 4, t, 0, 0, 1);
        sched_pick(s, &d);
        assert_true(d.choice > 0);
        count[d.choice]++;
        sched_learn(s, &d, &(struct sched_outcome){.reward = d.choice == 2 ? 0.6 : 0.3});
    }
    /* 1, 2 and 3 can run: 2 gets all turns but two thirds of 0.2; sd 15. */
    assert_true(abs(count[2] - 1733) < 4 * 15 + 4);
    sched_free(s);
}

static void saved_state_is_the_whole_state(void **state)
{
    (void)state;
    struct sched *both[] = {greedy(6, NULL), greedy(6, NULL)};
    expect_saved(both, 100);
}

static void it_explains_itself(void **state)
{
    (void)state;
    struct sched *s = greedy(2, "epsilon=0");
    struct buf b = BUF_INIT(1 << 16);
    struct decision d;
    for (int i = 0; i < 2; i++)
        sched_learn(s, &(struct decision){.choice = i}, &(struct sched_outcome){.reward = i * 0.5});
    decision_ask(&d, 2, 1, 0, 0, 0);
    sched_pick(s, &d);
    s->ops->why(&d, world_roster, &b);
    assert_string_equal(b.p, "darwin has the best mean so far, 0.500");
    buf_clear(&b);
    sched_describe(s, &b);
    assert_string_equal(b.p, "epsilon=0");
    buf_free(&b);
    sched_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_prefers_the_best),
        cmocka_unit_test(saved_state_is_the_whole_state),
        cmocka_unit_test(it_explains_itself),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
