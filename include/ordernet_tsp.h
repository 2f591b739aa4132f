/* The public C API for the travelling salesman problem: finds tours by exact, classic and learned methods.
 *
 * An onet_tsp is an instance: cities and their distances. onet_tsp_solve finds a tour through it with one of
 * onet_tsp_methods(); an onet_tsp_net is what the method "ordernet" needs, a trained model with its threads
 * and memory. A tour is an array [n] that names each city once; it is closed, from the last city back to the
 * first.
 *
 * As in ordernet.h: what can fail returns an onet_status and writes an error message to err unless that is
 * NULL. Nothing keeps state between calls, so any number of threads may solve at the same time, each with an
 * onet_tsp_net of its own. An instance has 1 to ONET_TSP_MAX_CITIES cities, for held-karp at most
 * ONET_TSP_HELD_KARP_MAX; they may coincide or lie on a line. The method "ordernet" needs coordinates, or a
 * model with relations. */
#ifndef ORDERNET_TSP_H
#define ORDERNET_TSP_H

#include "ordernet.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Instances --------------------------------------------------------------------------------------- */

enum { ONET_TSP_MAX_CITIES = 16384 }; /* a matrix of 2 GiB */

/* Distances are a full matrix of doubles: plain Euclidean ones from onet_tsp_points, or any that the caller
 * writes into the arrays of onet_tsp_blank. */
typedef struct onet_tsp {
    int n;
    int whole;         /* 1: every distance is a whole number, which lets the exact solver round bounds up */
    double *xy;        /* [n, 2], or NULL where only distances are known */
    double *dist;      /* [n, n], symmetric, never negative, finite, 0 on the diagonal */
    char name[64];     /* for the user; may be "" */
    size_t asymmetric; /* 1: dist[i, j] is the cost from i to j, and that from j to i may be another one */
    void *reserved[3]; /* zero */
} onet_tsp;

/* Makes *t, which need not be initialised, from points xy [n, 2], which it copies, and their Euclidean
 * distances; free it with onet_tsp_free. ONET_BAD for coordinates that are not finite. */
ONET_API onet_status onet_tsp_points(onet_tsp *t, int n, const double *xy, onet_error *err);
/* Makes *t an instance of n cities with distances 0, with coordinates (all 0) or without, for the caller to
 * fill in; free it with onet_tsp_free. */
ONET_API onet_status onet_tsp_blank(onet_tsp *t, int n, int coordinates, onet_error *err);
/* Frees the arrays of the instance, which may be zeroed, and zeroes it. The struct is the caller's. */
ONET_API void onet_tsp_free(onet_tsp *t);

static inline double onet_tsp_distance(const onet_tsp *t, int i, int j) {
    return t->dist[(size_t)i * (size_t)t->n + (size_t)j];
}

/* Length of the closed tour [n]; NaN if it names a city that is not there. */
ONET_API double onet_tsp_length(const onet_tsp *t, const int32_t *tour);
/* Whether tour [n] visits every city once; also 0 if memory for the check runs out. */
ONET_API int onet_tsp_is_tour(int n, const int32_t *tour);
/* Rotates and reverses the tour into the form of training data: it starts at the city with the smallest x+y
 * (then smallest x, then smallest index) and runs counter-clockwise, by its signed area. On a line, where
 * there is no area, and without coordinates (then it starts at city 0), its second city comes before its last
 * one in the same ranking. An asymmetric tour is rotated to start at city 0 and keeps its direction. A tour
 * that names a city that is not there stays as it is. */
ONET_API void onet_tsp_canonical(const onet_tsp *t, int32_t *tour);

/* ---- The net ----------------------------------------------------------------------------------------- */

/* The net was trained on the unit square. An instance of any scale and position is moved there without
 * distortion: one scale for both axes, so that the longer side of the bounding box leaves a margin of 1/(n+1)
 * at both ends, as n uniform cities do on average; the shorter side is centred.
 *
 * A model with one relation is shown the distances instead, as the relation from i to j: asymmetric
 * instances and those without coordinates need such a model. Distances of any scale are multiplied so that
 * the mean over all pairs is that of the model's training data, or 1 where the model does not standardise.
 * Its sets have no features, or one that is 1 for the depot, where a tour begins, and 0 for the others. */
typedef struct onet_tsp_net onet_tsp_net;

/* options: decode, beam, threads, kernels, device are used; NULL: the defaults. The model must outlive the
 * net. ONET_USAGE for a model that orders neither items of 2 numbers nor items with one relation. */
ONET_API onet_status onet_tsp_net_new(onet_tsp_net **net, const onet_model *model,
                                      const onet_order_options *options, onet_error *err);
ONET_API void onet_tsp_net_free(onet_tsp_net *net);

/* How an instance is presented to the net. */
typedef enum onet_tsp_place {
    ONET_TSP_FITTED = 0, /* moved to the unit square; distances scaled to the mean of the training data */
    ONET_TSP_AS_IS       /* unchanged */
} onet_tsp_place;

