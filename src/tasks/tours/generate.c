/* Draws random cities and solves them, a block of instances per task of a thread pool. */
#include "tasks/tours/generate.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/rng.h"

/* Instances per thread that may be solved before the first of them is written. Those of at most SMALL cities
 * go in blocks: they take microseconds, and the threads would meet at each. */
enum { AHEAD = 256, SMALL = 25, BLOCK = 16 };

static int size_of(const tsp_plan *plan, size_t index) {
    return plan->size[index % (size_t)plan->sizes];
}

int tsp_draw(const tsp_plan *plan, size_t index, float *xy) {
    int n = size_of(plan, index);
    rng r;
    rng_seed(&r, plan->seed, index);
    return tsp_shape_draw(plan->shape, &r, n, xy) ? n : 0;
}

const onet_choice *tsp_labels(void) {
    static const onet_choice list[] = {
        {"auto", "exact up to 50 cities, 12 of shapes other than uniform, and local beyond", TSP_LABEL_AUTO},
        {"exact", "branch and bound", TSP_LABEL_EXACT},
        {"held-karp", "the dynamic program, up to 20 cities, slow", TSP_LABEL_HELD_KARP},
        {"local", "local search with --kicks, without proof", TSP_LABEL_LOCAL},
        {0},
    };
    return list;
}

static onet_status label(const onet_tsp *t, const tsp_plan *plan, int32_t *tour) {
    static const onet_tsp_method methods[] = {[TSP_LABEL_EXACT] = ONET_TSP_EXACT,
                                              [TSP_LABEL_HELD_KARP] = ONET_TSP_HELD_KARP,
                                              [TSP_LABEL_LOCAL] = ONET_TSP_TWO_OPT};
    tsp_label by = plan->label;
    int provable = plan->shape == TSP_SHAPE_UNIFORM ? TSP_EXACT_UNIFORM : TSP_EXACT_OTHER;
    if (by == TSP_LABEL_AUTO) by = t->n <= provable ? TSP_LABEL_EXACT : TSP_LABEL_LOCAL;
    onet_tsp_options options;
    onet_tsp_defaults(&options, sizeof options);
    options.stop = plan->stop;
    options.farthest = 1;
    options.kicks = (int64_t)plan->kicks * t->n;
    return onet_tsp_solve(t, methods[by], &options, tour, NULL, NULL);
}

/* Instances that are solved, until those before them are written. The arrays stay for the next block: memory
 * that one thread takes and another frees makes them wait for each other. */
typedef struct solved {
    bool done;
    float *xy;     /* [block, most, 2] */
    int32_t *tour; /* [block, most] */
    onet_status status;
} solved;

/* Blocks go through a ring: the threads solve ahead of the writer, up to `slots` blocks, so that a slow one
 * keeps no other waiting. Whichever thread finishes the next one to be written writes all that are ready. */
typedef struct job {
    const tsp_plan *plan;
    size_t first, count, slots;
    size_t most, block; /* cities of the largest instance; instances per block */
    solved *ring;       /* [slots] */
    tsp_put *put;
    void *context;
    pthread_mutex_t mutex;
    pthread_cond_t moved; /* `written` has */
    size_t written;       /* blocks */
    bool writing;
    onet_status status;
    onet_error err;
} job;

static size_t block_end(const job *j, size_t block) {
    return (block + 1) * j->block < j->count ? (block + 1) * j->block : j->count;
}

static onet_status solve(const job *j, size_t index, float *xy, int32_t *tour) {
    onet_tsp t = {0};
    int n = tsp_draw(j->plan, index, xy);
    onet_status status = n ? tsp_floats(&t, n, xy, NULL) : ONET_MEMORY;
    if (!status) status = label(&t, j->plan, tour);
    onet_tsp_free(&t);
    return status;
}

static void solve_block(const job *j, size_t block, solved *s) {
    size_t from = block * j->block, end = block_end(j, block);
    if (!s->xy) s->xy = array_new(j->block * j->most * 2, sizeof *s->xy);
    if (!s->tour) s->tour = array_new(j->block * j->most, sizeof *s->tour);
    s->status = s->xy && s->tour ? ONET_OK : ONET_MEMORY;
    for (size_t i = from; i < end && !s->status; i++)
        s->status = solve(j, j->first + i, s->xy + (i - from) * j->most * 2, s->tour + (i - from) * j->most);
}

