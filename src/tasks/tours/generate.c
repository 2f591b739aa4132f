/* Generates random instances (cities: uniform, clustered, on grids and so on; or asymmetric costs) and solves
 * them, in parallel: each thread solves a block of instances at a time. The search tree of an instance that
 * is hard to prove is shared out to all threads. Cities are given out once, or 8 times, under the symmetries
 * of the square. */
#include "tasks/tours/generate.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/rng.h"
#include "ordernet_tsp.h"
#include "tasks/tours/solve/solvers.h"

/* AHEAD: instances per thread that may be solved before the first of them is written. Instances of at most
 * SMALL cities are solved BLOCK at a time: one takes microseconds, too few to take the mutex for each. */
enum { AHEAD = 256, SMALL = 25, BLOCK = 16 };

static int size_of(const tsp_plan *plan, size_t index) {
    return plan->size[index % (size_t)plan->sizes];
}

/* Draws costs [n, n], closed under shortest paths, with a mean of 1. False if memory ran out. */
static bool random_costs(rng *r, int n, float *costs) {
    double *c = array_new((size_t)n * (size_t)n, sizeof *c), sum = 0;
    if (!c) return false;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) c[i * n + j] = i == j ? 0 : rng_uniform(r);
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) c[i * n + j] = fmin(c[i * n + j], c[i * n + k] + c[k * n + j]);
    for (int i = 0; i < n * n; i++) sum += c[i];
    double scale = sum > 0 ? (double)n * (n - 1) / sum : 1;
    for (int i = 0; i < n * n; i++) costs[i] = (float)(round(c[i] * scale * 1e5) / 1e5);
    free(c);
    return true;
}

/* Makes an instance from costs [n, n]. */
static onet_status from_costs(onet_tsp *t, int n, const float *costs) {
    onet_status status = onet_tsp_blank(t, n, false, NULL);
    if (status) return status;
    t->asymmetric = 1;
    for (int i = 0; i < n * n; i++) t->dist[i] = costs[i];
    return ONET_OK;
}

int tsp_sample(const tsp_plan *plan, size_t index, float *xy) {
    int n = size_of(plan, index);
    rng r;
    rng_seed(&r, plan->seed, index);
    if (plan->asymmetric) return random_costs(&r, n, xy) ? n : 0;
    return tsp_shape_sample(plan->shape, &r, n, xy) ? n : 0;
}

const onet_choice *tsp_labels(void) {
    static const onet_choice list[] = {
        {"auto", "exact up to 50 cities, 12 of shapes other than uniform, 16 asymmetric, and local beyond",
         TSP_LABEL_AUTO},
        {"exact", "branch and bound; asymmetric: held-karp", TSP_LABEL_EXACT},
        {"held-karp", "the dynamic program, up to 20 cities, slow", TSP_LABEL_HELD_KARP},
        {"local", "local search with --kicks, without proof", TSP_LABEL_LOCAL},
        {0},
    };
    return list;
}

/* Returns the method for an instance of n cities, never TSP_LABEL_AUTO. */
static tsp_label method_of(const tsp_plan *plan, int n) {
    int provable = plan->asymmetric                   ? TSP_EXACT_ASYMMETRIC
                   : plan->shape == TSP_SHAPE_UNIFORM ? TSP_EXACT_UNIFORM
                                                      : TSP_EXACT_OTHER;
    if (plan->label != TSP_LABEL_AUTO) return plan->label;
    return n <= provable ? TSP_LABEL_EXACT : TSP_LABEL_LOCAL;
}

static onet_status label(const onet_tsp *t, const tsp_plan *plan, int32_t *tour) {
    static const onet_tsp_method methods[] = {[TSP_LABEL_EXACT] = ONET_TSP_EXACT,
                                              [TSP_LABEL_HELD_KARP] = ONET_TSP_HELD_KARP,
                                              [TSP_LABEL_LOCAL] = ONET_TSP_TWO_OPT};
    onet_tsp_options options;
    onet_tsp_defaults(&options, sizeof options);
    options.stop = plan->stop;
    options.farthest = 1;
    options.kicks = (int64_t)plan->kicks * t->n;
    return onet_tsp_solve(t, methods[method_of(plan, t->n)], &options, tour, NULL, NULL);
}

