/* Parses XML with libxml2, or, through html.c, HTML that is not XML; finds where each element and attribute
 * value stands in the text; reads attributes, and the boxes around polygons. */
#include "tasks/layout/xml.h"

#include <libxml/parser.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/number.h"
#include "tasks/layout/guard.h"

/* Drops libxml2's messages: the reader reports the error. */
static void say_nothing(void *context, const char *format, ...) {
    (void)context;
    (void)format;
}

void xml_start(void) {
    guard_start();
    xmlInitParser();
    xmlSetGenericErrorFunc(NULL, say_nothing);
    xmlThrDefSetGenericErrorFunc(NULL, say_nothing);
}

/* Returns the end of what begins at `at`: after `last`, or the end of the text. */
static size_t after(const page_text *t, size_t at, const char *last) {
    const char *found = strstr(t->utf8 + at, last);
    return found ? (size_t)(found - t->utf8) + strlen(last) : t->size;
}

/* Returns the first of the bytes `ends` from `at` on that is not in a quoted value, or the end of the text.
 */
static size_t unquoted(const page_text *t, size_t at, const char *ends) {
    char quote = 0;
    for (; at < t->size; at++) {
        char c = t->utf8[at];
        if (quote)
            quote = c == quote ? 0 : quote;
        else if (c == '"' || c == '\'')
            quote = c;
        else if (c && strchr(ends, c))
            break;
    }
    return at;
}

/* Returns the end of a tag; quoted values may hold '>'. */
static size_t tag_end(const page_text *t, size_t at) {
    size_t end = unquoted(t, at, ">");
    return end < t->size ? end + 1 : t->size;
}

/* Gathers the places of all elements; open elements wait on a stack. The text is checked by libxml2 later:
 * here it is enough that any bytes come to an end. */
static onet_status find_places(page_xml *x, const page_text *t, const char *name, onet_error *err) {
    size_t *open = NULL, depth = 0, open_room = 0;
    onet_status status = ONET_OK;
    for (size_t at = 0; at < t->size && !status;) {
        const char *lt = memchr(t->utf8 + at, '<', t->size - at);
        if (!lt) break;
        at = (size_t)(lt - t->utf8);
        if (!strncmp(lt, "<!--", 4))
            at = after(t, at + 4, "-->");
        else if (!strncmp(lt, "<![CDATA[", 9))
            at = after(t, at + 9, "]]>");
        else if (!strncmp(lt, "<?", 2))
            at = after(t, at + 2, "?>");
        else if (!strncmp(lt, "<!", 2)) {
            size_t end = unquoted(t, at + 2, "[>");
            if (end < t->size && t->utf8[end] == '[')
                status = fail(
                    err, ONET_BAD,
                    "%s:%ld: the document type has declarations of its own (entities, ...), which are not "
                    "read; remove them",
                    name, page_text_line(t, at));
            at = end < t->size ? end + 1 : end;
        } else if (lt[1] == '/') {
            size_t end = tag_end(t, at);
            if (depth) x->places[open[--depth]].whole.end = end;
            at = end;
        } else {
            size_t end = tag_end(t, at);
            bool empty = end - at >= 3 && t->utf8[end - 2] == '/';
            if (!array_reserve(&x->places, &x->room, x->count + 1, sizeof *x->places) ||
                !array_reserve(&open, &open_room, depth + 1, sizeof *open)) {
                status = fail_memory(err, "the elements of a file");
                break;
            }
            x->places[x->count] = (xml_place){{at, end}, {at, end}};
            if (!empty) open[depth++] = x->count;
            x->count++;
            at = end;
        }
    }
    free(open);
    return status;
}

/* Numbers the elements in document order, in _private, which libxml2 leaves to its users. */
static size_t number_elements(xmlNode *root) {
    size_t count = 0;
    for (xmlNode *at = root; at;) {
        if (at->type == XML_ELEMENT_NODE) at->_private = (void *)(uintptr_t)count++;
        if (at->type == XML_ELEMENT_NODE && at->children)
            at = at->children;
        else {
            while (at != root && !at->next) at = at->parent;
            at = at == root ? NULL : at->next;
        }
    }
    return count;
}

/* Parses text [size], whose elements stand at x->places. */
static onet_status read_tree(page_xml *x, const char *text, size_t size, const char *name, onet_error *err) {
    onet_status status = ONET_OK;
    xmlParserCtxt *context = xmlNewParserCtxt();
    if (!context) return fail_memory(err, "an XML parser");
    /* NOENT is not among the flags: references to entities stay what they are. */
    x->doc = xmlCtxtReadMemory(context, text, (int)size, NULL, "UTF-8",
                               XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_COMPACT |
                                   XML_PARSE_BIG_LINES | XML_PARSE_IGNORE_ENC);
    if (!x->doc || !xmlDocGetRootElement(x->doc)) {
        const xmlError *why = &context->lastError;
        const char *message = why->message ? why->message : "no element";
        if (strstr(message, "XML_PARSE_HUGE") || strstr(message, "Excessive depth"))
            message = "elements are nested over 256 deep, or a text has over 10 MB";
        status = fail(err, ONET_BAD, "%s:%d: not well-formed XML: %.*s", name, why->line,
                      (int)strcspn(message, "\n"), message);
    } else if (number_elements(xmlDocGetRootElement(x->doc)) != x->count)
        status = fail(err, ONET_BAD, "%s: elements stand where they cannot be found in the text", name);
    xmlFreeParserCtxt(context);
    return status;
}

