/* Passes each batch norm of the net to the kernel that adds up its sums, and all-reduces the sums where ranks
 * share a batch. */
#ifndef CUDA_NORMS_CUH
#define CUDA_NORMS_CUH

#include "engine/cuda/base/gpu.cuh"

/* Of encoder block `block`: the norm over hidden channels, and that over its output. */
norm_forward norms_first(const gpu *s, int block);
norm_forward norms_second(const gpu *s, int block);
norm_forward norms_decoder(const gpu *s, int block);
norm_backward norms_first_back(const gpu *s, int block);
norm_backward norms_second_back(const gpu *s, int block);
norm_backward norms_decoder_back(const gpu *s, int block);

/* To be called after the kernel that adds up the sums of this norm and before any that uses the norm. Does
 * something only where ranks share a batch. */
void norms_total(gpu *s, norm_forward p);
void norms_total(gpu *s, norm_backward p);

#endif
