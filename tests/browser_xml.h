/* The XML parser of the browser page (src/tasks/layout/wasm/libxml.c) beside libxml2, whose names it has. */
#ifndef TESTS_BROWSER_XML_H
#define TESTS_BROWSER_XML_H

#include <stddef.h>

/* What a reader of page files sees of the tree, as text: a line per element in document order, with its
 * depth, prefix, name, line and attributes, then the text of all. Allocated; NULL: not well-formed, and `why`
 * says so. */
char *browser_xml(const char *text, size_t size, char why[200]);

#endif
