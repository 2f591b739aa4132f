/* Solves asymmetric instances: a local search from several starts, and an exact solver, which is the dynamic
 * program for few cities. For more cities there is a bound, the assignment problem: every city gets one
 * successor, and the successors need not form one tour. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "tasks/tours/solve/solvers.h"

enum { STARTS = 12, KICKS_PER_CITY = 50 };

static bool ended(const tsp_limit *limit, double start) {
    return tsp_stopped(limit) || (limit && limit->seconds > 0 && clock_seconds() - start > limit->seconds);
}

/* Returns what is left of a limit that began to count at `begun`. */
static tsp_limit rest_of(const tsp_limit *limit, double begun) {
    tsp_limit rest = limit ? *limit : (tsp_limit){0};
    if (rest.seconds > 0) rest.seconds = fmax(rest.seconds - (clock_seconds() - begun), 1e-3);
    return rest;
}

onet_status tsp_directed(const onet_tsp *t, int64_t kicks, const tsp_limit *limit, uint64_t seed,
                         int32_t *tour, onet_error *err) {
    int n = t->n, starts = n < STARTS ? n : STARTS;
    double begun = clock_seconds(), best;
    int32_t *other = array_new((size_t)n, sizeof *other);
    if (!other) return fail_memory(err, "a tour");
    onet_status status = tsp_farthest(t, tour, err);
    if (!status) status = tsp_local(t, 0, NULL, seed, tour, err);
    best = onet_tsp_length(t, tour);
    for (int i = 0; i < starts && !status && !ended(limit, begun); i++) {
        status = tsp_nearest(t, (int)((int64_t)i * n / starts), other, err);
        if (!status) status = tsp_local(t, 0, NULL, seed, other, err);
        double length = onet_tsp_length(t, other);
        if (status || !(length < best)) continue;
        best = length;
        memcpy(tour, other, (size_t)n * sizeof *tour);
    }
    free(other);
    if (status || !kicks || ended(limit, begun)) return status;
    tsp_limit rest = rest_of(limit, begun);
    return tsp_local(t, kicks, &rest, seed, tour, err);
}

/* Memory of the assignment problem, all [n + 1]; index n of a column stands for none. */
typedef struct assignment {
    double *row, *column; /* dual prices: cost(i, j) - row[i] - column[j] >= 0, column[j] <= 0 */
    double *least;        /* of each column: the least reduced cost from the rows reached so far */
    int32_t *of;          /* the row that the column is assigned to; -1: none */
    int32_t *before;      /* the column before it on the path */
    bool *reached;
} assignment;

/* Assigns row i along the shortest augmenting path (Kuhn, Munkres; O(n^2) as by Jonker and Volgenant). */
static void assign(const onet_tsp *t, assignment *a, int i) {
    int n = t->n, column = n;
    a->of[n] = i;
    for (int j = 0; j <= n; j++) a->least[j] = INFINITY, a->reached[j] = false;
    do {
        a->reached[column] = true;
        int row = a->of[column], next = -1;
        for (int j = 0; j < n; j++) {
            if (a->reached[j]) continue;
            double reduced = onet_tsp_distance(t, row, j) - a->row[row] - a->column[j];
            if (row != j && reduced < a->least[j]) a->least[j] = reduced, a->before[j] = column;
            if (next < 0 || a->least[j] < a->least[next]) next = j;
        }
        double step = a->least[next];
        for (int j = 0; j <= n; j++)
            if (a->reached[j])
                a->row[a->of[j]] += step, a->column[j] -= step;
            else
                a->least[j] -= step;
        column = next;
    } while (a->of[column] >= 0);
    for (; column != n; column = a->before[column]) a->of[column] = a->of[a->before[column]];
}

/* *bound: no tour is shorter. It is the dual value for the rows assigned before the limit. Each price is
 * rounded once per row at most, so n times the rounding of the largest sum is taken off. */
static onet_status assignment_bound(const onet_tsp *t, const tsp_limit *limit, double begun, double *bound,
                                    onet_error *err) {
    size_t size = (size_t)t->n + 1;
    double *numbers = array_new(3 * size, sizeof *numbers);
    int32_t *indices = array_new(2 * size, sizeof *indices);
    bool *reached = array_new(size, sizeof *reached);
    onet_status status = numbers && indices && reached ? ONET_OK : fail_memory(err, "a bound");
    assignment a = {numbers, numbers + size, numbers + 2 * size, indices, indices + size, reached};
    if (!status) {
        for (size_t j = 0; j < size; j++) a.of[j] = -1;
        for (int i = 0; i < t->n && !ended(limit, begun); i++) assign(t, &a, i);
        double sum = 0, largest = 0;
        for (int i = 0; i < t->n; i++) {
            sum += a.row[i] + a.column[i];
            largest += fabs(a.row[i]) + fabs(a.column[i]);
        }
        *bound = fmax(0, sum - 1e-15 * t->n * largest);
        if (t->whole) *bound = ceil(*bound - 1e-6);
    }
    free(numbers);
    free(indices);
    free(reached);
    return status;
}

onet_status tsp_directed_exact(const onet_tsp *t, const tsp_limit *limit, uint64_t seed, int32_t *tour,
                               onet_tsp_proof *proof, onet_error *err) {
    double begun = clock_seconds();
    if (t->n <= ONET_TSP_HELD_KARP_MAX) {
        proof->proven = true;
        return tsp_held_karp(t, tour, err);
    }
    onet_status status = assignment_bound(t, limit, begun, &proof->bound, err);
    tsp_limit rest = rest_of(limit, begun);
    if (!status) status = tsp_directed(t, (int64_t)KICKS_PER_CITY * t->n, &rest, seed, tour, err);
    if (status) return status;
    double length = onet_tsp_length(t, tour);
    proof->proven = t->whole ? proof->bound >= length : proof->bound >= length * (1 - 1e-10);
    return ONET_OK;
}
