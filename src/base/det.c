/* det: elementary functions from the series in any textbook, in a fixed order of operations.  Handles no
 * rounding mode but the default one. */
#include "base/det.h"

#include "base/pair.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Adding and taking away 3 * 2^51 rounds to the nearest whole number, which is then also in the low bits. */
#define TO_WHOLE 0x1.8p52

#define LN2_HI 0x1.62e42fefp-1 /* 33 bits: times an exponent it is exact */
#define LN2_LO 0x1.473de6af278edp-34
#define INV_LN2 0x1.71547652b82fep+0

static uint64_t bits_of(double x)
{
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

static double from_bits(uint64_t b)
{
    double x;
    memcpy(&x, &b, sizeof x);
    return x;
}

/* 2^k for a normal number. */
static double power_of_two(int k)
{
    return from_bits((uint64_t)(k + 1023) << 52);
}

/* e^r - 1 for |r| <= ln(2)/2 and a bit; the first term left out is below 2^-57 of the result. */
static double exp_less_one(double r)
{
    double q = 1.0 / 87178291200;
    q = q * r + 1.0 / 6227020800;
    q = q * r + 1.0 / 479001600;
    q = q * r + 1.0 / 39916800;
    q = q * r + 1.0 / 3628800;
    q = q * r + 1.0 / 362880;
    q = q * r + 1.0 / 40320;
    q = q * r + 1.0 / 5040;
    q = q * r + 1.0 / 720;
    q = q * r + 1.0 / 120;
    q = q * r + 1.0 / 24;
    q = q * r + 1.0 / 6;
    q = q * r + 0.5;
    return r + r * r * q;
}

double det_exp(double x)
{
    if (x != x)
        return x;
    if (x > 709.79)
        return INFINITY;
    if (x < -745.2)
        return 0;
    double k = (x * INV_LN2 + TO_WHOLE) - TO_WHOLE;
    double hi = x - k * LN2_HI, lo = k * LN2_LO, r = hi - lo;
    double left = (hi - r) - lo; /* what r lost in rounding */
    double y = exp_less_one(r);
    y = 1 + (y + (left + left * y));
    int n = (int)k, half = n / 2; /* in two steps: 2^k itself may be no double */
    return y * power_of_two(half) * power_of_two(n - half);
}

/* x = m * 2^k with sqrt(1/2) <= m < sqrt(2), f = m - 1 and s = f / (2 + f):
 * log(m) = 2 atanh(s) = f - f^2/2 + s (f^2/2 + 2 s^2/3 + 2 s^4/5 + ...). */
double det_log(double x)
{
    uint64_t b = bits_of(x);
    int k = 0;
    if (x != x || x == INFINITY)
        return x;
    if (x <= 0)
        return x == 0 ? -INFINITY : NAN;
    if (b < UINT64_C(1) << 52) { /* subnormal */
        b = bits_of(x * 0x1p54);
        k = -54;
    }
    k += (int)(b >> 52) - 1023;
    double m = from_bits((b & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1023) << 52);
    if (m > 1.4142135623730951) {
        m *= 0.5;
        k++;
    }
    double f = m - 1, s = f / (2 + f), z = s * s, half = 0.5 * f * f;
    double q = 2.0 / 25;
    q = q * z + 2.0 / 23;
    q = q * z + 2.0 / 21;
    q = q * z + 2.0 / 19;
    q = q * z + 2.0 / 17;
    q = q * z + 2.0 / 15;
    q = q * z + 2.0 / 13;
    q = q * z + 2.0 / 11;
    q = q * z + 2.0 / 9;
    q = q * z + 2.0 / 7;
    q = q * z + 2.0 / 5;
    q = q * z + 2.0 / 3;
    double small = s * (half + z * q) + k * LN2_LO;
    return k * LN2_HI + (f - (half - small));
}

double det_tanh(double x)
{
    if (x != x)
        return x;
    double a = fabs(x);
    if (a > 20)
        return copysign(1, x);
    double y = a <= 0.17 ? exp_less_one(-2 * a) : det_exp(-2 * a) - 1;
    return copysign(-y / (2 + y), x);
}

/* --- cosine ---------------------------------------------------------------------------------------- */

#define INV_PI 0x1.45f306dc9c883p-2
/* pi/2 in three parts; the first two have 33 bits, so that a multiple of them is exact. */
#define HALF_PI_1 0x1.921fb544p+0
#define HALF_PI_2 0x1.0b4611a6p-34
#define HALF_PI_3 0x1.3198a2e037073p-69

/* Without branches: n the whole number nearest to x/pi - 1/2, r = x - (2n + 1) pi/2, cos x is sin r when n
 * is odd and -sin r when it is even.  |r| <= pi/2, where the sine's series ends at r^21. */
static inline __attribute__((always_inline)) pair cos_pair(pair x)
{
    pair t = (x * INV_PI - 0.5) + TO_WHOLE, n = t - TO_WHOLE, m = n + n + 1;
    pair top = x - m * HALF_PI_1, mid = m * HALF_PI_2;
    pair r = top - mid;
    pair left = ((top - r) - mid) - m * HALF_PI_3; /* what r lost in rounding */
    /* The series in halves of halves, which the processor can compute side by side. */
    pair z = r * r, z2 = z * z, z4 = z2 * z2;
    pair low = (z * (1.0 / 120) - 1.0 / 6) + (z * (1.0 / 362880) - 1.0 / 5040) * z2;
    pair high = (z * (1.0 / 6227020800) - 1.0 / 39916800) +
                (z * (1.0 / 355687428096000) - 1.0 / 1307674368000) * z2;
    pair last = z * (1.0 / 51090942171709440000.0) - 1.0 / 121645100408832000;
    pair q = (low + high * z4) + last * (z4 * z4);
    pair sine = r + (r * z * q + (left - left * (z * 0.5)));
    pair_bits even = (((pair_bits)t & 1) ^ 1) << 63;
    return pair_clamp((pair)((pair_bits)sine ^ even), 1); /* rounding may go beyond 1 */
}

void det_cos_n(const double *x, double *out, int n)
{
    int i = 0;
    for (; i + 1 < n; i += 2) {
        pair v = {x[i], x[i + 1]};
        v = cos_pair(v);
        out[i] = v[0];
        out[i + 1] = v[1];
    }
    if (i < n)
        out[i] = det_cos(x[i]);
}

double det_cos(double x)
{
    pair v = {x, 0};
    return cos_pair(v)[0];
}
