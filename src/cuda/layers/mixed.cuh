/* Batches whose sets have several sizes (mixed.cu). */
#ifndef CUDA_MIXED_CUH
#define CUDA_MIXED_CUH

#include "cuda/layers/layers.cuh"

/* Memory of the host for batches of up to this size, and how much room their tables need (s->table_room). */
bool mixed_reserve(gpu *s, batch_size most);
void mixed_close(gpu *s);
/* Sorts the sets of a batch (s->sorted) and writes its tables to `host`, from where they are to be sent to
 * s->tables; false: the kernels have not enough shared memory for one of the sets. */
bool mixed_make(gpu *s, const uint32_t *index, int B, unsigned char *host);

#endif
