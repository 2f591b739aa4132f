/* The training loop: batches in, model out; checkpoints, log, validation and progress on the way. */
#include "engine/train/train.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/choice.h"
#include "engine/base/clock.h"
#include "engine/base/door.h"
#include "engine/base/error.h"
#include "engine/base/lock.h"
#include "engine/base/memory.h"
#include "engine/base/number.h"
#include "engine/base/sized.h"
#include "engine/data/sets.h"
#include "engine/kernels/net.h"
#include "engine/train/augment.h"
#include "engine/train/batches.h"
#include "engine/train/first.h"
#include "engine/train/identity.h"
#include "engine/train/log.h"
#include "engine/train/options.h"
#include "engine/train/shard.h"
#include "engine/train/sizes.h"
#include "engine/train/state.h"
#include "engine/train/validate.h"

enum {
    AVERAGE_EVERY = 16, /* steps between two updates of the EMA of the weights */
    MANY_SETS = 10000,  /* from here on the pool of ONET_POOL_AUTO is max: docs/model.md */
    LOG_ROWS = 1000,    /* rows of the log, about, beside those of the epochs' ends */
    /* What the norms' statistics are measured on: sets, about, and batches at least, each of one size. */
    MEASURED = 65536,
    MEASURED_BATCHES = 64
};

typedef struct run {
    const world *w; /* NULL: a single rank */
    const onet_sets *train,
        *valid;           /* of all ranks; except in rank 0, train has sizes only and valid is NULL */
    const onet_sets *own; /* those of this rank */
    augment *augment;     /* makes the sets of an epoch; NULL when they are the given ones */
    const onet_sets *now; /* all sets as the plan has them: their sizes */
    shard shard;
    uint32_t *index, *row; /* [batch]: the sets of a batch that this rank has; NULL when it has all */
    onet_train_options o;
    onet_model *model;
    batches *plan;
    net *net;
    train_state s;
    uint64_t steps;   /* of the whole run */
    uint64_t *begin;  /* [begun + 1]: the step with which each epoch begins, and the end of the last */
    uint64_t begun;   /* epochs that the steps reach */
    uint64_t planned; /* epoch that the plan is for, +1; 0: none yet */
    uint64_t filled;  /* step that the model was filled at, +1; 0: never */
    int validates;    /* rank 0 has validation sets */
    char from[65];    /* checksum of the model that it began with; "" when there is none */
    char identity[IDENTITY_TEXT]; /* what a checkpoint must be of, to be resumed */
    lock lock;
    char *checkpoint, *best, *log_path;
    void *best_bytes; /* the best model as a file, for the caller; NULL: not wanted, or none yet */
    size_t best_size;
    train_log log;
    int stop; /* the caller wants it to end */
    uint64_t log_every;
    int unread; /* steps whose loss has not been looked at */
    double started, last_progress, last_checkpoint, seconds_before;
    uint64_t examples;                 /* in this run */
    uint64_t steps_before, resumed_at; /* as in onet_progress */
    uint64_t saved_step;               /* of the checkpoint on disk; UINT64_MAX when there is none */
} run;

static double rate_at(const run *r, uint64_t step) {
    double done = (double)step / (double)r->steps, warm = r->o.warmup, rate = r->o.learning_rate;
    if (done < warm) return rate * ((double)step + 1) / (warm * (double)r->steps + 1);
    if (r->o.schedule == ONET_CONSTANT) return rate;
    return rate * 0.5 * (1 + cos(3.14159265358979323846 * (done - warm) / (1 - warm + 1e-12)));
}

/* Of the model's name without .safetensors. */
static size_t stem_length(const char *model_path) {
    static const char own[] = ".safetensors";
    size_t length = strlen(model_path), cut = sizeof own - 1;
    return length > cut && !strcmp(model_path + length - cut, own) ? length - cut : length;
}

size_t onet_train_path(char *path, size_t room, const char *model_path, onet_train_file file) {
    static const char *const ending[] = {[ONET_TRAIN_BEST] = TRAIN_BEST,
                                         [ONET_TRAIN_CHECKPOINT] = TRAIN_CHECKPOINT,
                                         [ONET_TRAIN_LOG] = TRAIN_LOG,
                                         [ONET_TRAIN_LOCK] = TRAIN_LOCK};
    if (path && room) path[0] = 0;
    if (!model_path || (!path && room) || (unsigned)file > ONET_TRAIN_LOCK) return 0;
    size_t length = stem_length(model_path);
    return (size_t)snprintf(path, room, "%.*s%s", (int)length, model_path, ending[file]);
}

