/* Enumerates the ways (rules with parameters) to order a page, and tells whether an order keeps to the
 * divisions of the page. Which way is right differs from title to title (book or newspaper) and from page to
 * page: the ranks by the first of them are features of the network, which then scores the orders of all. */
#ifndef LAYOUT_ORDER_WAYS_H
#define LAYOUT_ORDER_WAYS_H

#include "tasks/layout/order/layout.h"
#include "tasks/layout/order/rules.h"

/* The number of ways; the ranks by the first PAGE_WAY_RANKS are features of the network. */
enum { PAGE_WAY_RANKS = 17 };
int page_way_count(void);

/* The way of the rule of gutters, which is right on more pages than any other (experiments/pages). */
enum { PAGE_WAY_GUTTERS = PAGE_WAY_RANKS - 1 };

/* Writes and returns the way's name, by which a model file keeps it: numbers may change from version to
 * version. */
enum { PAGE_WAY_NAME = 64 };
const char *page_way_name(int way, char name[PAGE_WAY_NAME]);
/* Returns the way with this name, or -1. */
int page_way_named(const char *name);

/* Writes the order of the layout's regions by a way to order [n]. Regions inside others are read directly
 * before their host if they lie in its upper half, otherwise directly after it; a frame before what it holds.
 */
onet_status page_way(int way, const page_layout *l, int32_t *order, onet_error *err);

/* Where white space and separators divide the page and the order is unambiguous (rules.h). */
typedef struct page_divisions {
    /* The regions, without those inside others, in the order of the rule of gutters; ~i if region i is a
     * heading, a note or otherwise not text, which may be read elsewhere. */
    int32_t *order;
    page_division *at; /* [count] */
    int count;
} page_divisions;
onet_status page_divisions_find(page_divisions *d, const page_layout *l, onet_error *err);
/* Whether the order of a way crosses none of the divisions; place [n]: the place of each region in it. */
bool page_divisions_kept(const page_divisions *d, int way, const int32_t *place);
void page_divisions_free(page_divisions *d);

#endif
