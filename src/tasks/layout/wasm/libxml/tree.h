/* The part of libxml2's interface that the readers of page files use, for WebAssembly, which has no
 * libxml2 (../libxml.c implements it). Names and meanings are libxml2's. */
#ifndef LAYOUT_WASM_LIBXML_TREE_H
#define LAYOUT_WASM_LIBXML_TREE_H

typedef unsigned char xmlChar;
typedef enum { XML_ELEMENT_NODE = 1, XML_TEXT_NODE = 3 } xmlElementType;

typedef struct xmlNs {
    const xmlChar *prefix;
} xmlNs;

typedef struct xmlNode xmlNode;
typedef struct xmlAttr xmlAttr;

struct xmlAttr {
    const xmlChar *name;    /* without its prefix */
    const xmlChar *written; /* with it */
    xmlNode *children;      /* one text */
    xmlAttr *next;
    int prefixed;
};

struct xmlNode {
    void *_private;
    xmlElementType type;
    const xmlChar *name; /* without its prefix */
    xmlNode *children, *last, *parent, *next;
    xmlNs *ns;
    xmlAttr *properties;
    xmlChar *content; /* of a text */
    long line;
    xmlNs own; /* what ns points to */
};

typedef struct xmlDoc {
    xmlNode *root;
    void *blocks; /* all memory of the document */
} xmlDoc;

xmlNode *xmlDocGetRootElement(const xmlDoc *doc);
void xmlFreeDoc(xmlDoc *doc);
long xmlGetLineNo(const xmlNode *node);
xmlAttr *xmlHasProp(const xmlNode *node, const xmlChar *name);
xmlChar *xmlGetNoNsProp(const xmlNode *node, const xmlChar *name);
xmlChar *xmlNodeGetContent(const xmlNode *node);
void xmlFree(void *p);

#endif
