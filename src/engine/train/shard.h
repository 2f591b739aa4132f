/* Distributes the training sets over many ranks: set s belongs to rank s % size, and is its set number s /
 * size. Rank 0 has read them; every rank knows all sizes, so that all make the same plan of batches. */
#ifndef TRAIN_SHARD_H
#define TRAIN_SHARD_H

#include "engine/base/world.h"
#include "engine/data/scaling.h"
#include "engine/model/model.h"

typedef struct shard {
    onet_sets *plan;   /* the sizes of all sets; NULL in rank 0, which has the sets themselves */
    onet_sets *own;    /* this rank's sets */
    onet_words *words; /* those that rank 0 sent, a part of own; NULL in rank 0, whose sets lend theirs */
} shard;

/* Called by all ranks. `all`: the sets in rank 0, where they must live as long as the shard; NULL elsewhere.
 */
onet_status shard_make(shard *s, const world *w, const onet_sets *all, onet_error *err);
void shard_free(shard *s);

/* Rank 0's columns, which may be NULL, to all ranks, whose own are NULL. */
onet_status shard_columns(const world *w, onet_columns **columns, onet_error *err);

/* The same for the scaling of the features. */
onet_status shard_scaling(const world *w, scaling **shared, onet_error *err);

/* The names of rank 0's relations, what replaces missing ones, and how some are made, to all ranks, whose
 * models have none of them but know the features. */
onet_status shard_relations(const world *w, onet_model *model, onet_error *err);

/* Of `count` sets of a batch those that this rank owns: their own numbers to index, the row of the whole
 * batch at which their items begin to row. Returns how many. */
int shard_pick(const world *w, const onet_sets *plan, const uint32_t *batch, int count, uint32_t *index,
               uint32_t *row);

#endif
