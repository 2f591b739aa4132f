/* Draws random cities and solves them, one instance per task of a thread pool. */
#include "tours/generate.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/rng.h"
#include <stdlib.h>

int tsp_draw(const tsp_plan *plan, size_t index, float *xy) {
    int n = plan->size[index % (size_t)plan->sizes];
    rng r;
    rng_seed(&r, plan->seed, index);
    for (int i = 0; i < 2 * n; i++) xy[i] = (float)(rng_u64(&r) >> 40) * 0x1p-24f;
    return n;
}

onet_status tsp_floats(onet_tsp *t, int n, const float *xy, onet_error *err) {
    double *points = array_new((size_t)n * 2, sizeof *points);
    if (!points) return fail_memory(err, "an instance");
    for (int i = 0; i < 2 * n; i++) points[i] = xy[i];
    onet_status status = onet_tsp_points(t, n, points, err);
    free(points);
    return status;
}

typedef struct job {
    const tsp_plan *plan;
    size_t first;
    int stride;          /* cities of the largest instance */
    int *n;              /* [count] */
    float *xy;           /* [count, stride, 2] */
    int32_t *tour;       /* [count, stride] */
    onet_status *status; /* [count] */
} job;

const onet_choice *tsp_labels(void) {
    static const onet_choice list[] = {
        {"exact", "branch and bound", TSP_LABEL_EXACT},
        {"held-karp", "the dynamic program, up to 20 cities, slow", TSP_LABEL_HELD_KARP},
        {"local",
         "a long local search of 200 kicks per city, without proof, for sizes that exact cannot reach",
         TSP_LABEL_LOCAL},
        {0},
    };
    return list;
}

static onet_status label(const onet_tsp *t, const tsp_plan *plan, int32_t *tour) {
    static const onet_tsp_method methods[] = {[TSP_LABEL_EXACT] = ONET_TSP_EXACT,
                                              [TSP_LABEL_HELD_KARP] = ONET_TSP_HELD_KARP,
                                              [TSP_LABEL_LOCAL] = ONET_TSP_TWO_OPT};
    onet_tsp_options options;
    onet_tsp_defaults(&options, sizeof options);
    options.stop = plan->stop;
    options.farthest = 1;
    options.kicks = (int64_t)LOCAL_KICKS * t->n;
    return onet_tsp_solve(t, methods[plan->label], &options, tour, NULL, NULL);
}

static void one_instance(void *arg, int task, int thread) {
    (void)thread;
    job *j = arg;
    float *xy = j->xy + (size_t)task * (size_t)j->stride * 2;
    int32_t *tour = j->tour + (size_t)task * (size_t)j->stride;
    j->n[task] = tsp_draw(j->plan, j->first + (size_t)task, xy);
    onet_tsp t;
    onet_status status = tsp_floats(&t, j->n[task], xy, NULL);
    if (!status) status = label(&t, j->plan, tour);
    onet_tsp_free(&t);
    j->status[task] = status;
}

onet_status tsp_generate(onet_sets *sets, const tsp_plan *plan, size_t first, size_t count, pool *threads,
                         onet_error *err) {
    job j = {.plan = plan, .first = first};
    for (int i = 0; i < plan->sizes; i++) {
        if (plan->size[i] < 1 || plan->size[i] > ONET_TSP_MAX_CITIES)
            return fail(err, ONET_USAGE, "%d cities; an instance has 1 to %d", plan->size[i],
                        ONET_TSP_MAX_CITIES);
        if (plan->label == TSP_LABEL_HELD_KARP && plan->size[i] > ONET_TSP_HELD_KARP_MAX)
            return fail(err, ONET_USAGE, "%d cities are too many for held-karp (at most %d); use exact",
                        plan->size[i], ONET_TSP_HELD_KARP_MAX);
        if (plan->size[i] > j.stride) j.stride = plan->size[i];
    }
    if (count > INT32_MAX) return fail(err, ONET_USAGE, "too many instances at once");
    size_t room;
    onet_status status = ONET_OK;
    if (size_mul(count, (size_t)j.stride * 2, &room)) {
        j.n = array_new(count, sizeof *j.n);
        j.xy = array_new(room, sizeof *j.xy);
        j.tour = array_new(room / 2, sizeof *j.tour);
        j.status = array_new(count, sizeof *j.status);
    }
    if (!j.n || !j.xy || !j.tour || !j.status)
        status = fail_memory(err, "the instances");
    else
        pool_run(threads, (int)count, one_instance, &j);
    for (size_t i = 0; i < count && !status; i++) {
        size_t at = i * (size_t)j.stride;
        if (plan->stop && plan->stop(NULL))
            status = fail(err, ONET_INTERRUPTED, "stopped at instance %zu", first + i + 1);
        else if (j.status[i])
            status = fail_memory(err, "solving an instance");
        else
            status = onet_sets_append(sets, j.n[i], 2, j.xy + 2 * at, j.tour + at, err);
    }
    free(j.n);
    free(j.xy);
    free(j.tour);
    free(j.status);
    return status;
}
