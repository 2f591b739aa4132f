/* Initialises a training run: mean and scale that standardise features and relations, the deviations that
 * scale the noise of --jitter (augmentation of features), and the initial parameters. */
#ifndef TRAIN_INITIAL_H
#define TRAIN_INITIAL_H

#include "engine/model/model.h"
#include "ordernet_train.h"

/* Sets the model's mean and scale to the mean and 1/deviation of each feature over all items, except for
 * features with ONET_SCALE_NONE. feature [width of the model's sets]; may be NULL. */
onet_status initial_scale(onet_model *model, const onet_sets *sets, const onet_feature *feature,
                          onet_error *err);
/* Computes spread [width], the standard deviation of each feature over all items, which scales the noise of
 * --jitter; 0 for a feature with at most two values: noise must not put a flag between 0 and 1. */
onet_status feature_spread(const onet_sets *sets, float *spread, onet_error *err);
/* Sets the model's mean and scale of relations, over all pairs of different items; 0 and 1 for relations
 * whose scale is none. names: of the relations, one per line; scale: as in onet_train_options. */
onet_status initial_relations(onet_model *model, const onet_sets *sets, const char *names, const char *scale,
                              onet_error *err);
/* Draws weights, biases and the start vector uniformly in +-1/sqrt(fan-in); sets norms to 1 and 0. */
void initial_parameters(const net_shape *sh, uint64_t seed, float *theta);

#endif
