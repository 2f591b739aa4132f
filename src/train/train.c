/* The training loop: batches in, model out; checkpoints, log, validation and progress on the way. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/rng.h"
#include "data/sets.h"
#include "kernels/net.h"
#include "train/batches.h"
#include "train/forget.h"
#include "train/shard.h"
#include "train/sizes.h"
#include "train/state.h"
#include "train/train.h"

enum {
    AVERAGE_EVERY = 16, /* steps between two looks of the running average at the weights */
    LOG_ROWS = 1000,    /* rows of the log, about, beside those of the epochs' ends */
    MEASURED = 4096,    /* sets, about, that the norms' statistics are measured on */
    VALID_BLOCK = 256   /* validation sets between two looks at the clock */
};

void onet_train_defaults(onet_train_options *o) {
    memset(o, 0, sizeof *o);
    onet_settings_preset(&o->settings, "default", NULL);
    /* For data of a user's own, thousands of sets rather than millions: many steps, large ones at first, and
     * the average of the last weights (tests/long/learn.c is what they were chosen on). */
    o->batch = 32;
    o->epochs = 20;
    o->learning_rate = 5e-3;
    o->schedule = ONET_COSINE;
    o->warmup = 0.02;
    o->weight_decay = 0.1;
    o->clip = 1;
    o->average = 0.999;
    o->beta1 = 0.9;
    o->beta2 = 0.999;
    o->epsilon = 1e-8;
    o->seed = 1;
    o->standardise = 1;
    o->statistics = ONET_STATISTICS_SIZED;
    o->checkpoint_seconds = 60;
    o->valid_limit = 2000;
}

typedef struct run {
    const world *w; /* NULL: this process trains alone */
    const onet_sets *train,
        *valid;           /* of all processes; but in process 0, train has sizes only, valid is NULL */
    forget *forget;       /* words taken for unknown; NULL when none are */
    const onet_sets *own; /* those that this process's batches are taken from */
    shard shard;
    uint32_t *index, *place; /* [largest batch]: the sets of a batch that are here; NULL when all are */
    onet_train_options o;
    onet_model *model;
    batches *plan;
    net *net;
    train_state s;
    uint64_t steps;      /* of the whole run */
    uint64_t planned;    /* epoch that the plan is for, +1; 0: none yet */
    uint64_t filled;     /* step that the model was filled at, +1; 0: never */
    int validates;       /* process 0 has sets to validate with */
    char settings[1024]; /* names the run */
    char *checkpoint, *best, *log_path;
    FILE *log;
    double started, last_progress, last_checkpoint, seconds_before;
    uint64_t examples;   /* in this run */
    uint64_t saved_step; /* of the checkpoint on disk; UINT64_MAX when there is none */
} run;

static onet_status check_options(const onet_train_options *o, onet_error *err) {
    if (o->batch < 1) return fail(err, ONET_USAGE, "the batch is %d sets: at least 1 is needed", o->batch);
    if (o->epochs < 1) return fail(err, ONET_USAGE, "%d epochs: at least 1 is needed", o->epochs);
    if (!(o->learning_rate > 0) || !isfinite(o->learning_rate))
        return fail(err, ONET_USAGE, "the learning rate must be a positive number");
    if (!(o->warmup >= 0 && o->warmup <= 1))
        return fail(err, ONET_USAGE, "warm-up is a share of the steps, 0 to 1");
    if (!(o->beta1 >= 0 && o->beta1 < 1 && o->beta2 >= 0 && o->beta2 < 1))
        return fail(err, ONET_USAGE, "Adam's betas are at least 0 and less than 1");
    if (!(o->epsilon > 0)) return fail(err, ONET_USAGE, "Adam's epsilon must be positive");
    if (!(o->weight_decay >= 0) || !(o->clip >= 0) || !(o->average >= 0 && o->average < 1))
        return fail(err, ONET_USAGE,
                    "weight decay and clipping must not be negative; average is from 0 to 1");
    if (!(o->checkpoint_seconds >= 0))
        return fail(err, ONET_USAGE, "the checkpoint interval must not be negative");
    if (!(o->forget >= 0 && o->forget < 1))
        return fail(err, ONET_USAGE, "the share of forgotten words is at least 0 and less than 1");
    return ONET_OK;
}

