/* The words of a batch whose vectors are trained (words.cu). */
#ifndef CUDA_WORDS_CUH
#define CUDA_WORDS_CUH

#include "cuda/common/gpu.cuh"

/* The rows of each distinct word of the batch, at `first` and behind it as in struct gpu; how many words. */
int words_list(gpu *s, int32_t *first);
/* The same of all processes' sets; dx becomes the gradient of all rows, [all*n, width]. */
int words_share(gpu *s, int32_t *first);

#endif
