/* Measures the speed of training and ordering, on weights and sets that model/generated.c makes by formula,
 * and the peak speed of the CPU to compare it with. Also tells how many threads a thread option stands for on
 * this machine (0: one per CPU). */
#include <math.h>
#include <stdlib.h>

#include "engine/base/arguments.h"
#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/sized.h"
#include "engine/base/thread_pool.h"
#include "engine/kernels/backend.h"
#include "engine/kernels/operations.h"
#include "engine/kernels/peak.h"
#include "engine/model/generated.h"
#include "engine/model/model.h"
#include "ordernet_measure.h"

/* The best of several stretches: other programs share the machine. A training step is measured in short ones,
 * which often pass undisturbed. */
enum { STRETCHES = 5 };
#define STRETCH_SECONDS 0.05

void onet_speed_defaults(onet_speed_options *options, size_t size) {
    onet_speed_options own = {.size = sizeof own, .n = 20, .batch = 128, .beam = 5, .seconds = 2};
    own.settings.width = 2;
    onet_settings_preset(&own.settings, "tsp", NULL);
    sized_give(options, size, &own, sizeof own);
}

double onet_speed_peak(int threads, double seconds) {
    if (threads < 0 || threads > MAX_THREADS || !(seconds >= 0) || isinf(seconds)) return NAN;
    return peak_gflops(threads, seconds);
}

int onet_threads(int threads) {
    if (threads < 0 || threads > MAX_THREADS) return 0;
    thread_pool *p = thread_pool_new(threads);
    int count = p ? thread_pool_threads(p) : 1;
    thread_pool_free(p);
    return count;
}

/* Checks the options, and makes a model with the generator's weights. */
static onet_status start(onet_model **m, onet_speed_options *o, const onet_speed_options *given,
                         onet_error *err) {
    *m = NULL;
    onet_speed_defaults(o, sizeof *o);
    onet_status status = sized_take(o, sizeof *o, given, "onet_speed_options", err);
    if (!status &&
        (o->n < 1 || o->batch < 1 || o->beam < 1 || o->sets < 0 || !(o->seconds > 0) || isinf(o->seconds)))
        status = fail(err, ONET_USAGE,
                      "n, batch, beam and seconds of onet_speed_options must be positive, sets not negative");
    if (!status) status = check_threads(o->threads, "onet_speed_options.threads", err);
    if (!status) status = model_new(m, &o->settings, err);
    if (!status) generated_theta(&(*m)->sh, 1, (*m)->theta);
    return status;
}

/* Makes the first `count` sets of n items of the generator's batch 0. */
static onet_status generated_sets(onet_sets **sets, int width, int count, int n, onet_error *err) {
    size_t items = (size_t)count * (size_t)n, numbers;
    float *x = size_mul(items, (size_t)width, &numbers) ? array_new(numbers, sizeof *x) : NULL;
    int32_t *y = array_new(items, sizeof *y);
    onet_status status = x && y ? ONET_OK : fail_memory(err, "the sets");
    if (!status) {
        generated_batch(1, 0, count, n, width, x, y);
        status = onet_sets_from(sets, (size_t)count, n, width, x, y, err);
    }
    free(x);
    free(y);
    return status;
}

/* Returns the seconds per step, and sets *loss to that of the first. */
static double time_steps(net *t, const uint32_t *index, const onet_speed_options *o, double *loss) {
    double best = INFINITY, from = clock_seconds();
    long steps = 0;
    for (int stretch = 0; stretch < STRETCHES || clock_seconds() - from < o->seconds; stretch++) {
        double begin = clock_seconds(), end = begin;
        long here = 0;
        do {
            t->ops->start_step(t, index, o->batch);
            t->ops->forward(t);
            if (!steps++) *loss = t->ops->loss(t);
            t->ops->backward(t);
            t->ops->optimise(t, &(adam_step){1, 1e-5, 0.9, 0.999, 1e-8, 1, 1, 0}, 0, NULL);
            here++;
            if (t->losses_kept > 1 && here % 50 == 0) t->ops->loss(t); /* synchronises with the device */
            end = clock_seconds();
        } while (end - begin < STRETCH_SECONDS);
        t->ops->loss(t);
        double each = (clock_seconds() - begin) / (double)here;
        if (each < best) best = each;
    }
    return best;
}