static onet_status check_sets(const onet_sets *train, const onet_sets *valid, onet_error *err) {
    if (!train->count || !train->order)
        return fail(err, ONET_BAD, "training needs sets with their right order: these have %s",
                    train->count ? "no order" : "no set");
    if (valid && (!valid->order || valid->width != train->width))
        return fail(err, ONET_BAD,
                    "the validation sets need an order, and items of width %d as the training sets have",
                    train->width);
    if (valid && (!valid->word != !train->word || (valid->word && !words_same(valid->words, train->words))))
        return fail(err, ONET_BAD, "the validation sets must be of words of the training sets' vocabulary");
    return ONET_OK;
}

/* Mean and 1/deviation of each feature over all items. Item by item, as they lie in memory. */
static onet_status standardise(onet_model *model, const onet_sets *sets, onet_error *err) {
    size_t d = (size_t)sets->width, items = sets->start[sets->count];
    double *mean = calloc(2 * d, sizeof *mean), *square = mean + d;
    if (!mean) return fail_memory(err, "the features' statistics");
    for (size_t i = 0; i < items; i++) {
        const float *x = sets_item(sets, i);
        for (size_t c = 0; c < d; c++) mean[c] += (double)x[c];
    }
    for (size_t c = 0; c < d; c++) mean[c] /= (double)items;
    for (size_t i = 0; i < items; i++) {
        const float *x = sets_item(sets, i);
        for (size_t c = 0; c < d; c++) square[c] += ((double)x[c] - mean[c]) * ((double)x[c] - mean[c]);
    }
    for (size_t c = 0; c < d; c++) {
        double deviation = sqrt(square[c] / (double)items);
        model->mean[c] = (float)mean[c];
        model->scale[c] = deviation > 1e-12 * (1 + fabs(mean[c])) ? (float)(1 / deviation) : 1;
    }
    free(mean);
    return ONET_OK;
}

/* Uniform in +-1/sqrt(fan-in) for weights, biases and the start vector; norms 1 and 0. */
static void initialise(const shape *sh, uint64_t seed, float *theta) {
    double bound = 1;
    for (int k = 0; k < sh->tensors; k++) {
        const tensor *t = &sh->tensor[k];
        float *to = theta + t->offset;
        rng r;
        rng_seed(&r, seed, UINT64_C(0x696e697400000000) + (uint64_t)k);
        if (strstr(t->name, "norm")) {
            int one = strstr(t->name, ".weight") || strstr(t->name, "running_var");
            for (size_t i = 0; i < t->size; i++) to[i] = one ? 1 : 0;
            continue;
        }
        /* A bias has the fan-in of the weight before it. */
        if (t->dims > 1)
            bound = 1 / sqrt((double)t->shape[1] * (t->dims > 2 ? t->shape[2] : 1));
        else if (!strcmp(t->name, "decoder.start"))
            bound = 1 / sqrt((double)t->shape[0]);
        for (size_t i = 0; i < t->size; i++) to[i] = (float)((2 * rng_uniform(&r) - 1) * bound);
    }
}

static double rate_at(const run *r, uint64_t step) {
    double done = (double)step / (double)r->steps, warm = r->o.warmup, rate = r->o.learning_rate;
    if (done < warm) return rate * ((double)step + 1) / (warm * (double)r->steps + 1);
    if (r->o.schedule == ONET_CONSTANT) return rate;
    return rate * 0.5 * (1 + cos(3.14159265358979323846 * (done - warm) / (1 - warm + 1e-12)));
}

/* ---- files beside the model ---- */

/* "m.safetensors" and ".best.safetensors" give "m.best.safetensors". */
static char *beside(const char *model_path, const char *ending) {
    static const char own[] = ".safetensors";
    size_t length = strlen(model_path), cut = sizeof own - 1;
    if (length > cut && !strcmp(model_path + length - cut, own)) length -= cut;
    char *path = malloc(length + strlen(ending) + 1);
    if (!path) return NULL;
    memcpy(path, model_path, length);
    strcpy(path + length, ending);
    return path;
}

