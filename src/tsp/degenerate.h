/* Instances on which Lagrangian bounds crawl although the answer is plain: cities that coincide, and cities
 * on a line. Both are told from the distances alone, so matrices and rounded distances may have them too. */
#ifndef TSP_DEGENERATE_H
#define TSP_DEGENERATE_H

#include "tsp/instance.h"

/* Writes into first [n] the lowest-numbered city that each city coincides with (itself for most) and gives
 * back how many there are of those. A city coincides with another when both have the same distances to all
 * cities and no way becomes shorter by a detour over it: some optimal tour visits the two in a row. */
int degenerate_merge(const tsp_instance *t, int32_t *first);

/* When the cities lie on a line, writes an optimal tour and says so. */
bool degenerate_line(const tsp_instance *t, int32_t *tour);

#endif