/* A block of solved instances, kept until those before it are written. The arrays are used again for the next
 * block: freeing in one thread what another allocated makes threads wait for each other in malloc. */
typedef struct solved solved;
struct solved {
    bool done;
    size_t from, at, end; /* its instances, and the one being solved */
    float *xy;            /* [block, values] */
    int32_t *tour;        /* [block, most] */
    onet_status status;
    /* The instance being solved, and its search if that is divided. */
    onet_tsp t;
    tsp_tree *tree;
    int begun, ended; /* pieces of this round */
    solved *next;     /* in block_ring.shared */
};

/* Blocks go through a ring: the threads solve ahead of the writer, up to `slots` blocks, so that no block
 * waits for a slow one. Whichever thread finishes the next one to be written writes all that are ready. A
 * thread takes a piece of a shared search if there is one, otherwise the next block. */
typedef struct block_ring {
    const tsp_plan *plan;
    tsp_limit limit;
    size_t first, count, blocks, slots;
    size_t most, block; /* cities of the largest instance; instances per block */
    size_t values;      /* numbers of the largest instance: coordinates or costs */
    solved *ring;       /* [slots] */
    tsp_put *put;
    void *context;
    pthread_mutex_t mutex;
    pthread_cond_t moved;  /* `written` has grown, a search is shared, or generating has failed */
    size_t taken, written; /* blocks */
    solved *shared;        /* blocks whose search has pieces that no thread has taken */
    bool writing;
    onet_status status;
    onet_error err;
} block_ring;

/* Samples the instance s->at, and solves it or plants its search tree. */
static onet_status begin(const block_ring *j, solved *s, float *xy, int32_t *tour) {
    const tsp_plan *plan = j->plan;
    int n = tsp_sample(plan, j->first + s->at, xy);
    onet_status status = !n                 ? ONET_MEMORY
                         : plan->asymmetric ? from_costs(&s->t, n, xy)
                                            : tsp_floats(&s->t, n, xy, NULL);
    if (status) return status;
    if (method_of(plan, n) == TSP_LABEL_EXACT && !plan->asymmetric)
        return tsp_tree_new(&s->tree, &s->t, &j->limit, NULL);
    return label(&s->t, plan, tour);
}

static void drop(solved *s) {
    tsp_tree_free(s->tree);
    onet_tsp_free(&s->t);
    s->tree = NULL;
}

/* Goes on with a block until it is solved, or the search of an instance has pieces to share. */
static void advance(const block_ring *j, solved *s) {
    while (s->at < s->end && !s->status) {
        float *xy = s->xy + (s->at - s->from) * j->values;
        int32_t *tour = s->tour + (s->at - s->from) * j->most;
        if (!s->tree) s->status = begin(j, s, xy, tour);
        while (s->tree && tsp_tree_pieces(s->tree)) {
            if (tsp_tree_pieces(s->tree) > 1) return;
            tsp_tree_explore(s->tree, 0);
            tsp_tree_next(s->tree);
        }
        if (s->tree) s->status = tsp_tree_tour(s->tree, tour, NULL, NULL);
        drop(s);
        s->at++;
    }
}

static void begin_block(const block_ring *j, size_t block, solved *s) {
    size_t from = block * j->block, end = from + j->block;
    s->from = s->at = from;
    s->end = end < j->count ? end : j->count;
    if (!s->xy) s->xy = array_new(j->block * j->values, sizeof *s->xy);
    if (!s->tour) s->tour = array_new(j->block * j->most, sizeof *s->tour);
    s->status = s->xy && s->tour ? ONET_OK : ONET_MEMORY;
    advance(j, s);
}

/* Turns cities of the unit square by symmetry 0 .. 7, without rounding where they are multiples of 2^-24:
 * bit 0 mirrors x, bit 1 y, bit 2 swaps. from [n, 2], to [n, 2]; both may be the same. */
static void square_turn(int n, const float *from, int symmetry, float *to) {
    for (int i = 0; i < n; i++) {
        float x = from[2 * i], y = from[2 * i + 1];
        if (symmetry & 1) x = 1 - x;
        if (symmetry & 2) y = 1 - y;
        to[2 * i] = symmetry & 4 ? y : x;
        to[2 * i + 1] = symmetry & 4 ? x : y;
    }
}

