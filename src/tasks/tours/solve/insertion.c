/* Implements two construction heuristics, both O(n^2): nearest neighbour and farthest insertion. */
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "tasks/tours/solve/solvers.h"

#include <math.h>
#include <stdlib.h>

onet_status tsp_nearest(const onet_tsp *t, int first, int32_t *tour, onet_error *err) {
    int n = t->n;
    if (first < 0 || first >= n) return fail(err, ONET_USAGE, "there is no city %d to start at", first);
    /* Cities not yet visited are the tail of the tour itself. */
    for (int i = 0; i < n; i++) tour[i] = i;
    tour[first] = 0;
    tour[0] = first;
    for (int i = 1; i < n; i++) {
        int near = i;
        for (int k = i + 1; k < n; k++)
            if (onet_tsp_distance(t, tour[i - 1], tour[k]) < onet_tsp_distance(t, tour[i - 1], tour[near]))
                near = k;
        int32_t city = tour[near];
        tour[near] = tour[i];
        tour[i] = city;
    }
    return ONET_OK;
}

/* Returns how far apart two cities are: the mean of there and back. */
static double apart(const onet_tsp *t, int i, int j) {
    double d = onet_tsp_distance(t, i, j);
    return t->asymmetric ? (d + onet_tsp_distance(t, j, i)) / 2 : d;
}

onet_status tsp_farthest(const onet_tsp *t, int32_t *tour, onet_error *err) {
    int n = t->n;
    int *next = array_new((size_t)n, sizeof *next);
    double *gap =
        array_new((size_t)n, sizeof *gap); /* distance to the nearest city in the tour; < 0: in it */
    if (!next || !gap) {
        free(next);
        free(gap);
        return fail_memory(err, "farthest insertion");
    }
    int a = 0, b = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            if (apart(t, i, j) > apart(t, a, b) || a == b) a = j, b = i;
    next[a] = b;
    next[b] = a;
    for (int i = 0; i < n; i++) gap[i] = fmin(apart(t, i, a), apart(t, i, b));
    gap[a] = gap[b] = -1;
    for (int in = a == b ? 1 : 2; in < n; in++) {
        int city = -1;
        for (int i = 0; i < n; i++)
            if (gap[i] >= 0 && (city < 0 || gap[i] > gap[city])) city = i;
        int best = a;
        double least = INFINITY;
        for (int i = a, k = 0; k < in; k++, i = next[i]) {
            double more = onet_tsp_distance(t, i, city) + onet_tsp_distance(t, city, next[i]) -
                          onet_tsp_distance(t, i, next[i]);
            if (more < least) least = more, best = i;
        }
        next[city] = next[best];
        next[best] = city;
        gap[city] = -1;
        for (int i = 0; i < n; i++)
            if (gap[i] > apart(t, i, city)) gap[i] = apart(t, i, city);
    }
    for (int i = a, k = 0; k < n; k++, i = next[i]) tour[k] = i;
    free(next);
    free(gap);
    return ONET_OK;
}
