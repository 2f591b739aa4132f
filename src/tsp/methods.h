/* The solvers under one roof: by name, with one set of settings. */
#ifndef TSP_METHODS_H
#define TSP_METHODS_H

#include "tsp/net.h"
#include "tsp/solvers.h"

typedef enum tsp_method {
    TSP_EXACT = 0,
    TSP_HELD_KARP,
    TSP_CHRISTOFIDES,
    TSP_FARTHEST,
    TSP_NEAREST,
    TSP_TWO_OPT,
    TSP_ORDERNET,
    TSP_METHODS
} tsp_method;

/* Their names. */
const onet_choice *tsp_methods(void);

typedef struct tsp_effort {
    double seconds; /* exact, 2opt with kicks: time limit; 0: none */
    long kicks;     /* 2opt: of the long local search; 0: none */
    uint64_t seed;  /* of the kicks */
    tsp_net *net;   /* ordernet: it alone needs one */
    int symmetries; /* 1 or 8 */
    bool shortest;  /* of all tours found, rather than the most probable one */
} tsp_effort;

/* The tour is canonical. proof (may be NULL): a bound and its proof from exact and held-karp; the others
 * give a bound of 0. */
onet_status tsp_solve(const tsp_instance *t, tsp_method method, const tsp_effort *effort, int32_t *tour,
                      tsp_proof *proof, onet_error *err);

#endif
