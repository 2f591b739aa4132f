/* Launches and descriptions that the encoder and the decoder share (encoder.cu). */
#ifndef CUDA_LAUNCH_CUH
#define CUDA_LAUNCH_CUH

#include "gemm.cuh"
#include "norms.cuh"

/* The features that encoder block `block` sees, or (block == M) the decoder. */
features gpu_features(const gpu *s, int block);
/* Their gradient dx, from that of what their weights w [K, columns] gave, d [R, K]; and the way back through
 * the pool of the block before. */
void gpu_inputs(gpu *s, int block, const float *d, const float *w, int K);
/* part [splits, width, in + ones] = d [R, width]^T x, in parts over the rows; gives back how many. */
int gpu_rows_weights(gpu *s, cudaStream_t where, const float *d, int width, int R, int in, int ones,
                     float *part);
/* out [width] = sum over the rows of part [rows, width]. */
void gpu_sum_rows(gpu *s, cudaStream_t where, const float *part, int rows, int width, float *out);
/* Gradient of the start vector, from what all sets give to its row `last` of dq. */
void gpu_start_gradient(gpu *s, cudaStream_t where, float *last);
bool gpu_narrow_limits(gpu *s);

#endif
