/* autofz: thresholds, preparations and winners, by hand; against an oracle it is in shares.c. */
#include "sched/sched.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "shares_kit.h"
#include "vectors.h"

static void expect_focus(const struct decision *d, double theta, int round)
{
    assert_true(d->arm[0].phi[0] == 1);
    assert_true(d->arm[0].phi[1] == theta);
    assert_true(d->arm[0].phi[2] == round);
}

/* The threshold after rounds without and with a winner, in 131.25 as a double. */
static void theta_goes_up_and_down(void **state)
{
    (void)state;
    const int won[] = {0, 0, 1, 0, 1, 1, 0};
    const double theta[] = {50, 25, 125, 62.5, 162.5, 262.5, 131.25};
    struct sched *s = make("autofz", 2, 2, 0, NULL, NULL);
    for (int r = 0; r < 7; r++) {
        struct decision d = ask(s, r * 600 * S, 0);
        assert_true(d.arm[0].phi[0] == 0);
        finish(s, &d, r * 600 * S + 290 * S, won[r] ? 1000 : 1);
        d = ask(s, r * 600 * S + 300 * S, 0);
        expect_focus(&d, theta[r], r);
        assert_true(d.arm[0].phi[3] == won[r]);
    }
    sched_free(s);
    s = make("autofz", 2, 2, 0, "aimd=off,theta=7", NULL);
    struct decision d = ask(s, 1300 * S + 300 * S, 0);
    expect_focus(&d, 7, 2);
    sched_free(s);
}

/* A lead of exactly theta is none; one more ends the preparation at that check, and focus lasts longer. */
static void a_winner_ends_the_preparation(void **state)
{
    (void)state;
    for (int more = 0; more <= 1; more++) {
        struct sched *s = make("autofz", 3, 6, 0, NULL, NULL);
        struct decision a = ask(s, 0, 0), b = ask(s, 0, 0), c = ask(s, 0, 0);
        assert_int_equal(a.choice, 0);
        assert_int_equal(b.choice, 1);
        assert_int_equal(c.choice, 2);
        assert_int_equal(a.turn_ns, 30 * S);
        finish(s, &b, 31 * S, (uint32_t)(105 + more));
        finish(s, &a, 32 * S, 5);
        finish(s, &c, 33 * S, 40);
        struct decision d = ask(s, 60 * S - 1, 0);
        assert_true(d.arm[1].phi[0] == 0);
        d = ask(s, 60 * S, 0);
        if (!more) {
            assert_true(d.arm[1].phi[0] == 0);
        } else {
            expect_focus(&d, 200, 0);
            assert_true(d.arm[1].draw == 6 && d.arm[1].width == 1 && d.arm[1].mean == 106);
            assert_int_equal(d.choice, 1);
            assert_int_equal(d.turn_ns, 120 * S);
            assert_int_equal(ask(s, 500 * S, 0).turn_ns, 100 * S); /* cut at the end of the round */
            assert_int_equal(ask(s, 570 * S, 0).turn_ns, 30 * S);
            assert_int_equal(ask(s, 571 * S, 0).turn_ns, 30 * S); /* but never shorter */
            assert_int_equal(ask(s, 599 * S, 0).choice, 1);
        }
        assert_true(ask(s, 600 * S, 0).arm[0].phi[2] == 1);
        sched_free(s);
    }
}

/* With fewer workers than arms nobody wins before all had their turn: six on one, every sixth check. */
static void on_one_core_all_are_measured_first(void **state)
{
    (void)state;
    struct sched *s = make("autofz", 6, 1, 0, NULL, NULL);
    for (int i = 0; i < 6; i++) {
        struct decision d = ask(s, i * 30 * S, 0);
        assert_int_equal(d.choice, i);
        assert_true(d.arm[0].phi[0] == 0); /* still the preparation, though the first has 700 */
        finish(s, &d, (i + 1) * 30 * S - 1, i == 5 ? 900 : i == 0 ? 700 : 0);
    }
    struct decision d = ask(s, 180 * S, 0);
    expect_focus(&d, 200, 0);
    assert_int_equal(d.choice, 5);
    sched_free(s);
    s = make("autofz", 6, 5, 0, NULL, NULL); /* two rotations */
    d = ask(s, 0, 0);
    finish(s, &d, S, 700);
    assert_true(ask(s, 60 * S - 1, 0).arm[0].phi[0] == 0);
    assert_true(ask(s, 60 * S, 0).arm[0].phi[0] == 1);
    sched_free(s);
}