size_t onet_train_model_path(char *path, size_t room, const char *model_path, int number) {
    if (path && room) path[0] = 0;
    if (!model_path || (!path && room) || number < 1 || number > MOST_MERGED) return 0;
    return (size_t)snprintf(path, room, "%.*s.%d.safetensors", (int)stem_length(model_path), model_path,
                            number);
}

char *train_beside(const char *model_path, const char *ending) {
    size_t length = stem_length(model_path);
    char *path = malloc(length + strlen(ending) + 1);
    if (!path) return NULL;
    memcpy(path, model_path, length);
    strcpy(path + length, ending);
    return path;
}

char *train_part(const char *model_path, int number) {
    size_t room = onet_train_model_path(NULL, 0, model_path, number) + 1;
    char *path = malloc(room);
    if (path) onet_train_model_path(path, room, model_path, number);
    return path;
}

static double mean_loss(const run *r) {
    return r->s.loss_weight > 0 ? r->s.loss / r->s.loss_weight : NAN;
}

/* Copies the parameters and their averages from where they are computed. */
static onet_status fetch(run *r, onet_error *err) {
    const backend *ops = r->net->ops;
    onet_status status = ops->get(r->net, NET_THETA, r->s.theta, err);
    if (!status && r->s.average) status = ops->get(r->net, NET_AVERAGE, r->s.average, err);
    if (!status && r->s.vec) status = ops->get(r->net, NET_VECTORS, r->s.vec, err);
    if (!status && r->s.vec_average) status = ops->get(r->net, NET_VECTORS_AVERAGE, r->s.vec_average, err);
    return status;
}

/* Looks at the losses of the steps since the last look. */
static onet_status read_losses(run *r, onet_error *err) {
    double loss[NET_LOSSES];
    int count = r->unread;
    r->net->ops->losses(r->net, count, loss);
    r->unread = 0;
    for (int i = 0; i < count; i++) {
        if (!isfinite(loss[i])) {
            onet_status status = fetch(r, err); /* a device that failed says why */
            if (status) return status;
            char saved[64] = "there is no checkpoint yet";
            if (r->saved_step != UINT64_MAX)
                snprintf(saved, sizeof saved, "the last good checkpoint is of step %" PRIu64, r->saved_step);
            return fail(err, ONET_FAILED,
                        "the loss is no longer a number at step %" PRIu64
                        "; %s. Try a lower learning rate or onet_train_options.clip 1",
                        r->s.step - (uint64_t)(count - 1 - i), saved);
        }
        r->s.loss = 0.99 * r->s.loss + 0.01 * loss[i];
        r->s.loss_weight = 0.99 * r->s.loss_weight + 0.01;
    }
    return ONET_OK;
}

static onet_status save_checkpoint(run *r, onet_error *err) {
    const backend *ops = r->net->ops;
    onet_status status = r->unread ? read_losses(r, err) : ONET_OK;
    if (!status) status = fetch(r, err);
    if (!status) status = ops->get(r->net, NET_M, r->s.m, err);
    if (!status) status = ops->get(r->net, NET_V, r->s.v, err);
    if (!status && r->s.vec) status = ops->get(r->net, NET_VECTORS_M, r->s.vec_m, err);
    if (!status && r->s.vec) status = ops->get(r->net, NET_VECTORS_V, r->s.vec_v, err);
    if (status) return status;
    for (size_t i = 0; i < r->s.params; i++)
        if (!isfinite(r->s.theta[i]))
            return fail(err, ONET_FAILED,
                        "a parameter is no longer a number at step %" PRIu64
                        ": try a lower learning rate or onet_train_options.clip 1",
                        r->s.step);
    if (!r->checkpoint) return ONET_OK;
    if ((status = log_flush(&r->log, &r->s.log_bytes, err))) return status;
    r->s.seconds = r->seconds_before + clock_seconds() - r->started;
    status = checkpoint_write(&r->s, r->identity, r->checkpoint, err);
    if (!status) r->saved_step = r->s.step;
    r->last_checkpoint = clock_seconds();
    return status;
}

/* The sets of a batch that this rank has. */
static void take_batch(run *r, const batch *b) {
    const uint32_t *index = r->plan->index + b->first;
    int here = b->count;
    if (r->w) {
        here = shard_pick(r->w, r->now, index, b->count, r->index, r->row);
        index = r->index;
        r->net->whole = batches_size(r->plan, b, r->now);
        r->net->row = r->row;
    }
    r->net->ops->take(r->net, index, here);
}

/* Memory for every batch of the plan: whole batches, with ranks too, since chance may bring all sets of a
 * batch to one of them. */
static onet_status reserve(run *r, onet_error *err) {
    return r->net->ops->reserve(r->net, batches_most(r->plan, r->now), err);
}

