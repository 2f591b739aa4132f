/* A random division of sets, for validation and cross-validation. */
#ifndef CLI_DRAW_H
#define CLI_DRAW_H

#include "ordernet.h"

/* A random permutation of 0 .. count-1 to *place, allocated: the place of each set in a random order, which
 * follows from the seed alone. */
onet_status pick_places(size_t **place, size_t count, uint64_t seed, onet_error *err);

#endif