/* Writes the cities as a net without relations sees them to items [n, 2], for onet_orderer_score_steps and
 * the like. ONET_USAGE for an instance without coordinates. */
ONET_API onet_status onet_tsp_net_items(const onet_tsp *t, onet_tsp_place place, float *items,
                                        onet_error *err);
/* Finds a tour through each of the instances t [count], which may differ in n. Without relations all need
 * coordinates; symmetries 8 then orders each under the 8 symmetries of the square, in 8 times the time. With
 * a relation, tours begin at city 0 or, with symmetries 8, in turn at each of the first 8 cities. symmetries
 * 0 means 1; other numbers give ONET_USAGE.
 *
 * The caller allocates an array [n] for each tour: probable[i] receives the most probable of all tours
 * found, shortest[i] the shortest of them by the instance's own distances. Either argument, or an entry of
 * it, may be NULL. Tours are not canonical (onet_tsp_canonical). */
ONET_API onet_status onet_tsp_net_tours(onet_tsp_net *net, const onet_tsp *t, size_t count,
                                        onet_tsp_place place, int symmetries, int32_t *const *probable,
                                        int32_t *const *shortest, onet_error *err);

/* ---- Solving ----------------------------------------------------------------------------------------- */

/* On asymmetric instances: EXACT is the dynamic program up to ONET_TSP_HELD_KARP_MAX cities, and beyond the
 * tour of TWO_OPT with kicks and the bound of the assignment problem, which seldom proves it; TWO_OPT is
 * the best of several starts, each improved by exchanges of neighbouring paths, which never reverse a
 * path; CHRISTOFIDES is refused. */
typedef enum onet_tsp_method {
    ONET_TSP_EXACT = 0, /* branch and bound on 1-trees with a Lagrangian bound */
    ONET_TSP_HELD_KARP, /* Held and Karp's dynamic program */
    ONET_TSP_CHRISTOFIDES,
    ONET_TSP_FARTHEST, /* farthest insertion */
    ONET_TSP_NEAREST,  /* nearest neighbour from city 0 */
    ONET_TSP_TWO_OPT,  /* 2-opt and Or-opt moves until none helps */
    ONET_TSP_ORDERNET, /* the net; moved to the unit square */
    ONET_TSP_METHODS
} onet_tsp_method;
enum { ONET_TSP_HELD_KARP_MAX = 20 }; /* cities */

ONET_API const onet_choice *onet_tsp_methods(void); /* onet_tsp_method */

typedef struct onet_tsp_options {
    size_t size;       /* sizeof(onet_tsp_options) */
    double seconds;    /* exact, 2opt with kicks: time limit; 0: none */
    int64_t kicks;     /* 2opt: random double bridges, each repaired by the same search; 0: none */
    uint64_t seed;     /* of the kicks */
    int farthest;      /* 2opt: improve the tour of farthest insertion, not that of the nearest neighbour */
    onet_tsp_net *net; /* needed by ordernet alone */
    int symmetries;    /* ordernet: 1 or 8; 0: 1 */
    int shortest;      /* ordernet: the shortest of all tours found, rather than the most probable one */
    /* exact, 2opt: called many times per second by the calling thread; non-zero ends the search as its time
     * limit does. NULL: never stopped. */
    int (*stop)(void *context);
    void *context;
    int improve; /* 1: any method: a tour not proven optimal is improved as by 2opt, with `kicks` */
} onet_tsp_options;

/* For `stop`: `flag`, its context, is an int that another thread sets to non-zero to end the search. */
ONET_API int onet_tsp_stop_flag(void *flag);
/* All zero except `size`; seed, symmetries and shortest are 1. */
ONET_API void onet_tsp_defaults(onet_tsp_options *options, size_t size);

typedef struct onet_tsp_proof {
    double length; /* of the tour */
    double bound;  /* no tour is shorter than this; 0: not known */
    int proven;    /* the tour is optimal: bound and length agree to 1 part in 10^10, or as whole numbers */
    int64_t nodes; /* of the search tree of exact */
    double before; /* length of the tour that was improved; 0: none was */
    double reserved[3]; /* zero */
} onet_tsp_proof;

/* Finds a tour of t by the method and writes it, canonical (onet_tsp_canonical), to tour [n]. options NULL:
 * the defaults. *proof, unless NULL: its length and, from exact and held-karp, a bound; from the others the
 * bound is 0. Where the exact search ends early, it gives the best tour and bound that it has. ONET_BAD for
 * distances that are not as onet_tsp says. */
ONET_API onet_status onet_tsp_solve(const onet_tsp *t, onet_tsp_method method,
                                    const onet_tsp_options *options, int32_t *tour, onet_tsp_proof *proof,
                                    onet_error *err);

#ifdef __cplusplus
}
#endif
#endif
