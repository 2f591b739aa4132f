/* The training sets over many processes: set s belongs to process s % size, and is its set number s / size.
 * Process 0 has read them; every process gets to know all sizes, so that all make the same plan of batches.
 */
#ifndef TRAIN_SHARD_H
#define TRAIN_SHARD_H

#include "base/world.h"

typedef struct shard {
    onet_sets *plan; /* all sets, but only their sizes; NULL in process 0, which has them whole */
    onet_sets *own;  /* this process's sets */
} shard;

/* Called by all; `all` is NULL but in process 0, where it must live as long as the shard. */
onet_status shard_make(shard *s, const world *w, const onet_sets *all, onet_error *err);
void shard_free(shard *s, const world *w);

/* Of `count` sets of a batch those that process w owns: their own numbers to index, their places in the batch
 * to place. How many is given back. */
int shard_pick(const world *w, const uint32_t *batch, int count, uint32_t *index, uint32_t *place);

#endif
