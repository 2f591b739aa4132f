/* Declares the solvers that onet_tsp_solve chooses from, and what they share: limits, checks, degenerate
 * instances, matching. All solvers take an instance and write a tour [n]; all
 * accept any number of cities from 1 on, coincident cities and cities on a line. None keeps state between
 * calls, so any number of threads may call them at the same time. */
#ifndef TOURS_SOLVE_SOLVERS_H
#define TOURS_SOLVE_SOLVERS_H

#include <stdbool.h>

#include "ordernet.h"
#include "ordernet_tsp.h"

/* When a long search ends early; all zero, or a NULL pointer to it: never. */
typedef struct tsp_limit {
    double seconds;             /* from the start of the call; 0: no limit */
    int (*stop)(void *context); /* non-zero: now; NULL: never */
    void *context;
} tsp_limit;

static inline bool tsp_stopped(const tsp_limit *limit) {
    return limit && limit->stop && limit->stop(limit->context);
}

/* Checks an instance of a caller: ONET_USAGE if it is malformed, ONET_BAD for distances that no solver can
 * use. tsp_check_size does not check the distances. */
onet_status tsp_check(const onet_tsp *t, onet_error *err);
onet_status tsp_check_size(const onet_tsp *t, onet_error *err);

/* Makes the tour canonical and fills in the proof's length and, if the tour is optimal, the bound. */
static inline void tsp_finish(const onet_tsp *t, int32_t *tour, onet_tsp_proof *proof) {
    onet_tsp_canonical(t, tour);
    proof->length = onet_tsp_length(t, tour);
    if (proof->proven) proof->bound = proof->length;
}

/* Branch and bound on 1-trees with a Lagrangian bound. When the limit ends it, the best tour and bound so far
 * are returned with proven = false. The tour is canonical. */
onet_status tsp_exact(const onet_tsp *t, const tsp_limit *limit, int32_t *tour, onet_tsp_proof *proof,
                      onet_error *err);

/* tsp_exact by several threads. The search tree is explored in rounds of pieces; within a round, each piece
 * may be explored by any thread at any time. The answer does not depend on that.
 *
 *     tsp_tree_new(&tree, t, limit, err);
 *     while (tsp_tree_pieces(tree)) {
 *         for (int i = 0; i < tsp_tree_pieces(tree); i++) tsp_tree_explore(tree, i);   // in parallel
 *         tsp_tree_next(tree);
 *     }
 *     tsp_tree_tour(tree, tour, &proof, err);
 *     tsp_tree_free(tree);
 *
 * The instance and the limit must stay until the tree is freed. A new tree has one piece, or none where there
 * is nothing to search. */
typedef struct tsp_tree tsp_tree;
onet_status tsp_tree_new(tsp_tree **tree, const onet_tsp *t, const tsp_limit *limit, onet_error *err);
int tsp_tree_pieces(const tsp_tree *tree); /* of this round; 0: the search has ended */
void tsp_tree_explore(tsp_tree *tree, int piece);
void tsp_tree_next(tsp_tree *tree);
onet_status tsp_tree_tour(const tsp_tree *tree, int32_t *tour, onet_tsp_proof *proof, onet_error *err);
void tsp_tree_free(tsp_tree *tree);

/* tsp_exact for asymmetric instances: the dynamic program, or for more cities than it takes the tour of
 * tsp_directed with kicks, and a bound, which seldom proves it. */
onet_status tsp_directed_exact(const onet_tsp *t, const tsp_limit *limit, uint64_t seed, int32_t *tour,
                               onet_tsp_proof *proof, onet_error *err);
/* Finds the best tour of several starts, each improved by tsp_local; the kicks go on from that one. */
onet_status tsp_directed(const onet_tsp *t, int64_t kicks, const tsp_limit *limit, uint64_t seed,
                         int32_t *tour, onet_error *err);

/* Held and Karp's dynamic program. At most ONET_TSP_HELD_KARP_MAX cities. The tour is canonical. */
onet_status tsp_held_karp(const onet_tsp *t, int32_t *tour, onet_error *err);

/* Christofides: minimum spanning tree, exact minimum-weight matching of its odd cities, Euler walk,
 * shortcuts. */
onet_status tsp_christofides(const onet_tsp *t, int32_t *tour, onet_error *err);

/* Farthest insertion, starting with the two cities farthest apart. */
onet_status tsp_farthest(const onet_tsp *t, int32_t *tour, onet_error *err);
/* Nearest neighbour, from city `first` on. */
onet_status tsp_nearest(const onet_tsp *t, int first, int32_t *tour, onet_error *err);

/* Improves the given tour with 2-opt and Or-opt moves over neighbour lists, that of an asymmetric instance by
 * exchanges of neighbouring paths, until none helps. Then `kicks` times: a small random double bridge and the
 * same search, undone if the tour became longer. The limit ends the kicks early. Unless the limit ends
 * them, the result depends on the seed alone. */
onet_status tsp_local(const onet_tsp *t, int64_t kicks, const tsp_limit *limit, uint64_t seed, int32_t *tour,
                      onet_error *err);

/* ---- Instances that are not general (degenerate.c) --------------------------------------------------- */

/* Instances on which Lagrangian bounds converge slowly although the answer is obvious: cities that coincide,
 * and cities on a line. Both are recognised from the distances alone, so also for distance matrices and
 * rounded distances. */

/* Writes into first [n] the lowest-numbered city that each city coincides with (itself for most) and returns
 * the number of distinct ones. Two cities coincide if they have the same distances to all cities and no path
 * becomes shorter by a detour over them: then some optimal tour visits the two in a row. */
int degenerate_merge(const onet_tsp *t, int32_t *first);

/* If the cities lie on a line, writes an optimal tour and returns true. */
bool degenerate_line(const onet_tsp *t, int32_t *tour);

/* ---- Matching (matching.c) --------------------------------------------------------------------------- */

/* Minimum-weight perfect matching of a complete graph by Edmonds' blossom algorithm, O(n^3).  Costs are
 * integers, so the result is exact. It is checked before it is returned: the final dual values are feasible
 * and add up to the cost of the matching, which proves that no matching is cheaper. */

/* Costs may be of either sign, up to this size: sums of them stay within 64 bits. */
#define MATCHING_MAX_COST ((int64_t)1 << 44)

/* n even, cost [n, n] symmetric; mate[i] is the partner of i. ONET_FAILED if that check fails. */
onet_status matching_perfect(int n, const int64_t *cost, int32_t *mate, onet_error *err);

#endif
