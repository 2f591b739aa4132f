/* What the rules see of a page: the boxes of its placed regions, which of them lie in others, and the
 * separators that divide it. */
#ifndef PAGES_LAYOUT_H
#define PAGES_LAYOUT_H

#include "pages/page.h"

typedef struct page_layout {
    page_box *boxes; /* [n + lines]: of the placed regions, as they stand in the page, then separators as
                        lines without a width */
    int32_t *host;   /* [n]: the region that each region lies in, or -1 */
    int n, lines;
} page_layout;

/* The layout of a page. Separators that are shorter than a column is wide do not divide anything and are left
 * out. Free it. */
onet_status page_layout_make(page_layout *l, const page *p, onet_error *err);
void page_layout_free(page_layout *l);

/* The region that each region lies in, or -1: host [n]. A region in another that is itself in a third belongs
 * to the outermost. */
onet_status page_hosts(const page_box *boxes, int n, int32_t *host, onet_error *err);

double page_median(double *values, int n); /* sorts them */

#endif
