/* Hashes items and counts the sets of one collection that are also in another; finds sets that must stay
 * together when data are split for training and validation (equal sets, sets of one group), and splits the
 * data at random without separating them. */
#ifndef DATA_DIVIDE_H
#define DATA_DIVIDE_H

#include "ordernet_io.h"

/* Computes the hash [n] of each item of set s, equal for items of the same features, word, context and
 * relations, in any order of the other items. own [n]: scratch. */
void hash_items(const onet_sets *sets, size_t s, uint64_t *own, uint64_t *hash);
/* Returns memory for own and hash of any of the sets, to be freed with free(); NULL if there is not enough.
 */
uint64_t *hash_room(const onet_sets *sets);

/* Finds bundles, sets that must stay together. of [sets], which the caller frees: the bundle of each set,
 * from 0; *count: the number of bundles. Sets of the same items, in any order, are in one bundle: a model
 * that has seen one of them knows the others. So are sets of one group. group [sets]: its name, NULL for a
 * set of its own; number [sets]: its number. Either may be NULL. */
onet_status bundles_find(size_t **of, size_t *count, const onet_sets *sets, const char *const *group,
                         const size_t *number, onet_error *err);
/* Sets *count to the number of sets of `test` that have the same items as one of `train`. */
onet_status sets_count_equal(size_t *count, const onet_sets *train, const onet_sets *test, onet_error *err);
/* Sets part [sets]: takes the bundles in an order drawn by the seed, each into the part that has the fewest
 * sets so far. */
onet_status bundles_spread(size_t *part, const size_t *of, size_t count, size_t sets, size_t parts,
                           uint64_t seed, onet_error *err);

#endif
