/* Stands in for libxml2's <libxml/parser.h> in the WebAssembly build: declares only the parser functions that
 * tasks/layout/xml.c calls. ../libxml.c implements them. */
#ifndef LAYOUT_WASM_LIBXML_PARSER_H
#define LAYOUT_WASM_LIBXML_PARSER_H

#include "tasks/layout/wasm/libxml/tree.h"

/* Options: always on here, so that their bits say nothing. */
enum {
    XML_PARSE_NONET = 0,
    XML_PARSE_NOERROR = 0,
    XML_PARSE_NOWARNING = 0,
    XML_PARSE_COMPACT = 0,
    XML_PARSE_BIG_LINES = 0,
    XML_PARSE_IGNORE_ENC = 0
};

typedef struct xmlError {
    const char *message;
    int line;
} xmlError;

typedef struct xmlParserCtxt {
    xmlError lastError;
    char text[200]; /* of the message */
} xmlParserCtxt;

typedef void (*xmlGenericErrorFunc)(void *context, const char *format, ...);

void xmlInitParser(void);
void xmlSetGenericErrorFunc(void *context, xmlGenericErrorFunc handler);
void xmlThrDefSetGenericErrorFunc(void *context, xmlGenericErrorFunc handler);
xmlParserCtxt *xmlNewParserCtxt(void);
void xmlFreeParserCtxt(xmlParserCtxt *context);
xmlDoc *xmlCtxtReadMemory(xmlParserCtxt *context, const char *text, int size, const char *url,
                          const char *encoding, int options);

#endif
