/* Cleans the boxes of a page before they are ordered (a page askew is straightened, small overlaps are
 * removed), and finds the next box below each box. */
#ifndef LAYOUT_ORDER_CLEAN_H
#define LAYOUT_ORDER_CLEAN_H

#include "tasks/layout/order/page.h"

/* The next box below each of boxes [n] in the same column, or -1, into below [n]. */
onet_status boxes_below(const page_box *boxes, int n, int32_t *below, onet_error *err);

/* boxes [n + lines], the last of them separators, without what two beside each other share a little: `given`
 * where they are, `straight` where they would be if the page were not askew. */
onet_status boxes_clean(const page_box *boxes, int n, int lines, page_box *straight, page_box *given,
                        onet_error *err);

#endif
