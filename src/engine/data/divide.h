/* Finds sets that must stay together when data are split for training and validation (equal sets, sets of one
 * group), and splits the data at random without separating them. */
#ifndef DATA_DIVIDE_H
#define DATA_DIVIDE_H

#include "ordernet_io.h"

/* hash [n] of each item of set s: equal where features, word, context and relations, in any order of the
 * other items, are. own [n]: memory. */
void hash_items(const onet_sets *sets, size_t s, uint64_t *own, uint64_t *hash);
/* Memory for both, for any of the sets; NULL if there is not enough. Free with free(). */
uint64_t *hash_room(const onet_sets *sets);

/* of [sets], allocated: the bundle of each set, from 0. Sets of the same items, in any order, are of one
 * bundle: a model that has seen one of them knows the others. So are sets of one group. group [sets]: its
 * name, NULL for a set of its own; number [sets]: its number. Either may be NULL. */
onet_status bundles_find(size_t **of, size_t *count, const onet_sets *sets, const char *const *group,
                         const size_t *number, onet_error *err);
/* *count: the sets of `test` that are equal to one of `train`, as bundles are. */
onet_status sets_count_equal(size_t *count, const onet_sets *train, const onet_sets *test, onet_error *err);
/* part [sets]: bundles in an order drawn by the seed, each to the part that has the fewest sets so far. */
onet_status bundles_spread(size_t *part, const size_t *of, size_t count, size_t sets, size_t parts,
                           uint64_t seed, onet_error *err);

#endif
