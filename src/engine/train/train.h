/* Declares the training of one model with one rank or many, and the names of files beside a model. */
#ifndef TRAIN_TRAIN_H
#define TRAIN_TRAIN_H

#include "engine/base/world.h"
#include "ordernet_train.h"

/* onet_train by all ranks of w (NULL: by this one alone), each with the same options. Rank 0 has the sets and
 * the model to begin with, and writes, validates and reads all files; the others give NULL for both sets, and
 * their options->from is ignored. Every rank gets the same model and, where one of them fails or is to stop,
 * the same status and sentence. */
onet_status train_together(const world *w, onet_model **model, const onet_sets *train, const onet_sets *valid,
                           const onet_train_options *options, onet_error *err);

/* Turns the options of an ensemble into those of model `number` (from 0): its seed, and its features as
 * `vary` says. */
void train_options_of_model(onet_train_options *options, int number);

/* The pool of a training on this many sets if `given` is AUTO; else `given`. */
onet_pool train_pool(onet_pool given, size_t sets);

/* What a training says of data in which every set has one item. */
#define NO_ORDER "no set has two items or more: there is no order to learn"
/* onet_ranker_train, also of sets that have no order to learn: its scores are then equal, as in a comparison
 * of sets of one item. */
onet_status ranker_train_any(onet_model **model, const onet_sets *sets, const onet_ranker_options *options,
                             onet_error *err);

/* What stands beside a model: m.safetensors has m.best.safetensors. */
#define TRAIN_BEST       ".best.safetensors"
#define TRAIN_CHECKPOINT ".checkpoint.safetensors"
#define TRAIN_LOG        ".log.csv"
#define TRAIN_LOCK       ".lock"
/* The name of one of them, allocated; NULL: out of memory. */
char *train_beside(const char *model_path, const char *ending);
/* The same for the path of one of several models: m.1.safetensors. */
char *train_path_of_model(const char *model_path, int number);

#endif
