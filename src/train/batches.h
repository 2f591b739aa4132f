/* Which sets go into which batch. A batch holds sets of one size; an epoch visits every set of two items or
 * more once, in batches of nearly equal size, the sizes shuffled. The plan follows from (seed, epoch) alone,
 * so that a resumed run goes on with the very same batches. */
#ifndef TRAIN_BATCHES_H
#define TRAIN_BATCHES_H

#include "ordernet.h"

typedef struct batch {
    uint32_t first; /* into index */
    int count;
} batch;

typedef struct batches {
    uint32_t *index; /* [used]: set numbers, size by size */
    size_t used;
    uint32_t *group; /* [groups + 1]: where each size begins in index */
    int *size;       /* [groups] */
    int groups;
    batch *batch; /* [count] */
    size_t count;
    int largest;      /* sets in the largest batch */
    uint32_t *sorted; /* [used]: the index before any shuffling */
} batches;

onet_status batches_new(batches **b, const onet_sets *sets, int batch_size, onet_error *err);
void batches_shuffle(batches *b, uint64_t seed, uint64_t epoch);
void batches_free(batches *b);

#endif
