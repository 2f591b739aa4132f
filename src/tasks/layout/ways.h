/* Many ways to order a page by rule. Which of them is right differs from title to title and from page to
 * page: the network is told the ranks that the first of them give, and judges the orders of all. */
#ifndef PAGES_WAYS_H
#define PAGES_WAYS_H

#include "tasks/layout/layout.h"

/* How many there are. The first give ranks to the network; the very first is the rule for books. */
enum { PAGE_WAY_RANKS = 16 };
int page_way_count(void);

/* Whether it is one for books: from top to bottom, not by cuts or bands. */
bool page_way_for_books(int way);

/* The way's name, by which a model file keeps it: numbers may change from version to version. */
enum { PAGE_WAY_NAME = 64 };
const char *page_way_name(int way, char name[PAGE_WAY_NAME]);
/* The way of that name, or -1. */
int page_way_named(const char *name);

/* The order of the layout's regions by way `way` into order [n]. Regions inside others are read directly
 * before their host if they lie in its upper half, otherwise directly after it; a frame before what it holds.
 */
onet_status page_way(int way, const page_layout *l, int32_t *order, onet_error *err);

#endif
