/* Where random cities lie: the shapes of generated instances. */
#ifndef TOURS_SHAPES_H
#define TOURS_SHAPES_H

#include <stdbool.h>

#include "engine/base/rng.h"
#include "ordernet.h"

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
/* Turns cities of the unit square by symmetry 0 .. 7, without rounding where they are multiples of 2^-24:
 * bit 0 mirrors x, bit 1 y, bit 2 swaps. from [n, 2], to [n, 2]; both may be the same. */
void square_turn(int n, const float *from, int symmetry, float *to);

/* Draws n cities xy [n, 2]. All coordinates are multiples of 2^-24 in [0, 1], which float32 holds exactly.
 * Uniform cities are spread over the unit square; those of other shapes are placed in it as the net sees
 * instances of any scale (onet_tsp_net_items), under any of its symmetries. False if memory ran out. */
bool tsp_shape_draw(tsp_shape shape, rng *r, int n, float *xy);

#endif
