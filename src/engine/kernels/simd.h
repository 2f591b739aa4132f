/* Puts the SIMD kernels, which simd_*.h implement once for all instruction sets, together into one table of
 * functions. A file for one of the instruction sets (avx2.c, neon.c, ...) defines vec, VL and the few
 * operations on it, the sizes of the register tiles, KERNELS and KERNELS_NAME, and includes this. */
#include "engine/kernels/simd_tile.h"

#include "engine/kernels/simd_pool.h"

#include "engine/kernels/simd_cells.h"

#include "engine/kernels/simd_pair.h"

#include "engine/kernels/simd_conv.h"

_Static_assert(sizeof(real) == sizeof(float), "the vector kernels are for float");

const kernels KERNELS = {
    .name = KERNELS_NAME,
    .gemm = gemm,
    .pair_stats = pair_stats,
    .pair_forward = pair_forward_simd,
    .pair_backward_weights = pair_backward_weights,
    .pair_backward_inputs = pair_backward_inputs,
    .conv_forward = conv_forward_simd,
    .cell_sums = cell_sums,
    .conv_backward = conv_backward_simd,
    .cell_dot = cell_dot,
    .cell_dot_backward = cell_dot_backward,
    .adam = adam,
};
