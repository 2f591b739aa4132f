/* Describes the layer-by-layer family of CUDA kernels, which computes a training step of any net with one
 * kernel or a few per layer: what each reads and writes, in order. Declares the helpers that its files share;
 * base/gpu.cuh declares the functions that step/step.cu calls. */
/* clang-format off */
/* They take every net that the library opens (encoder_out up to 128, decoder_out up to 64) and every batch
 * that memory_reserve accepts, of one size or of several. step/step.cu picks them where the narrow family does not
 * take the net and batch: always where ranks share a batch, where its sets have several sizes, with dropout or
 * relative features, and for nets with relations, whose batches count as ones of several sizes.
 *
 * A batch of one size is cut into tiles by a plan that its kernels get as arguments. A batch of several sizes
 * is sorted and cut by the host, which sends tables (mixed.cu, base/batch.cuh); the kernels over cells are
 * compiled once for each kind (MIXED), so that the first pays nothing for the second. The norms count all
 * cells of the batch, the loss is the mean over all its steps.
 *
 * The kernels of a step in their order; those in brackets run on side streams. Other weights are read from theta.
 *
 * kernel (file)                      reads                             writes
 * take (head.cu)                     the sets                          x [., inputs], pos, order; w1 packed
 * relate (relations.cu)              the sets: where there are         e; related, last packed
 *                                    relations
 * [pack (decoder.cu)]                                                  rows, conv, conv_t, pool, pool_t
 * encoder block k:
 *   encoder_rows (encoder.cu)        x, w1; best, norm2 of block k-1   pooled columns of x, ac, norm1
 *   pair_sums (encoder.cu)           ac; e, related                    norm1: n > 64, relations, or bfloat16
 *   pairs_pack_kernel (pairs_bf16.cu)  norm1                           W2 with norm1 in it: in bfloat16
 *   pair_forward_kernel (pairs.cu)   ac, norm1                         u, best, arg, norm2
 * decoder_rows (decoder.cu)          x, rows; best, norm2 of the last  pooled columns of x, q
 * decoder block m:
 *   conv<., false> (conv.cu)         r, v, pools of blocks < m; q      r, praw, parg, norm; v, pool of m-1
 * head (head.cu)                     x, r of all blocks                logit, dlogit, item_d, loss
 * [head_weights, sum_rows]           dlogit, r, x, item_d              head_part, head_total
 * decoder block m, last first:
 *   conv<., true> (conv.cu)          dv, dpre of blocks > m; dlogit    dv, sums per step, k0, k1, gradients
 *                                                                      of norm and bias; dpre, dstep of m+1
 * [conv_weights (conv_weights.cu)]   v, dpre; pools, dstep             conv_part, pool_part
 * [last_weights (relations.cu)]      e, dpre, dlogit                   last_part
 * decoder_dq (decoder_back.cu)       dpre                              dq, start_part
 * [start_dq, start_gradient]         start_part, rows                  row R of dq, the start's gradient
 * [rows_weights (weights.cu)]        dq, x                             rows_part
 * inputs (inputs.cu)                 dq, rows, item_d                  dx; gd, k0, k1 of the last norm2
 * encoder block k, last first:
 *   pair_backward_kernel (pairs_back.cu)  ac, u, gd, arg, k0, k1       sum, g, c0, c1, gradients of b2, norm1
 *   [sum_rows]                       g                                 g_total
 *   encoder_correct (encoder_back.cu)  ac, sum, c0, c1                 dac
 *   related_weights (relations.cu)   e, ac, u, gd, arg, k0, k1, c0, c1 related_part
 *   [rows_weights]                   dac, x                            weight_part
 *   inputs                           dac, w1                           dx; gd, k0, k1 of norm2 of block k-1
 * finish, move (step/optimise.cu)    all parts                         the gradient; the parameters
 *
 * In bfloat16 what only products read is stored so (stored<P>), and other kernels take the place of some:
 *   features_bf16, rows_bf16_kernel (rows_bf16.cu)   encoder_rows, decoder_rows
 *   pair_sums_bf16 (encoder.cu)                      pair_sums
 *   pair_backward_bf16_kernel (pairs_bf16.cu)        pair_backward_kernel
 *   inputs_bf16 (inputs.cu), rows_weights_bf16 (weights.cu)
 */
/* clang-format on */
#ifndef CUDA_LAYERS_LAYERS_CUH
#define CUDA_LAYERS_LAYERS_CUH

#include "engine/cuda/base/gemm.cuh"
#include "engine/cuda/base/gemm_bf16.cuh"

/* Computes dx, the gradient of the features that encoder block `block` sees (features.cuh), or (block == M)
 * the decoder, from d [R, K], the gradient of their product with weights w [K, columns]; then the backward
 * pass of the pool of the block before. */
void gpu_inputs(gpu *s, int block, const float *d, const float *w, int K);
/* Computes in bfloat16 a and c of encoder block `block` or (block == M) q of the decoder (rows_bf16.cu). */
void rows_bf16(gpu *s, int block);
/* part [splits, width, in + ones] = d [R, width]^T x, in parts over the rows; returns the number of splits. x
 * is s->step.x; ones = 1 adds a column of ones to it, for the bias. In bfloat16, d holds bfloat16 values and
 * x is s->half.x. */
int gpu_rows_weights(gpu *s, cudaStream_t where, const float *d, int width, int R, int in, int ones,
                     float *part);
/* out [width] = sum over the rows of part [rows, width]. */
void gpu_sum_rows(gpu *s, cudaStream_t where, const float *part, int rows, int width, float *out);
/* Compute the gradients of the weights that see relations (relations.cu): gpu_related_weights of an encoder
 * block, gpu_last_weights of the decoder and the head. */
void gpu_related_weights(gpu *s, int block);
void gpu_last_weights(gpu *s, cudaStream_t where);
/* Adds up row R of dq from the parts of all sets, and computes from it the gradient of the start vector. */
void gpu_start_gradient(gpu *s, cudaStream_t where);
/* Finds how many thread blocks the narrow family may have; false: the device failed. */
bool gpu_narrow_limits(gpu *s);

/* ---- Batches whose sets have several sizes (mixed.cu) ---- */

/* Allocates host memory to sort batches of up to this size. mixed_close frees it and the memory of the
 * tables. */
bool mixed_reserve(gpu *s, batch_size most);
void mixed_close(gpu *s);
/* Sorts the sets of a batch (s->ragged.sorted) and writes its tables to the open slot, from which they are
 * sent to s->ragged.tables. Returns false where there is not enough memory or a set does not fit into shared
 * memory. */
bool mixed_make(gpu *s, const uint32_t *index, int B);

#endif
