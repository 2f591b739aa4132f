/* Copies some of the sets, or all: for validation and cross-validation. */
#ifndef DATA_PICK_H
#define DATA_PICK_H

#include "ordernet.h"

/* Copies the sets s with take[s] != 0 (NULL: all), in their order, with all that belongs to them; at least
 * one. */
onet_status pick_sets(onet_sets **out, const onet_sets *sets, const uint8_t *take, onet_error *err);

#endif
