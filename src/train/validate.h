/* How good a model is while it is trained. */
#ifndef TRAIN_VALIDATE_H
#define TRAIN_VALIDATE_H

#include "ordernet.h"

/* The share of the first `count` sets that the model puts in exactly the right order, to *exact; on GPU
 * `device` where `how` leaves the choice and the work is worth it. Calls look(context) many times in between.
 */
onet_status validate_exact(double *exact, const onet_model *model, const onet_sets *sets, size_t count,
                           const onet_order_options *how, int device, void (*look)(void *context),
                           void *context, onet_error *err);

#endif