/* The end of the last whole row among the first `most` bytes: after a crash the disk may lack some of them.
 */
static off_t whole_rows(FILE *log, uint64_t most) {
    off_t end = 0, at = 0;
    for (int c; (uint64_t)at < most && (c = getc(log)) != EOF;) {
        at++;
        if (c == '\n') end = at;
    }
    return end;
}

static onet_status open_log(run *r, onet_error *err) {
    r->log = fopen(r->log_path, r->s.log_bytes ? "r+" : "w");
    if (!r->log && r->s.log_bytes) { /* the log was removed: begin a new one */
        r->s.log_bytes = 0;
        r->log = fopen(r->log_path, "w");
    }
    if (!r->log)
        return fail(err, ONET_IO, "cannot write %s: %s; make room or name another place", r->log_path,
                    strerror(errno));
    /* Rows written after the checkpoint are made anew. */
    off_t end = r->s.log_bytes ? whole_rows(r->log, r->s.log_bytes) : 0;
    if (ftruncate(fileno(r->log), end) || fseeko(r->log, end, SEEK_SET))
        return fail(err, ONET_IO, "cannot write %s: %s; make room or name another place", r->log_path,
                    strerror(errno));
    if (!end)
        fprintf(r->log, "step,epoch,loss,learning_rate,valid_exact,examples_per_second,seconds,kernels\n");
    return ONET_OK;
}

static double mean_loss(const run *r) {
    return r->s.loss_weight > 0 ? r->s.loss / r->s.loss_weight : NAN;
}

static void log_row(run *r) {
    if (!r->log) return;
    double seconds = clock_seconds() - r->started;
    uint64_t epoch = (r->s.step + r->plan->count - 1) / r->plan->count;
    fprintf(r->log, "%" PRIu64 ",%" PRIu64 ",%.6f,%.6g,", r->s.step, epoch, mean_loss(r),
            rate_at(r, r->s.step ? r->s.step - 1 : 0));
    if (!isnan(r->s.valid_exact)) fprintf(r->log, "%.6f", r->s.valid_exact);
    fprintf(r->log, ",%.1f,%.2f,%s\n", seconds > 0 ? (double)r->examples / seconds : 0,
            r->seconds_before + seconds, net_kernels(r->net));
}

/* Copies the parameters and their averages from where they are computed. */
static onet_status fetch(run *r, onet_error *err) {
    const block_ops *ops = r->net->ops;
    onet_status status = ops->get(r->net, NET_THETA, r->s.theta, err);
    if (!status && r->s.average) status = ops->get(r->net, NET_AVERAGE, r->s.average, err);
    if (!status && r->s.vec) status = ops->get(r->net, NET_VECTORS, r->s.vec, err);
    if (!status && r->s.vec_average) status = ops->get(r->net, NET_VECTORS_AVERAGE, r->s.vec_average, err);
    return status;
}

static onet_status save_checkpoint(run *r, onet_error *err) {
    const block_ops *ops = r->net->ops;
    onet_status status = fetch(r, err);
    if (!status) status = ops->get(r->net, NET_M, r->s.m, err);
    if (!status) status = ops->get(r->net, NET_V, r->s.v, err);
    if (!status && r->s.vec) status = ops->get(r->net, NET_VECTORS_M, r->s.vec_m, err);
    if (!status && r->s.vec) status = ops->get(r->net, NET_VECTORS_V, r->s.vec_v, err);
    if (status) return status;
    for (size_t i = 0; i < r->s.params; i++)
        if (!isfinite(r->s.theta[i]))
            return fail(err, ONET_FAILED,
                        "a parameter is no longer a number at step %" PRIu64
                        ": try a lower learning rate or --clip 1",
                        r->s.step);
    if (!r->checkpoint) return ONET_OK;
    if (r->log) {
        if (fflush(r->log))
            return fail(err, ONET_IO, "cannot write %s: %s; make room or name another place", r->log_path,
                        strerror(errno));
        r->s.log_bytes = (uint64_t)ftell(r->log);
    }
    r->s.seconds = r->seconds_before + clock_seconds() - r->started;
    status = checkpoint_write(&r->s, r->settings, r->checkpoint, err);
    if (!status) r->saved_step = r->s.step;
    r->last_checkpoint = clock_seconds();
    return status;
}

