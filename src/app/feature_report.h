/* Prints before a training which features the model learns from, and warns of those that look like a
 * mistake. */
#ifndef APP_FEATURE_REPORT_H
#define APP_FEATURE_REPORT_H

#include "ordernet.h"
#include "ordernet_train.h"

/* Prints the names, if the data has some, and how a training by these options scales each. Warns on standard
 * error of features that are the same for all items, look like an id (distinct whole numbers) or are crowded,
 * and of items that the net cannot distinguish. */
onet_status feature_report(const onet_sets *sets, const onet_train_options *options, onet_error *err);

enum { FEATURE_TEXT = 96 };
/* "standard", "quantile, rank within the set": how a feature is scaled. */
const char *feature_text(const onet_feature *feature, char text[FEATURE_TEXT]);

#endif
