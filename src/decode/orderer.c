/* Ordering through the public API: many sets in parallel, one thread a set; sets too large for that one after
 * the other, the encoder spread over the threads; or all of them on a GPU. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/choice.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/sized.h"
#include "data/sets.h"
#include "decode/orderer.h"
#include "decode/search.h"
#include "kernels/operations.h"
#include "words/words.h"

enum { LARGE = 400 }; /* items from which on a set gets all threads */

struct worker {
    encoded e;
    search s;
    const float **items; /* [room] */
    size_t room;
};

onet_status orderer_new(onet_orderer **orderer, const onet_model *model, const onet_order_options *options,
                        int process, onet_error *err) {
    onet_order_options o = options ? *options : (onet_order_options){0};
    *orderer = NULL;
    if (o.beam < 0 || o.top < 0) return fail(err, ONET_USAGE, "beam and top must not be negative");
    if (o.beam > 1000000 || o.top > 1000000) return fail(err, ONET_USAGE, "beam and top are at most 1000000");
    if (!choice_of(onet_decodes(), o.decode))
        return fail(err, ONET_USAGE, "decode is none of ONET_BEAM, ONET_GREEDY and ONET_SAMPLE");
    const kernels *k = kernels_pick(o.kernels);
    if (!k) return fail(err, ONET_USAGE, "kernels `%s` are unknown or not for this processor", o.kernels);
    device_choice device;
    onet_status status = device_choose(o.device, process, o.kernels, CUDA_ORDER, &device, err);
    if (status) return status;
    onet_orderer *r = calloc(1, sizeof *r);
    if (!r) return fail_memory(err, "ordering");
    r->options = o;
    r->top = o.top ? o.top : 1;
    r->beams = o.decode == ONET_BEAM ? (o.beam ? o.beam : 5) : 1;
    if (o.decode == ONET_BEAM && r->beams < r->top) r->beams = r->top;
    if (!freezer_new(&r->z, model, k) || !(r->pool = pool_new(o.threads)) ||
        !(r->worker = calloc((size_t)pool_threads(r->pool), sizeof *r->worker))) {
        onet_orderer_free(r);
        return fail_memory(err, "ordering");
    }
    r->device = device;
    if (device.kind == DEVICE_GPU && (status = gpu_open(&r->gpu, &r->z, device.number, err))) {
        onet_orderer_free(r);
        return status;
    }
    *orderer = r;
    return ONET_OK;
}

onet_status onet_orderer_new(onet_orderer **orderer, const onet_model *model,
                             const onet_order_options *options, onet_error *err) {
    onet_order_options own = {.size = sizeof own};
    *orderer = NULL;
    onet_status status = sized_take(&own, sizeof own, options, "onet_order_options", err);
    return status ? status : orderer_new(orderer, model, &own, 0, err);
}

void onet_order_defaults(onet_order_options *options, size_t size) {
    onet_order_options own = {.size = sizeof own};
    sized_give(options, size, &own, sizeof own);
}

void onet_orderer_free(onet_orderer *r) {
    if (!r) return;
    if (r->w) orderer_dismiss(r);
    if (r->worker)
        for (int t = 0; t < pool_threads(r->pool); t++) {
            encoded_free(&r->worker[t].e);
            search_free(&r->worker[t].s);
            free(r->worker[t].items);
        }
    free(r->worker);
    if (r->gpu) r->gpu->close(r->gpu);
    pool_free(r->pool);
    freezer_free(&r->z);
    free(r);
}

typedef struct job {
    onet_orderer *r;
    const onet_sets *sets;
    onet_answer *answers; /* or NULL: score the sets' own order */
    double *logprob;
    size_t first; /* set that task 0 stands for */
} job;

