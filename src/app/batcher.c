/* Request batching for the server: per model two queues, each with a worker thread, one for small and one for
 * large requests. A worker joins the sets of waiting requests with the same search options into one batch,
 * runs it, and hands each request its answers; if the batch fails, it runs the requests one by one. The last
 * few onet_orderers are cached (least recently used is replaced). */
#include "app/batcher.h"

#include <stdlib.h>

#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "ordernet_io.h"

enum {
    BATCH_CELLS = 2 * SMALL_CELLS,
    ORDERERS = 4 /* cached per queue: each has threads, weights and memory of its own */
};

/* An orderer that is kept for the next batch. */
typedef struct kept_orderer {
    model_version *version;
    search_options search;
    onet_orderer *orderer; /* NULL: the place is free */
    unsigned long long used;
} kept_orderer;

/* A queue and its thread. */
typedef struct lane {
    model_slot *slot;
    batcher_options options;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t news;
    order_job *first, **last; /* the queue */
    batcher_counts counts;
    size_t expected;    /* requests of the last batch */
    bool stop, refresh; /* refresh: drop the orderers of replaced models */
    /* Used by the thread alone: */
    kept_orderer kept[ORDERERS];
    unsigned long long clock;
    answer_room room;
    const onet_sets **parts; /* of a batch, for onet_sets_join */
    size_t parts_room;
} lane;

struct batcher {
    lane *small, *large;
};

void order_job_free(order_job *job) {
    onet_sets_free(job->sets);
    answer_room_free(&job->room);
    model_release(job->version);
}

/* Returns the cells of a request, n^2 per set times beam width: an estimate of the work. */
static double cells_of(const order_job *job) {
    const search_options *s = &job->search;
    int beam = s->beam ? s->beam : 5, orders = s->top ? s->top : 1;
    double squares = 0, width = s->decode == ONET_GREEDY ? 1 : s->decode == ONET_SAMPLE ? orders : beam;
    for (size_t k = 0; k < job->sets->count; k++) {
        double n = (double)(job->sets->start[k + 1] - job->sets->start[k]);
        squares += n * n;
    }
    return squares * width;
}

/* Returns the number of relation values of the sets, which a batch copies. */
static double relations_of(const onet_sets *sets) {
    double numbers = 0;
    for (size_t k = 0; sets->pairs && k < sets->count; k++) {
        double n = (double)onet_sets_size(sets, k);
        numbers += n * n * sets->pairs->width;
    }
    return numbers;
}

/* ---- Orderers ---------------------------------------------------------------------------------------- */

static bool same_search(const search_options *a, const search_options *b) {
    return a->decode == b->decode && a->beam == b->beam && a->top == b->top && a->seed == b->seed;
}

static bool together(const order_job *a, const order_job *b) {
    return a->version == b->version && a->search.decode != ONET_SAMPLE && same_search(&a->search, &b->search);
}

static void drop(kept_orderer *k) {
    if (!k->orderer) return;
    onet_orderer_free(k->orderer);
    model_release(k->version);
    k->orderer = NULL;
}

static void drop_replaced(lane *b) {
    model_version *now = model_acquire(b->slot);
    for (int i = 0; i < ORDERERS; i++)
        if (b->kept[i].version != now) drop(&b->kept[i]);
    model_release(now);
}

static onet_status find_orderer(lane *b, const order_job *job, onet_orderer **orderer, onet_error *err) {
    kept_orderer *place = &b->kept[0];
    for (int i = 0; i < ORDERERS; i++) {
        kept_orderer *k = &b->kept[i];
        if (k->orderer && k->version == job->version && same_search(&k->search, &job->search)) {
            place = k;
            break;
        }
        if (place->orderer && (!k->orderer || k->used < place->used)) place = k;
    }
    bool found =
        place->orderer && place->version == job->version && same_search(&place->search, &job->search);
    /* The random numbers of an orderer go on from call to call: each sampled request gets a new one. */
    if (!found || job->search.decode == ONET_SAMPLE) {
        drop(place);
        onet_order_options o = {.size = sizeof o,
                                .decode = job->search.decode,
                                .beam = job->search.beam,
                                .top = job->search.top,
                                .seed = job->search.seed,
                                .threads = b->options.threads,
                                .kernels = b->options.kernels,
                                .device = b->options.device};
        onet_status status = onet_orderer_new(&place->orderer, job->version->model, &o, err);
        if (status) {
            place->orderer = NULL;
            return status;
        }
        atomic_fetch_add(&job->version->users, 1);
        place->version = job->version;
        place->search = job->search;
    }
    place->used = ++b->clock;
    *orderer = place->orderer;
    return ONET_OK;
}

