/* Draws random numbers with xoshiro256**, seeded through splitmix64. A (seed, stream) pair names a sequence,
 * so that work split over threads draws the same numbers for any number of threads. */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

typedef struct rng {
    uint64_t s[4];
} rng;

void rng_seed(rng *r, uint64_t seed, uint64_t stream);
uint64_t rng_u64(rng *r);
double rng_uniform(rng *r);                 /* in [0, 1), 53 bits */
uint64_t rng_below(rng *r, uint64_t bound); /* in [0, bound), unbiased; bound > 0 */
double rng_normal(rng *r);                  /* mean 0, variance 1 */
/* Writes a random permutation of 0 .. count-1 to place [count]. */
void rng_permutation(rng *r, size_t *place, size_t count);

#endif
