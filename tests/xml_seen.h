/* Test helper: parses a document and writes down as text what a reader of page files sees of it. Compiled
 * once with libxml2 and once with the parser of the browser page, which has the same function names. */
#ifndef TESTS_XML_SEEN_H
#define TESTS_XML_SEEN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void see_element(FILE *out, const xmlNode *node, int depth) {
    fprintf(out, "%d %s:%s line %ld", depth,
            node->ns && node->ns->prefix ? (const char *)node->ns->prefix : "", (const char *)node->name,
            xmlGetLineNo(node));
    for (const xmlAttr *a = node->properties; a; a = a->next) {
        const xmlAttr *first = node->properties;
        while (strcmp((const char *)first->name, (const char *)a->name)) first = first->next;
        xmlChar *value = first == a ? xmlGetNoNsProp(node, a->name) : NULL;
        if (value) fprintf(out, " %s='%s'", (const char *)a->name, (const char *)value);
        if (value) xmlFree(value);
    }
    fputc('\n', out);
}

/* Returns what browser_xml() of browser_xml.h does. */
static char *xml_seen(const char *text, size_t size, char why[200]) {
    xmlParserCtxt *context = xmlNewParserCtxt();
    xmlDoc *doc = xmlCtxtReadMemory(context, text, (int)size, NULL, "UTF-8",
                                    XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING |
                                        XML_PARSE_COMPACT | XML_PARSE_BIG_LINES | XML_PARSE_IGNORE_ENC);
    snprintf(why, 200, "line %d: %s", context->lastError.line,
             context->lastError.message ? context->lastError.message : "");
    xmlFreeParserCtxt(context);
    if (!doc) return NULL;
    char *seen = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&seen, &length);
    const xmlNode *root = xmlDocGetRootElement(doc);
    int depth = 0;
    for (const xmlNode *at = root; at && out;) {
        if (at->type == XML_ELEMENT_NODE) see_element(out, at, depth);
        if (at->type == XML_ELEMENT_NODE && at->children) {
            at = at->children;
            depth++;
        } else {
            while (at != root && !at->next) {
                at = at->parent;
                depth--;
            }
            at = at == root ? NULL : at->next;
        }
    }
    xmlChar *content = xmlNodeGetContent((xmlNode *)root);
    fputs((const char *)content, out);
    xmlFree(content);
    fclose(out);
    xmlFreeDoc(doc);
    return seen;
}

#endif