/* The sets of an epoch, the plan of their batches, and memory for these. `whole`: the sets as they are
 * ordered, nothing left out. All ranks make the same plan. */
static onet_status plan_epoch(run *r, uint64_t epoch, bool whole, onet_error *err) {
    onet_status status = ONET_OK;
    r->planned = whole ? 0 : epoch + 1;
    if (r->augment) {
        augment_draw(r->augment, epoch, whole);
        r->now = &r->augment->sizes;
        if (r->o.drop > 0) {
            batches *plan;
            if (!(status = batches_new(&plan, r->now, r->o.batch, r->o.batches, err))) {
                batches_free(r->plan);
                r->plan = plan;
            }
        }
        r->net->relative = r->augment->relative;
        r->net->target = r->augment->target;
        if (!status)
            status = r->net->ops->data(r->net, &r->augment->sets, r->model->mean, r->model->scale,
                                       r->s.vec != NULL, err);
    }
    if (!status) {
        /* Whole sets are measured on: the same ones for all seeds, so that their models can be merged. */
        batches_shuffle(r->plan, whole ? 0 : r->o.seed, epoch);
        status = reserve(r, err);
    }
    return world_agree(r->w, status, err);
}

/* What the norms see of a batch with the model's parameters, beginning with statistics of 0. It goes through
 * to the end whatever fails: the other ranks wait for this one in the all-reduce. */
static onet_status measure_batch(run *r, const batch *b, float *theta, sizes *found, onet_error *err) {
    const shape *sh = &r->model->sh;
    size_t count = sh->total - sh->trained;
    memset(theta + sh->trained, 0, count * sizeof *theta);
    onet_status status = r->net->ops->put(r->net, NET_THETA, theta, err);
    take_batch(r, b);
    r->net->ops->forward(r->net);
    onet_status got = r->net->ops->get(r->net, NET_THETA, theta, err);
    if (status || got) return status ? status : got;
    for (size_t i = 0; i < count; i++) theta[sh->trained + i] /= (float)NORM_MOMENTUM;
    return sizes_add(found, r->net->whole, theta + sh->trained) ? ONET_OK
                                                                : fail_memory(err, "the norms' statistics");
}

/* Which batches of the plan the statistics are measured on: the size of their sets, 0 for the others. The
 * first ones, and with one size per batch as many more as give sizes with SIZE_SETS sets so many, up to
 * MEASURED. False when memory is short. */