/* The sets of a batch, as many of them as are here. */
static void take_batch(run *r, const batch *b) {
    const uint32_t *index = r->plan->index + b->first;
    int here = b->count, n = (int)sets_size(r->train, index[0]);
    if (r->w) {
        here = shard_pick(r->w, index, b->count, r->index, r->place);
        index = r->index;
        r->net->all = b->count;
        r->net->place = r->place;
    }
    r->net->ops->take(r->net, index, here, n);
}

static onet_status forget_words(run *r, uint64_t epoch, onet_error *err) {
    if (!r->forget) return ONET_OK;
    forget_draw(r->forget, r->own, r->o.forget, r->o.seed, epoch, r->w ? (uint64_t)r->w->rank : 0,
                r->w ? (uint64_t)r->w->size : 1);
    return r->net->ops->data(r->net, &r->forget->sets, r->model->mean, r->model->scale, r->s.vec != NULL,
                             err);
}

/* What the norms see of a batch with the model's parameters, beginning with statistics of 0. */
static onet_status measure_batch(run *r, const batch *b, float *theta, sizes *found, onet_error *err) {
    const shape *sh = &r->model->sh;
    size_t count = sh->total - sh->trained;
    memset(theta + sh->trained, 0, count * sizeof *theta);
    onet_status status = r->net->ops->put(r->net, NET_THETA, theta, err);
    if (status) return status;
    take_batch(r, b);
    step_forward(r->net);
    if ((status = r->net->ops->get(r->net, NET_THETA, theta, err))) return status;
    for (size_t i = 0; i < count; i++) theta[sh->trained + i] /= (float)NORM_MOMENTUM;
    sizes_add(found, b->count, (int)sets_size(r->train, r->plan->index[b->first]), theta + sh->trained);
    return ONET_OK;
}

/* Measures the norms' statistics with the model's parameters, on batches of whole sets, and how they go with
 * the size. The net has its own parameters again afterwards. */
static onet_status measure(run *r, onet_error *err) {
    const block_ops *ops = r->net->ops;
    const shape *sh = &r->model->sh;
    uint64_t most = (MEASURED + (uint64_t)r->plan->largest - 1) / (uint64_t)r->plan->largest;
    const uint64_t epoch = UINT32_MAX; /* none that is trained on */
    batches_shuffle(r->plan, r->o.seed, epoch);
    r->planned = 0;
    float *theta = array_new(sh->total, sizeof *theta);
    sizes found;
    onet_status status = sizes_new(&found, sh) && theta ? ONET_OK : fail_memory(err, "the norms' statistics");
    if (!status) memcpy(theta, r->model->theta, sh->total * sizeof *theta);
    if (!status) status = forget_words(r, epoch, err);
    if (!status && r->s.vec) status = ops->put(r->net, NET_VECTORS, r->model->words->vectors, err);
    status = world_agree(r->w, status, err);
    for (uint64_t b = 0; b < most && b < r->plan->count && !status; b++)
        status = measure_batch(r, &r->plan->batch[b], theta, &found, err);
    if (!status) sizes_fit(&found, r->model);
    if (!status) status = ops->put(r->net, NET_THETA, r->s.theta, err);
    if (!status && r->s.vec) status = ops->put(r->net, NET_VECTORS, r->s.vec, err);
    sizes_free(&found);
    free(theta);
    return status;
}

/* Fills the model with the parameters as they are now (or their average), the norms' statistics and the
 * training record. All processes do it together. */
static onet_status fill_model(run *r, onet_error *err) {
    onet_model *model = r->model;
    if (r->filled == r->s.step + 1) return ONET_OK;
    onet_status status = fetch(r, err);
    if (status) return status;
    memcpy(model->theta, r->s.average && r->s.step >= AVERAGE_EVERY ? r->s.average : r->s.theta,
           r->s.params * sizeof(float));
    if (r->s.vec)
        memcpy(model->words->vectors,
               r->s.vec_average && r->s.step >= AVERAGE_EVERY ? r->s.vec_average : r->s.vec,
               r->s.vectors * sizeof(float));
    if (r->o.statistics == ONET_STATISTICS_SIZED && (status = measure(r, err))) return status;
    r->filled = r->s.step + 1;
    return ONET_OK;
}

