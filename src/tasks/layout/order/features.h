/* Computes the features of a region: its box relative to the page and to the median region, its kind, and its
 * ranks in the orders of the rules. They do not change when a page is shifted or scaled. */
#ifndef LAYOUT_ORDER_FEATURES_H
#define LAYOUT_ORDER_FEATURES_H

#include "tasks/layout/order/page.h"

/* Features per region. */
int page_feature_count(void);
/* Of the placed regions, in the order in which they stand in the page: items [placed, page_feature_count()].
 */
onet_status page_features(const page *p, float *items, onet_error *err);
/* Appends the page as a set: with its given order, or without one. Pages without placed regions are left out
 * by the caller. */
onet_status page_append(onet_sets *sets, const page *p, bool with_order, onet_error *err);

/* The index, in the page, of each placed region: index [placed]. The sets' items are numbered so. */
void page_placed(const page *p, int32_t *index);

#endif
