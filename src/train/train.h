/* Training by one process or by many. */
#ifndef TRAIN_TRAIN_H
#define TRAIN_TRAIN_H

#include "base/world.h"

/* onet_train by all processes of w (NULL: by this one alone), each with the same options. Process 0 has the
 * sets, and writes, validates and reads all files; the others give NULL for both sets. Every process gets the
 * same model and, where one of them fails or is to stop, the same status and sentence. */
onet_status train_together(const world *w, onet_model **model, const onet_sets *train, const onet_sets *valid,
                           const onet_train_options *options, onet_error *err);

#endif
