/* Finds the way (rule with parameters, ways.h) by which the pages of a title are usually read, and whether
 * they are read across what divides them, from corrected pages; and the best way for a single page. Used by
 * `pages train` and `pages eval`. */
#ifndef LAYOUT_USUAL_WAY_H
#define LAYOUT_USUAL_WAY_H

#include "tasks/layout/order/page.h"

/* Finds the way (ways.h) that gives the given order on more pages than any other; the rule of gutters if no
 * other is clearly better. All pages must have a given order. */
onet_status pages_usual_way(int *way, page **pages, size_t count, onet_error *err);

/* Whether more than a few of the pages are read across what divides them (ways.h). */
onet_status pages_cross(bool *cross, page **pages, size_t count, onet_error *err);

/* Sets the found order of a page to that of the way with the most right neighbours; the page must have a
 * given order. No choice among the ways can be better. */
onet_status page_best_way(page *p, onet_error *err);

#endif
