/* Draws random numbers with xoshiro256**: integers, uniform and normal doubles, permutations. */
#include "engine/base/rng.h"

#include <math.h>

static uint64_t splitmix(uint64_t *x) {
    uint64_t z = (*x += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

void rng_seed(rng *r, uint64_t seed, uint64_t stream) {
    uint64_t a = seed, b = stream ^ UINT64_C(0xD1B54A32D192ED03);
    for (int i = 0; i < 4; i++) r->s[i] = splitmix(&a) ^ splitmix(&b);
    if (!(r->s[0] | r->s[1] | r->s[2] | r->s[3])) r->s[0] = 1;
}

static uint64_t rotate(uint64_t x, int k) {
    return (x << k) | (x >> (64 - k));
}

uint64_t rng_u64(rng *r) {
    uint64_t *s = r->s, result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

double rng_uniform(rng *r) {
    return (double)(rng_u64(r) >> 11) * 0x1p-53;
}

uint64_t rng_below(rng *r, uint64_t bound) {
    uint64_t limit = UINT64_MAX - UINT64_MAX % bound, x;
    do x = rng_u64(r);
    while (x >= limit);
    return x % bound;
}

double rng_normal(rng *r) {
    double u;
    do u = rng_uniform(r);
    while (u <= 0);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * rng_uniform(r));
}

void rng_permutation(rng *r, size_t *place, size_t count) {
    for (size_t i = 0; i < count; i++) {
        size_t j = (size_t)rng_below(r, i + 1);
        place[i] = place[j];
        place[j] = i;
    }
}
