/* deal: cores dealt by shares, by hand and by their sums. */
#include "sched/deal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "shares_kit.h"

static void whole_cores_by_hand(void **state)
{
    (void)state;
    expect_cores(ROSTER_SEED, (uint64_t[]){50, 30, 20, 0, 0, 0}, 6, 6, (int[]){3, 2, 1, 0, 0, 0});
    expect_cores(ROSTER_SEED, (uint64_t[]){9, 9, 9, 9, 9, 9}, 6, 6, (int[]){1, 1, 1, 1, 1, 1});
    expect_cores(ROSTER_SEED, (uint64_t[]){41, 19, 14, 12, 8, 6}, 6, 6, (int[]){2, 1, 1, 1, 1, 0});
    expect_cores(ROSTER_SEED, (uint64_t[]){0, 0, 0}, 3, 4, (int[]){2, 1, 1}); /* nobody has any */
    expect_cores(ROSTER_SEED, (uint64_t[]){1, 4}, 2, 7, (int[]){1, 6});
    /* Remainders 2/3, 2/3, 2/3: the larger share first (floating point says otherwise). */
    expect_cores(ROSTER_SEED, (uint64_t[]){1, 1, 4}, 3, 4, (int[]){1, 0, 3});
    expect_cores(ROSTER_SEED, (uint64_t[]){UINT64_MAX, UINT64_MAX}, 2, DEAL_MAX_SLOTS,
                 (int[]){DEAL_MAX_SLOTS / 2 + 1, DEAL_MAX_SLOTS / 2});
}

/* Any W decisions in a row, wherever they begin, give each arm its cores. */
static void every_cycle_is_exact(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 3);
    for (int n = 1; n <= SCHED_MAX_ARMS; n++)
        for (int slots = 1; slots <= 256; slots += n % 3 ? 17 : 5) {
            uint64_t weight[SCHED_MAX_ARMS];
            int had[SCHED_MAX_ARMS] = {0}, first = (int)rng_below(&rng, (uint64_t)slots), sum = 0;
            struct deal d;
            for (int i = 0; i < n; i++)
                weight[i] = rng_below(&rng, 3) ? rng_below(&rng, 1000) : 0;
            deal_init(&d, n, (uint64_t)slots);
            deal_start(&d, weight, slots);
            for (int k = 0; k < first; k++)
                deal_next(&d, 0);
            for (int k = 0; k < slots; k++)
                had[deal_next(&d, 0)]++;
            for (int i = 0; i < n; i++) {
                assert_int_equal(had[i], d.cores[i]);
                assert_true(fabs(d.cores[i] - d.share[i] * slots) < 1 + 1e-9);
                sum += d.cores[i];
            }
            assert_int_equal(sum, slots);
        }
}

static void dropped_arms_leave_their_cores(void **state)
{
    (void)state;
    struct deal d;
    deal_init(&d, 4, ROSTER_SEED);
    deal_start(&d, (uint64_t[]){3, 2, 1, 0}, 6);
    const int first[] = {0, 0, 0, 1};
    for (int k = 0; k < 4; k++)
        assert_int_equal(deal_next(&d, 0), first[k]);
    const int without[] = {1, 1, 1, 1, 2, 2, 1}; /* 2 : 1 of six cores, from slot 0 */
    for (int k = 0; k < 7; k++)
        assert_int_equal(deal_next(&d, 1), without[k]);
    assert_int_equal(deal_next(&d, 15), -1);
    assert_int_equal(deal_next(&d, 1), 1);   /* as if that had not been asked */
    const int nobody[] = {3, 3, 3, 3, 3, 3}; /* no share, but the only one left */
    for (int k = 0; k < 6; k++)
        assert_int_equal(deal_next(&d, 7), nobody[k]);
    const int three[] = {0, 2, 3};
    deal_start(&d, NULL, DEAL_ONE_EACH);
    for (int k = 0; k < 6; k++)
        assert_int_equal(deal_next(&d, 2), three[k % 3]);
}

/* Slots and ties follow the order that the seed draws, not the roster. */
static void the_seed_draws_the_order(void **state)
{
    (void)state;
    int first[3] = {0}, more[3] = {0};
    for (uint64_t seed = 0; seed < 600; seed++) {
        struct deal d;
        deal_init(&d, 3, seed);
        first[deal_next(&d, 0)]++;
        deal_start(&d, (uint64_t[]){1, 1, 1}, 4);
        for (int i = 0; i < 3; i++)
            more[i] += d.cores[i] == 2;
        assert_int_equal(deal_next(&d, 0), deal_next(&d, 0)); /* the first has two of the four */
    }
    for (int i = 0; i < 3; i++) /* 200, sd 11.5 */
        assert_true(first[i] > 140 && first[i] < 260 && more[i] == first[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_cores_by_hand),
        cmocka_unit_test(every_cycle_is_exact),
        cmocka_unit_test(dropped_arms_leave_their_cores),
        cmocka_unit_test(the_seed_draws_the_order),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