/* Puts an instance under each symmetry. A tour keeps its edges, but not its start and direction, which follow
 * from the coordinates. */
static onet_status put_views(const block_ring *j, int n, const float *xy, const int32_t *tour,
                             onet_error *err) {
    onet_status status = j->put(j->context, n, xy, tour, err);
    if (status || j->plan->symmetries != SQUARE_SYMMETRIES) return status;
    double *points = array_new((size_t)n * 2, sizeof *points);
    float *items = array_new((size_t)n * 2, sizeof *items);
    int32_t *turned = array_new((size_t)n, sizeof *turned);
    if (!points || !items || !turned) status = fail_memory(err, "an instance");
    for (int v = 1; v < SQUARE_SYMMETRIES && !status; v++) {
        onet_tsp view = {.n = n, .xy = points}; /* without distances: the canonical form does not need them */
        square_turn(n, xy, v, items);
        for (int i = 0; i < 2 * n; i++) points[i] = items[i];
        memcpy(turned, tour, (size_t)n * sizeof *turned);
        onet_tsp_canonical(&view, turned);
        status = j->put(j->context, n, items, turned, err);
    }
    free(points);
    free(items);
    free(turned);
    return status;
}

static onet_status write_block(const block_ring *j, const solved *s, onet_error *err) {
    size_t from = s->from, end = s->end;
    onet_status status = ONET_OK;
    for (size_t i = from; i < end && !status; i++) {
        if (j->plan->stop && j->plan->stop(NULL))
            status = fail(err, ONET_INTERRUPTED, "stopped at instance %zu", j->first + i + 1);
        else if (s->status)
            status = fail_memory(err, "solving an instance");
        else
            status = put_views(j, size_of(j->plan, j->first + i), s->xy + (i - from) * j->values,
                               s->tour + (i - from) * j->most, err);
    }
    return status;
}

/* Called with the mutex held, which is released while a block is written. */
static void write_ready(block_ring *j) {
    while (!j->status && !j->writing && j->ring[j->written % j->slots].done) {
        solved *s = &j->ring[j->written % j->slots];
        j->writing = true;
        pthread_mutex_unlock(&j->mutex);
        onet_error err;
        onet_status status = write_block(j, s, &err);
        pthread_mutex_lock(&j->mutex);
        s->done = false;
        j->writing = false;
        j->written++;
        if (status) {
            j->status = status;
            j->err = err;
        }
        pthread_cond_broadcast(&j->moved);
    }
}

/* After a thread has worked on the block: offers what is left of its search tree to all threads or, if the
 * block is solved, writes the blocks whose turn it is. Called with the mutex held. */
static void settle(block_ring *j, solved *s) {
    if (s->tree) {
        s->begun = s->ended = 0;
        s->next = j->shared;
        j->shared = s;
        pthread_cond_broadcast(&j->moved);
    } else {
        s->done = true;
        write_ready(j);
    }
}

/* Called with the mutex held, which is released while a piece is explored. */
static void take_piece(block_ring *j) {
    solved *s = j->shared;
    int piece = s->begun++, pieces = tsp_tree_pieces(s->tree);
    if (s->begun == pieces) j->shared = s->next;
    pthread_mutex_unlock(&j->mutex);
    tsp_tree_explore(s->tree, piece);
    pthread_mutex_lock(&j->mutex);
    if (++s->ended < pieces) return;
    pthread_mutex_unlock(&j->mutex);
    tsp_tree_next(s->tree);
    advance(j, s);
    pthread_mutex_lock(&j->mutex);
    settle(j, s);
}

static void take_block(block_ring *j) {
    size_t block = j->taken++;
    solved *s = &j->ring[block % j->slots];
    pthread_mutex_unlock(&j->mutex);
    begin_block(j, block, s);
    pthread_mutex_lock(&j->mutex);
    settle(j, s);
}

static void work(void *arg, int job, int thread) {
    (void)job, (void)thread;
    block_ring *j = arg;
    pthread_mutex_lock(&j->mutex);
    while (!j->status && j->written < j->blocks) {
        if (j->shared)
            take_piece(j);
        else if (j->taken < j->blocks && j->taken < j->written + j->slots)
            take_block(j);
        else
            pthread_cond_wait(&j->moved, &j->mutex);
    }
    pthread_mutex_unlock(&j->mutex);
}

