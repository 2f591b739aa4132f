/* Finds an optimal tour by Held and Karp's dynamic program over subsets, O(n^2 2^n): slow and simple, the
 * reference for the tests of the exact solver, and the exact solver of asymmetric instances.
 *
 * best[S, j] = length of the shortest path that starts at city n-1, visits the cities of S and ends at j,
 * for j in S, S a subset of cities 0 .. n-2. The tour is read back from the table without stored parents. */
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "tasks/tours/solve/solvers.h"

#include <math.h>
#include <stdlib.h>

onet_status tsp_held_karp(const onet_tsp *t, int32_t *tour, onet_error *err) {
    int n = t->n, m = n - 1;
    if (n > ONET_TSP_HELD_KARP_MAX)
        return fail(err, ONET_USAGE, "%d cities are too many for held-karp (at most %d); use exact", n,
                    ONET_TSP_HELD_KARP_MAX);
    if (n <= (t->asymmetric ? 2 : 3)) {
        for (int i = 0; i < n; i++) tour[i] = i;
        onet_tsp_canonical(t, tour);
        return ONET_OK;
    }
    size_t sets = (size_t)1 << m;
    double *best = array_new(sets * (size_t)m, sizeof *best); /* [sets, m] */
    if (!best) return fail_memory(err, "the table of held-karp");
    double into[ONET_TSP_HELD_KARP_MAX][ONET_TSP_HELD_KARP_MAX]; /* into[j][i]: from i to j */
    for (int j = 0; j < m; j++)
        for (int i = 0; i < m; i++) into[j][i] = onet_tsp_distance(t, i, j);
    for (size_t set = 1; set < sets; set++) {
        double *row = best + set * (size_t)m;
        for (int j = 0; j < m; j++) {
            row[j] = INFINITY;
            if (!(set >> j & 1)) continue;
            size_t rest = set & ~((size_t)1 << j);
            if (!rest) {
                row[j] = onet_tsp_distance(t, m, j);
                continue;
            }
            const double *from = best + rest * (size_t)m, *d = into[j];
            double least = INFINITY;
            for (int i = 0; i < m; i++) {
                double length = from[i] + d[i];
                if (length < least) least = length;
            }
            row[j] = least;
        }
    }
    /* Backwards: at each place the city whose path, plus the step to the city after it, is shortest. */
    size_t set = sets - 1;
    int after = m;
    tour[0] = m;
    for (int place = m; place >= 1; place--) {
        const double *row = best + set * (size_t)m;
        int city = -1;
        for (int j = 0; j < m; j++)
            if (set >> j & 1)
                if (city < 0 ||
                    row[j] + onet_tsp_distance(t, j, after) < row[city] + onet_tsp_distance(t, city, after))
                    city = j;
        tour[place] = city;
        set &= ~((size_t)1 << city);
        after = city;
    }
    free(best);
    onet_tsp_canonical(t, tour);
    return ONET_OK;
}
