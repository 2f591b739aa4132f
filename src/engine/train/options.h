/* Checks of the training options; options.c has their defaults too. */
#ifndef TRAIN_OPTIONS_H
#define TRAIN_OPTIONS_H

#include "ordernet.h"

onet_status train_check_options(const onet_train_options *options, onet_error *err);
/* ONET_USAGE where files of an earlier training are there and may not be replaced. */
onet_status train_check_files(const onet_train_options *options, onet_error *err);
/* valid may be NULL. */
onet_status train_check_sets(const onet_sets *train, const onet_sets *valid,
                             const onet_train_options *options, onet_error *err);
/* Can a training on the sets begin with the model? */
onet_status train_check_from(const onet_sets *train, const onet_model *from, onet_error *err);

#endif
