/* onet_train: one model, or several that are trained one after the other and merged. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arguments.h"
#include "engine/base/error.h"
#include "engine/base/lock.h"
#include "engine/base/sized.h"
#include "engine/model/model.h"
#include "engine/train/options.h"
#include "engine/train/train.h"
#include "engine/train/validate.h"

typedef struct several {
    const world *w;
    const onet_train_options *o;
    onet_model *part[MOST_MERGED], *best[MOST_MERGED]; /* best: NULL where nothing was validated */
    int count;                                         /* models so far */
    onet_progress last; /* of the model that is being trained, as last reported */
    double before;      /* seconds of the models before it */
    bool first;         /* rank 0, which has the files */
    lock lock;
} several;

/* Reports one model's progress as a part of the whole, as if the remaining models took as long as
 * this one. */
static int tell(void *context, const onet_progress *now) {
    several *s = context;
    double whole = now->seconds + now->seconds_left;
    s->last = *now;
    s->last.model = s->count + 1;
    s->last.models = s->o->models;
    s->last.seconds += s->before;
    s->last.seconds_left += whole * (s->o->models - s->last.model);
    return s->o->progress ? s->o->progress(s->o->context, &s->last) : 0;
}

static int look(void *context) {
    several *s = context;
    return s->o->progress && s->o->progress(s->o->context, &s->last);
}

static onet_status train_next(several *s, const onet_sets *train, const onet_sets *valid, onet_error *err) {
    onet_train_options o = *s->o;
    char *path = o.model_path ? train_part(o.model_path, s->count + 1) : NULL;
    onet_status status = o.model_path && !path ? fail_memory(err, "the names of the files") : ONET_OK;
    status = world_agree(s->w, status, err);
    o.models = 1;
    o.seed += (uint64_t)s->count;
    o.model_path = path;
    o.half = 0; /* the merged model is rounded, once */
    o.keep = 0; /* all files were checked before the first training began */
    o.best = o.best || path ? &s->best[s->count] : NULL;
    o.progress = tell;
    o.context = s;
    if (!status) status = train_together(s->w, &s->part[s->count], train, valid, &o, err);
    free(path);
    if (s->part[s->count]) s->count++;
    s->before = s->last.seconds;
    return status;
}

/* Files of an earlier training of one model, which this one replaces. */
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

/* The best models, merged: to the caller and, at the end, to a file. */
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
    const char *kernels = onet_model_record(s->part[0], "kernels");
    const gpu_choice gpu = gpu_of_rank(s->w ? s->w->local_rank : 0);
    bool on_gpu = kernels && !strcmp(kernels, "cuda");
    validation found;
    onet_status status = validate_sets(&found, model, valid, s->o, on_gpu ? &gpu : NULL, look, s, err);
    if (status == ONET_INTERRUPTED) return fail(err, status, "stopped while the merged model was measured");
    if (status) return status;
    s->last.valid_exact = found.exact;
    s->last.valid_loglik = found.loglik;
    return validate_record(&found, model, err);
}

static onet_status merge(several *s, onet_model **model, const onet_sets *valid, onet_error *err) {
    onet_status status = onet_model_merge(model, (const onet_model *const *)s->part, (size_t)s->count, err);
    if (!status && s->o->half) status = onet_model_set_half(*model, 1, err);
    bool ended = s->count == s->o->models, best = s->best[0] != NULL; /* after a stop nothing is written */
    if (!status && ended && s->first && valid) status = validate(s, *model, valid, err);
    if (!status && ended && s->first && s->o->model_path) {
        status = onet_model_save(*model, s->o->model_path, err);
        if (!status && !s->o->resume) status = remove_old(s, !best, err);
    }
    for (int i = 0; i < s->count; i++) best = best && s->best[i];
    if (!status && best) status = merge_best(s, ended, err);
    s->last.seconds_left = 0;
    s->last.ended = 0; /* no epoch of a model */
    if (!status && ended) look(s);
    return status;
}

static onet_status open_files(several *s, onet_error *err) {
    if (!s->first || !s->o->model_path) return ONET_OK;
    char *path = train_beside(s->o->model_path, TRAIN_LOCK);
    onet_status status =
        path ? lock_take(&s->lock, path, s->o->model_path, err) : fail_memory(err, "the names of the files");
    free(path);
    return status ? status : train_check_files(s->o, err);
}

static onet_status train_several(onet_model **model, const onet_sets *train, const onet_sets *valid,
                                 const onet_train_options *options, onet_error *err) {
    several s = {.w = options->world, .o = options, .lock = {.fd = -1}};
    s.first = !s.w || !s.w->rank;
    if (options->best) *options->best = NULL;
    if (valid && !valid->count) valid = NULL;
    onet_status status = train_check_options(options, err);
    if (!status) status = world_agree(s.w, open_files(&s, err), err);
    while (!status && s.count < options->models) status = train_next(&s, train, valid, err);
    bool kept = status == ONET_INTERRUPTED && options->keep_stopped && s.count;
    if (!status || kept) {
        onet_error late;
        onet_status merged =
            world_agree(s.w, merge(&s, model, valid, kept ? &late : err), kept ? &late : err);
        if (!status) status = merged;
    }
    if (status && !(status == ONET_INTERRUPTED && options->keep_stopped)) {
        onet_model_free(*model);
        *model = NULL;
    }
    for (int i = 0; i < MOST_MERGED; i++) {
        onet_model_free(s.part[i]);
        onet_model_free(s.best[i]);
    }
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
