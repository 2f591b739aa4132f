/* Emulates the tensor-core instructions mma (a small matrix product by a whole warp) and ldmatrix on the CPU.
 */
#ifndef EMULATED_MMA_H
#define EMULATED_MMA_H

#include <stdint.h>

void mma(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]);
/* Products in bfloat16 of 16 or 8 terms. */
void mma16(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1);
void mma8(float (&c)[4], unsigned a0, unsigned a1, unsigned b);

/* Returns x in bfloat16, rounded to nearest, ties to even. */
static inline uint16_t emulated_bf16(float x) {
    unsigned bits = __float_as_uint(x);
    if ((bits & 0x7fffffff) > 0x7f800000) return 0x7fff;
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* Each lane reads what it gets, so that ThreadSanitizer sees its accesses. */
static inline void emulated_matrices(unsigned (&to)[4], const void *row, bool turned) {
    const uint16_t *rows[32];
    emulated_gather(&row, rows, sizeof row);
    int g = emulated_lane() / 4, t = emulated_lane() % 4;
    for (int m = 0; m < 4; m++) {
        const uint16_t *const *of = rows + 8 * m;
        unsigned first = turned ? of[2 * t][g] : of[g][2 * t],
                 second = turned ? of[2 * t + 1][g] : of[g][2 * t + 1];
        to[m] = first | second << 16;
    }
}

#endif