static void one_set(job *j, size_t set, worker *w, pool *threads) {
    size_t first = j->sets->start[set];
    int n = (int)sets_size(j->sets, set);
    const frozen *f = freezer_find(&j->r->z, n);
    for (int i = 0; i < n; i++) w->items[i] = item_seen(f->model, j->sets, first + (size_t)i);
    encode(&w->e, f, w->items, n, threads);
    if (!j->answers) {
        search_run(&w->s, f, &w->e, n, 1, NULL, j->sets->order + first);
        j->logprob[set] = w->s.now[0].logprob;
        return;
    }
    onet_answer *a = &j->answers[set];
    int draws = j->r->options.decode == ONET_SAMPLE, rounds = draws ? j->r->top : 1;
    rng r;
    if (draws) rng_seed(&r, j->r->options.seed, j->r->served + set);
    a->found = 0;
    for (int round = 0; round < rounds; round++) {
        int found = search_run(&w->s, f, &w->e, n, search_orders(n, j->r->beams), draws ? &r : NULL, NULL);
        for (int b = 0; b < found && a->found < j->r->top; b++, a->found++) {
            const beam *from = &w->s.now[b];
            memcpy(a->order + (size_t)a->found * n, from->order, (size_t)n * sizeof *a->order);
            if (a->logprob) a->logprob[a->found] = from->logprob;
            if (a->step) memcpy(a->step + (size_t)a->found * n, from->step_p, (size_t)n * sizeof *a->step);
        }
    }
}

static void set_task(void *arg, int task, int thread) {
    job *j = arg;
    size_t set = j->first + (size_t)task;
    if (sets_size(j->sets, set) < LARGE) one_set(j, set, &j->r->worker[thread], NULL);
}

/* Makes the net ready for the sets from `first` on, as many as there is room for; *last is the set after
 * them. All memory is taken here, before the first set, so that no task can fail. */
static onet_status reserve(onet_orderer *r, const onet_sets *sets, size_t first, size_t *last, int beams,
                           onet_error *err) {
    int n[2] = {0, 0};
    size_t s = first;
    for (; s < sets->count; s++) {
        int size = (int)sets_size(sets, s), large = size >= LARGE;
        if (!freezer_find(&r->z, size)) {
            if (s > first && r->z.count == FROZEN_SIZES) break;
            if (!freezer_get(&r->z, size)) return fail_memory(err, "the net's weights");
        }
        if (size > n[large]) n[large] = size;
    }
    *last = s;
    for (int t = 0; t < pool_threads(r->pool); t++) {
        worker *w = &r->worker[t];
        int need = t == 0 && n[1] ? n[1] : n[0];
        if (!need) continue;
        const frozen *f = freezer_find(&r->z, need);
        if (!encoded_reserve(&w->e, f, need) || !search_reserve(&w->s, f, search_orders(need, beams), need) ||
            !array_reserve(&w->items, &w->room, (size_t)need, sizeof *w->items))
            return fail(err, ONET_MEMORY,
                        "not enough memory to order a set of %d items with %d beams: try a narrower beam",
                        need, beams);
    }
    return ONET_OK;
}

/* Is the GPU to do it? When the choice is free: when the work is worth the way there, which is long the first
 * time, since the driver has to be started. Orders drawn at random always come from the processor. */
static bool on_gpu(onet_orderer *r, const onet_sets *sets, int beams, bool score) {
    if (r->device.kind == DEVICE_CPU || (r->options.decode == ONET_SAMPLE && !score)) return false;
    if (r->device.kind == DEVICE_GPU) return true;
    double work = 0, each = 0, enough = r->gpu ? 1e9 : 1e11;
    int n = 0;
    for (size_t s = 0; s < sets->count && work < enough; s++) {
        int size = (int)sets_size(sets, s);
        if (size != n) each = operations_order(&r->z.model->sh, n = size, beams);
        work += each;
    }
    if (work < enough) return false;
    if (!r->gpu && gpu_open(&r->gpu, &r->z, r->device.number, NULL)) r->device.kind = DEVICE_CPU;
    return r->gpu != NULL;
}

