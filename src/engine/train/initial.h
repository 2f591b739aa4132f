/* The state before the first training step: scale of the features, initial parameters. */
#ifndef TRAIN_INITIAL_H
#define TRAIN_INITIAL_H

#include "engine/model/model.h"

/* The model's mean and scale: mean and 1/deviation of each feature over all items. feature [width of the
 * model's sets], or NULL: those that are to stay as they are have ONET_SCALE_NONE. */
onet_status initial_scale(onet_model *model, const onet_sets *sets, const onet_feature *feature,
                          onet_error *err);
/* The deviation of each feature over all items, for noise in proportion: [width]. 0 for a feature with two
 * values at most: no set has a flag between 0 and 1, so noise must not make one. */
onet_status feature_spread(const onet_sets *sets, float *spread, onet_error *err);
/* Uniform in +-1/sqrt(fan-in) for weights, biases and the start vector; norms 1 and 0. */
void initial_parameters(const shape *sh, uint64_t seed, float *theta);

#endif
