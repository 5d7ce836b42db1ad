/* det: how far our elementary functions are from libm's, at the edges, and that arrays give the same bits.
 * That compilers agree is tests/system/bits.py. */
#include "base/det.h"

#include "base/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define TRIES 50000

/* Units in the last place of the true value, which comes in long double. */
static double error_of(double got, long double want)
{
    double size = fabs((double)want);
    return (double)(fabsl(got - want) / (nextafter(size, INFINITY) - size));
}

static void expect_near(const char *name, double (*f)(double), long double (*truth)(long double),
                        double lo, double hi, double most)
{
    struct rng rng;
    rng_seed(&rng, 5);
    for (int i = 0; i < TRIES; i++) {
        double x = lo + (hi - lo) * rng_unit(&rng), off = error_of(f(x), truth(x));
        if (!(off < most))
            fail_msg("%s(%.17g) = %.17g is off by %.2f", name, x, f(x), off);
    }
}

static void they_agree_with_libm(void **state)
{
    (void)state;
    expect_near("exp", det_exp, expl, -1, 1, 1);
    expect_near("exp", det_exp, expl, -745, 709.7, 1);
    expect_near("log", det_log, logl, 1e-17, 1, 1);
    expect_near("log", det_log, logl, 0.95, 1.05, 1);
    expect_near("log", det_log, logl, 1, 1e9, 1);
    expect_near("log", det_log, logl, 1e-310, 1e-307, 1);
    expect_near("tanh", det_tanh, tanhl, -0.4, 0.4, 3);
    expect_near("tanh", det_tanh, tanhl, -21, 21, 3);
    expect_near("cos", det_cos, cosl, -7, 7, 3);
    expect_near("cos", det_cos, cosl, -1e-3, 1e-3, 3);
    expect_near("cos", det_cos, cosl, -1e5, 1e5, 3);
    for (int i = 0; i < TRIES; i++) { /* where the cosine is nearly 0 */
        double x = (i + 0.5) * 3.141592653589793;
        assert_true(x > 1e5 || error_of(det_cos(x), cosl(x)) < 3);
        assert_true(fabs(det_cos(x) - (double)cosl(x)) < 1e-16);
    }
}

static void the_edges_are_right(void **state)
{
    (void)state;
    assert_true(det_exp(0) == 1 && det_log(1) == 0 && det_cos(0) == 1 && det_tanh(0) == 0);
    assert_true(det_exp(710) == INFINITY && det_exp(INFINITY) == INFINITY);
    assert_true(det_exp(-746) == 0 && det_exp(-INFINITY) == 0);
    assert_true(det_exp(-745) == 5e-324);
    assert_true(det_log(0) == -INFINITY && det_log(-0.0) == -INFINITY);
    assert_true(isnan(det_log(-1)) && det_log(INFINITY) == INFINITY);
    assert_true(error_of(det_log(5e-324), logl(5e-324)) < 1);
    assert_true(det_tanh(25) == 1 && det_tanh(-25) == -1 && det_tanh(19.9) <= 1);
    assert_true(signbit(det_tanh(-0.0)));
    assert_true(isnan(det_exp(NAN)) && isnan(det_log(NAN)) && isnan(det_tanh(NAN)));
}

static void the_cosine_stays_within_one(void **state)
{
    (void)state;
    for (int i = 0; i < TRIES; i++)
        for (int k = -2; k <= 2; k++)
            assert_true(fabs(det_cos(i * 3.141592653589793 + k * 1e-8)) <= 1);
}

static void arrays_give_the_same_bits(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 6);
    for (int n = 0; n < 40; n++) {
        double x[40], y[41];
        for (int i = 0; i < n; i++)
            x[i] = 100 * (rng_unit(&rng) - 0.5);
        y[n] = 42;
        det_cos_n(x, y, n);
        assert_true(y[n] == 42);
        for (int i = 0; i < n; i++) {
            double one = det_cos(x[i]);
            assert_memory_equal(&one, &y[i], sizeof one);
        }
        det_cos_n(x, x, n);
        assert_memory_equal(x, y, (size_t)n * sizeof *x);
    }
}

/* A hash of many results: it was the same for gcc 12 and clang 19, -O0 to -O3, with and without FMA. */
static void the_bits_are_these(void **state)
{
    (void)state;
    struct rng rng;
    uint64_t hash = 0;
    rng_seed(&rng, 7);
    for (int i = 0; i < TRIES; i++) {
        double x = 20 * (rng_unit(&rng) - 0.5);
        const double y[] = {det_exp(x), det_log(fabs(x)), det_cos(x), det_tanh(x),
                            rng_normal(&rng)};
        for (int k = 0; k < 5; k++) {
            uint64_t bits;
            memcpy(&bits, &y[k], sizeof bits);
            hash = (hash ^ bits) * UINT64_C(0x9e3779b97f4a7c15);
            hash ^= hash >> 29;
        }
    }
    if (hash != UINT64_C(0xfb027179103f532b))
        fail_msg("the hash is %#llx", (unsigned long long)hash);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_agree_with_libm),        cmocka_unit_test(the_edges_are_right),
        cmocka_unit_test(the_cosine_stays_within_one), cmocka_unit_test(arrays_give_the_same_bits),
        cmocka_unit_test(the_bits_are_these),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
