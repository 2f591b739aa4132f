/* Would more examples help? */
#ifndef APP_LEARNING_CURVE_H
#define APP_LEARNING_CURVE_H

#include <stdbool.h>

#include "ordernet_measure.h"

/* Trains on a quarter and on a half of `train`, drawn by the seed, for as many steps as `all`, the model of
 * all of them, was trained for; measures the three on `test`, and prints a line for each and the advice. */
onet_status learning_curve(const onet_model *all, const onet_sets *train, const onet_sets *test,
                           const onet_train_options *options, bool quiet, onet_error *err);

#endif
