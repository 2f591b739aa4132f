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

/* Distributes the sets; called by all ranks. `all`: the sets in rank 0, where they must live as long as the
 * shard; NULL elsewhere. */
onet_status shard_make(shard *s, const world *w, const onet_sets *all, onet_error *err);
void shard_free(shard *s);

/* Copies rank 0's columns, which may be NULL, to the other ranks, whose *columns must be NULL. */
onet_status shard_columns(const world *w, onet_columns **columns, onet_error *err);

/* Copies rank 0's scaling, which may be NULL, to the other ranks, whose *shared must be NULL. */
onet_status shard_scaling(const world *w, scaling **shared, onet_error *err);

/* Copies the names of rank 0's relations, the values that replace missing ones, and how some are made from
 * features, to the models of the other ranks, which must have their columns. */
onet_status shard_relations(const world *w, onet_model *model, onet_error *err);

/* Finds the sets of a batch of `count` that this rank owns: index: their numbers in this rank; row: the row
 * of the whole batch at which their items begin. Returns how many. */
int shard_pick(const world *w, const onet_sets *plan, const uint32_t *batch, int count, uint32_t *index,
               uint32_t *row);

#endif
