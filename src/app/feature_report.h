/* What a training learns from: the names of the features, and those that look like a mistake. */
#ifndef CLI_FEATURE_REPORT_H
#define CLI_FEATURE_REPORT_H

#include "ordernet.h"

/* Prints the names, where the data has some, and warns on standard error of features that are the same for
 * all items, or whole numbers that are all distinct: probably an id. */
onet_status feature_report(const onet_sets *sets, onet_error *err);

#endif
