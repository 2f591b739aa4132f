/* Initialises a training run: mean and scale that standardise features and relations, the deviations that
 * scale the noise of --jitter (augmentation of features), and the initial parameters. */
#ifndef TRAIN_INITIAL_H
#define TRAIN_INITIAL_H

#include "engine/model/model.h"
#include "ordernet_train.h"

/* The model's mean and scale: mean and 1/deviation of each feature over all items. feature [width of the
 * model's sets], or NULL: those that are to stay as they are have ONET_SCALE_NONE. */
onet_status initial_scale(onet_model *model, const onet_sets *sets, const onet_feature *feature,
                          onet_error *err);
/* The standard deviation of each feature over all items, which scales the noise of --jitter: [width]. 0 for a
 * feature with at most two values: noise must not put a flag between 0 and 1. */
onet_status feature_spread(const onet_sets *sets, float *spread, onet_error *err);
/* Mean and scale of the relations of these names, one per line, of all but those from an item to itself; 0
 * and 1 where the scale, as in onet_train_options, is none. */
onet_status initial_relations(onet_model *model, const onet_sets *sets, const char *names, const char *scale,
                              onet_error *err);
/* Uniform in +-1/sqrt(fan-in) for weights, biases and the start vector; norms 1 and 0. */
void initial_parameters(const net_shape *sh, uint64_t seed, float *theta);

#endif
