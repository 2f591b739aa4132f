/* Computes the dropout of the encoder's pooled features in training: which of them are 0 in a step. It
 * follows from the seed of the step, the set's number among all sets, the item and the column of the feature,
 * so that it is the same for any number of threads or ranks and on every device. */
#ifndef KERNELS_DROPOUT_H
#define KERNELS_DROPOUT_H

#include <stdint.h>

#ifdef __CUDACC__
#define DROPOUT_FUNCTION __host__ __device__ static inline
#else
#define DROPOUT_FUNCTION static inline
#endif

/* Returns the bits of x mixed so that each depends on all: a hash by multiplications and shifts. */
DROPOUT_FUNCTION uint32_t dropout_mix(uint32_t x) {
    x = (x ^ x >> 16) * UINT32_C(0x7feb352d);
    x = (x ^ x >> 15) * UINT32_C(0x846ca68b);
    return x ^ x >> 16;
}

/* Returns the random key of an item in one step. */
DROPOUT_FUNCTION uint32_t dropout_key(uint32_t seed, uint32_t set, uint32_t item) {
    return dropout_mix(dropout_mix(seed + set * UINT32_C(0x9e3779b9)) + item * UINT32_C(0x85ebca6b));
}

/* Returns a share of 2^32, the limit for random numbers. */
DROPOUT_FUNCTION uint32_t dropout_limit(float share) {
    return (uint32_t)((double)share * 4294967296.0);
}

/* Returns the factor of the feature in this column: 0, or `scale`, which is 1 / (1 - share). */
DROPOUT_FUNCTION float dropout_factor(uint32_t key, uint32_t column, uint32_t limit, float scale) {
    return dropout_mix(key + column * UINT32_C(0xc2b2ae35)) < limit ? 0.0f : scale;
}

#endif
