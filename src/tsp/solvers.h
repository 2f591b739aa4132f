/* Solvers for the travelling salesman problem. All take an instance and write a tour [n]; all accept any
 * number of cities from 1 on, coincident cities and cities on a line. None keeps state between calls, so any
 * number of threads may call them at the same time. */
#ifndef TSP_SOLVERS_H
#define TSP_SOLVERS_H

#include "tsp/instance.h"

/* The result of an exact solver. */
typedef struct tsp_proof {
    double length; /* of the returned tour */
    double bound;  /* no tour is shorter than this */
    bool proven;   /* the tour is optimal: bound and length agree to 1 part in 10^10, or as whole numbers */
    long nodes;    /* of the search tree */
} tsp_proof;

/* Makes the tour canonical and fills in the proof's length and, if the tour is optimal, the bound. */
static inline void tsp_finish(const tsp_instance *t, int32_t *tour, tsp_proof *proof) {
    tsp_canonical(t, tour);
    proof->length = tsp_length(t, tour);
    if (proof->proven) proof->bound = proof->length;
}

/* Branch and bound on 1-trees with a Lagrangian bound. seconds: time limit, 0 for none; when it
 * expires the best tour and bound so far are returned with proven = false. The tour is canonical. */
onet_status tsp_exact(const tsp_instance *t, double seconds, int32_t *tour, tsp_proof *proof,
                      onet_error *err);

/* Held and Karp's dynamic program. At most HELD_KARP_MAX cities. The tour is canonical. */
enum { HELD_KARP_MAX = 20 };
onet_status tsp_held_karp(const tsp_instance *t, int32_t *tour, onet_error *err);

/* Christofides: minimum spanning tree, exact minimum-weight matching of its odd cities, Euler walk,
 * shortcuts. */
onet_status tsp_christofides(const tsp_instance *t, int32_t *tour, onet_error *err);

/* Farthest insertion, starting with the two cities farthest apart; nearest neighbour from city `first`. */
onet_status tsp_farthest(const tsp_instance *t, int32_t *tour, onet_error *err);
onet_status tsp_nearest(const tsp_instance *t, int first, int32_t *tour, onet_error *err);

/* Improves the given tour with 2-opt and Or-opt moves over neighbour lists until none helps. Then `kicks`
 * times: a small random double bridge and the same search, undone if the tour became longer.
 * seconds > 0 ends the kicks early. The result depends on seed alone when seconds is 0. */
onet_status tsp_local(const tsp_instance *t, long kicks, double seconds, uint64_t seed, int32_t *tour,
                      onet_error *err);

#endif
