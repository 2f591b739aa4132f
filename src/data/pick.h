/* Some of the sets: for validation and cross-validation. */
#ifndef DATA_PICK_H
#define DATA_PICK_H

#include "ordernet.h"

/* Copies the sets s with take[s] != 0, in their order, with all that belongs to them; at least one. */
onet_status pick_sets(onet_sets **out, const onet_sets *sets, const uint8_t *take, onet_error *err);

/* A random permutation of 0 .. count-1 to *place, allocated: the place of each set in a random order, which
 * follows from the seed alone. */
onet_status pick_places(size_t **place, size_t count, uint64_t seed, onet_error *err);

#endif
