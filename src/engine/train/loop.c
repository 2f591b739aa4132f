/* Runs the training loop: steps with their learning rate, the moving average of the weights, and between two
 * steps what is due of log, validation, progress and checkpoint. Keeps the model with the best validation,
 * and decides when the training ends. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/kernels/dropout.h"
#include "engine/train/run.h"
#include "engine/train/validate.h"

enum { LOG_ROWS = 1000 /* rows of the log, about, beside those of the epochs' ends */ };

static double rate_at(const run *r, uint64_t step) {
    double done = (double)step / (double)r->when.steps, warm = r->o.warmup, rate = r->o.learning_rate;
    if (done < warm) return rate * ((double)step + 1) / (warm * (double)r->when.steps + 1);
    if (r->o.schedule == ONET_CONSTANT) return rate;
    return rate * 0.5 * (1 + cos(3.14159265358979323846 * (done - warm) / (1 - warm + 1e-12)));
}

/* Returns the epoch, from 1, of the last step that was done. */
static uint64_t epoch_done(const run *r) {
    return run_epoch_of(r, r->s.step - 1) + 1;
}

/* Whether the last step ended an epoch or the whole run. */
static bool ends(const run *r) {
    return r->s.step == r->when.begin[run_epoch_of(r, r->s.step)] || r->s.step == r->when.steps;
}

/* Whether all steps are done, or the validation has not improved for `patience` epochs. Depends on the state
 * alone, so that a resumed run knows that it had ended. */
static bool finished(const run *r) {
    if (r->s.step == r->when.steps) return true;
    return r->o.patience && r->s.best_epoch && ends(r) &&
           epoch_done(r) - r->s.best_epoch >= (uint64_t)r->o.patience;
}

static onet_progress progress(const run *r) {
    double seconds = clock_seconds() - r->told.started,
           rate = seconds > 0 ? (double)r->told.examples / seconds : 0;
    uint64_t epoch = finished(r) ? epoch_done(r) : run_epoch_of(r, r->s.step) + 1;
    double a_step = (double)r->sets.plan->used * (double)r->when.begun / (double)r->when.begin[r->when.begun];
    double left = (double)(r->when.steps - r->s.step) * a_step;
    return (onet_progress){.epoch = (int)epoch,
                           .epochs = r->o.epochs,
                           .step = r->s.step,
                           .steps = r->when.steps,
                           .loss = run_mean_loss(r),
                           .learning_rate = rate_at(r, r->s.step),
                           .valid_exact = r->s.valid_exact,
                           .examples_per_second = rate,
                           .seconds = r->told.seconds_before + seconds,
                           .seconds_left = rate > 0 ? left / rate : (double)NAN,
                           .valid_loglik = r->s.valid_loglik,
                           .best_epoch = (int)r->s.best_epoch,
                           .steps_before = r->told.steps_before,
                           .resumed_at = r->told.resumed_at,
                           .ended = r->s.step && ends(r) && !r->told.measuring ? (int)epoch_done(r) : 0,
                           .model = 1,
                           .models = 1};
}

static void report(run *r, int always) {
    double t = clock_seconds();
    if (!r->o.progress || (!always && t - r->told.last_progress < 0.1)) return;
    r->told.last_progress = t;
    onet_progress now = progress(r);
    if (r->o.progress(r->o.context, &now)) r->stop = 1;
}

/* Reports progress; returns whether to end a running validation. A stop does, unless there are several ranks
 * or files: a resumed run must equal an unbroken one, with every epoch validated. */
static int is_stopped(void *context) {
    run *r = context;
    report(r, 0);
    return r->stop && !r->files.checkpoint && !r->w;
}

/* Writes a row about the step that was done; progress() is about the next one. */
static void log_step(run *r) {
    onet_progress now = progress(r);
    now.epoch = (int)epoch_done(r);
    if (!ends(r)) now.valid_exact = now.valid_loglik = NAN; /* those of an earlier step */
    now.learning_rate = rate_at(r, r->s.step - 1);
    log_row(&r->files.log, &now, net_kernels(r->net));
}

/* Measures the model, and keeps it if it is the best so far by log-likelihood, which changes with every step
 * of every set; exact match changes only with whole sets and is noisier. */
static onet_status measure_model(run *r, onet_error *err) {
    const gpu_choice gpu = {.number = r->net->device};
    validation found;
    r->told.measuring = true;
    onet_status status = validate_sets(&found, r->model, r->sets.valid, &r->o,
                                       r->net->ops->is_gpu ? &gpu : NULL, is_stopped, r, err);
    r->told.measuring = false;
    if (status) return status == ONET_INTERRUPTED ? ONET_OK : status;
    r->s.valid_exact = found.exact;
    r->s.valid_loglik = found.loglik;
    if (r->s.best_epoch && !(found.loglik > r->s.best_loglik)) return ONET_OK;
    r->s.best_loglik = found.loglik;
    r->s.best_epoch = epoch_done(r);
    if (r->files.best || r->o.best) status = run_note_results(r, err);
    if (r->files.best && !status) status = onet_model_save(r->model, r->files.best, err);
    if (r->o.best && !status) {
        onet_bytes_free(r->files.best_bytes);
        status = onet_model_to_bytes(r->model, &r->files.best_bytes, &r->files.best_size, err);
    }
    return status;
}

