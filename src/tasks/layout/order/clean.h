/* Cleans the boxes of a page before they are ordered (a page askew is straightened, small overlaps are
 * removed), and finds the next box below each box. */
#ifndef LAYOUT_ORDER_CLEAN_H
#define LAYOUT_ORDER_CLEAN_H

#include "tasks/layout/order/page.h"

/* Writes to below [n] the next box below each of boxes [n] in the same column, or -1. */
onet_status boxes_below(const page_box *boxes, int n, int32_t *below, onet_error *err);

/* Copies boxes [n + lines], the last of them separators, without the strips that two beside each other share:
 * to `given` where they are, to `straight` where they would be if the page were not askew. */
onet_status boxes_clean(const page_box *boxes, int n, int lines, page_box *straight, page_box *given,
                        onet_error *err);

#endif
