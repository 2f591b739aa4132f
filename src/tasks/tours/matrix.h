/* Reads an instance from a table of costs: row by row the cost from a city to each other one, separated by
 * commas, semicolons or tabs, with or without the cities' names in the first row, the first column, or
 * both. */
#ifndef TOURS_MATRIX_H
#define TOURS_MATRIX_H

#include "engine/base/file.h"
#include "ordernet_tsp.h"

/* delimiter: between two cells; 0: found from the first row. The instance is asymmetric if a cost differs
 * from that of the opposite direction. *called [n]: the names of the cities, which the caller frees; NULL:
 * they have none. note, unless NULL, is called with warnings. ONET_BAD with file and line for a table that is
 * not square, names that differ between row and column, and costs that are not finite numbers from 0 on;
 * those from a city to itself are ignored and may be empty. */
onet_status matrix_read(onet_tsp *t, char ***called, input *in, int delimiter,
                        void (*note)(const onet_error *text), onet_error *err);

#endif