/* Fills the model and, if there are validation sets, measures it in rank 0, which sends the result to the
 * other ranks, so that they stop when it stops. */
static onet_status validate(run *r, onet_error *err) {
    if (!r->validates && r->s.step < r->when.steps) return ONET_OK;
    onet_status status = run_fill_model(r, err);
    if (status || !r->validates) return status;
    if (r->sets.valid) status = measure_model(r, err);
    if (r->w) state_share_numbers(&r->s, r->w);
    return status;
}

static void move_average(run *r) {
    /* Early on the average covers the steps so far. */
    double looks = (double)(r->s.step / AVERAGE_EVERY), decay = pow(r->o.average, AVERAGE_EVERY);
    if (decay > looks / (looks + 9)) decay = looks / (looks + 9);
    if (looks <= 1) decay = 0;
    r->net->ops->average(r->net, decay);
}

static bool log_due(const run *r) {
    return r->s.step % r->log_every == 0;
}

static onet_status one_step(run *r, onet_error *err) {
    const backend *ops = r->net->ops;
    uint64_t epoch = run_epoch_of(r, r->s.step);
    onet_status status = r->when.planned == epoch + 1 ? ONET_OK : run_plan_epoch(r, epoch, false, err);
    if (status) return status;
    const batch *b = &r->sets.plan->batch[r->s.step - r->when.begin[epoch]];
    r->net->dropout = (float)r->o.dropout;
    r->net->dropout_seed = dropout_key((uint32_t)r->o.seed, (uint32_t)r->s.step, (uint32_t)(r->s.step >> 32));
    run_start_step(r, b);
    ops->forward(r->net);
    ops->backward(r->net);
    double rate = rate_at(r, r->s.step), t = (double)r->s.step + 1;
    ops->optimise(r->net,
                  &(adam_step){.scale = 1,
                               .rate = rate,
                               .beta1 = r->o.beta1,
                               .beta2 = r->o.beta2,
                               .epsilon = r->o.epsilon,
                               .correction1 = 1 - pow(r->o.beta1, t),
                               .correction2 = 1 - pow(r->o.beta2, t),
                               .decay = rate * r->o.weight_decay},
                  r->o.clip, NULL);
    r->s.step++;
    r->told.examples += (uint64_t)b->count;
    r->unread++;
    if (r->s.average && r->s.step % AVERAGE_EVERY == 0) move_average(r);
    /* Ranks that share a step read the losses together, whenever a checkpoint may be due. */
    return r->w || r->unread == r->net->losses_kept || log_due(r) || ends(r) ? run_read_losses(r, err)
                                                                             : ONET_OK;
}

/* Does what is due between two steps: log, validation, progress, checkpoint. */
static onet_status after_step(run *r, onet_error *err) {
    onet_status status = ONET_OK;
    if (ends(r)) status = validate(r, err);
    if (ends(r) || log_due(r)) log_step(r);
    report(r, ends(r));
    if (!status && r->o.checkpoint_seconds > 0 &&
        clock_seconds() - r->files.last_checkpoint >= r->o.checkpoint_seconds)
        status = files_save_checkpoint(r, err);
    return status;
}

/* Makes all ranks stop, fail or go on together. */
static onet_status together(run *r, onet_status status, onet_error *err) {
    if (!r->w) return status;
    status = world_agree(r->w, !status && r->stop ? ONET_INTERRUPTED : status, err);
    r->stop = status == ONET_INTERRUPTED;
    return r->stop ? ONET_OK : status;
}

onet_status run_loop(run *r, onet_error *err) {
    r->log_every = r->when.steps / LOG_ROWS + 1;
    r->told.started = r->files.last_checkpoint = clock_seconds();
    report(r, 1);
    onet_status status = together(r, ONET_OK, err);
    while (!finished(r) && !r->stop && !status) {
        status = one_step(r, err);
        if (!status) status = after_step(r, err);
        status = together(r, status, err);
    }
    if (status) return status;
    status = world_agree(r->w, files_save_checkpoint(r, err), err);
    if (!status) report(r, 1);
    if (!status && !finished(r))
        status =
            fail(err, ONET_INTERRUPTED, "stopped at step %" PRIu64 " of %" PRIu64, r->s.step, r->when.steps);
    return status;
}
