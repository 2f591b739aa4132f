/* Measures the batch norms' statistics of a trained model over batches of the training sets, for use when it
 * orders sets. */
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/train/run.h"
#include "engine/train/sizes.h"

enum {
    /* The statistics are collected from about MEASURED sets, and at least MEASURED_BATCHES batches. */
    MEASURED = 65536,
    MEASURED_BATCHES = 64
};

/* Adds to `found` the norms' statistics of a batch with the model's parameters. It runs to its end even after
 * a failure: the other ranks wait for this one in the all-reduce. */
static onet_status statistics_of_batch(run *r, const batch *b, float *theta, sizes *found, onet_error *err) {
    const net_shape *sh = &r->model->sh;
    size_t count = sh->total - sh->trained;
    memset(theta + sh->trained, 0, count * sizeof *theta);
    onet_status status = r->net->ops->put(r->net, NET_THETA, theta, err);
    r->net->dropout = 0; /* the statistics are for ordering */
    run_start_step(r, b);
    r->net->ops->forward(r->net);
    onet_status got = r->net->ops->get(r->net, NET_THETA, theta, err);
    if (status || got) return status ? status : got;
    for (size_t i = 0; i < count; i++) theta[sh->trained + i] /= (float)NORM_MOMENTUM;
    return sizes_add(found, r->net->whole, theta + sh->trained) ? ONET_OK
                                                                : fail_memory(err, "the norms' statistics");
}

/* Chooses the batches to measure: size [batches]: the set size of each batch, 0: skip it. Takes the first
 * batches (about MEASURED sets, at least MEASURED_BATCHES batches). With one size per batch, takes further
 * batches until every size that has SIZE_SETS sets in the plan is measured on that many, up to MEASURED
 * further sets. False when memory is short. */
static bool choose_batches(const run *r, int *size) {
    const batches *plan = r->sets.plan;
    uint64_t first = (MEASURED + (uint64_t)plan->largest - 1) / (uint64_t)plan->largest, more = 0;
    if (first < MEASURED_BATCHES) first = MEASURED_BATCHES;
    int largest = 1;
    for (uint64_t b = 0; b < plan->count; b++) {
        size[b] = batches_size(plan, &plan->batch[b], r->sets.now).largest;
        if (size[b] > largest) largest = size[b];
    }
    uint64_t *there = array_new((size_t)largest + 1, sizeof *there); /* sets of each size */
    uint64_t *taken = array_new((size_t)largest + 1, sizeof *taken);
    if (there && taken) {
        for (uint64_t b = 0; b < plan->count; b++) {
            uint64_t sets = (uint64_t)batches_size(plan, &plan->batch[b], r->sets.now).sets;
            there[size[b]] += sets;
            if (b < first) taken[size[b]] += sets;
        }
        for (uint64_t b = first; b < plan->count; b++) {
            uint64_t sets = (uint64_t)batches_size(plan, &plan->batch[b], r->sets.now).sets;
            int n = size[b];
            size[b] = 0;
            if (r->o.batches != ONET_BATCHES_ONE_SIZE || there[n] < SIZE_SETS || taken[n] >= SIZE_SETS ||
                more >= MEASURED)
                continue;
            size[b] = n;
            taken[n] += sets;
            more += sets;
        }
    }
    bool made = there && taken;
    free(there);
    free(taken);
    return made;
}

onet_status statistics_collect(run *r, onet_error *err) {
    const backend *ops = r->net->ops;
    const net_shape *sh = &r->model->sh;
    const uint64_t epoch = UINT32_MAX; /* none that is trained on */
    onet_status status = run_plan_epoch(r, epoch, true, err);
    if (status) return status;
    float *theta = array_new(sh->total, sizeof *theta);
    int *size = array_new(r->sets.plan->count, sizeof *size);
    sizes found;
    status = sizes_new(&found, sh) && theta && size && choose_batches(r, size)
                 ? ONET_OK
                 : fail_memory(err, "the norms' statistics");
    if (!status) memcpy(theta, r->model->theta, sh->total * sizeof *theta);
    if (!status && r->s.vec) status = ops->put(r->net, NET_VECTORS, r->model->words->vectors, err);
    status = world_agree(r->w, status, err);
    for (int n = 0, next = status ? 0 : 1; next; n = next) { /* size by size, as sizes_add wants them */
        next = 0;
        for (uint64_t b = 0; b < r->sets.plan->count; b++) {
            if (size[b] > n && (!next || size[b] < next)) next = size[b];
            if (size[b] != n || !n) continue;
            onet_status here = statistics_of_batch(r, &r->sets.plan->batch[b], theta, &found, err);
            if (!status) status = here;
        }
    }
    if (!status && !sizes_fit(&found, r->model)) status = fail_memory(err, "the norms' statistics");
    if (!status) status = ops->put(r->net, NET_THETA, r->s.theta, err);
    if (!status && r->s.vec) status = ops->put(r->net, NET_VECTORS, r->s.vec, err);
    sizes_free(&found);
    free(theta);
    free(size);
    return world_agree(r->w, status, err);
}
