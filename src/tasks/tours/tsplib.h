/* Reads instances from TSPLIB files (the standard format of travelling-salesman benchmarks) and writes tours.
 *
 * Reads EUC_2D, CEIL_2D, ATT and GEO with NODE_COORD_SECTION, and EXPLICIT matrices in every full, upper and
 * lower form; TYPE ATSP, asymmetric instances, as EXPLICIT FULL_MATRIX. A DISPLAY_DATA_SECTION gives an
 * EXPLICIT instance coordinates to draw. Distances are rounded as the type requires. A GEO instance's x is
 * its longitude and y its latitude, in degrees. */
#ifndef TOURS_TSPLIB_H
#define TOURS_TSPLIB_H

#include "engine/base/file.h"
#include "ordernet_tsp.h"
#include <stdbool.h>

/* Reads an instance; free it with onet_tsp_free. */
onet_status tsplib_read(onet_tsp *t, input *in, onet_error *err);

/* Whether the input looks like a TSPLIB file, by its name or its first word, which is not consumed. */
onet_status tsplib_is(input *in, bool *is, onet_error *err);

/* Writes tour [n] as a .tour file; city 0 is TSPLIB's node 1. */
onet_status tsplib_write_tour(const onet_tsp *t, const int32_t *tour, const char *path, onet_error *err);

#endif
