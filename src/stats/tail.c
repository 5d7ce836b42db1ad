/* tail: upper tails in forms whose terms are all positive, so that small ones keep their digits. */
#include "stats/tail.h"

#include <math.h>

#define STEPS_PER_UNIT                                                                             \
    16           /* of the trapezoidal rule; it converges faster than any power of the step */
#define FAR 12.0 /* where a normal density no longer counts */
#define LONGEST_RANGE 80.0
#define FARTHEST_T 1000.0 /* beyond the point of 0.001 with one degree of freedom */

double tail_normal(double z)
{
    return erfc(fabs(z) * M_SQRT1_2);
}

/* For whole df the incomplete gamma function is a finite sum: of powers of x/2, whole ones when df is even,
 * else halves beside the tail for df = 1.  Long double, because exp(-x/2) may leave the doubles before the
 * sum does. */
double tail_chi2(double x, int df)
{
    if (!(x > 0))
        return 1;
    long double h = x / 2.0L, sum = 0, power = df % 2 ? 0.5L : 0;
    long double term = expl(-h) * (df % 2 ? sqrtl(h) * 2 / sqrtl(M_PIl) : 1);
    for (int i = 0; i < df / 2; i++) {
        sum += term;
        power += 1;
        term *= h / power;
    }
    return fmin(1, (double)(sum + (df % 2 ? erfcl(sqrtl(h)) : 0)));
}

/* P(Z > z). */
static double above(double z)
{
    return erfc(z * M_SQRT1_2) / 2;
}

/* That all other k-1 exceed the smallest, z, but not all of them stay within q of it:
 * a^(k-1) - b^(k-1) = (a - b) (a^(k-2) + a^(k-3) b + ...), a - b the part beyond z + q. */
static double range_density(double z, double q, int k)
{
    double a = above(z), beyond = above(z + q), b = a - beyond, sum = 0, power = 1;
    for (int i = 0; i < k - 1; i++) {
        sum = sum * a + power;
        power *= b;
    }
    return k * exp(-z * z / 2) / sqrt(2 * M_PI) * beyond * sum;
}

double tail_range(double q, int k)
{
    if (!(q > 0))
        return 1;
    if (q > LONGEST_RANGE)
        return 0;
    double sum = 0;
    int steps = (int)ceil((q + 2 * FAR) * STEPS_PER_UNIT);
    for (int i = 0; i <= steps; i++)
        sum += range_density(-q - FAR + (double)i / STEPS_PER_UNIT, q, k);
    return fmin(1, sum / STEPS_PER_UNIT);
}

double tail_range_point(double p, int k)
{
    double lo = 0, hi = LONGEST_RANGE;
    for (int i = 0; i < 64; i++) {
        double mid = (lo + hi) / 2;
        if (tail_range(mid, k) > p)
            lo = mid;
        else
            hi = mid;
    }
    return (lo + hi) / 2;
}

/* P(|T| < t): for whole df a finite sum of powers of cos^2 of the angle whose tangent is t/sqrt(df). */
static double student_within(double t, int df)
{
    int odd = df % 2;
    double angle = atan(t / sqrt(df)), c2 = cos(angle) * cos(angle);
    double term = odd ? cos(angle) : 1, sum = 0;
    for (int i = odd; i < df - 1; i += 2) {
        sum += term;
        term *= c2 * (i + 1) / (i + 2);
    }
    return odd ? (angle + sin(angle) * sum) * M_2_PI : sin(angle) * sum;
}

double tail_student_point(double p, int df)
{
    double lo = 0, hi = FARTHEST_T;
    for (int i = 0; i < 64; i++) {
        double mid = (lo + hi) / 2;
        if (1 - student_within(mid, df) > p)
            lo = mid;
        else
            hi = mid;
    }
    return (lo + hi) / 2;
}
