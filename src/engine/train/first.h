/* What a training begins with. */
#ifndef TRAIN_FIRST_H
#define TRAIN_FIRST_H

#include "engine/model/model.h"

/* The model's mean and scale: mean and 1/deviation of each feature over all items. */
onet_status first_scale(onet_model *model, const onet_sets *sets, onet_error *err);
/* The deviation of each feature over all items, for noise in proportion: [width]. 0 for a feature with two
 * values at most: a flag that is neither 0 nor 1 would be something that no set has. */
onet_status first_spread(const onet_sets *sets, float *spread, onet_error *err);
/* Uniform in +-1/sqrt(fan-in) for weights, biases and the start vector; norms 1 and 0. */
void first_parameters(const shape *sh, uint64_t seed, float *theta);

#endif
