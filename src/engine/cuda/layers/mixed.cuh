/* Prepares batches whose sets have several sizes: sorts the sets and builds the tables of tiles (mixed.cu).
 */
#ifndef CUDA_MIXED_CUH
#define CUDA_MIXED_CUH

#include "engine/cuda/layers/layers.cuh"

/* Memory of the host to sort batches of up to this size. mixed_close frees it, and that of the tables. */
bool mixed_reserve(gpu *s, batch_size most);
void mixed_close(gpu *s);
/* Sorts the sets of a batch (s->ragged.sorted) and writes its tables to the slot that is open, from where
 * they are to be sent to s->ragged.tables. False: there is not enough memory, or a set does not fit into
 * shared memory. */
bool mixed_make(gpu *s, const uint32_t *index, int B);

#endif
