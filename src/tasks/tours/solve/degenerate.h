/* Instances on which Lagrangian bounds converge slowly although the answer is obvious: cities that coincide,
 * and cities on a line. Both are recognised from the distances alone, so also for distance matrices and
 * rounded distances. */
#ifndef TSP_DEGENERATE_H
#define TSP_DEGENERATE_H

#include "ordernet_tsp.h"
#include <stdbool.h>

/* Writes into first [n] the lowest-numbered city that each city coincides with (itself for most) and returns
 * the number of distinct ones. Two cities coincide if they have the same distances to all cities and no path
 * becomes shorter by a detour over them: then some optimal tour visits the two in a row. */
int degenerate_merge(const onet_tsp *t, int32_t *first);

/* If the cities lie on a line, writes an optimal tour and returns true. */
bool degenerate_line(const onet_tsp *t, int32_t *tour);

#endif
