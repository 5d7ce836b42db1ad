/* legion: shares, rounds and the monitor, by hand; against an oracle it is in shares.c. */
#include "sched/sched.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "shares_kit.h"
#include "vectors.h"

/* One unit each and only the edges differ, so R is their number. */
static void shares_after_round_0(void **state)
{
    (void)state;
    const uint32_t edges[] = {40, 0, 3, 3, 1, 0};
    const double share[] = {0.2518, 0.0949, 0.2009, 0.2009, 0.1565, 0.0949};
    struct sched *s = make("legion", 6, 6, 0, NULL, NULL);
    struct decision d[6];
    for (int i = 0; i < 6; i++)
        d[i] = ask(s, 0, 0);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(d[i].choice, i);
        assert_int_equal(d[i].turn_ns, 120 * S);
        finish(s, &d[i], 120 * S, edges[i]);
    }
    assert_true(ask(s, 600 * S - 1, 0).arm[0].phi[0] == 0);
    for (int i = 0; i < 6; i++) {
        struct decision q = ask(s, 600 * S, 0);
        assert_int_equal(q.choice, i);
        assert_true(fabs(q.arm[i].noise - share[i]) < 0.00005);
        assert_true(q.arm[i].draw == 1 && q.arm[i].phi[0] == 1);
        assert_true(q.arm[i].phi[1] == edges[i] && q.arm[i].phi[2] == 1);
    }
    sched_free(s);
}

static void a_round_of_nothing_weighs_all_the_same(void **state)
{
    (void)state;
    struct sched *s = make("legion", 3, 3, 0, NULL, NULL);
    struct decision d = ask(s, 600 * S, 0);
    for (int k = 0; k < 5; k++)
        assert_true(d.arm[0].phi[8 + k] == 0.2);
    for (int i = 0; i < 3; i++)
        expect_close(d.arm[i].noise, 1.0 / 3, "share", i);
    sched_free(s);
}

/* f1 scores on, f0 and f2 stop: at 330 s f1 has all, at 360 s nobody scored and the round is over. */
static void the_monitor_takes_cores_back(void **state)
{
    (void)state;
    struct sched *s = make("legion", 3, 3, 0, "monitor=on", NULL);
    struct decision a = ask(s, 0, 0), b = ask(s, 0, 0), c = ask(s, 0, 0);
    assert_int_equal(ask(s, 200 * S, 0).turn_ns, 100 * S); /* to the half */
    finish(s, &a, 290 * S, 10);
    finish(s, &b, 291 * S, 20);
    finish(s, &c, 292 * S, 30);
    struct decision d = ask(s, 300 * S, 0); /* all have scored so far */
    assert_true(d.arm[0].draw == 1 && d.arm[1].draw == 1 && d.arm[2].draw == 1);
    assert_int_equal(d.turn_ns, 30 * S);
    finish(s, &b, 310 * S, 5);
    d = ask(s, 330 * S, 0); /* f2 keeps its core: it is the best of the round; f0's goes to it */
    assert_true(d.arm[0].draw == 0 && d.arm[1].draw == 1 && d.arm[2].draw == 2);
    d = ask(s, 360 * S, 0);
    assert_true(d.arm[0].phi[0] == 1);
    expect_close(d.arm[0].phi[2], 330.0 / 600, "units", 0);
    expect_close(d.arm[1].phi[2], 360.0 / 600, "units", 1);
    expect_close(d.arm[2].phi[2], 390.0 / 600, "units", 2);
    assert_true(ask(s, 660 * S - 1, 0).arm[0].phi[0] == 1); /* its own half is at 660 */
    assert_true(ask(s, 660 * S, 0).arm[0].phi[0] == 2);
    sched_free(s);
}

/* An arm that hardly ever had a core would, by the rule, outweigh all others as soon as it has one; while it
 * cannot run, the others share by their own scores. */
static void an_arm_that_cannot_run_weighs_nothing(void **state)
{
    (void)state;
    for (int64_t when = 0; when < 2;
         when++) { /* dropped before the first decision, or soon after */
        struct sched *s = make("legion", 6, 2, 0, NULL, NULL);
        int turns[6] = {0};
        double units = 0;
        if (when)
            ask(s, 0, 0);
        for (int64_t now = 10000; now < 20 * 600 * S; now += 60 * S) {
            struct decision d = ask(s, now, 1 << 2);
            double share = 0;
            for (int i = 0; i < 6; i++)
                share += d.arm[i].noise;
            expect_close(share, 1, "shares of those that can run", now);
            assert_true(d.arm[2].noise == 0 && d.arm[2].draw == 0);
            units = d.arm[2].phi[2];
            turns[d.choice]++;
            finish(s, &d, now + 60 * S, d.choice == 0 ? 5 : 0);
        }
        assert_int_equal(turns[2], 0);
        assert_true(when ? units > 0 : units == 0);
        for (int i = 0; i < 6; i++)
            if (i != 2 && (turns[i] < 15 || turns[i] > 120)) /* of 200 */
                fail_msg("%d turns for f%d", turns[i], i);
        sched_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_arm_that_cannot_run_weighs_nothing),
        cmocka_unit_test(shares_after_round_0),
        cmocka_unit_test(a_round_of_nothing_weighs_all_the_same),
        cmocka_unit_test(the_monitor_takes_cores_back),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