/* ---- Several requests as one ------------------------------------------------------------------------- */

/* Points the answers of the joined batch at the arrays of each job. */
static void borrow_answers(onet_answer *answers, order_job *const *jobs, size_t count) {
    for (size_t j = 0, set = 0; j < count; j++)
        for (size_t k = 0; k < jobs[j]->sets->count; k++) answers[set++] = jobs[j]->room.answers[k];
}

static void return_answers(const onet_answer *answers, order_job *const *jobs, size_t count) {
    for (size_t j = 0, set = 0; j < count; j++)
        for (size_t k = 0; k < jobs[j]->sets->count; k++) jobs[j]->room.answers[k] = answers[set++];
}

/* ---- A batch ----------------------------------------------------------------------------------------- */

static onet_status run_alone(onet_orderer *orderer, order_job *job) {
    onet_status status = onet_orderer_run(orderer, job->sets, job->room.answers, &job->err);
    size_t good = answers_sound(job->room.answers, job->sets->count);
    if (status == ONET_BAD && good < job->sets->count)
        fail(&job->err, status, "request:%zu: " TOO_LARGE, good + 1);
    return status;
}

/* If a request makes the batch fail, the requests run one by one, so that only that one fails. */
static void run_batch(lane *b, order_job **jobs, size_t count) {
    onet_orderer *orderer;
    onet_error err;
    onet_status status = ONET_OK;
    for (size_t j = 0; j < count && !status; j++)
        status =
            answer_room_make(&jobs[j]->room, jobs[j]->sets, jobs[j]->search.top, jobs[j]->search.steps, &err);
    if (!status) status = find_orderer(b, jobs[0], &orderer, &err);
    if (status) {
        for (size_t j = 0; j < count; j++) {
            jobs[j]->status = status;
            jobs[j]->err = err;
        }
        return;
    }
    if (count > 1) {
        onet_sets *joined = NULL;
        if (!array_reserve(&b->parts, &b->parts_room, count, sizeof *b->parts)) status = ONET_MEMORY;
        for (size_t j = 0; j < count && !status; j++) b->parts[j] = jobs[j]->sets;
        if (!status) status = onet_sets_join(&joined, b->parts, count, &err);
        if (!status &&
            !array_reserve(&b->room.answers, &b->room.room, joined->count, sizeof *b->room.answers))
            status = ONET_MEMORY;
        if (!status) {
            borrow_answers(b->room.answers, jobs, count);
            status = onet_orderer_run(orderer, joined, b->room.answers, &err);
            return_answers(b->room.answers, jobs, count);
        }
        onet_sets_free(joined);
        if (!status) {
            for (size_t j = 0; j < count; j++) jobs[j]->status = ONET_OK;
            return;
        }
    }
    for (size_t j = 0; j < count; j++) jobs[j]->status = run_alone(orderer, jobs[j]);
}

/* Returns the number of queued requests that can share a batch with the first. */
static size_t waiting(const lane *b) {
    size_t count = 1;
    for (const order_job *job = b->first->next; job; job = job->next) count += together(b->first, job);
    return count;
}

/* Waits until as many requests as the last batch had are queued, at most options.wait from the arrival of the
 * first. Needs the lock. */
static void await_others(lane *b) {
    double until = b->first->arrived + b->options.wait;
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    double left = until - clock_seconds();
    if (left <= 0) return;
    long nanoseconds = at.tv_nsec + (long)((left - (double)(long)left) * 1e9);
    at.tv_sec += (time_t)left + nanoseconds / 1000000000L;
    at.tv_nsec = nanoseconds % 1000000000L;
    while (!b->stop && waiting(b) < b->expected)
        if (pthread_cond_timedwait(&b->news, &b->lock, &at)) break;
}

/* Moves the first request of the queue, and all that fit into its batch, to `jobs` in order of arrival;
 * returns their number. Needs the lock. */
