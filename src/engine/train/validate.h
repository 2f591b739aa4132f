/* Measures a model on the validation sets while it is trained, and notes the result in its training record.
 */
#ifndef TRAIN_VALIDATE_H
#define TRAIN_VALIDATE_H

#include "engine/kernels/device.h"

typedef struct validation {
    double exact;  /* share of sets that the model puts in exactly the right order */
    double loglik; /* log-probability of the right orders, mean over all their steps */
} validation;

/* Measures the model on the first o->valid_limit sets (0: all), on `gpu` if that is not NULL and the work is
 * worth it. Calls stop(context) many times in between; if that returns non-zero, it ends with
 * ONET_INTERRUPTED. */
onet_status validate_sets(validation *found, const onet_model *model, const onet_sets *sets,
                          const onet_train_options *o, const gpu_choice *gpu, int (*stop)(void *context),
                          void *context, onet_error *err);

/* Writes the measures that are not NaN to the model's training record. */
onet_status validate_note(const validation *found, onet_model *model, onet_error *err);

#endif
