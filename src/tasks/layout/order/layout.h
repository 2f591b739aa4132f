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

/* The layout of a page, in heights of the page from its upper left corner. Separators that are shorter than a
 * column is wide do not divide anything and are left out. Free it. */
onet_status page_layout_make(page_layout *l, const page *p, onet_error *err);
void page_layout_free(page_layout *l);

/* The region that each region lies in, or -1: host [n]. A region in another that is itself in a third belongs
 * to the outermost. Regions that others fill, as a box around the columns of a page does, are frames: frame
 * [n] is the frame that each region lies in, or -1; a frame has itself and is not a host. */
onet_status page_hosts(const page_box *boxes, int n, int32_t *host, int32_t *frame, onet_error *err);

double page_median(double *values, int n); /* sorts them */

#endif
