/* Generates random instances with tours that are optimal or, for many cities, nearly so (local search):
 * training and test data of networks that find tours.
 *
 * Instance i of a plan has size[i % sizes] cities: the sizes are interleaved, so that any prefix of the data
 * holds all of them equally. Its cities are drawn from a random sequence of its own, on a grid of 2^-24,
 * which float32 represents exactly: the tour is that of the stored coordinates.
 *
 * Asymmetric instances have costs from city to city in place of points: uniform, then closed under shortest
 * paths as travel times are, then scaled to a mean of 1 and rounded to 5 decimals. */
#ifndef TOURS_GENERATE_H
#define TOURS_GENERATE_H

#include "engine/base/rng.h"
#include "engine/base/thread_pool.h"
#include "ordernet.h"
#include "tasks/tours/load.h"
#include <stdbool.h>

typedef enum tsp_shape {
    TSP_SHAPE_UNIFORM = 0,
    TSP_SHAPE_CLUSTERED,
    TSP_SHAPE_GRID,
    TSP_SHAPE_LINES,
    TSP_SHAPE_STRETCHED,
    TSP_SHAPE_MIXED
} tsp_shape;
const onet_choice *tsp_shapes(void);

enum { SQUARE_SYMMETRIES = 8 };
/* Samples n cities xy [n, 2]. All coordinates are multiples of 2^-24 in [0, 1], which float32 holds exactly.
 * Uniform cities are spread over the unit square; those of other shapes are scaled to fit it, as the net's
 * inputs are (onet_tsp_net_items), and turned by a random symmetry of it. False if memory ran out. */
bool tsp_shape_sample(tsp_shape shape, rng *r, int n, float *xy);

typedef enum tsp_label {
    TSP_LABEL_AUTO = 0, /* exact up to TSP_EXACT_... cities, local beyond */
    TSP_LABEL_EXACT,
    TSP_LABEL_HELD_KARP,
    TSP_LABEL_LOCAL /* local search with tsp_plan's kicks: not proven */
} tsp_label;
/* Uniform cities are proven in milliseconds; towns and roads of 30 may take minutes. */
enum { TSP_EXACT_UNIFORM = 50, TSP_EXACT_OTHER = 12, TSP_EXACT_ASYMMETRIC = 16, TSP_LABEL_KICKS = 20 };
const onet_choice *tsp_labels(void);

typedef struct tsp_plan {
    const int *size; /* [sizes] */
    int sizes;
    uint64_t seed;
    tsp_shape shape;
    bool asymmetric; /* costs, not points: without shape and symmetries */
    tsp_label label;
    int kicks;           /* local: per city */
    int symmetries;      /* 8: each instance is put under all symmetries of the square; otherwise once */
    int (*stop)(void *); /* called with NULL; non-zero: end with ONET_INTERRUPTED. NULL: never */
} tsp_plan;

/* Samples the cities xy [n, 2], or costs [n, n], of instance number `index`; returns n, or 0 if memory ran
 * out. */
int tsp_sample(const tsp_plan *plan, size_t index, float *xy);

/* Takes an instance with its canonical tour: cities xy [n, 2], or costs [n, n]; tour [n]. */
typedef onet_status tsp_put(void *context, int n, const float *xy, const int32_t *tour, onet_error *err);
/* Gives instances first .. first+count-1 to put, one at a time and in their order, from any thread; under 8
 * symmetries, eight times in a row, each with the canonical tour of its own. They do not depend on the number
 * of threads. */
onet_status tsp_generate(const tsp_plan *plan, size_t first, size_t count, thread_pool *threads, tsp_put *put,
                         void *context, onet_error *err);
/* A tsp_put: appends points to the onet_sets that `sets` points to. */
onet_status tsp_append(void *sets, int n, const float *xy, const int32_t *tour, onet_error *err);

#endif
