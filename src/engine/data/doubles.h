/* Reads the features of sets in double where they are kept beside float32 (onet_sets.exact). Finds the
 * features that need it, those that float32 rounds too much or in which it makes different values equal, and
 * frees the doubles if there is none. */
#ifndef DATA_DOUBLES_H
#define DATA_DOUBLES_H

#include <stdbool.h>

#include "ordernet.h"

/* Returns feature j of item i, in double where it is kept so; i counts the items of all sets. */
static inline double sets_value(const onet_sets *sets, size_t i, size_t j) {
    size_t at = i * (size_t)sets->width + j;
    return sets->exact ? sets->exact[at] : (double)sets->items[at];
}

/* Whether float32 blurs feature j: it rounds by more than 2^-16 deviations. */
bool float_blurs(const onet_sets *sets, size_t j);
/* Whether values of a set that differ are equal in float32. scratch [items of the largest set]. */
bool float_collides(const onet_sets *sets, size_t j, double *scratch);

/* Frees sets->exact if float32 is enough for every feature. The library must have made the sets. */
onet_status doubles_settle(onet_sets *sets, onet_error *err);

#endif
