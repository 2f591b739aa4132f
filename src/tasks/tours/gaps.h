/* Measures the gap of tours (relative excess length over the best known tour), by method and size, for `tsp
 * eval`. */
#ifndef TOURS_GAPS_H
#define TOURS_GAPS_H

#include "engine/base/thread_pool.h"
#include "ordernet_measure.h"
#include "tasks/tours/load.h"

/* The methods, in the order of the table. */
typedef enum gap_method {
    GAP_REFERENCE = 0, /* the tours given with the instances */
    GAP_CHRISTOFIDES,
    GAP_FARTHEST,
    GAP_TWO_OPT,
    GAP_GREEDY,    /* the net, greedy search */
    GAP_PROBABLE,  /* the net, most probable tour of the beam */
    GAP_SHORTEST,  /* the net, shortest tour of the beam */
    GAP_SYMMETRIC, /* the net, shortest of the beams under 8 symmetries */
    GAP_METHODS
} gap_method;

const char *gap_method_name(gap_method method);

/* Means over the instances of one size, with 95% intervals (normal approximation). */
typedef struct gap_row {
    int n;
    size_t count;
    onet_measure length[GAP_METHODS];
    onet_measure gap[GAP_METHODS]; /* mean of length / reference - 1 */
} gap_row;

/* The cities must have an order. greedy, beam: the nets; NULL: their columns are NaN. tick(context, n, done,
 * total) is called from time to time; if it returns non-zero, gap_measure ends with ONET_INTERRUPTED. */
typedef struct gap_setting {
    const tsp_cities *cities;
    onet_tsp_net *greedy, *beam;
    thread_pool *threads;
    int (*tick)(void *context, int n, size_t done, size_t total);
    void *context;
} gap_setting;
/* Measures the instances of n cities. */
onet_status gap_measure(gap_row *row, int n, const gap_setting *setting, onet_error *err);

#endif
