/* Parses well-formed XML in UTF-8 into a tree, for WebAssembly, with the names and meanings of libxml2. It
 * knows no document types: the reader of page files refuses their declarations before (xml.c), and entities
 * other than XML's own are left out if a document type in another file may declare them, else refused. */
#include "tasks/layout/wasm/libxml/parser.h"
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { DEEPEST = 256, BLOCK = 1 << 16 };

typedef struct block {
    struct block *before;
    size_t used, room;
    max_align_t bytes[];
} block;

typedef struct parser {
    xmlParserCtxt *context;
    xmlDoc *doc;
    const char *at, *end;
    const char *counted; /* up to where `line` was counted */
    long line;
    bool alone;    /* the XML declaration says that the document needs no other file */
    bool typed;    /* there is a document type */
    bool declared; /* there is a document type in another file, which may know other entities */
    xmlNode *open; /* the innermost element */
    int depth;
} parser;

static bool wrong(parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

static long line_here(parser *p) {
    for (; p->counted < p->at; p->counted++) p->line += *p->counted == '\n';
    return p->line;
}

/* Keeps the message of the first error. Returns false. */
static bool wrong(parser *p, const char *format, ...) {
    xmlParserCtxt *c = p->context;
    if (c->lastError.message) return false;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(c->text, sizeof c->text, format, arguments);
    va_end(arguments);
    c->lastError = (xmlError){c->text, (int)line_here(p)};
    return false;
}

/* Allocates memory that is freed with the document; NULL: there is none. */
static void *allocate(parser *p, size_t size) {
    block *b = p->doc->blocks;
    size = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
    if (!b || b->room - b->used < size) {
        size_t room = size > BLOCK ? size : BLOCK;
        block *more = calloc(1, sizeof *more + room);
        if (!more) {
            wrong(p, "not enough memory");
            return NULL;
        }
        more->before = b;
        more->room = room;
        p->doc->blocks = b = more;
    }
    void *taken = (char *)b->bytes + b->used;
    b->used += size;
    return taken;
}

static xmlChar *keep(parser *p, const char *text, size_t size) {
    xmlChar *copy = allocate(p, size + 1);
    if (copy) memcpy(copy, text, size);
    return copy;
}

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool skip_space(parser *p) {
    const char *from = p->at;
    while (p->at < p->end && is_space(*p->at)) p->at++;
    return p->at > from;
}

static bool begins(const parser *p, const char *text) {
    size_t size = strlen(text);
    return (size_t)(p->end - p->at) >= size && !memcmp(p->at, text, size);
}

/* Returns the character at `at`, and its size; the text is known to be UTF-8. */
static unsigned long code_at(const char *at, size_t *size) {
    const unsigned char *c = (const unsigned char *)at;
    *size = c[0] < 0x80 ? 1 : c[0] < 0xE0 ? 2 : c[0] < 0xF0 ? 3 : 4;
    unsigned long code = *size == 1 ? c[0] : c[0] & (0x7Fu >> *size);
    for (size_t i = 1; i < *size; i++) code = code << 6 | (c[i] & 0x3F);
    return code;
}

/* Whether names may have the character, by XML 1.0, fifth edition; `later`: not as the first one. */
static bool is_name(unsigned long code, bool later) {
    static const unsigned long letters[][2] = {
        {':', ':'},       {'A', 'Z'},       {'_', '_'},       {'a', 'z'},
        {0xC0, 0xD6},     {0xD8, 0xF6},     {0xF8, 0x2FF},    {0x370, 0x37D},
        {0x37F, 0x1FFF},  {0x200C, 0x200D}, {0x2070, 0x218F}, {0x2C00, 0x2FEF},
        {0x3001, 0xD7FF}, {0xF900, 0xFDCF}, {0xFDF0, 0xFFFD}, {0x10000, 0xEFFFF}};
    static const unsigned long others[][2] = {
        {'-', '.'}, {'0', '9'}, {0xB7, 0xB7}, {0x300, 0x36F}, {0x203F, 0x2040}};
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (code >= letters[i][0] && code <= letters[i][1]) return true;
    for (size_t i = 0; later && i < sizeof others / sizeof *others; i++)
        if (code >= others[i][0] && code <= others[i][1]) return true;
    return false;
}

/* Returns the size of the name at p->at; 0: none. */
static size_t name_size(const parser *p) {
    const char *at = p->at;
    for (size_t size; at < p->end && is_name(code_at(at, &size), at > p->at); at += size) {
    }
    return (size_t)(at - p->at);
}

/* Returns the colon after the prefix of a name; NULL: it has none. */
static const char *prefix_end(const char *name, size_t size) {
    const char *colon = memchr(name, ':', size);
    size_t bytes;
    if (!colon || colon == name || colon + 1 == name + size || colon[1] == ':') return NULL;
    return is_name(code_at(colon + 1, &bytes), false) ? colon : NULL;
}

/* Moves past `last`; what comes before it must not contain `never`. */
static bool skip_to(parser *p, const char *last, const char *never, const char *what) {
    size_t size = strlen(last);
    for (const char *at = p->at; (size_t)(p->end - at) >= size; at++) {
        if (!memcmp(at, last, size)) {
            p->at = at + size;
            return true;
        }
        if (never && !strncmp(at, never, strlen(never))) break;
    }
    return wrong(p, "%s has no end", what);
}

/* ---- Characters -------------------------------------------------------------------------------------- */

static size_t put_code(char *out, unsigned long code) {
    if (code < 0x80) return out[0] = (char)code, 1;
    if (code < 0x800) {
        out[0] = (char)(0xC0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xE0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3F));
        out[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3F));
    out[2] = (char)(0x80 | (code >> 6 & 0x3F));
    out[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

static bool is_char(unsigned long code) {
    if (code < ' ') return code == '\t' || code == '\n' || code == '\r';
    return code < 0xD800 || (code > 0xDFFF && code < 0xFFFE) || (code > 0xFFFF && code < 0x110000);
}

/* Decodes the reference at p->at, "&amp;" or "&#228;", to out, which has room for as many bytes as it is
 * written with. */
static bool read_reference(parser *p, char **out) {
    static const struct {
        const char *name;
        char c;
    } known[] = {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
    p->at++;
    if (p->at < p->end && *p->at == '#') {
        bool hex = p->at + 1 < p->end && p->at[1] == 'x';
        p->at += hex ? 2 : 1;
        unsigned long code = 0;
        const char *digits = p->at;
        for (; p->at < p->end && *p->at != ';' && code < 0x110000; p->at++) {
            char c = *p->at;
            unsigned d = c >= '0' && c <= '9'          ? (unsigned)(c - '0')
                         : hex && c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
                         : hex && c >= 'A' && c <= 'F' ? (unsigned)(c - 'A' + 10)
                                                       : 99;
            if (d == 99) return wrong(p, "a reference to a character is not a number");
            code = (hex ? 16 : 10) * code + d;
        }
        if (p->at == digits || p->at >= p->end || *p->at != ';' || !is_char(code))
            return wrong(p, "a reference to a character that XML does not have");
        p->at++;
        *out += put_code(*out, code);
        return true;
    }
    size_t size = name_size(p);
    if (!size || p->at + size >= p->end || p->at[size] != ';')
        return wrong(p, "an & that begins no reference; write &amp;");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (size == strlen(known[i].name) && !memcmp(p->at, known[i].name, size)) {
            p->at += size + 1;
            *(*out)++ = known[i].c;
            return true;
        }
    if (!p->declared) return wrong(p, "Entity '%.*s' not defined", (int)size, p->at);
    p->at += size + 1; /* what it stands for is not known, and left out */
    return true;
}

/* Reads and decodes the text up to one of the bytes `ends`; value: it is that of an attribute. */
static bool read_text(parser *p, const char *ends, bool value, xmlChar **text) {
    const char *stop = p->at;
    while (stop < p->end && !strchr(ends, *stop)) stop++;
    char *out = allocate(p, (size_t)(stop - p->at) + 1);
    *text = (xmlChar *)out;
    if (!out) return false;
    while (p->at < stop) {
        char c = *p->at;
        if (c == '&') {
            if (!read_reference(p, &out)) return false;
            continue;
        }
        if (value && c == '<') return wrong(p, "Unescaped '<' not allowed in attributes values");
        if (!value && begins(p, "]]>")) return wrong(p, "]]> outside of a CDATA section");
        p->at++;
        if (c == '\r' && p->at < p->end && *p->at == '\n') continue;
        *out++ = value && is_space(c) ? ' ' : c == '\r' ? '\n' : c;
    }
    return true;
}

/* ---- Elements ---------------------------------------------------------------------------------------- */

static xmlNode *add_node(parser *p, xmlElementType type) {
    xmlNode *node = allocate(p, sizeof *node);
    if (!node) return NULL;
    node->type = type;
    node->parent = p->open;
    if (p->open && p->open->last)
        p->open->last->next = node;
    else if (p->open)
        p->open->children = node;
    if (p->open) p->open->last = node;
    return node;
}

static bool add_text(parser *p, xmlChar *content) {
    xmlNode *node = *content ? add_node(p, XML_TEXT_NODE) : NULL;
    if (node) node->content = content;
    return node || !*content;
}

/* Whether a namespace is declared for the prefix, by this element or one around it. */
static bool is_declared(const xmlNode *node, const char *prefix, size_t size) {
    if (size == 3 && !memcmp(prefix, "xml", 3)) return true;
    for (; node; node = node->parent)
        for (const xmlAttr *a = node->properties; a; a = a->next)
            if (a->prefixed == 2 && !strncmp((const char *)a->name, prefix, size) && !a->name[size] &&
                *a->children->content)
                return true;
    return false;
}

/* Reads an attribute. prefixed: 1: it has a prefix; 2: it declares a namespace, the default one if it has no
 * name. */
static bool read_attribute(parser *p, xmlNode *node, xmlAttr ***last) {
    size_t size = name_size(p);
    const char *name = p->at, *colon = prefix_end(name, size);
    if (!size) return wrong(p, "attributes construct error");
    p->at += size;
    skip_space(p);
    if (p->at >= p->end || *p->at != '=')
        return wrong(p, "Specification mandates value for attribute %.*s", (int)size, name);
    p->at++;
    skip_space(p);
    if (p->at >= p->end || (*p->at != '"' && *p->at != '\'')) return wrong(p, "AttValue: \" or ' expected");
    char quote[2] = {*p->at++, '\0'};
    xmlAttr *a = allocate(p, sizeof *a);
    xmlNode *text = allocate(p, sizeof *text);
    if (!a || !text || !read_text(p, quote, true, &text->content)) return false;
    if (p->at >= p->end) return wrong(p, "AttValue: ' expected");
    p->at++;
    bool declares = (colon ? colon - name : (ptrdiff_t)size) == 5 && !memcmp(name, "xmlns", 5);
    const char *local = colon ? colon + 1 : declares ? name + size : name;
    a->name = keep(p, local, (size_t)(name + size - local));
    a->written = keep(p, name, size);
    if (!a->name || !a->written) return false;
    a->prefixed = declares ? 2 : colon ? 1 : 0;
    text->type = XML_TEXT_NODE;
    a->children = text;
    for (const xmlAttr *other = node->properties; other; other = other->next)
        if (!strcmp((const char *)other->written, (const char *)a->written))
            return wrong(p, "Attribute %.*s redefined", (int)size, name);
    **last = a;
    *last = &a->next;
    return true;
}

static bool read_start(parser *p) {
    p->at++;
    size_t size = name_size(p);
    const char *name = p->at, *colon = prefix_end(name, size);
    if (!size) return wrong(p, "StartTag: invalid element name");
    if (!p->open && p->doc->root) return wrong(p, "Extra content at the end of the document");
    if (p->depth >= DEEPEST) return wrong(p, "Excessive depth in document");
    xmlNode *node = add_node(p, XML_ELEMENT_NODE);
    if (!node) return false;
    if (!p->open) p->doc->root = node;
    p->at += size;
    xmlAttr **last = &node->properties;
    for (;;) {
        bool space = skip_space(p);
        if (p->at >= p->end) return wrong(p, "Couldn't find end of Start Tag %.*s", (int)size, name);
        if (*p->at == '>' || begins(p, "/>")) break;
        if (!space) return wrong(p, "attributes construct error");
        if (!read_attribute(p, node, &last)) return false;
    }
    bool empty = *p->at == '/';
    p->at += empty ? 2 : 1;
    node->line = line_here(p);
    for (xmlAttr *a = node->properties; a; a = a->next) {
        const char *written = (const char *)a->written;
        if (a->prefixed == 1 && !is_declared(node, written, strcspn(written, ":"))) {
            a->name = a->written;
            a->prefixed = 0;
        }
    }
    size_t prefix = colon ? (size_t)(colon - name) : 0;
    if (prefix && is_declared(node, name, prefix)) {
        node->own.prefix = keep(p, name, prefix);
        node->ns = &node->own;
        name += prefix + 1;
        size -= prefix + 1;
        if (!node->own.prefix) return false;
    }
    node->name = keep(p, name, size);
    if (!empty) {
        p->open = node;
        p->depth++;
    }
    return node->name != NULL;
}

static bool read_end(parser *p) {
    const xmlNode *node = p->open;
    p->at += 2;
    size_t size = name_size(p);
    const char *name = p->at;
    if (!node) return wrong(p, "Extra content at the end of the document");
    const char *prefix = node->ns ? (const char *)node->ns->prefix : "";
    size_t before = node->ns ? strlen(prefix) + 1 : 0, local = strlen((const char *)node->name);
    bool same = size == before + local && !strncmp(name, prefix, before ? before - 1 : 0) &&
                !memcmp(name + before, node->name, local);
    if (!same)
        return wrong(p, "Opening and ending tag mismatch: %s line %ld and %.*s", (const char *)node->name,
                     node->line, (int)size, name);
    p->at += size;
    skip_space(p);
    if (p->at >= p->end || *p->at != '>') return wrong(p, "expected '>'");
    p->at++;
    p->open = node->parent;
    p->depth--;
    return true;
}

/* Whether an attribute of the XML declaration may have this value. */
static bool is_value(const char *name, const char *value, size_t size) {
    if (name[0] == 'v')
        return size >= 2 && !memcmp(value, "1.", 2) && strspn(value + 2, "0123456789") == size - 2;
    if (name[0] == 's')
        return (size == 3 && !memcmp(value, "yes", 3)) || (size == 2 && !memcmp(value, "no", 2));
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    return size && !strchr("0123456789._-", value[0]) && strspn(value, letters) == size;
}

/* Reads the XML declaration, <?xml version="1.0" encoding="UTF-8"?>. */
static bool read_declaration(parser *p) {
    static const char *const names[] = {"version", "encoding", "standalone"};
    p->at += strlen("<?xml");
    for (size_t next = 0;; next++) {
        bool space = skip_space(p);
        if (next && begins(p, "?>")) return p->at += 2, true;
        while (next && next < 3 && !begins(p, names[next])) next++;
        if (next == 3 || !space || !begins(p, names[next])) return wrong(p, "parsing XML declaration");
        p->at += strlen(names[next]);
        skip_space(p);
        if (p->at >= p->end || *p->at++ != '=') return wrong(p, "parsing XML declaration: '=' expected");
        skip_space(p);
        char quote = p->at < p->end ? *p->at++ : '\0';
        const char *value = p->at, *end = memchr(value, quote, (size_t)(p->end - value));
        if ((quote != '"' && quote != '\'') || !end) return wrong(p, "parsing XML declaration: no value");
        if (!is_value(names[next], value, (size_t)(end - value)))
            return wrong(p, "Unsupported %s '%.*s'", names[next], (int)(end - value > 20 ? 20 : end - value),
                         value);
        if (next == 2) p->alone = *value == 'y';
        p->at = end + 1;
    }
}

static bool skip_instruction(parser *p) {
    p->at += 2;
    size_t size = name_size(p);
    if (!size) return wrong(p, "an instruction has no name");
    if (size == 3 && !strncasecmp(p->at, "xml", 3))
        return wrong(p, "XML declaration allowed only at the start of the document");
    p->at += size;
    if (!begins(p, "?>") && !skip_space(p)) return wrong(p, "an instruction needs a blank after its name");
    return skip_to(p, "?>", NULL, "an instruction");
}

static bool skip_quoted(parser *p, const char *allowed) {
    if (!skip_space(p) || p->at >= p->end || (*p->at != '"' && *p->at != '\''))
        return wrong(p, "DOCTYPE: \" or ' expected");
    char quote = *p->at++;
    while (p->at < p->end && *p->at != quote && (!allowed || strchr(allowed, *p->at))) p->at++;
    return p->at < p->end && *p->at == quote ? p->at++, true : wrong(p, "DOCTYPE: a name has no end");
}

/* Skips <!DOCTYPE html PUBLIC "name" "address">; the reader has refused one with declarations of its own. */
static bool skip_type(parser *p) {
    static const char public[] =
        " \r\nabcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-'()+,./:=?;!*#@$_%";
    p->typed = true;
    p->at += strlen("<!DOCTYPE");
    skip_space(p);
    size_t size = name_size(p);
    if (!size) return wrong(p, "DOCTYPE: no name");
    p->at += size;
    skip_space(p);
    bool named = begins(p, "PUBLIC");
    if (named || begins(p, "SYSTEM")) {
        p->at += strlen("SYSTEM");
        if ((named && !skip_quoted(p, public)) || !skip_quoted(p, NULL)) return false;
        p->declared = !p->alone;
        skip_space(p);
    }
    return p->at < p->end && *p->at == '>' ? p->at++, true : wrong(p, "DOCTYPE improperly terminated");
}

/* Skips what is not part of an element's content: comments, instructions, the document type. */
static bool skip_other(parser *p) {
    if (begins(p, "<!--")) {
        p->at += 4;
        return skip_to(p, "-->", "--", "a comment");
    }
    if (begins(p, "<?")) return skip_instruction(p);
    if (p->doc->root || p->typed || !begins(p, "<!DOCTYPE"))
        return wrong(p, "StartTag: invalid element name");
    return skip_type(p);
}

static bool read_cdata(parser *p) {
    const char *from = p->at += strlen("<![CDATA[");
    if (!skip_to(p, "]]>", NULL, "a CDATA section")) return false;
    const char *end = p->at - 3;
    xmlChar *content = allocate(p, (size_t)(end - from) + 1), *out = content;
    if (!content) return false;
    for (; from < end; from++)
        if (*from != '\r' || from + 1 == end || from[1] != '\n')
            *out++ = *from == '\r' ? '\n' : (xmlChar)*from;
    return add_text(p, content);
}

static bool read_content(parser *p) {
    xmlChar *content;
    if (*p->at != '<') {
        if (p->open) return read_text(p, "<", false, &content) && add_text(p, content);
        skip_space(p);
        if (p->at >= p->end || *p->at == '<') return true;
        return wrong(p, p->doc->root ? "Extra content at the end of the document"
                                     : "Start tag expected, '<' not found");
    }
    if (begins(p, "</")) return read_end(p);
    if (p->open && begins(p, "<![CDATA[")) return read_cdata(p);
    if (begins(p, "<!") || begins(p, "<?")) return skip_other(p);
    return read_start(p);
}

/* ---- libxml2's names --------------------------------------------------------------------------------- */

/* Whether XML allows all characters of the text. */
static bool has_characters(parser *p) {
    for (size_t size; p->at < p->end; p->at += size) {
        unsigned long code = code_at(p->at, &size);
        if (!is_char(code)) return wrong(p, "invalid Char value %lu", code);
    }
    p->at = p->counted;
    return true;
}

void xmlInitParser(void) {}

void xmlSetGenericErrorFunc(void *context, xmlGenericErrorFunc handler) {
    (void)context;
    (void)handler;
}

void xmlThrDefSetGenericErrorFunc(void *context, xmlGenericErrorFunc handler) {
    xmlSetGenericErrorFunc(context, handler);
}

xmlParserCtxt *xmlNewParserCtxt(void) {
    return calloc(1, sizeof(xmlParserCtxt));
}

void xmlFreeParserCtxt(xmlParserCtxt *context) {
    free(context);
}

xmlDoc *xmlCtxtReadMemory(xmlParserCtxt *context, const char *text, int size, const char *url,
                          const char *encoding, int options) {
    (void)url;
    (void)encoding;
    (void)options;
    parser p = {.context = context,
                .doc = calloc(1, sizeof(xmlDoc)),
                .at = text,
                .end = text + size,
                .counted = text,
                .line = 1};
    if (!p.doc) return NULL;
    bool good = has_characters(&p) &&
                (!begins(&p, "<?xml") || name_size(&(parser){.at = text + 2, .end = p.end}) > 3 ||
                 read_declaration(&p));
    while (good && p.at < p.end) good = read_content(&p);
    if (good && p.open)
        good =
            wrong(&p, "Premature end of data in tag %s line %ld", (const char *)p.open->name, p.open->line);
    if (good && !p.doc->root) good = wrong(&p, "Document is empty");
    if (good) return p.doc;
    xmlFreeDoc(p.doc);
    return NULL;
}

xmlNode *xmlDocGetRootElement(const xmlDoc *doc) {
    return doc->root;
}

void xmlFreeDoc(xmlDoc *doc) {
    for (block *b = doc->blocks, *before; b; b = before) {
        before = b->before;
        free(b);
    }
    free(doc);
}

long xmlGetLineNo(const xmlNode *node) {
    return node->line;
}

static xmlAttr *find(const xmlNode *node, const char *name, int most) {
    for (xmlAttr *a = node->type == XML_ELEMENT_NODE ? node->properties : NULL; a; a = a->next)
        if (a->prefixed <= most && !strcmp((const char *)a->name, name)) return a;
    return NULL;
}

xmlAttr *xmlHasProp(const xmlNode *node, const xmlChar *name) {
    return find(node, (const char *)name, 1);
}

xmlChar *xmlGetNoNsProp(const xmlNode *node, const xmlChar *name) {
    const xmlAttr *a = find(node, (const char *)name, 0);
    return a ? (xmlChar *)strdup((const char *)a->children->content) : NULL;
}

xmlChar *xmlNodeGetContent(const xmlNode *node) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) return NULL;
    for (const xmlNode *at = node; at;) {
        if (at->type == XML_TEXT_NODE) fputs((const char *)at->content, out);
        if (at->children)
            at = at->children;
        else {
            while (at != node && !at->next) at = at->parent;
            at = at == node ? NULL : at->next;
        }
    }
    fclose(out);
    return (xmlChar *)text;
}

void xmlFree(void *p) {
    free(p);
}
