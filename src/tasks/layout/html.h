/* HTML that is not XML: elements without end tags, attributes without quotes, as some tools write hOCR. */
#ifndef PAGES_HTML_H
#define PAGES_HTML_H

#include "tasks/layout/xml.h"

/* Whether the first element of the text is <html>, and the document type declares nothing. */
bool html_is(const page_text *t);
/* Finds the places of all elements, as HTML closes them, and writes the same elements in the same order as
 * XML into *xml, allocated: with class, id and title alone, without text, on the same lines. ONET_BAD where a
 * tag, comment or quoted value has no end; name is the file's. */
onet_status html_read(page_xml *x, const page_text *t, const char *name, char **xml, size_t *size,
                      onet_error *err);

#endif
