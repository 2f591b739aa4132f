/* A travelling salesman instance: cities, their distances, and the length of a tour through them.
 *
 * Distances are kept as a full matrix of doubles. They are plain Euclidean unless a TSPLIB file asks for one
 * of its rounded kinds; then every distance is a whole number and `whole` is set, which lets the exact
 * solver round its bounds up. */
#ifndef TSP_INSTANCE_H
#define TSP_INSTANCE_H

#include "ordernet.h"
#include <stdbool.h>

enum { TSP_MAX_CITIES = 16384 }; /* a matrix of 2 GiB */

typedef struct tsp_instance {
    int n;
    double *xy;   /* [n, 2], or NULL where only distances are known */
    double *dist; /* [n, n], symmetric, never negative, finite, 0 on the diagonal */
    bool whole;   /* every distance is a whole number */
    char name[64];
} tsp_instance;

/* Euclidean distances between xy [n, 2], copied. Coordinates must be finite. */
onet_status tsp_points(tsp_instance *t, int n, const double *xy, onet_error *err);

/* Allocates an instance of n cities with distances 0, with or without coordinates, for a reader to fill in.
 */
onet_status tsp_blank(tsp_instance *t, int n, bool coordinates, onet_error *err);

/* Frees the arrays of the instance, which may be zeroed. */
void tsp_free(tsp_instance *t);

static inline double tsp_distance(const tsp_instance *t, int i, int j) {
    return t->dist[(size_t)i * (size_t)t->n + (size_t)j];
}

/* Length of the closed tour [n]. */
double tsp_length(const tsp_instance *t, const int32_t *tour);

/* Whether tour [n] visits every city once; also false if memory for the check runs out. */
bool tsp_is_tour(int n, const int32_t *tour);

/* Rotates and reverses the tour into the form of training data: it starts at the city with the smallest x+y
 * (then smallest x, then smallest index) and runs counter-clockwise, by its signed area. On a line, where
 * there is no area, and without coordinates (then it starts at city 0), its second city comes before its last
 * one in the same ranking. */
void tsp_canonical(const tsp_instance *t, int32_t *tour);

#endif
