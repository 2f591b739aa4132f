/* What a training learns from: the names of the features, and those that look like a mistake. */
#ifndef CLI_FEATURE_REPORT_H
#define CLI_FEATURE_REPORT_H

#include "ordernet.h"

/* Prints the names, where the data has some, with what a training by these options does with each. Warns on
 * standard error of features that are the same for all items, or whole numbers that are all distinct
 * (probably an id), or crowded; and of items that the net cannot tell apart. */
onet_status feature_report(const onet_sets *sets, const onet_train_options *options, onet_error *err);

enum { FEATURE_TEXT = 96 };
/* "standard", "quantile, rank within the set": what is done with a feature. */
const char *feature_text(const onet_feature *feature, char text[FEATURE_TEXT]);

#endif
