/* Sets the defaults of the training options, resolves the automatic weight decay, and checks options, files
 * and sets before training. */
#include "engine/train/options.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/arguments.h"
#include "engine/base/choice.h"
#include "engine/base/error.h"
#include "engine/base/sized.h"
#include "engine/data/columns.h"
#include "engine/data/sets.h"
#include "engine/model/model.h"
#include "engine/train/train.h"
#include "engine/words/words.h"
#include "ordernet_train.h"

void onet_train_defaults(onet_train_options *options, size_t size) {
    onet_train_options own = {.size = sizeof own}, *o = &own;
    onet_settings_preset(&o->settings, "default", NULL);
    /* For data of a user's own, hundreds to thousands of sets of mixed sizes: chosen on the tasks of
     * experiments/own and of tests/long/learn.c, several seeds each. */
    o->batch = 32;
    o->epochs = 20;
    o->learning_rate = 5e-3;
    o->schedule = ONET_COSINE;
    o->warmup = 0.02;
    o->weight_decay = ONET_DECAY_AUTO;
    o->clip = 1;
    o->average = 0.999;
    o->beta1 = 0.9;
    o->beta2 = 0.999;
    o->epsilon = 1e-8;
    o->seed = 1;
    o->standardise = 1;
    o->scale = "auto";
    o->batches = ONET_BATCHES_MIXED;
    o->statistics = ONET_STATISTICS_RUNNING;
    o->checkpoint_seconds = 60;
    o->valid_limit = 2000;
    o->models = 1;
    sized_give(options, size, &own, sizeof own);
}

/* A net that learns from few sets overfits, and decay holds it back; on many it would underfit
 * (experiments/own, weight decay). Weights that were trained before are not shrunk more than they were. */
double train_decay(const onet_train_options *o, size_t sets) {
    if (o->weight_decay != ONET_DECAY_AUTO) return o->weight_decay;
    return o->from ? 0.1 : fmin(0.5, fmax(0.1, 1000 / (double)sets));
}

#define WRONG(field, ...)      fail_field(err, ONET_USAGE, "onet_train_options." field, __VA_ARGS__)
#define WRONG_SETS(field, ...) fail_field(err, ONET_BAD, "onet_train" field, __VA_ARGS__)

