/* Runs the queue of /v1/tour requests: a few worker threads, each with a network of its own; one of them
 * solves quick requests only, so that long searches cannot delay them. */
#include "tasks/tours/solver.h"

#include <stdlib.h>

#include "engine/base/error.h"
#include "tasks/tours/load.h"

enum { THREADS = 3 };

typedef struct worker {
    struct solver *s;
    pthread_t thread;
    bool quick; /* takes quick jobs alone, so that long searches cannot delay them */
} worker;

struct solver {
    const char *kernels;
    worker worker[THREADS];
    int threads;
    pthread_mutex_t lock;
    pthread_cond_t news;
    tour_job *first, **last;
    size_t queued;
    bool stop;
    atomic_bool hurry;
};

/* A net that is kept while jobs ask for the same one. */
typedef struct kept_net {
    model_version *version;
    onet_decode decode;
    int beam;
    onet_tsp_net *net; /* NULL: there is none */
} kept_net;

void tour_job_free(tour_job *job) {
    tsp_cities_free(&job->cities);
    free(job->tour);
    free(job->proof);
    model_release(job->version);
}

static void drop(kept_net *k) {
    if (!k->net) return;
    onet_tsp_net_free(k->net);
    model_release(k->version);
    k->net = NULL;
}

static onet_status find_net(kept_net *k, const solver *s, tour_job *job) {
    if (k->net && k->version == job->version && k->decode == job->decode && k->beam == job->beam)
        return ONET_OK;
    drop(k);
    onet_order_options o = {.size = sizeof o,
                            .decode = job->decode,
                            .beam = job->beam,
                            .threads = 1,
                            .kernels = s->kernels,
                            .device = "cpu"};
    onet_status status = onet_tsp_net_new(&k->net, job->version->model, &o, &job->err);
    if (status) {
        k->net = NULL;
        return status;
    }
    atomic_fetch_add(&job->version->users, 1);
    *k = (kept_net){job->version, job->decode, job->beam, k->net};
    return ONET_OK;
}

static int hurried(void *context) {
    return atomic_load((atomic_bool *)context);
}

static onet_status solve(solver *s, kept_net *k, tour_job *job) {
    onet_tsp_options options = job->options;
    options.stop = hurried;
    options.context = &s->hurry;
    onet_status status = job->method == ONET_TSP_ORDERNET ? find_net(k, s, job) : ONET_OK;
    options.net = k->net;
    const tsp_cities *c = &job->cities;
    for (size_t i = 0; i < c->count && !status; i++) {
        size_t from = c->start[i];
        onet_tsp t = {0};
        status = onet_tsp_points(&t, tsp_cities_size(c, i), c->xy + 2 * from, &job->err);
        if (!status)
            status = onet_tsp_solve(&t, job->method, &options, job->tour + from, &job->proof[i], &job->err);
        if (status) error_prefix(&job->err, "set %zu", i + 1);
        onet_tsp_free(&t);
    }
    return status;
}

/* Takes the first job of the queue, or the first quick one; NULL: there is none. Needs the lock. */
static tour_job *dequeue(solver *s, bool quick) {
    tour_job **link = &s->first;
    while (*link && quick && !(*link)->quick) link = &(*link)->next;
    tour_job *job = *link;
    if (!job) return NULL;
    *link = job->next;
    if (s->last == &job->next) s->last = link;
    s->queued--;
    return job;
}

static void *work(void *context) {
    const worker *w = context;
    solver *s = w->s;
    kept_net k = {0};
    for (;;) {
        pthread_mutex_lock(&s->lock);
        tour_job *job;
        while (!(job = dequeue(s, w->quick)) && !s->stop) pthread_cond_wait(&s->news, &s->lock);
        pthread_mutex_unlock(&s->lock);
        if (!job) break;
        job->status = solve(s, &k, job);
        job->done(job);
    }
    drop(&k);
    return NULL;
}

onet_status solver_new(solver **result, const char *kernels, onet_error *err) {
    *result = NULL;
    solver *s = calloc(1, sizeof *s);
    if (!s) return fail_memory(err, "a queue");
    s->kernels = kernels;
    s->last = &s->first;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->news, NULL);
    for (; s->threads < THREADS; s->threads++) {
        worker *w = &s->worker[s->threads];
        *w = (worker){.s = s, .quick = !s->threads};
        if (pthread_create(&w->thread, NULL, work, w)) break;
    }
    if (s->threads == THREADS) {
        *result = s;
        return ONET_OK;
    }
    solver_free(s);
    return fail(err, ONET_FAILED, "cannot start a thread; are there too many?");
}

void solver_free(solver *s) {
    if (!s) return;
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_cond_broadcast(&s->news);
    pthread_mutex_unlock(&s->lock);
    for (int i = 0; i < s->threads; i++) pthread_join(s->worker[i].thread, NULL);
    pthread_cond_destroy(&s->news);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

void solver_add(solver *s, tour_job *job) {
    job->next = NULL;
    pthread_mutex_lock(&s->lock);
    *s->last = job;
    s->last = &job->next;
    s->queued++;
    pthread_cond_broadcast(&s->news); /* one that takes quick jobs alone may leave it */
    pthread_mutex_unlock(&s->lock);
}

size_t solver_queued(solver *s) {
    pthread_mutex_lock(&s->lock);
    size_t queued = s->queued;
    pthread_mutex_unlock(&s->lock);
    return queued;
}

void solver_hurry(solver *s) {
    atomic_store(&s->hurry, true);
}