static onet_status record_progress(run *r, onet_error *err) {
    onet_model *model = r->model;
    char step[32], loss[32], exact[32];
    snprintf(step, sizeof step, "%" PRIu64, r->s.step);
    snprintf(loss, sizeof loss, "%.6f", mean_loss(r));
    snprintf(exact, sizeof exact, "%.6f", r->s.valid_exact);
    onet_status status = model_record_set(model, "steps", step, err);
    if (!status) status = model_record_set(model, "loss", loss, err);
    if (!status && !isnan(r->s.valid_exact)) status = model_record_set(model, "valid.exact", exact, err);
    return status;
}

/* ---- progress and validation ---- */

static int report(run *r, int always) {
    double t = clock_seconds();
    if (!r->o.progress || (!always && t - r->last_progress < 0.1)) return 0;
    r->last_progress = t;
    double seconds = t - r->started, rate = seconds > 0 ? (double)r->examples / seconds : 0;
    uint64_t epoch = r->s.step / r->plan->count + 1;
    double left = (double)(r->steps - r->s.step) * ((double)r->plan->used / (double)r->plan->count);
    onet_progress p = {.epoch = epoch > (uint64_t)r->o.epochs ? r->o.epochs : (int)epoch,
                       .epochs = r->o.epochs,
                       .step = r->s.step,
                       .steps = r->steps,
                       .loss = mean_loss(r),
                       .learning_rate = rate_at(r, r->s.step),
                       .valid_exact = r->s.valid_exact,
                       .examples_per_second = rate,
                       .seconds = r->seconds_before + seconds,
                       .seconds_left = rate > 0 ? left / rate : NAN};
    return r->o.progress(r->o.context, &p);
}

/* A view of `count` sets from `first` on. start is rebased into `at`, [VALID_BLOCK + 1]. */
static onet_sets view(const onet_sets *s, size_t first, size_t count, size_t *at) {
    size_t base = s->start[first];
    for (size_t i = 0; i <= count; i++) at[i] = s->start[first + i] - base;
    onet_sets v = *s;
    v.count = count;
    v.start = at;
    if (s->items) v.items = s->items + base * (size_t)s->width;
    if (s->word) v.word = s->word + base;
    v.order = s->order + base;
    return v;
}

