/* Implements onet_train: trains one model, or several at the same time or one after the other; merges several
 * into one, and measures that on the validation sets. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arguments.h"
#include "engine/base/error.h"
#include "engine/base/lock.h"
#include "engine/base/memory.h"
#include "engine/base/sized.h"
#include "engine/base/thread_pool.h"
#include "engine/kernels/device.h"
#include "engine/model/model.h"
#include "engine/train/options.h"
#include "engine/train/train.h"
#include "engine/train/validate.h"

typedef struct several several;

/* One of the models. */
typedef struct model_run {
    several *all;
    onet_progress last; /* as last reported */
    onet_status status;
    onet_error err;
    bool begun, over;
} model_run;

struct several {
    const world *w;
    const onet_train_options *o;
    const onet_sets *train, *valid;
    onet_model *model[ONET_MAX_MERGED], *best[ONET_MAX_MERGED]; /* best: NULL if nothing was validated */
    model_run *run;                                             /* [o->models] */
    int count;                                                  /* of `model` */
    int at_once;                                                /* models that are trained at the same time */
    int threads;                                                /* of each */
    onet_progress last;                                         /* as last told to the caller */
    bool first;                                                 /* rank 0, which has the files */
    bool stop;                /* asked for by the caller, or one has failed */
    thread_pool *thread_pool; /* NULL: one after the other */
    lock lock;
};

/* Reports one model's progress as a part of the whole; models that have not begun are assumed to take as long
 * as this one. Of models that are trained at once the first reports for all, the others only when an epoch
 * ends. */
static int report_progress(void *context, const onet_progress *now) {
    model_run *m = context;
    several *s = m->all;
    thread_pool_hold(s->thread_pool);
    double seconds = 0, left = 0;
    int first = 0;
    m->last = *now;
    for (int i = 0; i < s->o->models; i++) {
        const model_run *one = &s->run[i];
        if (one->begun) {
            seconds += one->last.seconds;
            left += one->over ? 0 : one->last.seconds_left;
        } else
            left += now->seconds + now->seconds_left;
    }
    while (s->run[first].over) first++;
    if (!s->stop && (m == &s->run[first] || now->ended)) {
        s->last = *now;
        s->last.model = (int)(m - s->run) + 1;
        s->last.models = s->o->models;
        s->last.seconds = seconds / s->at_once;
        s->last.seconds_left = left / s->at_once;
        if (s->o->progress && s->o->progress(s->o->context, &s->last)) s->stop = true;
    }
    bool stop = s->stop;
    thread_pool_release(s->thread_pool);
    return stop;
}

static int is_stopped(void *context) {
    several *s = context;
    return s->o->progress && s->o->progress(s->o->context, &s->last);
}

void train_options_of_model(onet_train_options *o, int number) {
    bool differs = number % 4 == 1;
    if (differs && o->vary == ONET_VARY_WITHIN) o->within = !o->within;
    if (differs && o->vary == ONET_VARY_RELATIVE) o->settings.relative = !o->settings.relative;
    o->seed += (uint64_t)number;
    o->vary = ONET_VARY_NOTHING;
    o->models = 1;
}

static void train_member(void *arg, int number, int thread) {
    several *s = arg;
    model_run *m = &s->run[number];
    onet_train_options o = *s->o;
    (void)thread;
    thread_pool_hold(s->thread_pool);
    m->begun = !s->stop;
    thread_pool_release(s->thread_pool);
    if (!m->begun) return;
    char *path = o.model_path ? train_path_of_model(o.model_path, number + 1) : NULL;
    m->status = o.model_path && !path ? fail_memory(&m->err, "the names of the files") : ONET_OK;
    m->status = world_agree(s->w, m->status, &m->err);
    train_options_of_model(&o, number);
    o.threads = s->threads;
    o.model_path = path;
    o.half = 0; /* the merged model is rounded, once */
    o.keep = 0; /* all files were checked before the first training began */
    o.best = o.best || path ? &s->best[number] : NULL;
    o.progress = report_progress;
    o.context = m;
    if (!m->status) m->status = train_together(s->w, &s->model[number], s->train, s->valid, &o, &m->err);
    free(path);
    thread_pool_hold(s->thread_pool);
    m->over = true;
    if (m->status) s->stop = true;
    thread_pool_release(s->thread_pool);
}

/* Trains the models: one process on a CPU trains several at the same time, each with its own threads, since a
 * second thread helps little with a small net; else one after the other. */
static onet_status train_members(several *s, onet_error *err) {
    s->at_once = 1;
    s->threads = s->o->threads;
    if (!s->w && !device_may_be_gpu(s->o->device, s->o->kernels)) {
        if (!(s->thread_pool = thread_pool_new(s->o->threads))) return fail_memory(err, "threads");
        int threads = thread_pool_threads(s->thread_pool);
        if (threads > s->o->models) { /* the others are the models' own */
            thread_pool_free(s->thread_pool);
            if (!(s->thread_pool = thread_pool_new(s->o->models))) return fail_memory(err, "threads");
        }
        s->at_once = thread_pool_threads(s->thread_pool);
        s->threads = threads / s->at_once;
    }
    thread_pool_run(s->thread_pool, s->o->models, train_member, s);
    thread_pool_free(s->thread_pool);
    onet_status status = ONET_OK;
    for (int i = 0; i < s->o->models; i++) { /* a failure rather than the stop that it caused */
        model_run *m = &s->run[i];
        if (m->status && (!status || (status == ONET_INTERRUPTED && m->status != ONET_INTERRUPTED))) {
            status = m->status;
            if (err) *err = m->err;
        }
        onet_model *model = s->model[i], *best = s->best[i];
        s->model[i] = s->best[i] = NULL;
        if (model) {
            s->best[s->count] = best;
            s->model[s->count++] = model;
        }
    }
    return status;
}

