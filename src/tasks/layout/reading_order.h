/* The ReadingOrder of PAGE XML. */
#ifndef PAGES_READING_ORDER_H
#define PAGES_READING_ORDER_H

#include "tasks/layout/names.h"

/* The group that holds the whole order; NULL: none. */
xmlNode *reading_order_group(const xmlNode *page_node);
/* Gives the regions that are named in the group, and in the groups in it, their places. */
onet_status reading_order_read(page_file *f, const xmlNode *group, const page_names *n, onet_error *err);
/* Makes the found order one that the groups can hold, so that the numbers in custom follow it as well. */
onet_status reading_order_settle(page *p, const xmlNode *group, const page_names *n, onet_error *err);
/* Writes the members of the groups in the found order. An unordered group within the order stays as it is;
 * one that is the whole order becomes an ordered one. */
onet_status reading_order_write(page_file *f, xmlNode *group, const page_names *n, onet_error *err);
/* Writes a new order without groups, in the place of the one that is there, or where the schema wants it.
 * Regions that no reference could mean, without an id or with that of an earlier one, are not in it. */
onet_status reading_order_new(page_file *f, const page *p, const xmlNode *node, const page_names *n,
                              onet_error *err);

#endif