static bool choose_measured(const run *r, int *size) {
    const batches *plan = r->plan;
    uint64_t first = (MEASURED + (uint64_t)plan->largest - 1) / (uint64_t)plan->largest, more = 0;
    if (first < MEASURED_BATCHES) first = MEASURED_BATCHES;
    int largest = 1;
    for (uint64_t b = 0; b < plan->count; b++) {
        size[b] = batches_size(plan, &plan->batch[b], r->now).largest;
        if (size[b] > largest) largest = size[b];
    }
    uint64_t *there = array_new((size_t)largest + 1, sizeof *there); /* sets of each size */
    uint64_t *taken = array_new((size_t)largest + 1, sizeof *taken);
    if (there && taken) {
        for (uint64_t b = 0; b < plan->count; b++) {
            uint64_t sets = (uint64_t)batches_size(plan, &plan->batch[b], r->now).sets;
            there[size[b]] += sets;
            if (b < first) taken[size[b]] += sets;
        }
        for (uint64_t b = first; b < plan->count; b++) {
            uint64_t sets = (uint64_t)batches_size(plan, &plan->batch[b], r->now).sets;
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

/* Measures the norms' statistics with the model's parameters, on batches of whole sets, and how they go with
 * the size. The net has its own parameters again afterwards. */
static onet_status measure(run *r, onet_error *err) {
    const backend *ops = r->net->ops;
    const shape *sh = &r->model->sh;
    const uint64_t epoch = UINT32_MAX; /* none that is trained on */
    onet_status status = plan_epoch(r, epoch, true, err);
    if (status) return status;
    float *theta = array_new(sh->total, sizeof *theta);
    int *size = array_new(r->plan->count, sizeof *size);
    sizes found;
    status = sizes_new(&found, sh) && theta && size && choose_measured(r, size)
                 ? ONET_OK
                 : fail_memory(err, "the norms' statistics");
    if (!status) memcpy(theta, r->model->theta, sh->total * sizeof *theta);
    if (!status && r->s.vec) status = ops->put(r->net, NET_VECTORS, r->model->words->vectors, err);
    status = world_agree(r->w, status, err);
    for (int n = 0, next = status ? 0 : 1; next; n = next) { /* size by size, as sizes_add wants them */
        next = 0;
        for (uint64_t b = 0; b < r->plan->count; b++) {
            if (size[b] > n && (!next || size[b] < next)) next = size[b];
            if (size[b] != n || !n) continue;
            onet_status here = measure_batch(r, &r->plan->batch[b], theta, &found, err);
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

/* Fills the model with the parameters as they are now (or their average), the norms' statistics and the
 * training record. All ranks do it together. */
static onet_status fill_model(run *r, onet_error *err) {
    onet_model *model = r->model;
    if (r->filled == r->s.step + 1) return ONET_OK;
    onet_status status = world_agree(r->w, fetch(r, err), err);
    if (status) return status;
    memcpy(model->theta, r->s.average && r->s.step >= AVERAGE_EVERY ? r->s.average : r->s.theta,
           r->s.params * sizeof(float));
    if (r->s.vec)
        memcpy(model->words->vectors,
               r->s.vec_average && r->s.step >= AVERAGE_EVERY ? r->s.vec_average : r->s.vec,
               r->s.vectors * sizeof(float));
    if (r->o.half && (status = onet_model_set_half(model, 1, err))) return status;
    if (r->o.statistics == ONET_STATISTICS_MEASURED && (status = measure(r, err))) return status;
    r->filled = r->s.step + 1;
    return ONET_OK;
}

static onet_status record_progress(run *r, onet_error *err) {
    onet_model *model = r->model;
    char step[32], loss[32];
    snprintf(step, sizeof step, "%" PRIu64, r->s.step);
    number_print(loss, sizeof loss, "%.6f", mean_loss(r));
    onet_status status = model_record_set(model, "steps", step, err);
    if (!status) status = model_record_set(model, "loss", loss, err);
    if (status) return status;
    return validate_record(&(validation){r->s.valid_exact, r->s.valid_loglik}, model, err);
}

/* ---- progress and validation ---- */

/* The epoch, from 0, that a step belongs to: the last that does not begin after it. */
static uint64_t epoch_of(const run *r, uint64_t step) {
    uint64_t low = 0, high = r->begun;
    while (low < high) {
        uint64_t middle = (low + high + 1) / 2;
        if (r->begin[middle] <= step)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* The epoch, from 1, of the last step that was done. */
static uint64_t epoch_done(const run *r) {
    return epoch_of(r, r->s.step - 1) + 1;
}

/* An epoch, or all, is done. */
static bool ends(const run *r) {
    return r->s.step == r->begin[epoch_of(r, r->s.step)] || r->s.step == r->steps;
}

/* All steps are done, or the validation has not improved for as many epochs as the caller has patience for.
 * It follows from the state: a resumed run knows that it was at its end. */
static bool finished(const run *r) {
    if (r->s.step == r->steps) return true;
    return r->o.patience && r->s.best_epoch && ends(r) &&
           epoch_done(r) - r->s.best_epoch >= (uint64_t)r->o.patience;
}

static onet_progress progress(const run *r) {
    double seconds = clock_seconds() - r->started, rate = seconds > 0 ? (double)r->examples / seconds : 0;
    uint64_t epoch = finished(r) ? epoch_done(r) : epoch_of(r, r->s.step) + 1;
    double a_step = (double)r->plan->used * (double)r->begun / (double)r->begin[r->begun];
    double left = (double)(r->steps - r->s.step) * a_step;
    return (onet_progress){.epoch = (int)epoch,
                           .epochs = r->o.epochs,
                           .step = r->s.step,
                           .steps = r->steps,
                           .loss = mean_loss(r),
                           .learning_rate = rate_at(r, r->s.step),
                           .valid_exact = r->s.valid_exact,
                           .examples_per_second = rate,
                           .seconds = r->seconds_before + seconds,
                           .seconds_left = rate > 0 ? left / rate : NAN,
                           .valid_loglik = r->s.valid_loglik,
                           .best_epoch = (int)r->s.best_epoch,
                           .steps_before = r->steps_before,
                           .resumed_at = r->resumed_at,
                           .ended = r->s.step && ends(r) ? (int)epoch_done(r) : 0,
                           .model = 1,
                           .models = 1};
}

static void report(run *r, int always) {
    double t = clock_seconds();
    if (!r->o.progress || (!always && t - r->last_progress < 0.1)) return;
    r->last_progress = t;
    onet_progress now = progress(r);
    if (r->o.progress(r->o.context, &now)) r->stop = 1;
}

/* A stop ends a validation where it is, unless there are files: a run that is resumed from them must be that
 * of an unbroken one, with every epoch validated. */
static int look(void *context) {
    run *r = context;
    report(r, 0);
    return r->stop && !r->checkpoint && !r->w;
}

/* The log tells of the step that was done, progress of the one that comes. */
static void log_step(run *r) {
    onet_progress now = progress(r);
    now.epoch = (int)epoch_done(r);
    if (!ends(r)) now.valid_exact = now.valid_loglik = NAN; /* of another step */
    now.learning_rate = rate_at(r, r->s.step - 1);
    log_row(&r->log, &now, net_kernels(r->net));
}

/* Measures the model; the best so far is kept. Log-likelihood moves with every step of every set, exact match
 * only where a whole set goes over: the first is the less noisy guide. */
static onet_status measure_model(run *r, onet_error *err) {
    const gpu_choice gpu = {.number = r->net->device};
    validation found;
    onet_status status =
        validate_sets(&found, r->model, r->valid, &r->o, r->net->ops->is_gpu ? &gpu : NULL, look, r, err);
    if (status) return status == ONET_INTERRUPTED ? ONET_OK : status;
    r->s.valid_exact = found.exact;
    r->s.valid_loglik = found.loglik;
    if (r->s.best_epoch && !(found.loglik > r->s.best_loglik)) return ONET_OK;
    r->s.best_loglik = found.loglik;
    r->s.best_epoch = epoch_done(r);
    if (r->best || r->o.best) status = record_progress(r, err);
    if (r->best && !status) status = onet_model_save(r->model, r->best, err);
    if (r->o.best && !status) {
        onet_bytes_free(r->best_bytes);
        status = onet_model_to_bytes(r->model, &r->best_bytes, &r->best_size, err);
    }
    return status;
}

/* Fills the model and, where there are sets for it, measures it: rank 0 does, and tells the others, who stop
 * when it stops. */
static onet_status validate(run *r, onet_error *err) {
    if (!r->validates && r->s.step < r->steps) return ONET_OK;
    onet_status status = fill_model(r, err);
    if (status || !r->validates) return status;
    if (r->valid) status = measure_model(r, err);
    if (r->w) state_share_numbers(&r->s, r->w);
    return status;
}

/* ---- the loop ---- */

static void move_average(run *r) {
    /* Early on the average looks back no further than there is something to see. */
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
    uint64_t epoch = epoch_of(r, r->s.step);
    onet_status status = r->planned == epoch + 1 ? ONET_OK : plan_epoch(r, epoch, false, err);
    if (status) return status;
    const batch *b = &r->plan->batch[r->s.step - r->begin[epoch]];
    take_batch(r, b);
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
    r->examples += (uint64_t)b->count;
    r->unread++;
    if (r->s.average && r->s.step % AVERAGE_EVERY == 0) move_average(r);
    /* Ranks that share a step read the losses together, whenever a checkpoint may be due. */
    return r->w || r->unread == r->net->losses_kept || log_due(r) || ends(r) ? read_losses(r, err) : ONET_OK;
}

/* What is due between two steps: log, validation, progress, checkpoint. */
static onet_status after_step(run *r, onet_error *err) {
    onet_status status = ONET_OK;
    if (ends(r)) status = validate(r, err);
    if (ends(r) || log_due(r)) log_step(r);
    report(r, ends(r));
    if (!status && r->o.checkpoint_seconds > 0 &&
        clock_seconds() - r->last_checkpoint >= r->o.checkpoint_seconds)
        status = save_checkpoint(r, err);
    return status;
}

/* All ranks stop, fail or go on together. */
static onet_status together(run *r, onet_status status, onet_error *err) {
    if (!r->w) return status;
    status = world_agree(r->w, !status && r->stop ? ONET_INTERRUPTED : status, err);
    r->stop = status == ONET_INTERRUPTED;
    return r->stop ? ONET_OK : status;
}

static onet_status loop(run *r, onet_error *err) {
    r->log_every = r->steps / LOG_ROWS + 1;
    r->started = r->last_checkpoint = clock_seconds();
    report(r, 1);
    onet_status status = together(r, ONET_OK, err);
    while (!finished(r) && !r->stop && !status) {
        status = one_step(r, err);
        if (!status) status = after_step(r, err);
        status = together(r, status, err);
    }
    if (status) return status;
    status = world_agree(r->w, save_checkpoint(r, err), err);
    if (!status) report(r, 1);
    if (!status && !finished(r))
        status = fail(err, ONET_INTERRUPTED, "stopped at step %" PRIu64 " of %" PRIu64, r->s.step, r->steps);
    return status;
}

/* Settings of the model to begin with, which rank 0 has, to all ranks. */
static onet_status take_from(run *r, onet_error *err) {
    onet_status status = ONET_OK;
    if (r->o.from && !(status = train_check_from(r->train, r->o.from, err))) {
        r->o.settings = r->o.from->sh.s;
        model_checksum(r->o.from, r->from);
    }
    status = world_agree(r->w, status, err);
    if (status || !r->w) return status;
    r->w->broadcast(r->w, 0, &r->o.settings, sizeof r->o.settings);
    r->w->broadcast(r->w, 0, r->from, sizeof r->from);
    return ONET_OK;
}

static onet_status record(run *r, onet_error *err) {
    char sets[32], seed[32], per_step[32];
    snprintf(sets, sizeof sets, "%zu", r->train->count);
    snprintf(seed, sizeof seed, "%" PRIu64, r->o.seed);
    snprintf(per_step, sizeof per_step, "%d", r->o.batch);
    const char *pairs[][2] = {{"data.sha256", r->train->hash},
                              {"data.sets", sets},
                              {"seed", seed},
                              {"batch", per_step},
                              {"run", r->identity},
                              {"kernels", net_kernels(r->net)},
                              {"statistics", choice_name(onet_norm_statistics(), r->o.statistics)}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        onet_status status = model_record_set(r->model, pairs[i][0], pairs[i][1], err);
        if (status) return status;
    }
    onet_status status = r->from[0] ? model_record_set(r->model, "from.sha256", r->from, err) : ONET_OK;
    if (!status && r->o.precision == ONET_TF32) status = model_record_set(r->model, "precision", "tf32", err);
    return status;
}

/* Where the epochs begin. Where items are left out, each epoch has its own sizes, and so, in batches of one
 * size, its own number of batches. */
static onet_status count_steps(run *r, onet_error *err) {
    uint64_t epochs = (uint64_t)r->o.epochs, most = r->o.max_steps ? r->o.max_steps : UINT64_MAX;
    if (!(r->begin = array_new(epochs + 1, sizeof *r->begin))) return fail_memory(err, "the epochs");
    for (uint64_t e = 0; e < epochs && r->begin[e] < most; e++) {
        size_t count = r->plan->count;
        if (r->o.drop > 0 && r->o.batches == ONET_BATCHES_ONE_SIZE) {
            batches *plan;
            augment_sizes(r->augment, e);
            onet_status status = batches_new(&plan, &r->augment->sizes, r->o.batch, r->o.batches, err);
            if (status) return status;
            count = plan->count;
            batches_free(plan);
        }
        r->begin[e + 1] = r->begin[e] + count;
        r->begun = e + 1;
    }
    r->steps = r->begin[r->begun] < most ? r->begin[r->begun] : most;
    return ONET_OK;
}

/* Model, plan and state, all with their first values. */
static onet_status make_state(run *r, onet_error *err) {
    onet_status status;
    onet_settings settings = r->o.settings;
    if (settings.width && settings.width != r->train->width)
        return fail(err, ONET_USAGE,
                    "the net is to take items of width %d, but those of the sets have width %d",
                    settings.width, r->train->width);
    settings.width = r->train->width;
    if (settings.pool == ONET_POOL_AUTO)
        settings.pool = r->train->count < MANY_SETS ? ONET_POOL_MEAN : ONET_POOL_MAX;
    if ((status = model_new(&r->model, &settings, err)) ||
        (status = batches_new(&r->plan, r->train, r->o.batch, r->o.batches, err)))
        return status;
    const shape *sh = &r->model->sh;
    r->now = r->train;
    if ((status = augment_new(&r->augment, r->train, r->own, &r->o, r->w ? r->w->rank : 0,
                              r->w ? r->w->size : 1, err)) ||
        (status = count_steps(r, err)))
        return status;
    if (r->own->word && !(r->model->words = words_copy(r->own->words)))
        return fail_memory(err, "the vocabulary");
    const onet_columns *columns = r->train->columns ? r->train->columns
                                  : r->o.from       ? r->o.from->columns
                                                    : NULL;
    if (columns && (status = onet_columns_copy(&r->model->columns, columns, err))) return status;
    int vectors = r->own->word && r->o.train_vectors;
    size_t vector_numbers = vectors ? (size_t)r->own->words->count * (size_t)r->own->width : 0;
    if ((status = state_new(&r->s, sh->total, vector_numbers, r->o.average > 0, err))) return status;
    if (r->o.from)
        memcpy(r->s.theta, r->o.from->theta, sh->total * sizeof *r->s.theta);
    else
        first_parameters(sh, r->o.seed, r->s.theta);
    if (vectors) memcpy(r->s.vec, r->own->words->vectors, vector_numbers * sizeof(float));
    r->saved_step = UINT64_MAX;
    size_t most = r->plan->used < (size_t)r->o.batch ? r->plan->used : (size_t)r->o.batch;
    if (r->w &&
        (!(r->index = array_new(most, sizeof *r->index)) || !(r->row = array_new(most, sizeof *r->row))))
        return fail_memory(err, "the batches");
    return ONET_OK;
}

static onet_status find_files(run *r, onet_error *err) {
    if (!r->o.model_path) return ONET_OK;
    char *path = train_beside(r->o.model_path, TRAIN_LOCK);
    onet_status status =
        path ? lock_take(&r->lock, path, r->o.model_path, err) : fail_memory(err, "the names of the files");
    free(path);
    if (!status) status = train_check_files(&r->o, err);
    if (status) return status;
    r->checkpoint = train_beside(r->o.model_path, TRAIN_CHECKPOINT);
    r->best = train_beside(r->o.model_path, TRAIN_BEST);
    r->log_path = train_beside(r->o.model_path, TRAIN_LOG);
    if (!r->checkpoint || !r->best || !r->log_path) return fail_memory(err, "the names of the files");
    int found = 0;
    uint64_t before = 0;
    if (r->o.resume && (status = checkpoint_read(&r->s, r->identity, r->checkpoint, &before, &found, err)))
        return status;
    if (found) r->saved_step = r->s.step;
    if (found && before != r->steps) {
        r->steps_before = before;
        r->resumed_at = r->s.step;
    }
    return ONET_OK;
}

static void sum(void *context, double *values, size_t count) {
    const world *w = context;
    w->sum(w, values, count);
}

static void sum_floats(void *context, real *values, size_t count) {
    const world *w = context;
    w->sum_floats(w, values, count);
}

/* All ranks compute on the same kind of device: on CPUs where only some have found a GPU. */
static onet_status open_device(run *r, onet_error *err) {
    const shape *sh = &r->model->sh;
    onet_status status =
        net_open(&r->net, sh, r->o.device, r->w ? r->w->local_rank : 0, r->o.kernels, r->o.threads, err);
    status = world_agree(r->w, status, err);
    if (status || !r->w) return status;
    double gpus = r->net->ops->is_gpu;
    r->w->sum(r->w, &gpus, 1);
    if (gpus == 0 || gpus == r->w->size) return ONET_OK;
    r->net->ops->close(r->net);
    r->net = NULL;
    return world_agree(r->w, cpu_open(&r->net, sh, r->o.kernels, r->o.threads, err), err);
}

static onet_status open_net(run *r, onet_error *err) {
    onet_status status = open_device(r, err);
    if (status) return status;
    if (r->o.precision == ONET_TF32) {
        if (!r->net->ops->is_gpu)
            return fail(
                err, ONET_USAGE,
                "precision tf32 needs a GPU, and this training runs on the CPU: leave it out, or train "
                "with onet_train_options.device cuda");
        r->net->tf32 = 1;
    }
    if (r->w) {
        r->net->sum = sum;
        r->net->sum_floats = sum_floats;
        r->net->sum_context = (void *)(uintptr_t)r->w;
    }
    if (r->augment && r->model->sh.s.relative &&
        (status = augment_relate(r->augment, r->model->mean, r->model->scale, err)))
        return status;
    batches_shuffle(r->plan, r->o.seed, 0);
    if ((status = reserve(r, err))) return status;
    if ((status = r->net->ops->data(r->net, r->own, r->model->mean, r->model->scale, r->s.vec != NULL, err)))
        return status;
    const struct {
        net_block what;
        const float *from;
    } put[] = {{NET_THETA, r->s.theta},
               {NET_M, r->s.m},
               {NET_V, r->s.v},
               {NET_AVERAGE, r->s.average},
               {NET_VECTORS, r->s.vec},
               {NET_VECTORS_M, r->s.vec_m},
               {NET_VECTORS_V, r->s.vec_v},
               {NET_VECTORS_AVERAGE, r->s.vec_average}};
    for (size_t i = 0; i < sizeof put / sizeof *put && !status; i++)
        if (put[i].from) status = r->net->ops->put(r->net, put[i].what, put[i].from, err);
    return status ? status : record(r, err);
}

/* When all else is ready: a run that cannot start leaves the files of the one before. A run that goes on
 * keeps its log, its best model and its checkpoint; in a new one, those are another
 * model's. */
static onet_status start_files(run *r, onet_error *err) {
    if (!r->log_path) return ONET_OK;
    onet_status status = log_open(&r->log, r->log_path, r->s.log_bytes, err);
    const char *old[] = {r->s.best_epoch ? NULL : r->best,
                         r->saved_step == UINT64_MAX ? r->checkpoint : NULL};
    for (int i = 0; i < 2 && !status; i++)
        if (old[i] && remove(old[i]) && errno != ENOENT)
            status = fail(err, ONET_IO, "cannot remove %s, of an older run: %s", old[i], strerror(errno));
    return status;
}

/* What may fail in one rank is agreed on before the next call in which ranks wait for each other. */
static onet_status prepare(run *r, onet_error *err) {
    const world *w = r->w;
    int first = !w || !w->rank;
    onet_status status =
        world_agree(w, first ? train_check_sets(r->train, r->valid, &r->o, err) : ONET_OK, err);
    if (status) return status;
    if (w) {
        if ((status = shard_make(&r->shard, w, r->train, err))) return status;
        if (!first) r->train = r->shard.plan;
        r->own = r->shard.own;
    } else
        r->own = r->train;
    if ((status = take_from(r, err)) || (status = world_agree(w, make_state(r, err), err))) return status;
    if (r->o.from) {
        size_t bytes = (size_t)r->train->width * sizeof *r->model->mean;
        memcpy(r->model->mean, r->o.from->mean, bytes);
        memcpy(r->model->scale, r->o.from->scale, bytes);
    } else if (first && r->o.standardise)
        status = first_scale(r->model, r->train, err);
    if (first && !status && r->o.jitter > 0) status = first_spread(r->train, r->augment->spread, err);
    if (first && !status) {
        identity_make(r->identity, r->train, r->valid, &r->model->sh.s, &r->o, r->from, r->steps);
        status = find_files(r, err);
    }
    status = world_agree(w, status, err);
    if (!status && w) status = shard_columns(w, &r->model->columns, err);
    if (status) return status;
    if (w) {
        w->broadcast(w, 0, &r->validates, sizeof r->validates);
        w->broadcast(w, 0, r->identity, sizeof r->identity);
        w->broadcast(w, 0, r->model->mean, (size_t)r->train->width * sizeof *r->model->mean);
        w->broadcast(w, 0, r->model->scale, (size_t)r->train->width * sizeof *r->model->scale);
        if (r->o.jitter > 0)
            w->broadcast(w, 0, r->augment->spread, (size_t)r->train->width * sizeof *r->augment->spread);
        state_share(&r->s, w);
    }
    r->seconds_before = r->s.seconds;
    if ((status = world_agree(w, open_net(r, err), err))) return status;
    return world_agree(w, start_files(r, err), err);
}

/* The best model for the caller. A run that was resumed may have it in its file alone. */
static onet_status give_best(run *r, onet_error *err) {
    if (r->best_bytes) return onet_model_from_bytes(r->o.best, r->best_bytes, r->best_size, err);
    return r->best ? onet_model_load(r->o.best, r->best, err) : ONET_OK;
}

onet_status train_together(const world *w, onet_model **model, const onet_sets *train, const onet_sets *valid,
                           const onet_train_options *options, onet_error *err) {
    run r = {.w = w,
             .lock = {.fd = -1},
             .train = train,
             .valid = valid && valid->count ? valid : NULL,
             .o = *options};
    r.validates = r.valid != NULL;
    *model = NULL;
    if (r.o.best) *r.o.best = NULL;
    if (w && !r.o.threads) r.o.threads = w->processors;
    if (w && w->rank) r.o.from = NULL;
    onet_status status = train_check_options(options, err);
    if (!status) status = prepare(&r, err);
    if (!status) status = loop(&r, err);
    bool kept = status == ONET_INTERRUPTED && r.o.keep_stopped;
    if (!status || kept) {
        onet_error late;
        onet_status filled = fill_model(&r, kept ? &late : err);
        if (!filled) filled = record_progress(&r, kept ? &late : err);
        if (!filled && !kept && r.checkpoint) filled = onet_model_save(r.model, options->model_path, err);
        filled = world_agree(w, filled, kept ? &late : err);
        kept = kept && !filled;
        if (!status) status = filled;
    }
    if (r.o.best && r.s.best_epoch && (!status || kept)) {
        onet_status got = give_best(&r, kept ? NULL : err);
        if (!status) status = got;
    }
    onet_bytes_free(r.best_bytes);
    onet_error late;
    onet_status closed = log_close(&r.log, status ? &late : err); /* the first failure is the one to tell */
    if (!status) status = closed;
    if (r.net) r.net->ops->close(r.net);
    batches_free(r.plan);
    augment_free(r.augment);
    free(r.begin);
    state_free(&r.s);
    if (w) shard_free(&r.shard);
    free(r.index);
    free(r.row);
    lock_release(&r.lock);
    free(r.checkpoint);
    free(r.best);
    free(r.log_path);
    if (status && !kept)
        onet_model_free(r.model);
    else
        *model = r.model;
    return status;
}
