/* Launches and descriptions that the encoder and the decoder share (encoder.cu). */
#ifndef CUDA_LAUNCH_CUH
#define CUDA_LAUNCH_CUH

#include "gemm.cuh"
#include "norms.cuh"

/* The tile of a product that gives the gradient of features: ROWS of them, 64 columns. */
template <int ROWS, bool TF32>
using inputs_tile = tile<ROWS, 64, ROWS == 64 ? 2 : 1, 2, ROWS == 64 ? 2 : 4, true, false, TF32>;
/* How many rows a tile should have, so that there are enough of them. */
static inline int inputs_rows(const gpu *s, int R, int columns) {
    for (int rows = 64; rows > 16; rows /= 2)
        if ((long)up(R, rows) * columns >= s->multiprocessors) return rows;
    return 16;
}
/* The features that encoder block `block` sees, or (block == M) the decoder. */
features gpu_features(const gpu *s, int block);
/* The way back through the pool of encoder block `block`; nothing when it is -1. */
pool_backward gpu_pool_backward(gpu *s, int block);
/* part [splits, width, in + ones] = d [R, width]^T x, in parts over the rows; gives back how many. */
int gpu_rows_weights(gpu *s, cudaStream_t where, const float *d, int width, int R, int in, int ones,
                     float *part);
/* out [width] = sum over the rows of part [rows, width]. */
void gpu_sum_rows(gpu *s, cudaStream_t where, const float *part, int rows, int width, float *out);
/* Gradient of the start vector, from what all sets give to its row `last` of dq. */
void gpu_start_gradient(gpu *s, cudaStream_t where, float *last);
bool gpu_narrow_limits(gpu *s);

#endif
