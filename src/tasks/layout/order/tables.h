/* Orders tables: folds the cells of a table into one region while the page is ordered, then unfolds them row
 * by row. */
#ifndef LAYOUT_ORDER_TABLES_H
#define LAYOUT_ORDER_TABLES_H

#include "tasks/layout/order/page.h"

/* What of a page is kept while its tables are wholes. Zeroed: it has none. */
typedef struct page_tables {
    page_region *kept; /* [count of the page] */
    int placed;
} page_tables;

/* Leaves one region in the place of each table with two placed cells or more: the table itself, or where that
 * takes no place its first cell, with the box of all. */
onet_status page_tables_fold(page_tables *t, page *p, onet_error *err);
/* Undoes it, with the found order, if the folded page has one, extended by the cells. */
onet_status page_tables_unfold(page_tables *t, page *p, bool found, onet_error *err);

#endif