/* Removes the files of an earlier training of one model, which this one replaces. */
static onet_status remove_old(const several *s, bool best, onet_error *err) {
    const char *const endings[] = {TRAIN_CHECKPOINT, TRAIN_LOG, best ? TRAIN_BEST : NULL};
    onet_status status = ONET_OK;
    for (size_t i = 0; i < sizeof endings / sizeof *endings && endings[i] && !status; i++) {
        char *path = train_beside(s->o->model_path, endings[i]);
        if (!path)
            status = fail_memory(err, "the names of the files");
        else if (remove(path) && errno != ENOENT)
            status = fail(err, ONET_IO, "cannot remove %s, of an older run: %s", path, strerror(errno));
        free(path);
    }
    return status;
}

/* Merges the best models, for the caller and, at the end, for a file. */
static onet_status merge_best(several *s, bool ended, onet_error *err) {
    onet_model *best = NULL;
    onet_status status = onet_model_merge(&best, (const onet_model *const *)s->best, (size_t)s->count, err);
    if (!status && s->o->half) status = onet_model_set_half(best, 1, err);
    if (!status && ended && s->o->model_path) {
        char *path = train_beside(s->o->model_path, TRAIN_BEST);
        status = path ? onet_model_save(best, path, err) : fail_memory(err, "the names of the files");
        free(path);
    }
    if (status || !s->o->best)
        onet_model_free(best);
    else
        *s->o->best = best;
    return status;
}

/* Measures the merged model, and tells the caller. */
static onet_status validate(several *s, onet_model *model, const onet_sets *valid, onet_error *err) {
    const char *kernels = onet_model_record(s->model[0], "kernels");
    const gpu_choice gpu = gpu_of_rank(s->w ? s->w->local_rank : 0);
    bool on_gpu = kernels && !strcmp(kernels, "cuda");
    validation found;
    onet_status status = validate_sets(&found, model, valid, s->o, on_gpu ? &gpu : NULL, is_stopped, s, err);
    if (status == ONET_INTERRUPTED) return fail(err, status, "stopped while the merged model was measured");
    if (status) return status;
    s->last.valid_exact = found.exact;
    s->last.valid_loglik = found.loglik;
    return validate_note(&found, model, err);
}

static onet_status merge(several *s, onet_model **model, bool ended, onet_error *err) {
    onet_status status = onet_model_merge(model, (const onet_model *const *)s->model, (size_t)s->count, err);
    if (!status && s->o->half) status = onet_model_set_half(*model, 1, err);
    bool best = s->best[0] != NULL; /* after a stop nothing is written */
    if (!status && ended && s->first && s->valid) status = validate(s, *model, s->valid, err);
    if (!status && ended && s->first && s->o->model_path) {
        status = onet_model_save(*model, s->o->model_path, err);
        if (!status && !s->o->resume) status = remove_old(s, !best, err);
    }
    for (int i = 0; i < s->count; i++) best = best && s->best[i];
    if (!status && best) status = merge_best(s, ended, err);
    s->last.seconds_left = 0;
    s->last.ended = 0; /* no epoch has ended */
    if (!status && ended) is_stopped(s);
    return status;
}

static onet_status begin(several *s, onet_error *err) {
    onet_status status = s->train ? train_check_vary(s->train, s->o, err) : ONET_OK;
    if (status || !s->first || !s->o->model_path) return status;
    char *path = train_beside(s->o->model_path, TRAIN_LOCK);
    status = path ? lock_acquire(&s->lock, path, s->o->model_path, err)
                  : fail_memory(err, "the names of the files");
    free(path);
    return status ? status : train_check_files(s->o, err);
}

static onet_status train_several(onet_model **model, const onet_sets *train, const onet_sets *valid,
                                 const onet_train_options *options, onet_error *err) {
    several s = {.w = options->world,
                 .o = options,
                 .train = train,
                 .valid = valid && valid->count ? valid : NULL,
                 .lock = {.fd = -1}};
    s.first = !s.w || !s.w->rank;
    if (options->best) *options->best = NULL;
    onet_status status = train_check_options(options, err);
    if (!status) status = world_agree(s.w, begin(&s, err), err);
    if (!status && !(s.run = array_new((size_t)options->models, sizeof *s.run)))
        status = fail_memory(err, "the models");
    for (int i = 0; !status && i < options->models; i++) s.run[i].all = &s;
    if (!status) status = train_members(&s, err);
    bool kept = status == ONET_INTERRUPTED && options->keep_stopped && s.count;
    if (!status || kept) {
        onet_error late;
        onet_status merged =
            world_agree(s.w, merge(&s, model, !kept, kept ? &late : err), kept ? &late : err);
        if (!status) status = merged;
    }
    if (status && !(status == ONET_INTERRUPTED && options->keep_stopped)) {
        onet_model_free(*model);
        *model = NULL;
    }
    for (int i = 0; i < ONET_MAX_MERGED; i++) {
        onet_model_free(s.model[i]);
        onet_model_free(s.best[i]);
    }
    free(s.run);
    lock_release(&s.lock);
    return status;
}

onet_status onet_train(onet_model **model, const onet_sets *train, const onet_sets *valid,
                       const onet_train_options *options, onet_error *err) {
    NEED(model, "model");
    *model = NULL;
    onet_train_options own;
    onet_train_defaults(&own, sizeof own);
    onet_status status = sized_take(&own, sizeof own, options, "onet_train_options", err);
    if (status) return status;
    if (own.models != 1) return train_several(model, train, valid, &own, err);
    return train_together(own.world, model, train, valid, &own, err);
}
