/* What a training begins with. */
#ifndef TRAIN_FIRST_H
#define TRAIN_FIRST_H

#include "model/model.h"

/* The model's mean and scale: mean and 1/deviation of each feature over all items. */
onet_status first_scale(onet_model *model, const onet_sets *sets, onet_error *err);
/* Uniform in +-1/sqrt(fan-in) for weights, biases and the start vector; norms 1 and 0. */
void first_parameters(const shape *sh, uint64_t seed, float *theta);

#endif