onet_status xml_parse(page_xml *x, const page_text *t, const char *name, onet_error *err) {
    *x = (page_xml){0};
    onet_status status = find_places(x, t, name, err);
    if (!status) status = read_tree(x, t->utf8, t->size, name, err);
    if (status == ONET_BAD && html_is(t)) {
        char *skeleton;
        size_t size;
        xml_free(x);
        status = html_read(x, t, name, &skeleton, &size, err);
        if (!status) status = read_tree(x, skeleton, size, name, err);
        free(skeleton);
    }
    if (status) xml_free(x);
    return status;
}

void xml_free(page_xml *x) {
    if (x->doc) xmlFreeDoc(x->doc);
    free(x->places);
    *x = (page_xml){0};
}

const xml_place *xml_place_of(const page_xml *x, const xmlNode *node) {
    return &x->places[(size_t)(uintptr_t)node->_private];
}

bool xml_is(const xmlNode *node, const char *name) {
    return node->type == XML_ELEMENT_NODE && !strcmp((const char *)node->name, name);
}

xmlNode *xml_child(const xmlNode *node, const char *name) {
    for (xmlNode *c = node->children; c; c = c->next)
        if (xml_is(c, name)) return c;
    return NULL;
}

const char *xml_get(const xmlNode *node, const char *name, char *text, size_t size) {
    xmlChar *value = xmlGetNoNsProp(node, (const xmlChar *)name);
    snprintf(text, size, "%s", value ? (const char *)value : "");
    xmlFree(value);
    return text;
}

char *xml_copy(const xmlNode *node, const char *name) {
    xmlChar *value = xmlGetNoNsProp(node, (const xmlChar *)name);
    return value ? (char *)value : guard_copy("");
}

int xml_number(const xmlNode *node, const char *name) {
    char text[32];
    const char *at = xml_get(node, name, text, sizeof text) + strspn(text, " \t\r\n");
    if (*at == '+') at++;
    size_t digits = strspn(at, "0123456789"), end = digits + strspn(at + digits, " \t\r\n");
    return digits && !at[end] && digits < 9 ? atoi(at) : -1;
}

size_t xml_name_end(const page_text *t, const xml_place *place) {
    return place->open.start + 1 + strcspn(t->utf8 + place->open.start + 1, " \t\r\n/>");
}

bool xml_value(const page_text *t, const xml_place *place, const char *name, text_span *value) {
    size_t at = xml_name_end(t, place), length = strlen(name);
    while (at < place->open.end) {
        at += strspn(t->utf8 + at, " \t\r\n");
        size_t name_length = strcspn(t->utf8 + at, " \t\r\n=/>");
        size_t quote = at + strcspn(t->utf8 + at, "\"'>");
        if (quote >= place->open.end || t->utf8[quote] == '>') return false;
        const char *end = strchr(t->utf8 + quote + 1, t->utf8[quote]);
        if (!end) return false;
        if (name_length == length && !strncmp(t->utf8 + at, name, length)) {
            *value = (text_span){quote + 1, (size_t)(end - t->utf8)};
            return true;
        }
        at = (size_t)(end - t->utf8) + 1;
    }
    return false;
}

const char *xml_prefix(const xmlNode *node, char *text, size_t size) {
    bool has = node->ns && node->ns->prefix;
    snprintf(text, size, "%s%s", has ? (const char *)node->ns->prefix : "", has ? ":" : "");
    return text;
}

bool xml_points(const xmlNode *node, const char *attribute, double *box) {
    xmlChar *points = xmlGetNoNsProp(node, (const xmlChar *)attribute);
    if (!points) return false;
    const char *at = (const char *)points, *end = at + strlen(at);
    bool valid = true;
    double pair[2];
    int have = 0;
    while (valid) {
        at += strspn(at, " \t\r\n,");
        if (at == end) break;
        const char *next = number_scan(at, end, NUMBER_LOOSE, &pair[have]);
        valid = next > at && isfinite(pair[have]);
        at = next;
        if (valid && ++have == 2) {
            box[0] = fmin(box[0], pair[0]);
            box[1] = fmin(box[1], pair[1]);
            box[2] = fmax(box[2], pair[0]);
            box[3] = fmax(box[3], pair[1]);
            have = 0;
        }
    }
    xmlFree(points);
    return valid && !have;
}
