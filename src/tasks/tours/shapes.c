/* Draws cities: spread evenly, in towns, on a board of holes, along roads, in a narrow country. */
#include "tasks/tours/shapes.h"

#include <math.h>
#include <stdlib.h>

#include "engine/base/memory.h"
#include "ordernet_tsp.h"

const onet_choice *tsp_shapes(void) {
    static const onet_choice list[] = {
        {"uniform", "the unit square", TSP_SHAPE_UNIFORM},
        {"clustered", "1 to 8 towns of different size, and some cities between them", TSP_SHAPE_CLUSTERED},
        {"grid", "a part of a lattice, as holes of a board, with or without noise", TSP_SHAPE_GRID},
        {"lines", "along 1 to 6 straight roads", TSP_SHAPE_LINES},
        {"stretched", "a rectangle up to 10 times as long as wide", TSP_SHAPE_STRETCHED},
        {"mixed", "two of three instances uniform, the others of one of the other shapes", TSP_SHAPE_MIXED},
        {0},
    };
    return list;
}

static double between(rng *r, double low, double high) {
    return low + (high - low) * rng_uniform(r);
}

/* Uniform in the logarithm. */
static double scale_between(rng *r, double low, double high) {
    return exp(between(r, log(low), log(high)));
}

typedef struct point {
    double x, y;
} point;

static point anywhere(rng *r) {
    double x = rng_uniform(r), y = rng_uniform(r);
    return (point){x, y};
}

static point near(rng *r, point centre, double deviation) {
    double x = rng_normal(r), y = rng_normal(r);
    return (point){centre.x + deviation * x, centre.y + deviation * y};
}

static void clustered(rng *r, int n, double *xy) {
    enum { TOWNS = 8 };
    point centre[TOWNS];
    double deviation[TOWNS], outside = between(r, 0, 0.4);
    int towns = 1 + (int)rng_below(r, TOWNS);
    for (int i = 0; i < towns; i++) {
        centre[i] = anywhere(r);
        deviation[i] = scale_between(r, 0.01, 0.15);
    }
    for (int i = 0; i < n; i++) {
        int town = (int)rng_below(r, (uint64_t)towns);
        point p = rng_uniform(r) < outside ? anywhere(r) : near(r, centre[town], deviation[town]);
        xy[2 * i] = p.x;
        xy[2 * i + 1] = p.y;
    }
}

/* n of the columns * rows places, each at most once: a place is taken with probability (still wanted) /
 * (places left). */
static void grid(rng *r, int n, double *xy) {
    double fill = between(r, 0.3, 1), aspect = scale_between(r, 0.4, 2.5);
    double noise = rng_below(r, 2) ? between(r, 0, 0.15) : 0, stretch = scale_between(r, 0.5, 2);
    int columns = (int)ceil(sqrt(n / fill * aspect));
    int rows = (int)ceil(n / fill / columns), places = columns * rows, taken = 0;
    for (int place = 0; place < places && taken < n; place++) {
        if ((int)rng_below(r, (uint64_t)(places - place)) >= n - taken) continue;
        point p = near(r, (point){place % columns, place / columns}, noise);
        xy[2 * taken] = p.x;
        xy[2 * taken + 1] = p.y * stretch;
        taken++;
    }
}

static void lines(rng *r, int n, double *xy) {
    enum { ROADS = 6 };
    point from[ROADS], to[ROADS];
    int roads = 1 + (int)rng_below(r, ROADS);
    double noise = scale_between(r, 0.002, 0.05);
    for (int i = 0; i < roads; i++) from[i] = anywhere(r), to[i] = anywhere(r);
    for (int i = 0; i < n; i++) {
        int road = (int)rng_below(r, (uint64_t)roads);
        double at = rng_uniform(r);
        point on = {from[road].x + at * (to[road].x - from[road].x),
                    from[road].y + at * (to[road].y - from[road].y)};
        point p = near(r, on, noise);
        xy[2 * i] = p.x;
        xy[2 * i + 1] = p.y;
    }
}

static void stretched(rng *r, int n, double *xy) {
    double height = scale_between(r, 0.1, 1);
    for (int i = 0; i < n; i++) {
        point p = anywhere(r);
        xy[2 * i] = p.x;
        xy[2 * i + 1] = p.y * height;
    }
}

void square_turn(int n, const float *from, int symmetry, float *to) {
    for (int i = 0; i < n; i++) {
        float x = from[2 * i], y = from[2 * i + 1];
        if (symmetry & 1) x = 1 - x;
        if (symmetry & 2) y = 1 - y;
        to[2 * i] = symmetry & 4 ? y : x;
        to[2 * i + 1] = symmetry & 4 ? x : y;
    }
}

/* The nearest multiple of 2^-24. */
static float on_the_grid(float x) {
    return (float)(round((double)x * 0x1p24) * 0x1p-24);
}

bool tsp_shape_draw(tsp_shape shape, rng *r, int n, float *xy) {
    static void (*const draw[])(rng *, int, double *) = {clustered, grid, lines, stretched};
    enum { FIRST = TSP_SHAPE_CLUSTERED, OTHERS = sizeof draw / sizeof *draw };
    if (shape == TSP_SHAPE_MIXED)
        shape = rng_below(r, 3) ? TSP_SHAPE_UNIFORM : FIRST + (tsp_shape)rng_below(r, OTHERS);
    if (shape == TSP_SHAPE_UNIFORM) {
        for (int i = 0; i < 2 * n; i++) xy[i] = (float)(rng_u64(r) >> 40) * 0x1p-24f;
        return true;
    }
    double *drawn = array_new((size_t)n * 2, sizeof *drawn);
    if (!drawn) return false;
    draw[shape - FIRST](r, n, drawn);
    onet_tsp t = {.n = n, .xy = drawn}; /* without distances, which a place in the square does not need */
    onet_status status = onet_tsp_net_items(&t, ONET_TSP_FITTED, xy, NULL);
    for (int i = 0; i < 2 * n && !status; i++) xy[i] = on_the_grid(xy[i]);
    if (!status) square_turn(n, xy, (int)rng_below(r, SQUARE_SYMMETRIES), xy);
    free(drawn);
    return !status;
}
