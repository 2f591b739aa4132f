/* Draws random cities and solves them, one instance per task of a thread pool. */
#include "tours/generate.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/rng.h"

/* Instances per thread that may be solved before the first of them is written. */
enum { AHEAD = 256 };

int tsp_draw(const tsp_plan *plan, size_t index, float *xy) {
    int n = plan->size[index % (size_t)plan->sizes];
    rng r;
    rng_seed(&r, plan->seed, index);
    for (int i = 0; i < 2 * n; i++) xy[i] = (float)(rng_u64(&r) >> 40) * 0x1p-24f;
    return n;
}

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

/* An instance that is solved, until those before it are written. */
typedef struct solved {
    bool done;
    int n;
    float *xy;     /* [n, 2] */
    int32_t *tour; /* [n] */
    onet_status status;
} solved;

/* Instances go through a ring: the threads solve ahead of the writer, up to `slots` instances, so that a slow
 * one keeps no other waiting. Whichever thread finishes the next one to be written writes all that are ready.
 */
typedef struct job {
    const tsp_plan *plan;
    size_t first, count, slots;
    solved *ring; /* [slots] */
    tsp_put *put;
    void *context;
    pthread_mutex_t mutex;
    pthread_cond_t moved; /* `written` has */
    size_t written;
    bool writing;
    onet_status status;
    onet_error err;
} job;

static void solve(const job *j, size_t index, solved *s) {
    int most = 0;
    for (int i = 0; i < j->plan->sizes; i++)
        if (j->plan->size[i] > most) most = j->plan->size[i];
    onet_tsp t = {0};
    s->xy = array_new((size_t)most * 2, sizeof *s->xy);
    s->tour = array_new((size_t)most, sizeof *s->tour);
    s->status = s->xy && s->tour ? ONET_OK : ONET_MEMORY;
    if (!s->status) s->n = tsp_draw(j->plan, j->first + index, s->xy);
    if (!s->status) s->status = tsp_floats(&t, s->n, s->xy, NULL);
    if (!s->status) s->status = label(&t, j->plan, s->tour);
    onet_tsp_free(&t);
}

static void solved_free(solved *s) {
    free(s->xy);
    free(s->tour);
    *s = (solved){0};
}

/* Called with the mutex held, which is released while an instance is written. */
static void write_ready(job *j) {
    while (!j->status && !j->writing && j->ring[j->written % j->slots].done) {
        solved *s = &j->ring[j->written % j->slots];
        j->writing = true;
        pthread_mutex_unlock(&j->mutex);
        onet_error err;
        onet_status status = ONET_OK;
        if (j->plan->stop && j->plan->stop(NULL))
            status = fail(&err, ONET_INTERRUPTED, "stopped at instance %zu", j->first + j->written + 1);
        else if (s->status)
            status = fail_memory(&err, "solving an instance");
        else
            status = j->put(j->context, s->n, s->xy, s->tour, &err);
        solved_free(s);
        pthread_mutex_lock(&j->mutex);
        j->writing = false;
        j->written++;
        if (status) {
            j->status = status;
            j->err = err;
        }
        pthread_cond_broadcast(&j->moved);
    }
}

static void one_instance(void *arg, int task, int thread) {
    (void)thread;
    job *j = arg;
    size_t index = (size_t)task;
    pthread_mutex_lock(&j->mutex);
    while (!j->status && index >= j->written + j->slots) pthread_cond_wait(&j->moved, &j->mutex);
    bool goes_on = !j->status;
    pthread_mutex_unlock(&j->mutex);
    if (!goes_on) return;
    solved *s = &j->ring[index % j->slots];
    solve(j, index, s);
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
             .slots = (size_t)pool_threads(threads) * AHEAD,
             .put = put,
             .context = context,
             .mutex = PTHREAD_MUTEX_INITIALIZER,
             .moved = PTHREAD_COND_INITIALIZER};
    j.ring = array_new(j.slots, sizeof *j.ring);
    if (!j.ring) return fail_memory(err, "the instances");
    pool_run(threads, (int)count, one_instance, &j);
    for (size_t i = 0; i < j.slots; i++) solved_free(&j.ring[i]);
    free(j.ring);
    pthread_cond_destroy(&j.moved);
    pthread_mutex_destroy(&j.mutex);
    if (j.status && err) *err = j.err;
    return j.status;
}

onet_status tsp_append(void *sets, int n, const float *xy, const int32_t *tour, onet_error *err) {
    return onet_sets_append(sets, n, 2, xy, tour, err);
}
