/* The layer-by-layer family: a training step as one kernel (or a few) per layer, each over the whole batch.
 *
 * Takes every net that the library opens (encoder_out up to 128, decoder_out up to 64) and every batch that
 * memory_reserve accepts. common/step.cu picks it where the narrow family does not take the net and batch,
 * and always where ranks share a batch.
 *
 * The kernels of a step in their order; those in brackets run on side streams, beside the main line. Weights
 * are read from theta.
 *
 * kernel (file)                  reads                              writes
 * take (head.cu)                 the sets                           x [., d], pos, order; w1 packed
 * [pack (decoder.cu)]                                               rows, conv, conv_t, pool, pool_t
 * encoder block k:
 *   encoder_rows (encoder.cu)    x, w1; best, norm2 of block k-1    pooled columns of x, ac, norm1
 *   pair_sums (encoder.cu)       ac                                 norm1, where n > 64
 *   pair_forward (pairs.cu)      ac, norm1                          u, best, arg, norm2
 * decoder_rows (decoder.cu)      x, rows; best, norm2 of the last   pooled columns of x, q
 * decoder block m:
 *   conv<forward> (conv.cu)      r, v, pools of blocks < m; q       r, praw, parg, norm; v, pool of block m-1
 * head (head.cu)                 x, r of all blocks                 logit, dlogit, item_d, loss
 * [head_weights, sum_rows]       dlogit, r, x, item_d               head_part, head_total
 * decoder block m, last first:
 *   conv<backward> (conv.cu)     dv, dpre of blocks > m; dlogit, r  dv, sums per step, k0, k1, gradients of
 * the norm and the bias; dpre, dstep of block m+1 [conv_weights (conv_weights.cu)] v, dpre; pools, dstep
 * conv_part, pool_part decoder_dq (decoder_back.cu)   dpre                               dq, start_part
 * [start_dq, start_gradient]     start_part, rows                   row R of dq, gradient of the start vector
 * [rows_weights (weights.cu)]    dq, x                              rows_part
 * inputs (inputs.cu)             dq, rows, item_d                   dx; gd, k0, k1 of the last block's norm2
 * encoder block k, last first:
 *   pair_backward (pairs_back.cu) ac, u, gd, arg, k0, k1            sum, g, c0, c1, gradients of b2 and norm1
 *   [sum_rows]                   g                                  g_total
 *   encoder_correct (encoder_back.cu) ac, sum, c0, c1               dac
 *   [rows_weights]               dac, x                             weight_part
 *   inputs                       dac, w1                            dx; gd, k0, k1 of block k-1's norm2
 * finish, move (common/optimise.cu) all parts                       the gradient; the parameters
 */
#ifndef CUDA_LAYERS_CUH
#define CUDA_LAYERS_CUH

#include "cuda/common/gemm.cuh"
#include "cuda/common/norms.cuh"

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
