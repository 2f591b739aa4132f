/* The parser of the part of libxml2 that tree.h declares. */
#ifndef LAYOUT_WASM_LIBXML_PARSER_H
#define LAYOUT_WASM_LIBXML_PARSER_H

#include "tasks/layout/wasm/libxml/tree.h"

/* All of these are how it parses anyway. */
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
