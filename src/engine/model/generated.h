/* Makes parameters and batches by a formula, the same in C and in reference/generated.py: golden files then
 * need not hold weights, and the benchmark can show that two programs compute the same loss. Not for
 * training. */
#ifndef MODEL_GENERATED_H
#define MODEL_GENERATED_H

#include <stdint.h>

#include "engine/model/net_shape.h"

/* Returns a 64-bit number for (seed, stream, element): splitmix64's finaliser, three times. */
uint64_t generated_u64(uint64_t seed, uint64_t stream, uint64_t element);

/* Makes the relations of batch number `step`: e [B, n, n, R], 0 from an item to itself. */
void generated_pairs(uint64_t seed, int step, int B, int n, int R, float *e);

/* Returns the top 53 bits of generated_u64 as a number in [0, 1). */
double generated_uniform(uint64_t seed, uint64_t stream, uint64_t element);

/* Makes all parameters and running statistics; tensor k of the shape is stream k. A quarter of the norms'
 * scales is negative, so that max pooling after a norm with a negative scale is tested too. theta:
 * [sh->total] */
void generated_theta(const net_shape *sh, uint64_t seed, float *theta);

/* Makes batch number `step`: items uniform in [-1, 1), and for each set a permutation. x: [B, n, d], y: [B,
 * n] */
void generated_batch(uint64_t seed, int step, int B, int n, int d, float *x, int32_t *y);

#endif