/* Share of validation sets that a greedy search puts in exactly the right order. */
static onet_status validate(run *r, int *stop, onet_error *err) {
    if (!r->validates && r->s.step < r->steps) return ONET_OK;
    onet_status status = fill_model(r, err);
    if (status || !r->valid) return status;
    size_t count = r->valid->count, right = 0, largest = 0;
    if (r->o.valid_limit > 0 && count > (size_t)r->o.valid_limit) count = (size_t)r->o.valid_limit;
    for (size_t s = 0; s < count; s += VALID_BLOCK) {
        size_t end = s + VALID_BLOCK < count ? s + VALID_BLOCK : count;
        if (r->valid->start[end] - r->valid->start[s] > largest)
            largest = r->valid->start[end] - r->valid->start[s];
    }
    onet_orderer *orderer = NULL;
    int32_t *order = array_new(largest, sizeof *order);
    onet_answer *answer = array_new(VALID_BLOCK, sizeof *answer);
    size_t *at = array_new(VALID_BLOCK + 1, sizeof *at);
    if (!order || !answer || !at) status = fail_memory(err, "the validation");
    if (!status)
        status = onet_orderer_new(
            &orderer, r->model,
            &(onet_order_options){.decode = ONET_GREEDY, .threads = r->o.threads, .kernels = r->o.kernels},
            err);
    for (size_t s = 0; s < count && !status; s += VALID_BLOCK) {
        size_t here = s + VALID_BLOCK < count ? VALID_BLOCK : count - s;
        onet_sets block = view(r->valid, s, here, at);
        for (size_t i = 0; i < here; i++) answer[i] = (onet_answer){.order = order + at[i]};
        status = onet_orderer_run(orderer, &block, answer, err);
        onet_report rep;
        if (!status) status = onet_measure_sets(&rep, &block, answer, NULL, 0, err);
        if (!status) right += (size_t)llround(rep.exact.mean * (double)here);
        if (!status && report(r, 0)) *stop = 1;
    }
    onet_orderer_free(orderer);
    free(order);
    free(answer);
    free(at);
    if (status) return status;
    r->s.valid_exact = (double)right / (double)count;
    if (r->s.valid_exact > r->s.best_exact) {
        r->s.best_exact = r->s.valid_exact;
        if (r->best && !(status = record_progress(r, err))) status = onet_model_save(r->model, r->best, err);
    }
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

static onet_status one_step(run *r, onet_error *err) {
    const block_ops *ops = r->net->ops;
    uint64_t epoch = r->s.step / r->plan->count, at = r->s.step % r->plan->count;
    if (r->planned != epoch + 1) {
        batches_shuffle(r->plan, r->o.seed, epoch);
        r->planned = epoch + 1;
        onet_status status = forget_words(r, epoch, err);
        if (status) return status;
    }
    const batch *b = &r->plan->batch[at];
    take_batch(r, b);
    step_forward(r->net);
    step_backward(r->net);
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
    if (r->s.step % (uint64_t)r->net->loss_every == 0) {
        double loss = ops->loss(r->net);
        if (!isfinite(loss)) {
            onet_status status = fetch(r, err); /* a device that failed says why */
            if (status) return status;
            char saved[64] = "there is no checkpoint yet";
            if (r->saved_step != UINT64_MAX)
                snprintf(saved, sizeof saved, "the last good checkpoint is of step %" PRIu64, r->saved_step);
            return fail(err, ONET_FAILED,
                        "the loss is no longer a number at step %" PRIu64
                        "; %s. Try a lower learning rate or --clip 1",
                        r->s.step, saved);
        }
        r->s.loss = 0.99 * r->s.loss + 0.01 * loss;
        r->s.loss_weight = 0.99 * r->s.loss_weight + 0.01;
    }
    if (r->s.average && r->s.step % AVERAGE_EVERY == 0) move_average(r);
    return ONET_OK;
}

/* What is due between two steps: log, validation, progress, checkpoint. */
static onet_status after_step(run *r, uint64_t log_every, int *stop, onet_error *err) {
    onet_status status = ONET_OK;
    int ends = r->s.step % r->plan->count == 0 || r->s.step == r->steps; /* of an epoch, or of all */
    if (ends) status = validate(r, stop, err);
    if (ends || r->s.step % log_every == 0) log_row(r);
    if (report(r, ends)) *stop = 1;
    if (!status && r->o.checkpoint_seconds > 0 &&
        clock_seconds() - r->last_checkpoint >= r->o.checkpoint_seconds)
        status = save_checkpoint(r, err);
    return status;
}

/* All processes stop, fail or go on together. */
static onet_status together(run *r, onet_status status, int *stop, onet_error *err) {
    if (!r->w) return status;
    status = world_agree(r->w, !status && *stop ? ONET_INTERRUPTED : status, err);
    *stop = status == ONET_INTERRUPTED;
    return *stop ? ONET_OK : status;
}

static onet_status loop(run *r, onet_error *err) {
    uint64_t log_every = r->steps / LOG_ROWS + 1;
    r->started = r->last_checkpoint = clock_seconds();
    int stop = report(r, 1);
    onet_status status = together(r, ONET_OK, &stop, err);
    while (r->s.step < r->steps && !stop && !status) {
        status = one_step(r, err);
        if (!status) status = after_step(r, log_every, &stop, err);
        status = together(r, status, &stop, err);
    }
    if (status) return status;
    status = world_agree(r->w, save_checkpoint(r, err), err);
    if (!status) report(r, 1);
    if (!status && r->s.step < r->steps)
        status = fail(err, ONET_INTERRUPTED, "stopped at step %" PRIu64 " of %" PRIu64, r->s.step, r->steps);
    return status;
}

/* What makes two runs the same run. */
static void name_run(run *r) {
    const onet_train_options *o = &r->o;
    const onet_settings *s = &r->model->sh.s;
    snprintf(
        r->settings, sizeof r->settings,
        "data=%.16s sets=%zu items=%zu width=%d encoder=%d,%d,%d,%s decoder=%d,%d batch=%d steps=%" PRIu64
        " rate=%.9g,%s,%.9g adam=%.9g,%.9g,%.9g decay=%.9g clip=%.9g average=%.9g seed=%" PRIu64
        " standardise=%d vectors=%d forget=%.9g",
        r->train->hash[0] ? r->train->hash : "memory", r->train->count, r->train->start[r->train->count],
        s->width, s->encoder_blocks, s->hidden, s->encoder_out, s->pool == ONET_POOL_MEAN ? "mean" : "max",
        s->decoder_blocks, s->decoder_out, o->batch, r->steps, o->learning_rate,
        o->schedule == ONET_COSINE ? "cosine" : "constant", o->warmup, o->beta1, o->beta2, o->epsilon,
        o->weight_decay, o->clip, o->average, o->seed, o->standardise, o->train_vectors, o->forget);
}

static onet_status record(run *r, onet_error *err) {
    char sets[32], seed[32], batch_size[32];
    snprintf(sets, sizeof sets, "%zu", r->train->count);
    snprintf(seed, sizeof seed, "%" PRIu64, r->o.seed);
    snprintf(batch_size, sizeof batch_size, "%d", r->o.batch);
    const char *pairs[][2] = {{"data.sha256", r->train->hash},
                              {"data.sets", sets},
                              {"seed", seed},
                              {"batch", batch_size},
                              {"run", r->settings},
                              {"kernels", net_kernels(r->net)},
                              {"statistics", r->o.statistics == ONET_STATISTICS_SIZED ? "sized" : "running"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        onet_status status = model_record_set(r->model, pairs[i][0], pairs[i][1], err);
        if (status) return status;
    }
    return r->o.precision == ONET_TF32 ? model_record_set(r->model, "precision", "tf32", err) : ONET_OK;
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
    if ((status = model_new(&r->model, &settings, err)) ||
        (status = batches_new(&r->plan, r->train, r->o.batch, err)))
        return status;
    const shape *sh = &r->model->sh;
    r->steps = r->plan->count * (uint64_t)r->o.epochs;
    if (r->o.max_steps && r->o.max_steps < r->steps) r->steps = r->o.max_steps;
    if (r->o.forget > 0 && (status = forget_new(&r->forget, r->own, err))) return status;
    if (r->own->word && !(r->model->words = words_copy(r->own->words)))
        return fail_memory(err, "the vocabulary");
    int vectors = r->own->word && r->o.train_vectors;
    size_t vector_numbers = vectors ? (size_t)r->own->words->count * (size_t)r->own->width : 0;
    if ((status = state_new(&r->s, sh->total, vector_numbers, r->o.average > 0, err))) return status;
    initialise(sh, r->o.seed, r->s.theta);
    if (vectors) memcpy(r->s.vec, r->own->words->vectors, vector_numbers * sizeof(float));
    name_run(r);
    r->saved_step = UINT64_MAX;
    if (r->w && (!(r->index = array_new((size_t)r->plan->largest, sizeof *r->index)) ||
                 !(r->place = array_new((size_t)r->plan->largest, sizeof *r->place))))
        return fail_memory(err, "the batches");
    return ONET_OK;
}

static onet_status find_files(run *r, onet_error *err) {
    if (!r->o.model_path) return ONET_OK;
    r->checkpoint = beside(r->o.model_path, ".checkpoint.safetensors");
    r->best = beside(r->o.model_path, ".best.safetensors");
    r->log_path = beside(r->o.model_path, ".log.csv");
    if (!r->checkpoint || !r->best || !r->log_path) return fail_memory(err, "the names of the files");
    int found = 0;
    onet_status status = ONET_OK;
    if (r->o.resume && (status = checkpoint_read(&r->s, r->settings, r->checkpoint, &found, err)))
        return status;
    if (found) r->saved_step = r->s.step;
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

/* All processes compute on the same kind of device: where only some have found a GPU, on processors. */
static onet_status open_device(run *r, onet_error *err) {
    const shape *sh = &r->model->sh;
    onet_status status =
        world_agree(r->w, net_open(&r->net, sh, r->o.device, r->o.kernels, r->o.threads, err), err);
    if (status || !r->w) return status;
    double gpus = strcmp(r->net->ops->name, "cpu") != 0;
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
        if (strcmp(r->net->ops->name, "cpu") == 0)
            return fail(
                err, ONET_USAGE,
                "precision tf32 needs a GPU, and this training runs on processors: leave it out, or train "
                "with --device cuda");
        r->net->tf32 = 1;
    }
    if (r->w) {
        r->net->sum = sum;
        r->net->sum_floats = sum_floats;
        r->net->sum_context = (void *)(uintptr_t)r->w;
    }
    /* With several processes too: chance may bring all sets of a batch to one of them. */
    for (int g = 0; g < r->plan->groups; g++) {
        uint32_t here = r->plan->group[g + 1] - r->plan->group[g];
        int B = here < (uint32_t)r->plan->largest ? (int)here : r->plan->largest;
        if ((status = r->net->ops->reserve(r->net, B, r->plan->size[g], err))) return status;
    }
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

/* What may fail in one process is agreed on before the next call in which they wait for each other. */
static onet_status prepare(run *r, onet_error *err) {
    const world *w = r->w;
    int first = !w || !w->rank;
    onet_status status = world_agree(w, first ? check_sets(r->train, r->valid, err) : ONET_OK, err);
    if (status) return status;
    if (w) {
        if ((status = shard_make(&r->shard, w, r->train, err))) return status;
        if (!first) r->train = r->shard.plan;
        r->own = r->shard.own;
    } else
        r->own = r->train;
    if ((status = world_agree(w, make_state(r, err), err))) return status;
    if (first && r->o.standardise) status = standardise(r->model, r->train, err);
    if (first && !status) status = find_files(r, err);
    status = world_agree(w, status, err);
    if (status) return status;
    if (w) {
        w->broadcast(w, 0, &r->validates, sizeof r->validates);
        w->broadcast(w, 0, r->model->mean, (size_t)r->train->width * sizeof *r->model->mean);
        w->broadcast(w, 0, r->model->scale, (size_t)r->train->width * sizeof *r->model->scale);
        state_share(&r->s, w);
    }
    r->seconds_before = r->s.seconds;
    if ((status = world_agree(w, open_net(r, err), err))) return status;
    /* When all else is ready: a run that cannot start leaves the log of the one before. */
    return world_agree(w, r->log_path ? open_log(r, err) : ONET_OK, err);
}

onet_status train_together(const world *w, onet_model **model, const onet_sets *train, const onet_sets *valid,
                           const onet_train_options *options, onet_error *err) {
    run r = {.w = w, .train = train, .valid = valid && valid->count ? valid : NULL, .o = *options};
    r.validates = r.valid != NULL;
    char device[24];
    *model = NULL;
    if (w && !r.o.threads) r.o.threads = w->processors;
    r.o.device = world_device(w, r.o.device, device);
    onet_status status = check_options(options, err);
    if (!status) status = prepare(&r, err);
    if (!status) status = loop(&r, err);
    if (!status) {
        status = fill_model(&r, err);
        if (!status) status = record_progress(&r, err);
        if (!status && r.checkpoint) status = onet_model_save(r.model, options->model_path, err);
        status = world_agree(w, status, err);
    }
    if (r.log && fclose(r.log) && !status)
        status = fail(err, ONET_IO, "cannot write %s: %s; make room or name another place", r.log_path,
                      strerror(errno));
    if (r.net) r.net->ops->close(r.net);
    batches_free(r.plan);
    forget_free(r.forget);
    state_free(&r.s);
    if (w) shard_free(&r.shard, w);
    free(r.index);
    free(r.place);
    free(r.checkpoint);
    free(r.best);
    free(r.log_path);
    if (status)
        onet_model_free(r.model);
    else
        *model = r.model;
    return status;
}

onet_status onet_train(onet_model **model, const onet_sets *train, const onet_sets *valid,
                       const onet_train_options *options, onet_error *err) {
    return train_together(NULL, model, train, valid, options, err);
}
