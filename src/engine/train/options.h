/* Checks what onet_train is given: its options, files of an earlier run, and the training and validation
 * sets. */
#ifndef TRAIN_OPTIONS_H
#define TRAIN_OPTIONS_H

#include "ordernet.h"

/* Per step, times the learning rate. */
double train_decay(const onet_train_options *options, size_t sets);
onet_status train_check_options(const onet_train_options *options, onet_error *err);
/* ONET_USAGE where files of an earlier training are there and may not be replaced. */
onet_status train_check_files(const onet_train_options *options, onet_error *err);
/* valid may be NULL. */
onet_status train_check_sets(const onet_sets *train, const onet_sets *valid,
                             const onet_train_options *options, onet_error *err);
/* The part of it that is about the training sets alone. */
onet_status train_check_learned(const onet_sets *train, const onet_train_options *options, onet_error *err);
/* Whether several models of these sets can vary as the options say. */
onet_status train_check_vary(const onet_sets *train, const onet_train_options *options, onet_error *err);

#endif
