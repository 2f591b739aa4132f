/* Lists the distinct words of a batch whose vectors are trained, for the optimiser (words.cu). */
#ifndef CUDA_WORDS_CUH
#define CUDA_WORDS_CUH

#include "engine/cuda/base/gpu.cuh"

/* Writes the rows of each distinct word of the batch to `first` and behind it, as in struct gpu; returns
 * the number of words. */
int words_list(gpu *s, int32_t *first);
/* The same for the sets of all ranks; dx becomes the gradient of the whole batch, [rows, width]. */
int words_share(gpu *s, int32_t *first);

#endif
