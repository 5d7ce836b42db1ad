/* rng: xoshiro256** (Blackman and Vigna, public domain algorithm), written from its description. */
#include "base/rng.h"

#include "base/det.h"

#include <math.h>

static uint64_t splitmix(uint64_t *x)
{
    uint64_t z = (*x += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void rng_seed(struct rng *r, uint64_t seed)
{
    for (int i = 0; i < 4; i++)
        r->s[i] = splitmix(&seed);
}

void rng_stream(struct rng *r, uint64_t seed, const char *purpose)
{
    uint64_t x = seed;
    for (const char *p = purpose; *p; p++)
        x = splitmix(&x) ^ (uint64_t)(unsigned char)*p;
    rng_seed(r, splitmix(&x));
}

static uint64_t rotl(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

uint64_t rng_u64(struct rng *r)
{
    uint64_t *s = r->s, out = rotl(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 45);
    return out;
}

uint64_t rng_below(struct rng *r, uint64_t n)
{
    uint64_t limit = UINT64_MAX - UINT64_MAX % n, x;
    do
        x = rng_u64(r);
    while (x >= limit);
    return x % n;
}

double rng_unit(struct rng *r)
{
    return (double)(rng_u64(r) >> 11) * 0x1.0p-53;
}

double rng_normal(struct rng *r)
{
    double out;
    rng_normals(r, &out, 1);
    return out;
}

void rng_normals(struct rng *r, double *out, int n)
{
    double angle[64];
    for (int done = 0; done < n; done += 64) {
        int m = n - done < 64 ? n - done : 64;
        for (int i = 0; i < m; i++) {
            out[done + i] = sqrt(-2.0 * det_log(1.0 - rng_unit(r)));
            angle[i] = 2.0 * 3.14159265358979323846 * rng_unit(r);
        }
        det_cos_n(angle, angle, m);
        for (int i = 0; i < m; i++)
            out[done + i] *= angle[i];
    }
}