onet_status train_check_options(const onet_train_options *o, onet_error *err) {
    onet_status status = check_threads(o->threads, "onet_train_options.threads", err);
    if (status) return status;
    if (o->batch < 1) return WRONG("batch", "the batch is %d sets: at least 1 is needed", o->batch);
    if (o->epochs < 1) return WRONG("epochs", "%d epochs: at least 1 is needed", o->epochs);
    if (!(o->learning_rate > 0) || !isfinite(o->learning_rate))
        return WRONG("learning_rate", "the learning rate must be a positive number");
    if (!(o->warmup >= 0 && o->warmup <= 1))
        return WRONG("warmup", "the share of the steps that warm up must be from 0 to 1");
    if (!(o->beta1 >= 0 && o->beta1 < 1))
        return WRONG("beta1", "Adam's beta1 must be at least 0 and less than 1");
    if (!(o->beta2 >= 0 && o->beta2 < 1))
        return WRONG("beta2", "Adam's beta2 must be at least 0 and less than 1");
    if (!(o->epsilon > 0) || !isfinite(o->epsilon))
        return WRONG("epsilon", "Adam's epsilon must be positive");
    if (o->weight_decay != ONET_DECAY_AUTO && (!(o->weight_decay >= 0) || !isfinite(o->weight_decay)))
        return WRONG("weight_decay", "weight decay must be a number, 0 or more");
    if (!(o->clip >= 0)) return WRONG("clip", "the largest norm of a gradient must not be negative");
    if (!(o->average >= 0 && o->average < 1))
        return WRONG("average", "the decay of the averaged weights must be at least 0 and less than 1");
    if (!(o->checkpoint_seconds >= 0))
        return WRONG("checkpoint_seconds", "the checkpoint interval must not be negative");
    if (!(o->forget >= 0 && o->forget < 1))
        return WRONG("forget", "the share of forgotten words must be at least 0 and less than 1");
    if (o->valid_limit < 0)
        return WRONG("valid_limit", "the number of validation sets per epoch must be 0, for all, or more");
    if (o->patience < 0) return WRONG("patience", "patience must be a number of epochs, 0 or more");
    if (!(o->drop >= 0 && o->drop < 1))
        return WRONG("drop", "the share of items that are left out must be at least 0 and less than 1");
    if (o->crop < 0 || o->crop == 1)
        return WRONG("crop", "sets can be cropped to 2 items or more; 0 leaves them whole");
    if (!(o->jitter >= 0) || !isfinite(o->jitter))
        return WRONG("jitter", "jitter must be a number, 0 or more");
    if (!(o->dropout >= 0 && (float)o->dropout < 1)) /* tested as float, in which the net computes:
                                                      * 0.999999999 would round to 1 */
        return WRONG("dropout",
                     "the share of the pooled features that are dropped must be at least 0 and less than 1");
    if (!(o->stray >= 0 && o->stray < 1))
        return WRONG("stray", "the share of steps that stray must be at least 0 and less than 1");
    if (o->scale && (status = scaling_check_text(o->scale, err))) return status;
    if (o->relate && (status = relating_check_text(o->relate, err))) return status;
    if (o->relate && o->from)
        return WRONG("relate",
                     "a model to begin with keeps the relations that it makes from features: name no others");
    if (o->models < 1 || o->models > ONET_MAX_MERGED)
        return WRONG("models", "%d models: 1 to %d can be trained and merged", o->models, ONET_MAX_MERGED);
    if (o->models > 1 && o->train_vectors)
        return fail_field(
            err, ONET_USAGE, "onet_train_options.train_vectors onet_train_options.models",
            "several models cannot be merged if each trains the word vectors: leave one of the two out");
    if (!choice_of(onet_variations(), o->vary))
        return WRONG("vary", "there is no variation %d", (int)o->vary);
    if (o->vary && o->from)
        return WRONG(
            "vary",
            "fine-tuned models keep the features of the model that they start from, so they cannot vary");
    if (!choice_of(onet_schedules(), o->schedule))
        return WRONG("schedule", "there is no schedule %d", (int)o->schedule);
    if (!choice_of(onet_norm_statistics(), o->statistics))
        return WRONG("statistics", "unknown norm statistics: %d", (int)o->statistics);
    if (!choice_of(onet_batch_kinds(), o->batches))
        return WRONG("batches", "unknown kind of batches: %d", (int)o->batches);
    if (!choice_of(onet_precisions(), o->precision))
        return WRONG("precision", "there is no precision %d", (int)o->precision);
    return ONET_OK;
}

/* Refuses to replace files of an earlier training at a model's path or beside it. */
static onet_status check_new(const char *model_path, onet_error *err) {
    static const char *const endings[] = {NULL, TRAIN_CHECKPOINT, TRAIN_LOG, TRAIN_BEST};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        char *path = endings[i] ? train_beside(model_path, endings[i]) : strdup(model_path);
        if (!path) return fail_memory(err, "the names of the files");
        bool there = !access(path, F_OK);
        if (there)
            fail_field(err, ONET_USAGE, "onet_train_options.resume onet_train_options.keep",
                       "%s is there already: resume that training, replace its files, or name another model",
                       path);
        free(path);
        if (there) return ONET_USAGE;
    }
    return ONET_OK;
}

/* Checks that the checkpoint to resume is of as many models: one model has it beside the model, several have
 * theirs beside m.1.safetensors and so on. */
static onet_status check_resumed(const onet_train_options *o, onet_error *err) {
    char *one = train_beside(o->model_path, TRAIN_CHECKPOINT);
    char *several = train_beside(o->model_path, ".1" TRAIN_CHECKPOINT);
    onet_status status = ONET_OK;
    if (!one || !several)
        status = fail_memory(err, "the names of the files");
    else if (o->models > 1 && !access(one, F_OK))
        status = WRONG("models", "%s is of a training of one model: resume it with one", one);
    else if (o->models == 1 && access(one, F_OK) && !access(several, F_OK))
        status = WRONG("models", "%s is of a training of several models: say how many", several);
    free(one);
    free(several);
    return status;
}

onet_status train_check_files(const onet_train_options *o, onet_error *err) {
    if (!o->model_path) return ONET_OK;
    if (o->resume) return check_resumed(o, err);
    if (!o->keep) return ONET_OK;
    onet_status status = check_new(o->model_path, err);
    for (int number = 1; number <= o->models && o->models > 1 && !status; number++) {
        char *path = train_path_of_model(o->model_path, number);
        status = path ? check_new(path, err) : fail_memory(err, "the names of the files");
        free(path);
    }
    return status;
}