onet_status tsp_generate(const tsp_plan *plan, size_t first, size_t count, thread_pool *threads, tsp_put *put,
                         void *context, onet_error *err) {
    for (int i = 0; i < plan->sizes; i++) {
        if (plan->size[i] < 1 || plan->size[i] > ONET_TSP_MAX_CITIES)
            return fail(err, ONET_USAGE, "%d cities; an instance has 1 to %d", plan->size[i],
                        ONET_TSP_MAX_CITIES);
        bool program =
            plan->label == TSP_LABEL_HELD_KARP || (plan->asymmetric && plan->label == TSP_LABEL_EXACT);
        if (program && plan->size[i] > ONET_TSP_HELD_KARP_MAX)
            return fail(err, ONET_USAGE, "%d cities are too many for held-karp (at most %d); use %s",
                        plan->size[i], ONET_TSP_HELD_KARP_MAX, plan->asymmetric ? "local" : "exact");
    }
    if (count > INT32_MAX) return fail(err, ONET_USAGE, "too many instances at once");
    block_ring j = {.plan = plan,
                    .limit = {.stop = plan->stop},
                    .first = first,
                    .count = count,
                    .put = put,
                    .context = context,
                    .mutex = PTHREAD_MUTEX_INITIALIZER,
                    .moved = PTHREAD_COND_INITIALIZER};
    for (int i = 0; i < plan->sizes; i++)
        if ((size_t)plan->size[i] > j.most) j.most = (size_t)plan->size[i];
    j.values = plan->asymmetric ? j.most * j.most : 2 * j.most;
    j.block = j.most <= SMALL ? BLOCK : 1;
    j.slots = (size_t)thread_pool_threads(threads) * (AHEAD / j.block);
    j.ring = array_new(j.slots, sizeof *j.ring);
    if (!j.ring) return fail_memory(err, "the instances");
    j.blocks = (count + j.block - 1) / j.block;
    thread_pool_run(threads, thread_pool_threads(threads), work, &j);
    for (size_t i = 0; i < j.slots; i++) {
        drop(&j.ring[i]);
        free(j.ring[i].xy);
        free(j.ring[i].tour);
    }
    free(j.ring);
    pthread_cond_destroy(&j.moved);
    pthread_mutex_destroy(&j.mutex);
    if (j.status && err) *err = j.err;
    return j.status;
}

onet_status tsp_append(void *sets, int n, const float *xy, const int32_t *tour, onet_error *err) {
    return onet_sets_append(sets, n, 2, xy, tour, err);
}

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

/* Draws a number that is uniform in the logarithm. */
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

/* Draws n of the columns * rows places, each at most once: a place is taken with probability (still wanted) /
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

/* Returns the nearest multiple of 2^-24. */
static float on_the_grid(float x) {
    return (float)(round((double)x * 0x1p24) * 0x1p-24);
}

bool tsp_shape_sample(tsp_shape shape, rng *r, int n, float *xy) {
    static void (*const sample[])(rng *, int, double *) = {clustered, grid, lines, stretched};
    enum { FIRST = TSP_SHAPE_CLUSTERED, OTHERS = sizeof sample / sizeof *sample };
    if (shape == TSP_SHAPE_MIXED)
        shape = rng_below(r, 3) ? TSP_SHAPE_UNIFORM : FIRST + (tsp_shape)rng_below(r, OTHERS);
    if (shape == TSP_SHAPE_UNIFORM) {
        for (int i = 0; i < 2 * n; i++) xy[i] = (float)(rng_u64(r) >> 40) * 0x1p-24f;
        return true;
    }
    double *sampled = array_new((size_t)n * 2, sizeof *sampled);
    if (!sampled) return false;
    sample[shape - FIRST](r, n, sampled);
    onet_tsp t = {.n = n, .xy = sampled}; /* without distances, which a place in the square does not need */
    onet_status status = onet_tsp_net_items(&t, ONET_TSP_FITTED, xy, NULL);
    for (int i = 0; i < 2 * n && !status; i++) xy[i] = on_the_grid(xy[i]);
    if (!status) square_turn(n, xy, (int)rng_below(r, SQUARE_SYMMETRIES), xy);
    free(sampled);
    return !status;
}
