/* rng: xoshiro256**, seeded by splitmix64.  The whole state is this struct: copy it to save it.
 * Everything random in Carol comes from one of these, passed in, so that a campaign repeats from
 * its seed bit for bit. */
#ifndef CAROL_BASE_RNG_H
#define CAROL_BASE_RNG_H

#include <stdint.h>

struct rng {
    uint64_t s[4];
};

void rng_seed(struct rng *r, uint64_t seed);
/* One stream per purpose: the same seed with another name gives unrelated numbers. */
void rng_stream(struct rng *r, uint64_t seed, const char *purpose);
uint64_t rng_u64(struct rng *r);
uint64_t rng_below(struct rng *r, uint64_t n); /* uniform in [0, n), n > 0, without modulo bias */
double rng_unit(struct rng *r);                /* uniform in [0, 1), 53 bits */
double rng_normal(struct rng *r);              /* N(0,1), Box-Muller, two draws, nothing cached */
/* n of them, the same as one after another, faster. */
void rng_normals(struct rng *r, double *out, int n);

#endif