onet_status onet_train_possible(const onet_train_options *options, onet_error *err) {
    onet_train_options own;
    onet_train_defaults(&own, sizeof own);
    onet_status status = sized_take(&own, sizeof own, options, "onet_train_options", err);
    if (!status) status = train_check_options(&own, err);
    return status ? status : train_check_files(&own, err);
}

/* Checks that a training on the sets can begin with the model. */
static onet_status check_from(const onet_sets *train, const onet_model *from, onet_error *err) {
    int width = model_width(from);
    if (model_is_ranker(from))
        return WRONG_SETS(
            "_options.from",
            "the model to begin with is a ranker, which has no blocks to train: begin without it");
    if (!from->words != !train->word)
        return WRONG_SETS("_options.from",
                          "the model to begin with orders %s, but the items of the sets are %s",
                          from->words ? "words" : "numbers", train->word ? "words" : "numbers");
    if (train->width != width)
        return WRONG_SETS(
            "_options.from",
            "the model to begin with orders items of %d feature%s, but those of the sets have %d", width,
            width == 1 ? "" : "s", train->width);
    if (train->word && (!words_same(train->words, from->words) ||
                        memcmp(train->words->vectors, from->words->vectors,
                               (size_t)from->words->count * (size_t)width * sizeof(float)) != 0))
        return fail_field(
            err, ONET_BAD, "onet_read_options.words",
            "the sets' words are not those of the model to begin with: read the sets with its vocabulary");
    onet_status status = model_check_relations(from, train, err);
    return status ? status : columns_check(train->columns, from->columns, err);
}

onet_status train_check_learned(const onet_sets *train, const onet_train_options *o, onet_error *err) {
    if (!train) return fail(err, ONET_USAGE, "onet_train: train is NULL");
    if (!train->count || !train->order)
        return WRONG_SETS(".train",
                          "the training sets %s; give each set an order, in CSV by the column `rank` or "
                          "another that is named",
                          train->count ? "have no right orders to learn from" : "are empty");
    onet_status status = sets_check(train, err);
    if (status) return status;
    if (train->word && o->settings.relative)
        return fail_field(err, ONET_USAGE, "onet_settings.relative",
                          "relative features are for items that are numbers; they are not computed for the "
                          "vectors of words");
    if (o->relate && train->word)
        return WRONG("relate", "relations are made from features that are numbers, and the items are words");
    if (o->train_vectors && !train->word)
        return WRONG("train_vectors",
                     "vectors of words are to be trained, but the items of the sets are numbers");
    return o->from ? check_from(train, o->from, err) : ONET_OK;
}

onet_status train_check_vary(const onet_sets *train, const onet_train_options *o, onet_error *err) {
    if (train->word && o->vary)
        return WRONG("vary", "models can vary only in features of numbers; these items are words");
    return ONET_OK;
}

onet_status train_check_sets(const onet_sets *train, const onet_sets *valid, const onet_train_options *o,
                             onet_error *err) {
    onet_status status = train_check_learned(train, o, err);
    if (!status && valid && (status = sets_check(valid, err)) && status != ONET_MEMORY)
        error_prefix(err, "the validation sets");
    if (status) return status;
    if (!valid && o->patience) return WRONG("patience", "patience needs validation sets: give some");
    if (valid && !valid->order)
        return WRONG_SETS(".valid", "the validation sets have no right orders to compare with; give each set "
                                    "an order, in CSV by the column `rank` or another that is named");
    if (valid && (!valid->word != !train->word || (valid->word && !words_same(valid->words, train->words))))
        return WRONG_SETS(".valid", "the words of the validation sets are not those of the training sets: "
                                    "read both with one vocabulary");
    if (valid && valid->width != train->width)
        return WRONG_SETS(".valid",
                          "an item of the validation sets has %d feature%s, but one of the training sets has "
                          "%d; both need the same",
                          valid->width, valid->width == 1 ? "" : "s", train->width);
    if (valid && sets_relations(valid) != sets_relations(train))
        return WRONG_SETS(
            ".valid",
            "the validation sets have %d relation%s between two items, but the training sets %d; both "
            "need the same",
            sets_relations(valid), sets_relations(valid) == 1 ? "" : "s", sets_relations(train));
    if (valid && valid->pairs && valid->pairs->names && train->pairs->names &&
        strcmp(valid->pairs->names, train->pairs->names) != 0)
        return WRONG_SETS(
            ".valid", "the relations of the validation sets have other names, or another order, than those "
                      "of the training sets; both need the same");
    status = valid ? columns_check(valid->columns, train->columns, err) : ONET_OK;
    if (status) error_prefix(err, "the validation sets");
    return status;
}
