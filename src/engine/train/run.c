/* Helpers on the state of a training run (run.h), called by the other files of the run: plan an epoch, load a
 * batch, read back losses and parameters, copy the trained weights and results into the model. */
#include "engine/train/run.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/number.h"
#include "engine/train/validate.h"

double run_mean_loss(const run *r) {
    return r->s.loss_weight > 0 ? r->s.loss / r->s.loss_weight : (double)NAN;
}

onet_status run_fetch(run *r, onet_error *err) {
    const backend *ops = r->net->ops;
    onet_status status = ops->get(r->net, NET_THETA, r->s.theta, err);
    if (!status && r->s.average) status = ops->get(r->net, NET_AVERAGE, r->s.average, err);
    if (!status && r->s.vec) status = ops->get(r->net, NET_VECTORS, r->s.vec, err);
    if (!status && r->s.vec_average) status = ops->get(r->net, NET_VECTORS_AVERAGE, r->s.vec_average, err);
    return status;
}

onet_status run_read_losses(run *r, onet_error *err) {
    double loss[NET_LOSSES];
    int count = r->unread;
    r->net->ops->losses(r->net, count, loss);
    r->unread = 0;
    for (int i = 0; i < count; i++) {
        if (!isfinite(loss[i])) {
            onet_status status = run_fetch(r, err); /* reports the error of a device that failed */
            if (status) return status;
            char saved[64] = "there is no checkpoint yet";
            if (r->files.saved_step != UINT64_MAX)
                snprintf(saved, sizeof saved, "the last good checkpoint is of step %" PRIu64,
                         r->files.saved_step);
            return fail_field(err, ONET_FAILED, DIVERGED_FIELDS,
                              "the loss is no longer a number at step %" PRIu64 "; %s: " DIVERGED,
                              r->s.step - (uint64_t)(count - 1 - i), saved);
        }
        r->s.loss = 0.99 * r->s.loss + 0.01 * loss[i];
        r->s.loss_weight = 0.99 * r->s.loss_weight + 0.01;
    }
    return ONET_OK;
}

void run_start_step(run *r, const batch *b) {
    const uint32_t *index = r->sets.plan->index + b->first;
    int here = b->count;
    if (r->w) {
        here = shard_pick(r->w, r->sets.now, index, b->count, r->sets.index, r->sets.row);
        index = r->sets.index;
        r->net->whole = batches_size(r->sets.plan, b, r->sets.now);
        r->net->row = r->sets.row;
    }
    r->net->ops->start_step(r->net, index, here);
}

/* Reserves whole batches in each rank too: by chance one rank may own all sets of a batch. */
onet_status run_reserve(run *r, onet_error *err) {
    return r->net->ops->reserve(r->net, batches_most(r->sets.plan, r->sets.now), err);
}

onet_status run_plan_epoch(run *r, uint64_t epoch, bool whole, onet_error *err) {
    onet_status status = ONET_OK;
    r->when.planned = whole ? 0 : epoch + 1;
    if (r->sets.augment) {
        augment_sample(r->sets.augment, epoch, whole);
        r->sets.now = &r->sets.augment->sizes;
        if (augment_drops(&r->o)) {
            batches *plan;
            if (!(status = batches_new(&plan, r->sets.now, r->o.batch, r->o.batches, err))) {
                batches_free(r->sets.plan);
                r->sets.plan = plan;
            }
        }
        r->net->relative = r->sets.augment->relative;
        r->net->target = r->sets.augment->target;
        if (!status)
            status = r->net->ops->data(r->net, &r->sets.augment->sets, r->model->mean, r->model->scale,
                                       r->s.vec != NULL, err);
    }
    if (!status) {
        /* Whole sets, the same ones for all seeds, so that their models can be merged. */
        batches_shuffle(r->sets.plan, whole ? 0 : r->o.seed, epoch);
        status = run_reserve(r, err);
    }
    return world_agree(r->w, status, err);
}

onet_status run_fill_model(run *r, onet_error *err) {
    onet_model *model = r->model;
    if (r->filled == r->s.step + 1) return ONET_OK;
    onet_status status = world_agree(r->w, run_fetch(r, err), err);
    if (status) return status;
    memcpy(model->theta, r->s.average && r->s.step >= AVERAGE_EVERY ? r->s.average : r->s.theta,
           r->s.params * sizeof(float));
    if (r->s.vec)
        memcpy(model->words->vectors,
               r->s.vec_average && r->s.step >= AVERAGE_EVERY ? r->s.vec_average : r->s.vec,
               r->s.vectors * sizeof(float));
    if (r->o.half && (status = onet_model_set_half(model, 1, err))) return status;
    if (r->o.statistics == ONET_STATISTICS_MEASURED && (status = statistics_collect(r, err))) return status;
    r->filled = r->s.step + 1;
    return ONET_OK;
}

onet_status run_note_results(run *r, onet_error *err) {
    onet_model *model = r->model;
    char step[32], loss[32];
    snprintf(step, sizeof step, "%" PRIu64, r->s.step);
    number_print(loss, sizeof loss, "%.6f", run_mean_loss(r));
    onet_status status = model_set_entry(model, "steps", step, err);
    if (!status) status = model_set_entry(model, "loss", loss, err);
    if (status) return status;
    return validate_note(&(validation){r->s.valid_exact, r->s.valid_loglik}, model, err);
}

uint64_t run_epoch_of(const run *r, uint64_t step) {
    uint64_t low = 0, high = r->when.begun;
    while (low < high) {
        uint64_t middle = (low + high + 1) / 2;
        if (r->when.begin[middle] <= step)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}