/* Only what was dispatched since the preparation began and evaluated before the check. */
static void turns_over_a_boundary_do_not_count(void **state)
{
    (void)state;
    struct sched *s = make("autofz", 2, 2, 0, NULL, NULL);
    struct decision early = ask(s, 590 * S, 0), at = ask(s, 600 * S, 0);
    finish(s, &early, 610 * S, 5000);
    struct decision d = ask(s, 630 * S, 0);
    assert_true(d.arm[0].mean == 0 && d.arm[1].mean == 0 && d.arm[0].phi[0] == 0);
    finish(s, &at, 900 * S, 5000); /* the last check is at 900 and comes before it */
    d = ask(s, 900 * S, 0);
    assert_true(d.arm[0].mean == 0 && d.arm[1].mean == 0 && d.arm[0].phi[3] == 0);
    finish(s, &d, 1000 * S, 5000); /* in the focus nothing is counted */
    assert_true(ask(s, 1001 * S, 0).arm[d.choice].mean == 0);
    sched_free(s);
}

static void ties_and_no_winner(void **state)
{
    (void)state;
    const int tied[] = {0, 0, 2, 2}, shares[] = {0, 1, 1, 1}, zero[] = {0, 0, 1, 2};
    struct sched *s = make("autofz", 3, 4, 0, "theta=10", NULL);
    struct decision a = ask(s, 0, 0), b = ask(s, 0, 0), c = ask(s, 0, 0);
    finish(s, &a, 5 * S, 20);
    finish(s, &c, 6 * S, 20);
    for (int k = 0; k < 8; k++) /* two winners, two cores each */
        assert_int_equal(ask(s, 30 * S + k, 0).choice, tied[k % 4]);
    finish(s, &b, 40 * S, 99);
    a = ask(s, 600 * S, 0), b = ask(s, 600 * S, 0);
    finish(s, &a, 620 * S, 4);
    finish(s, &b, 621 * S, 12);
    for (int k = 0; k < 4; k++) /* 4 : 12 : 0, and 12 is no lead over 20 */
        assert_int_equal(ask(s, 900 * S + k, 0).choice, shares[k]);
    for (int k = 0; k < 4; k++) /* nobody found anything: 2, 1, 1 */
        assert_int_equal(ask(s, 1500 * S + k, 0).choice, zero[k]);
    sched_free(s);
}

/* An arm that cannot run is no standard for the others, and wins nothing. */
static void dropped_arms_do_not_count(void **state)
{
    (void)state;
    struct sched *s = make("autofz", 3, 2, 0, "theta=10", NULL);
    struct decision a = ask(s, 0, 0), b = ask(s, 0, 0), c = ask(s, 1, 0);
    finish(s, &a, 5 * S, 500);
    finish(s, &b, 6 * S, 12);
    finish(s, &c, 7 * S, 9);
    assert_int_equal(ask(s, 8 * S, 1).choice, 1);
    struct decision d = ask(s, 300 * S, 1); /* 12 - 9 is no lead: 12 : 9 */
    assert_true(d.arm[0].phi[3] == 0 && d.arm[0].draw == 0 && d.arm[1].draw == 1);
    expect_close(d.arm[1].width, 12.0 / 21, "share", 1);
    sched_free(s);
}

static void times_scale_with_the_turn(void **state)
{
    (void)state;
    struct sched *s = make("autofz", 2, 2, 12 * S, "focus=20s", NULL);
    struct buf b = BUF_INIT(4096);
    sched_describe(s, &b);
    assert_string_equal(b.p, "prep=30.000000000s,focus=20.000000000s,check=3.000000000s,theta=100,"
                             "aimd=on,decrease=0.5");
    assert_int_equal(ask(s, 0, 0).turn_ns, 3 * S);
    assert_int_equal(ask(s, 31 * S, 0).turn_ns, 12 * S);
    assert_int_equal(ask(s, 45 * S, 0).turn_ns, 5 * S);
    assert_int_equal(ask(s, 49 * S, 0).turn_ns, 3 * S);
    assert_true(ask(s, 50 * S, 0).arm[0].phi[2] == 1);
    sched_free(s);
    buf_clear(&b);
    s = make("legion", 2, 2, 12 * S, "legion.units=last", NULL);
    sched_describe(s, &b);
    assert_string_equal(b.p, "round=60.000000000s,units=last,monitor=off,check=3.000000000s");
    sched_free(s);
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(theta_goes_up_and_down),
        cmocka_unit_test(a_winner_ends_the_preparation),
        cmocka_unit_test(on_one_core_all_are_measured_first),
        cmocka_unit_test(turns_over_a_boundary_do_not_count),
        cmocka_unit_test(ties_and_no_winner),
        cmocka_unit_test(dropped_arms_do_not_count),
        cmocka_unit_test(times_scale_with_the_turn),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