onet_status onet_speed_train(onet_speed *speed, const onet_speed_options *options, onet_error *err) {
    NEED(speed, "speed");
    onet_speed_options o;
    onet_model *m;
    onet_sets *sets = NULL;
    net *t = NULL;
    *speed = (onet_speed){0};
    onet_status status = start(&m, &o, options, err);
    uint32_t *index = status ? NULL : array_new((size_t)o.batch, sizeof *index);
    if (!status && !index) status = fail_memory(err, "the batch");
    if (!status) status = generated_sets(&sets, o.settings.width, o.batch, o.n, err);
    if (!status) status = net_open(&t, &m->sh, o.device, 0, o.kernels, o.threads, err);
    if (!status) status = t->ops->reserve(t, batch_of_one_size(o.batch, o.n), err);
    if (!status) status = t->ops->data(t, sets, NULL, NULL, 0, err);
    if (!status) status = t->ops->put(t, NET_THETA, m->theta, err);
    if (!status) {
        for (int i = 0; i < o.batch; i++) index[i] = (uint32_t)i;
        double loss = 0, each = time_steps(t, index, &o, &loss);
        *speed = (onet_speed){.sets = o.batch,
                              .threads = onet_threads(o.threads),
                              .sets_per_second = o.batch / each,
                              .gflops = operations_train(&m->sh, o.n) * o.batch / each * 1e-9,
                              .loss = loss,
                              .kernels = net_kernels(t)};
    }
    if (t) t->ops->close(t);
    onet_sets_free(sets);
    onet_model_free(m);
    free(index);
    return status;
}

/* Sets *best to the seconds per call of the fastest call. */
static onet_status time_calls(double *best, onet_orderer *orderer, const onet_sets *sets,
                              onet_answer *answers, double seconds, onet_error *err) {
    double begin = clock_seconds();
    *best = INFINITY;
    for (int stretch = 0; stretch < STRETCHES || clock_seconds() - begin < seconds; stretch++) {
        double from = clock_seconds();
        onet_status status = onet_orderer_run(orderer, sets, answers, err);
        if (status) return status;
        if (clock_seconds() - from < *best) *best = clock_seconds() - from;
        if (clock_seconds() - begin > 2 * seconds && stretch) break;
    }
    return ONET_OK;
}

/* The number of orders asked for: with more than one, every beam is followed to the end, as operations_order
 * counts. */
enum { TOP = 2 };

onet_status onet_speed_order(onet_speed *speed, const onet_speed_options *options, onet_error *err) {
    NEED(speed, "speed");
    onet_speed_options o;
    onet_model *m;
    onet_sets *sets = NULL;
    onet_orderer *orderer = NULL;
    *speed = (onet_speed){0};
    onet_status status = start(&m, &o, options, err);
    if (status) return status;
    int threads = onet_threads(o.threads), count = o.sets;
    double operations = operations_order(&m->sh, o.n, o.beam);
    /* Enough sets for every thread to have several, few enough for a stretch to be short. */
    if (!count) count = (int)fmax(1, fmin(512, ceil(o.seconds / STRETCHES / (operations / 2e10)))) * threads;
    onet_answer *answers = array_new((size_t)count, sizeof *answers);
    int32_t *order = array_new((size_t)count * (size_t)o.n, TOP * sizeof *order);
    if (!answers || !order) status = fail_memory(err, "the answers");
    if (!status) status = generated_sets(&sets, o.settings.width, count, o.n, err);
    onet_order_options how = {.size = sizeof how,
                              .decode = o.beam == 1 ? ONET_GREEDY : ONET_BEAM,
                              .beam = o.beam,
                              .top = o.beam == 1 ? 1 : TOP,
                              .threads = o.threads,
                              .kernels = o.kernels,
                              .device = o.device};
    if (!status) status = onet_orderer_new(&orderer, m, &how, err);
    for (int i = 0; i < count && !status; i++) answers[i].order = order + (size_t)i * (size_t)o.n * TOP;
    double each;
    if (!status) status = time_calls(&each, orderer, sets, answers, o.seconds, err);
    if (!status)
        *speed = (onet_speed){.sets = count,
                              .threads = threads,
                              .sets_per_second = count / each,
                              .gflops = operations * count / each * 1e-9,
                              .loss = NAN,
                              .kernels = onet_orderer_kernels(orderer)};
    onet_orderer_free(orderer);
    onet_sets_free(sets);
    onet_model_free(m);
    free(answers);
    free(order);
    return status;
}
