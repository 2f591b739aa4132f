/* Declares the training of one model with one rank or many, the options of each model of an ensemble, the
 * choice of the pool where it is AUTO, the ranker's training for onet_compare, and the names of files beside
 * a model. */
#ifndef TRAIN_TRAIN_H
#define TRAIN_TRAIN_H

#include "engine/base/world.h"
#include "ordernet_train.h"

/* onet_train by all ranks of w (NULL: by this one alone), each with the same options. Rank 0 has the sets and
 * the model to begin with, and writes, validates and reads all files; the others give NULL for both sets, and
 * their options->from is ignored. Every rank gets the same model and, where one of them fails or is to stop,
 * the same status and error message. */
onet_status train_together(const world *w, onet_model **model, const onet_sets *train, const onet_sets *valid,
                           const onet_train_options *options, onet_error *err);

/* Changes the options of an ensemble to those of model `number` (from 0): its seed, and its features as
 * `vary` says. */
void train_options_of_model(onet_train_options *options, int number);

/* Returns `given`, or if that is AUTO the pool for a training on this many sets. */
onet_pool train_pool(onet_pool given, size_t sets);

/* The error message for data in which every set has one item. */
#define NO_ORDER "no set has two items or more: there is no order to learn"
/* As onet_ranker_train, but accepts sets of one item each, which onet_compare may pass: its weights are then
 * 0. */
onet_status ranker_train_any(onet_model **model, const onet_sets *sets, const onet_ranker_options *options,
                             onet_error *err);

/* The endings of files beside a model: m.safetensors has m.best.safetensors. */
#define TRAIN_BEST       ".best.safetensors"
#define TRAIN_CHECKPOINT ".checkpoint.safetensors"
#define TRAIN_LOG        ".log.csv"
#define TRAIN_LOCK       ".lock"
/* Returns the path of such a file, which the caller frees; NULL: out of memory. */
char *train_beside(const char *model_path, const char *ending);
/* Returns the path of one of several models, m.1.safetensors, which the caller frees; NULL: out of memory. */
char *train_path_of_model(const char *model_path, int number);

#endif
