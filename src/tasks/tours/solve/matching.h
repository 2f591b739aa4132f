/* Minimum-weight perfect matching of a complete graph by Edmonds' blossom algorithm, O(n^3).
 *
 * Costs are integers, so the result is exact. It is checked before it is returned: the final dual values are
 * feasible and add up to the cost of the matching, which proves that no matching is cheaper. */
#ifndef TSP_MATCHING_H
#define TSP_MATCHING_H

#include "ordernet.h"

/* Costs may be of either sign, up to this size: sums of them stay within 64 bits. */
#define MATCHING_MAX_COST ((int64_t)1 << 44)

/* n even, cost [n, n] symmetric; mate[i] is the partner of i. ONET_FAILED if that check fails. */
onet_status matching_perfect(int n, const int64_t *cost, int32_t *mate, onet_error *err);

#endif
