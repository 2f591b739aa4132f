/* Computes the features of a region: its box relative to the page and to the median region, its kind, the
 * region that it lies in, and its ranks in the orders of the rules. They do not change when a page is shifted
 * or scaled. Also appends a page to sets, with its regions as items. */
#ifndef LAYOUT_ORDER_FEATURES_H
#define LAYOUT_ORDER_FEATURES_H

#include "tasks/layout/order/page.h"

/* Returns the number of features per region. */
int page_feature_count(void);
/* Writes the features of the placed regions, in the order in which they stand in the page, to items [placed,
 * page_feature_count()]. */
onet_status page_features(const page *p, float *items, onet_error *err);
/* Appends the page as a set: with its given order, or without one. The page must have a placed
 * region. */
onet_status page_append(onet_sets *sets, const page *p, bool with_order, onet_error *err);

/* Writes the index in the page of each placed region to index [placed]: item k of the page's set is region
 * index[k].
 */
void page_placed(const page *p, int32_t *index);

#endif
