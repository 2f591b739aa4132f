/* Reads a text file in the encoding that it declares, parses XML, or HTML that is not XML, into a libxml2
 * tree, and notes where each element stands in the text, so that pieces of the file can be replaced and moved
 * while all else stays as it was, byte for byte. */
#ifndef LAYOUT_XML_H
#define LAYOUT_XML_H

#include <libxml/tree.h>
#include <stdbool.h>
#include <stddef.h>

#include "ordernet.h"

/* ---- Text with changes (text.c) ---------------------------------------------------------------------- */

/* A text file is read as UTF-8, pieces are replaced or moved, and all other bytes are written back as they
 * were, in the file's own encoding. */

typedef struct text_span {
    size_t start, end;
} text_span;

typedef struct text_change {
    text_span at;
    char *text; /* the new text; NULL: the piece `from` comes here */
    text_span from;
} text_change;

typedef struct page_text {
    char *utf8; /* ends in NUL; without byte-order mark */
    size_t size;
    char encoding[40]; /* of the file; "" for UTF-8 */
    char mark[4];      /* the byte-order mark */
    size_t mark_size;
    text_change *changes;
    size_t count, room;
} page_text;

enum { PAGE_FILE_LIMIT = 256 << 20 };

/* Reads a file whole ("-": standard input; gzip and xz as such). ONET_BAD for one of over PAGE_FILE_LIMIT
 * bytes, and for bytes that its encoding does not have. */
onet_status page_text_read(page_text *t, const char *path, onet_error *err);
/* As page_text_read, for bytes in memory; name is their name in errors. */
onet_status page_text_from(page_text *t, const char *name, const void *bytes, size_t size, onet_error *err);
/* Notes that a copy of `text` replaces the span. */
onet_status page_text_replace(page_text *t, text_span at, const char *text, onet_error *err);
/* As page_text_replace, for a number; nothing if the span holds that number. */
onet_status page_text_number(page_text *t, text_span at, int number, onet_error *err);
/* Notes that the piece `from`, with its changes, replaces `at`. */
onet_status page_text_move(page_text *t, text_span at, text_span from, onet_error *err);
/* Writes the changed text, whole or not at all. *same: whether it equals the text that was read; if so, and
 * that is `there`, at the path, nothing is written. */
onet_status page_text_write(page_text *t, const char *path, bool there, bool *same, onet_error *err);
/* Allocates *changed, the changed text as UTF-8. */
onet_status page_text_changed(page_text *t, char **changed, size_t *size, onet_error *err);
/* Returns the line, from 1, of a byte. */
long page_text_line(const page_text *t, size_t at);
void page_text_free(page_text *t);

/* ---- XML --------------------------------------------------------------------------------------------- */

typedef struct xml_place {
    text_span open;  /* the start tag, or the whole empty element */
    text_span whole; /* to the end of the end tag */
} xml_place;

typedef struct page_xml {
    xmlDoc *doc;
    xml_place *places; /* of the elements, in document order */
    size_t count, room;
} page_xml;

/* Call it once, before threads parse. */
void xml_start(void);
/* Parses without network, external files or entities; entity declarations, elements deeper than 256 and
 * broken XML are ONET_BAD with the line. HTML that is not XML is read as HTML (html.c). */
onet_status xml_parse(page_xml *x, const page_text *t, const char *name, onet_error *err);
void xml_free(page_xml *x);

const xml_place *xml_place_of(const page_xml *x, const xmlNode *node);
bool xml_is(const xmlNode *node, const char *name); /* an element of that local name, in any namespace */
xmlNode *xml_child(const xmlNode *node, const char *name); /* the first; NULL: none */
/* Copies an attribute into text [size], cut if it is longer; "" if it is missing. */
const char *xml_get(const xmlNode *node, const char *name, char *text, size_t size);
/* Allocates a copy of an attribute; "" if it is missing. */
char *xml_copy(const xmlNode *node, const char *name);
/* Returns a whole number of an attribute, of up to eight digits; -1: none. */
int xml_number(const xmlNode *node, const char *name);
/* Finds the value of an attribute in a start tag, without its quotes; false: there is none. */
bool xml_value(const page_text *t, const xml_place *place, const char *name, text_span *value);
/* Returns where the name of the start tag ends. */
size_t xml_name_end(const page_text *t, const xml_place *place);
/* Writes the prefix of an element's name with its colon, "pc:", or ""; returns text. */
const char *xml_prefix(const xmlNode *node, char *text, size_t size);

/* Grows the box by the points of a polygon, "0,0 10,5 ..."; false: they are not numbers. */
bool xml_points(const xmlNode *node, const char *attribute, double *box /* x0 y0 x1 y1 */);

/* ---- HTML (html.c) ----------------------------------------------------------------------------------- */

/* HTML that is not XML: elements without end tags, attributes without quotes, as some tools write hOCR. */

/* Whether the first element of the text is <html>, and the document type declares nothing. */
bool html_is(const page_text *t);
/* Finds the places of all elements, as HTML closes them, and writes the same elements in the same order as
 * XML into *xml, allocated: with class, id and title alone, without text, on the same lines. ONET_BAD where a
 * tag, comment or quoted value has no end; name is the file's. */
onet_status html_read(page_xml *x, const page_text *t, const char *name, char **xml, size_t *size,
                      onet_error *err);

#endif
