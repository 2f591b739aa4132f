/* Test helper: parses with the XML parser of the browser page (src/tasks/layout/wasm/libxml.c) in a program
 * that also has libxml2, whose function names that parser has. */
#ifndef TESTS_BROWSER_XML_H
#define TESTS_BROWSER_XML_H

#include <stddef.h>

/* Returns as text what a reader of page files sees of the tree: a line per element in document order, with
 * its depth, prefix, name, line and attributes, then the text of all. The caller frees it. Returns NULL, with
 * the reason in `why`, when the document is not well-formed. */
char *browser_xml(const char *text, size_t size, char why[200]);

#endif
