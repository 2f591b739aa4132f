/* How good a model is while it is trained. */
#ifndef TRAIN_VALIDATE_H
#define TRAIN_VALIDATE_H

#include "kernels/device.h"

typedef struct validation {
    double exact;  /* share of sets that the model puts in exactly the right order */
    double loglik; /* log-probability of the right orders, mean over all their steps */
} validation;

/* Measures the model with the first `count` sets; on `gpu` where `how` leaves the choice and the work
 * is worth it. Calls look(context) many times in between; non-zero ends with ONET_INTERRUPTED. */
onet_status validate_sets(validation *found, const onet_model *model, const onet_sets *sets, size_t count,
                          const onet_order_options *how, gpu_choice gpu, int (*look)(void *context),
                          void *context, onet_error *err);

#endif
