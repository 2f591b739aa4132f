/* Checks what onet_train is given (its options, files of an earlier run, the training and validation sets),
 * and resolves the automatic weight decay. */
#ifndef TRAIN_OPTIONS_H
#define TRAIN_OPTIONS_H

#include "ordernet.h"

/* Returns the weight decay to use, with ONET_DECAY_AUTO resolved for this many sets; per step it is
 * multiplied by the learning rate. */
double train_decay(const onet_train_options *options, size_t sets);
onet_status train_check_options(const onet_train_options *options, onet_error *err);
/* Returns ONET_USAGE if files of an earlier training may not be replaced, or do not fit the number of models
 * to resume. */
onet_status train_check_files(const onet_train_options *options, onet_error *err);
/* Checks the sets against each other and the options; valid may be NULL. */
onet_status train_check_sets(const onet_sets *train, const onet_sets *valid,
                             const onet_train_options *options, onet_error *err);
/* The checks of train_check_sets that concern only the training sets. */
onet_status train_check_learned(const onet_sets *train, const onet_train_options *options, onet_error *err);
/* Checks that several models of these sets can vary as the options say. */
onet_status train_check_vary(const onet_sets *train, const onet_train_options *options, onet_error *err);

#endif
