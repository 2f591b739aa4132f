/* Handles degenerate instances for the exact solver, by their distances: finds coincident cities, and solves
 * cities on a line. */
#include "tasks/tours/solve/solvers.h"

#include <string.h>

static const double ROUNDING = 1e-12; /* relative */

/* Whether no path from `from` to any city gets shorter by a detour: d(from,c) + d(c,e) >= d(from,e). */
static bool no_shortcut_from(const onet_tsp *t, int from) {
    for (int c = 0; c < t->n; c++)
        for (int e = 0; e < t->n; e++) {
            double straight = onet_tsp_distance(t, from, e);
            if (onet_tsp_distance(t, from, c) + onet_tsp_distance(t, c, e) < straight * (1 - ROUNDING))
                return false;
        }
    return true;
}

static bool no_shortcut_over(const onet_tsp *t, int city) {
    for (int c = 0; c < t->n; c++)
        for (int e = 0; e < c; e++) {
            double straight = onet_tsp_distance(t, c, e);
            if (onet_tsp_distance(t, c, city) + onet_tsp_distance(t, city, e) < straight * (1 - ROUNDING))
                return false;
        }
    return true;
}

int degenerate_merge(const onet_tsp *t, int32_t *first) {
    size_t n = (size_t)t->n;
    int count = 0;
    for (int i = 0; i < t->n; i++) {
        first[i] = i;
        const double *row = t->dist + (size_t)i * n;
        for (int j = 0; j < i && first[i] == i; j++)
            if (row[j] == 0 && first[j] == j && !memcmp(row, t->dist + (size_t)j * n, n * sizeof *row) &&
                no_shortcut_over(t, i))
                first[i] = j;
        count += first[i] == i;
    }
    return count;
}

/* Goes from one end of the line to the other, and straight back. Any tour goes from end to end and back, so
 * none is shorter than twice their distance. */
bool degenerate_line(const onet_tsp *t, int32_t *tour) {
    int n = t->n, end = 0, other = 0;
    for (int i = 0; i < n; i++)
        if (onet_tsp_distance(t, 0, i) > onet_tsp_distance(t, 0, end)) end = i;
    for (int i = 0; i < n; i++)
        if (onet_tsp_distance(t, end, i) > onet_tsp_distance(t, end, other)) other = i;
    for (int i = 0; i < n; i++) {
        int at = i;
        for (; at > 0 && onet_tsp_distance(t, end, tour[at - 1]) > onet_tsp_distance(t, end, i); at--)
            tour[at] = tour[at - 1];
        tour[at] = i;
    }
    double least = 2 * onet_tsp_distance(t, end, other);
    return onet_tsp_length(t, tour) <= least * (1 + 10 * ROUNDING) && no_shortcut_from(t, end);
}
