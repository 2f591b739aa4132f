/* Cross-validation: how good models of such data and options are, without sets to spare. */
#ifndef CLI_FOLDS_H
#define CLI_FOLDS_H

#include <stdbool.h>

#include "ordernet_measure.h"

/* Divides the sets at random, by the seed, into `folds` parts of nearly equal size, equal sets and those of
 * one group (group [sets] or NULL) together, as onet_sets_divide does; trains for each part a model on the
 * others, and lets it order that part by beam search. The report is over all sets, each measured by a model
 * that has not seen it; the comparison is with rules that have not seen it either. All ranks take part;
 * others than 0 give NULL for the data, and get no report. */
onet_status folds_run(onet_report *report, onet_comparison *comparison, const onet_sets *data,
                      const char *const *group, int folds, const onet_train_options *options, bool quiet,
                      onet_error *err);

#endif
