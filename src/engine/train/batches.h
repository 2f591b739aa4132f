/* Which sets go into which batch. An epoch visits every set of two items or more once, in batches of nearly
 * equal numbers of sets. Sets are dealt within groups: all in one group, so that a batch mixes sizes; or one
 * group for each size. The plan follows from (seed, epoch) alone, so that a resumed run continues with the
 * same batches. */
#ifndef TRAIN_BATCHES_H
#define TRAIN_BATCHES_H

#include "engine/kernels/net.h"

typedef struct batch {
    uint32_t first; /* into index */
    int count;
} batch;

typedef struct batches {
    uint32_t *index; /* [used]: set numbers, group by group */
    size_t used;
    uint32_t *group; /* [groups + 1]: where each group begins in index */
    int groups;
    batch *batch; /* [count] */
    size_t count;
    int largest;      /* sets in the largest batch */
    uint32_t *sorted; /* [used]: the index before any shuffling */
} batches;

/* sets: only their sizes and how many items are placed matter. most: sets per batch. */
onet_status batches_new(batches **b, const onet_sets *sets, int most, onet_batches how, onet_error *err);
void batches_shuffle(batches *b, uint64_t seed, uint64_t epoch);
void batches_free(batches *b);
/* How large a batch is; and the most of all batches as they are now. */
batch_size batches_size(const batches *b, const batch *one, const onet_sets *sets);
batch_size batches_most(const batches *b, const onet_sets *sets);

#endif
