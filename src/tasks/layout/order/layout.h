/* The input of the rules: the boxes and kinds of a page's regions, which of them lie in others, and the
 * separators that divide the page. */
#ifndef LAYOUT_ORDER_LAYOUT_H
#define LAYOUT_ORDER_LAYOUT_H

#include "tasks/layout/order/page.h"

typedef struct page_layout {
    page_box *boxes; /* [n + lines]: of the placed regions, as they stand in the page, then separators as
                        lines without a width */
    page_kind *kind; /* [n] */
    int32_t *host;   /* [n]: the region that each region lies in, or -1; frames are not hosts */
    int32_t *frame;  /* [n]: the frame that each region lies in, or -1; a frame has itself */
    int n, lines;
} page_layout;

/* Makes the layout of a page, in heights of the page from its upper left corner. Separators too short to
 * divide the page are left out. The caller frees it. */
onet_status page_layout_make(page_layout *l, const page *p, onet_error *err);
void page_layout_free(page_layout *l);

double page_median(double *values, int n); /* sorts them */

#endif
