/* Reads and rewrites the <ReadingOrder> element of PAGE XML (an XML format for the layout of scanned pages):
 * nested, ordered or unordered groups of references to regions. Used by page_xml.c. */
#ifndef LAYOUT_PAGE_XML_ORDER_H
#define LAYOUT_PAGE_XML_ORDER_H

#include "tasks/layout/names.h"

/* Returns the group that holds the whole order; NULL: none. */
xmlNode *page_xml_order_group(const xmlNode *page_node);
/* Gives the regions that are named in the group, and in the groups in it, their places. */
onet_status page_xml_order_read(page_file *f, const xmlNode *group, const page_names *n, onet_error *err);
/* Rearranges the predicted order so that each group's regions stay together, as the nesting requires. The
 * numbers in the attribute custom then follow it as well. */
onet_status page_xml_order_settle(page *p, const xmlNode *group, const page_names *n, onet_error *err);
/* Writes the members of the groups in the predicted order. An unordered group within the order stays as it
 * is; one that is the whole order becomes an ordered one. */
onet_status page_xml_order_write(page_file *f, xmlNode *group, const page_names *n, onet_error *err);
/* Writes a new order without nested groups, in the place of the old one, or where the schema wants it. Leaves
 * out regions that cannot be referenced: without an id, or with a duplicate one. */
onet_status page_xml_order_new(page_file *f, const page *p, const xmlNode *node, const page_names *n,
                               onet_error *err);

#endif