onet_status orderer_run_here(onet_orderer *r, const onet_sets *sets, onet_answer *answers, double *logprob,
                             onet_error *err) {
    int beams = answers ? r->beams : 1;
    onet_status status;
    if (on_gpu(r, sets, beams, !answers)) {
        gpu_work work = {&r->z, sets, answers, logprob, beams, r->top, r->pool};
        status = gpu_run(r->gpu, &work, err);
        if (!status) r->served += sets->count;
        if (status != ONET_MEMORY || r->device.kind == DEVICE_GPU) return status;
    }
    job j = {r, sets, answers, logprob, 0};
    for (size_t last = 0; j.first < sets->count; j.first = last) {
        if ((status = reserve(r, sets, j.first, &last, beams, err))) return status;
        pool_run(r->pool, (int)(last - j.first), set_task, &j);
        for (size_t s = j.first; s < last; s++)
            if (sets_size(sets, s) >= LARGE) one_set(&j, s, &r->worker[0], r->pool);
    }
    r->served += sets->count;
    return ONET_OK;
}

/* Features far beyond those of the training overflow in the net: what it then says means nothing. */
static onet_status check_numbers(const onet_sets *sets, const onet_answer *answers, const double *logprob,
                                 onet_error *err) {
    for (size_t s = 0; s < sets->count; s++) {
        const double *p = answers ? answers[s].logprob : logprob + s;
        for (int k = 0; p && k < (answers ? answers[s].found : 1); k++)
            if (isnan(p[k]))
                return fail(
                    err, ONET_BAD,
                    "set %zu: its features are too large for the net; bring them to the scale of those "
                    "that the model was trained on",
                    s + 1);
    }
    return ONET_OK;
}

static onet_status run(onet_orderer *r, const onet_sets *sets, onet_answer *answers, double *logprob,
                       onet_error *err) {
    int width = r->z.model->sh.s.width;
    if (sets->width != width)
        return fail(err, ONET_BAD, "the sets have items of width %d, but the model was trained on width %d",
                    sets->width, width);
    const onet_words *words = r->z.model->words;
    if (words && sets->word && !words_same(words, sets->words))
        return fail(err, ONET_BAD,
                    "the sets have another vocabulary than the model: prepare them with that of its training "
                    "data, or give them as text");
    if (sets->count > INT32_MAX) return fail(err, ONET_USAGE, "more than 2147483647 sets in one call");
    for (size_t s = 0; s < sets->count; s++) {
        size_t size = sets_size(sets, s);
        if (size < 1) return fail(err, ONET_BAD, "set %zu has no items", s + 1);
        if (size > 1 << 24)
            return fail(err, ONET_BAD, "set %zu has %zu items: at most 16777216 can be ordered", s + 1, size);
    }
    onet_status status = (r->w ? orderer_run_shared : orderer_run_here)(r, sets, answers, logprob, err);
    return status ? status : check_numbers(sets, answers, logprob, err);
}

onet_status onet_orderer_run(onet_orderer *r, const onet_sets *sets, onet_answer *answers, onet_error *err) {
    return run(r, sets, answers, NULL, err);
}

onet_status onet_orderer_score(onet_orderer *r, const onet_sets *sets, double *logprob, onet_error *err) {
    if (!sets->order) return fail(err, ONET_BAD, "the sets have no order to score");
    return run(r, sets, NULL, logprob, err);
}

onet_status onet_order(const onet_model *model, const float *items, int n, int32_t *order, double *logprob,
                       onet_error *err) {
    onet_orderer *r = NULL;
    onet_sets *sets = NULL;
    double p;
    onet_status status = orderer_new(&r, model, &(onet_order_options){.threads = 1}, 0, err);
    if (!status) status = onet_sets_from(&sets, 1, n, model->sh.s.width, items, NULL, err);
    if (!status)
        status =
            onet_orderer_run(r, sets, &(onet_answer){.order = order, .logprob = logprob ? logprob : &p}, err);
    onet_sets_free(sets);
    onet_orderer_free(r);
    return status;
}