static size_t take_batch(lane *b, order_job **jobs) {
    size_t count = 0, sets = 0, items = 0;
    double cells = 0, relations = 0;
    for (order_job **link = &b->first; *link && count < BATCH_SETS;) {
        order_job *job = *link;
        size_t more = job->sets->start[job->sets->count];
        double numbers = relations_of(job->sets);
        bool fits = !count || (together(jobs[0], job) && sets + job->sets->count <= BATCH_SETS &&
                               items + more <= BATCH_ITEMS && cells + job->cells <= BATCH_CELLS &&
                               relations + numbers <= BATCH_RELATIONS);
        if (!fits) {
            link = &job->next;
            continue;
        }
        *link = job->next;
        jobs[count++] = job;
        sets += job->sets->count;
        items += more;
        cells += job->cells;
        relations += numbers;
    }
    b->last = &b->first;
    while (*b->last) b->last = &(*b->last)->next;
    b->counts.queued -= count;
    b->counts.batches++;
    b->counts.requests += count;
    b->counts.sets += sets;
    b->expected = count;
    return count;
}

static void *work(void *context) {
    lane *b = context;
    order_job *jobs[BATCH_SETS];
    for (;;) {
        pthread_mutex_lock(&b->lock);
        while (!b->first && !b->stop && !b->refresh) pthread_cond_wait(&b->news, &b->lock);
        bool refresh = b->refresh;
        b->refresh = false;
        size_t count = 0;
        if (b->first) {
            await_others(b);
            count = take_batch(b, jobs);
        }
        bool end = b->stop && !count;
        pthread_mutex_unlock(&b->lock);
        if (refresh) drop_replaced(b);
        if (end) return NULL;
        if (!count) continue;
        run_batch(b, jobs, count);
        for (size_t j = 0; j < count; j++) jobs[j]->done(jobs[j]);
    }
}

/* ---- From outside ------------------------------------------------------------------------------------ */

static onet_status lane_new(lane **result, model_slot *slot, const batcher_options *options,
                            onet_error *err) {
    *result = NULL;
    lane *b = calloc(1, sizeof *b);
    if (!b) return fail_memory(err, "a queue");
    b->slot = slot;
    b->options = *options;
    b->last = &b->first;
    b->expected = 1;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->news, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (pthread_create(&b->thread, NULL, work, b)) {
        free(b);
        return fail(err, ONET_FAILED, "cannot start a thread; are there too many?");
    }
    *result = b;
    return ONET_OK;
}

static void lane_free(lane *b) {
    if (!b) return;
    pthread_mutex_lock(&b->lock);
    b->stop = true;
    pthread_cond_signal(&b->news);
    pthread_mutex_unlock(&b->lock);
    pthread_join(b->thread, NULL);
    for (int i = 0; i < ORDERERS; i++) drop(&b->kept[i]);
    answer_room_free(&b->room);
    free(b->parts);
    pthread_cond_destroy(&b->news);
    pthread_mutex_destroy(&b->lock);
    free(b);
}

static void lane_refresh(lane *b) {
    pthread_mutex_lock(&b->lock);
    b->refresh = true;
    pthread_cond_signal(&b->news);
    pthread_mutex_unlock(&b->lock);
}

static batcher_counts lane_count(lane *b) {
    pthread_mutex_lock(&b->lock);
    batcher_counts counts = b->counts;
    pthread_mutex_unlock(&b->lock);
    return counts;
}

onet_status batcher_new(batcher **result, model_slot *slot, const batcher_options *options, onet_error *err) {
    *result = NULL;
    batcher *b = calloc(1, sizeof *b);
    if (!b) return fail_memory(err, "a queue");
    onet_status status = lane_new(&b->small, slot, options, err);
    if (!status) status = lane_new(&b->large, slot, options, err);
    if (status)
        batcher_free(b);
    else
        *result = b;
    return status;
}

void batcher_free(batcher *b) {
    if (!b) return;
    lane_free(b->small);
    lane_free(b->large);
    free(b);
}

void batcher_add(batcher *b, order_job *job) {
    job->arrived = clock_seconds();
    job->next = NULL;
    job->cells = cells_of(job);
    lane *to = job->cells <= SMALL_CELLS ? b->small : b->large;
    pthread_mutex_lock(&to->lock);
    *to->last = job;
    to->last = &job->next;
    to->counts.queued++;
    pthread_cond_signal(&to->news);
    pthread_mutex_unlock(&to->lock);
}

void batcher_refresh(batcher *b) {
    lane_refresh(b->small);
    lane_refresh(b->large);
}

batcher_counts batcher_count(batcher *b) {
    batcher_counts small = lane_count(b->small), large = lane_count(b->large);
    return (batcher_counts){small.queued + large.queued, small.batches + large.batches,
                            small.requests + large.requests, small.sets + large.sets};
}