/* Puts an instance under each symmetry. A tour keeps its edges, but not its start and direction, which follow
 * from the coordinates. */
static onet_status put_views(const job *j, int n, const float *xy, const int32_t *tour, onet_error *err) {
    onet_status status = j->put(j->context, n, xy, tour, err);
    if (status || j->plan->symmetries != SQUARE_SYMMETRIES) return status;
    double *points = array_new((size_t)n * 2, sizeof *points);
    float *items = array_new((size_t)n * 2, sizeof *items);
    int32_t *turned = array_new((size_t)n, sizeof *turned);
    if (!points || !items || !turned) status = fail_memory(err, "an instance");
    for (int v = 1; v < SQUARE_SYMMETRIES && !status; v++) {
        onet_tsp view = {.n = n,
                         .xy = points}; /* without distances, which the canonical form does not need */
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

static onet_status write_block(const job *j, size_t block, const solved *s, onet_error *err) {
    size_t from = block * j->block, end = block_end(j, block);
    onet_status status = ONET_OK;
    for (size_t i = from; i < end && !status; i++) {
        if (j->plan->stop && j->plan->stop(NULL))
            status = fail(err, ONET_INTERRUPTED, "stopped at instance %zu", j->first + i + 1);
        else if (s->status)
            status = fail_memory(err, "solving an instance");
        else
            status = put_views(j, size_of(j->plan, j->first + i), s->xy + (i - from) * j->most * 2,
                               s->tour + (i - from) * j->most, err);
    }
    return status;
}

/* Called with the mutex held, which is released while a block is written. */
static void write_ready(job *j) {
    while (!j->status && !j->writing && j->ring[j->written % j->slots].done) {
        solved *s = &j->ring[j->written % j->slots];
        j->writing = true;
        pthread_mutex_unlock(&j->mutex);
        onet_error err;
        onet_status status = write_block(j, j->written, s, &err);
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

static void one_block(void *arg, int task, int thread) {
    (void)thread;
    job *j = arg;
    size_t block = (size_t)task;
    pthread_mutex_lock(&j->mutex);
    while (!j->status && block >= j->written + j->slots) pthread_cond_wait(&j->moved, &j->mutex);
    bool goes_on = !j->status;
    pthread_mutex_unlock(&j->mutex);
    if (!goes_on) return;
    solved *s = &j->ring[block % j->slots];
    solve_block(j, block, s);
    pthread_mutex_lock(&j->mutex);
    s->done = true;
    write_ready(j);
    pthread_mutex_unlock(&j->mutex);
}

onet_status tsp_generate(const tsp_plan *plan, size_t first, size_t count, pool *threads, tsp_put *put,
                         void *context, onet_error *err) {
    for (int i = 0; i < plan->sizes; i++) {
        if (plan->size[i] < 1 || plan->size[i] > ONET_TSP_MAX_CITIES)
            return fail(err, ONET_USAGE, "%d cities; an instance has 1 to %d", plan->size[i],
                        ONET_TSP_MAX_CITIES);
        if (plan->label == TSP_LABEL_HELD_KARP && plan->size[i] > ONET_TSP_HELD_KARP_MAX)
            return fail(err, ONET_USAGE, "%d cities are too many for held-karp (at most %d); use exact",
                        plan->size[i], ONET_TSP_HELD_KARP_MAX);
    }
    if (count > INT32_MAX) return fail(err, ONET_USAGE, "too many instances at once");
    job j = {.plan = plan,
             .first = first,
             .count = count,
             .put = put,
             .context = context,
             .mutex = PTHREAD_MUTEX_INITIALIZER,
             .moved = PTHREAD_COND_INITIALIZER};
    for (int i = 0; i < plan->sizes; i++)
        if ((size_t)plan->size[i] > j.most) j.most = (size_t)plan->size[i];
    j.block = j.most <= SMALL ? BLOCK : 1;
    j.slots = (size_t)pool_threads(threads) * (AHEAD / j.block);
    j.ring = array_new(j.slots, sizeof *j.ring);
    if (!j.ring) return fail_memory(err, "the instances");
    pool_run(threads, (int)((count + j.block - 1) / j.block), one_block, &j);
    for (size_t i = 0; i < j.slots; i++) {
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
