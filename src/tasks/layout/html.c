/* Reads HTML that is not well-formed XML: scans its tags and writes a skeleton of them as XML for libxml2,
 * with each element's position in the original text, which is what is then changed. */
#include "tasks/layout/xml.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"

enum { NAME = 32 };

/* The end of a tag or comment that has none. */
static const size_t NO_END = SIZE_MAX;

typedef struct open_element {
    char name[NAME];
    size_t place;
} open_element;

typedef struct reader {
    const page_text *t;
    const char *name; /* of the file */
    page_xml *x;
    FILE *out;
    open_element *open; /* from <html> to the innermost */
    size_t depth, room;
} reader;

static bool one_of(const char *name, const char *const *list) {
    for (; *list; list++)
        if (!strcmp(name, *list)) return true;
    return false;
}

/* Elements that never have an end tag. */
static bool is_void(const char *name) {
    static const char *const list[] = {"area", "base", "br",    "col",    "embed", "hr",  "img", "input",
                                       "link", "meta", "param", "source", "track", "wbr", NULL};
    return one_of(name, list);
}

/* Elements at whose start a paragraph ends that has no end tag. */
static bool ends_paragraph(const char *name) {
    static const char *const list[] = {"address", "article", "blockquote", "div",   "dl", "form", "h1",
                                       "h2",      "h3",      "h4",         "h5",    "h6", "hr",   "ol",
                                       "p",       "pre",     "section",    "table", "ul", NULL};
    return one_of(name, list);
}

/* Elements that hold others together: a paragraph outside them does not end within them. */
static bool is_holder(const char *name) {
    static const char *const list[] = {"html", "body", "div", "table", "td", "th", NULL};
    return one_of(name, list);
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f';
}

/* Reads the name that begins at `at`, in lower case, with `_` for what XML does not allow; returns its end.
 */
static size_t read_name(const page_text *t, size_t at, char name[NAME]) {
    size_t end = at + strcspn(t->utf8 + at, " \t\r\n\f/>="), length = 0;
    for (; at < end && length < NAME - 1; at++) {
        char c = t->utf8[at];
        bool digit = length && c >= '0' && c <= '9';
        name[length++] = c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : is_letter(c) || digit ? c : '_';
    }
    name[length] = '\0';
    return end;
}

static void put_newlines(const reader *r, size_t from, size_t to) {
    for (; from < to; from++)
        if (r->t->utf8[from] == '\n') putc('\n', r->out);
}

/* Writes an attribute's value, escaped for XML; it keeps its lines and references to characters. */
static void put_value(const reader *r, size_t from, size_t to) {
    static const char *const references[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;", "&#39;"};
    for (; from < to; from++) {
        const char *at = r->t->utf8 + from;
        bool reference = false;
        for (size_t i = 0; i < sizeof references / sizeof *references; i++)
            reference = reference || !strncmp(at, references[i], strlen(references[i]));
        if (*at == '&' && !reference)
            fputs("&amp;", r->out);
        else if (*at == '<')
            fputs("&lt;", r->out);
        else if (*at == '"')
            fputs("&quot;", r->out);
        else
            putc((unsigned char)*at < ' ' && *at != '\n' ? ' ' : *at, r->out);
    }
}

/* Refuses a tag, comment or value without an end, which would swallow what follows it wherever it is moved
 * to. */
static onet_status unclosed(const reader *r, size_t at, onet_error *err) {
    return fail(err, ONET_BAD, "%s:%ld: a tag, comment or quoted value begins here and has no end", r->name,
                page_text_line(r->t, at));
}

/* Copies class, id and title of a start tag, of the attributes from `at` on; returns the end of the tag, or
 * NO_END. */
static size_t read_attributes(const reader *r, size_t at) {
    static const char *const wanted[] = {"class", "id", "title"};
    const char *text = r->t->utf8;
    bool seen[3] = {false};
    size_t end = r->t->size;
    while (at < end && text[at] != '>') {
        if (is_space(text[at]) || text[at] == '/' || text[at] == '=') {
            if (text[at] == '\n') putc('\n', r->out);
            at++;
            continue;
        }
        char name[NAME];
        at = read_name(r->t, at, name);
        size_t next = at;
        while (next < end && is_space(text[next])) next++;
        if (next >= end || text[next] != '=') continue;
        for (next++; next < end && is_space(text[next]);) next++;
        put_newlines(r, at, next);
        text_span value = {next, next};
        if (next < end && (text[next] == '"' || text[next] == '\'')) {
            const char *last = memchr(text + next + 1, text[next], end - next - 1);
            value = (text_span){next + 1, last ? (size_t)(last - text) : end};
            at = last ? value.end + 1 : end;
        } else
            at = value.end = next + strcspn(text + next, " \t\r\n\f>");
        int k = 0;
        while (k < 3 && strcmp(name, wanted[k])) k++;
        if (k < 3 && !seen[k]) {
            seen[k] = true;
            fprintf(r->out, " %s=\"", name);
            put_value(r, value.start, value.end);
            putc('"', r->out);
        } else
            put_newlines(r, value.start, value.end);
    }
    return at < end ? at + 1 : NO_END;
}

/* Closes the elements from `level` on, whose text ends at `end`. */
static void close_to(reader *r, size_t level, size_t end) {
    while (r->depth > level) {
        const open_element *e = &r->open[--r->depth];
        r->x->places[e->place].whole.end = end;
        fprintf(r->out, "</%s>", e->name);
    }
}

/* Returns the level of the innermost open element with this name; depth if there is none or, with
 * within_holder, if a holder comes first. */
static size_t level_of(const reader *r, const char *name, bool within_holder) {
    for (size_t level = r->depth; level; level--) {
        if (!strcmp(r->open[level - 1].name, name)) return level - 1;
        if (within_holder && is_holder(r->open[level - 1].name)) break;
    }
    return r->depth;
}

static onet_status read_start(reader *r, size_t *at, onet_error *err) {
    open_element e = {.place = r->x->count};
    size_t start = *at, name_end = read_name(r->t, start + 1, e.name);
    if (ends_paragraph(e.name)) close_to(r, level_of(r, "p", true), start);
    if (!strcmp(e.name, "li")) close_to(r, level_of(r, "li", true), start);
    if (!array_reserve(&r->x->places, &r->x->room, r->x->count + 1, sizeof *r->x->places) ||
        !array_reserve(&r->open, &r->room, r->depth + 1, sizeof *r->open))
        return fail_memory(err, "the elements of a file");
    fprintf(r->out, "<%s", e.name);
    size_t end = read_attributes(r, name_end);
    if (end == NO_END) return unclosed(r, start, err);
    bool empty = is_void(e.name) || (end - start >= 3 && r->t->utf8[end - 2] == '/');
    fputs(empty ? "/>" : ">", r->out);
    r->x->places[r->x->count++] = (xml_place){{start, end}, {start, end}};
    if (!empty) r->open[r->depth++] = e;
    *at = end;
    /* The content of these elements is not HTML. */
    if (!empty && (!strcmp(e.name, "script") || !strcmp(e.name, "style"))) {
        while (*at < r->t->size && (strncmp(r->t->utf8 + *at, "</", 2) ||
                                    strncasecmp(r->t->utf8 + *at + 2, e.name, strlen(e.name))))
            ++*at;
        put_newlines(r, end, *at);
        if (*at == r->t->size) return unclosed(r, start, err);
    }
    return ONET_OK;
}

static onet_status read_end(reader *r, size_t *at, onet_error *err) {
    char name[NAME];
    size_t start = *at, end = read_name(r->t, start + 2, name);
    end += strcspn(r->t->utf8 + end, ">");
    if (end == r->t->size) return unclosed(r, start, err);
    *at = end + 1;
    /* As browsers do: the end of a paragraph within an element that holds others ends none outside it. */
    size_t level = level_of(r, name, !is_holder(name));
    /* What follows </body> and </html> belongs to them all the same. */
    if (level < r->depth && strcmp(name, "html") && strcmp(name, "body")) {
        close_to(r, level + 1, start);
        close_to(r, level, *at);
    }
    put_newlines(r, start, *at);
    return ONET_OK;
}

/* Returns the end of a comment, a declaration or a processing instruction, or NO_END. */
static size_t skip(const page_text *t, size_t at) {
    bool comment = !strncmp(t->utf8 + at, "<!--", 4);
    const char *found = strstr(t->utf8 + at + (comment ? 4 : 2), comment ? "-->" : ">");
    return found ? (size_t)(found - t->utf8) + (comment ? 3 : 1) : NO_END;
}

bool html_is(const page_text *t) {
    for (size_t at = 0; at < t->size;) {
        char name[NAME];
        at += strspn(t->utf8 + at, " \t\r\n\f");
        if (t->utf8[at] != '<') return false;
        if (t->utf8[at + 1] != '!' && t->utf8[at + 1] != '?') {
            read_name(t, at + 1, name);
            return !strcmp(name, "html");
        }
        size_t end = skip(t, at);
        if (end == NO_END) return false;
        if (!strncasecmp(t->utf8 + at, "<!doctype", 9) && memchr(t->utf8 + at, '[', end - at)) return false;
        at = end;
    }
    return false;
}

onet_status html_read(page_xml *x, const page_text *t, const char *name, char **xml, size_t *size,
                      onet_error *err) {
    reader r = {.t = t, .name = name, .x = x};
    onet_status status = ONET_OK;
    *xml = NULL;
    r.out = open_memstream(xml, size);
    if (!r.out) return fail_memory(err, "the elements of a file");
    for (size_t at = 0; at < t->size && !status;) {
        size_t before = at;
        at += strcspn(t->utf8 + at, "<");
        put_newlines(&r, before, at);
        char next = at < t->size ? t->utf8[at + 1] : '\0';
        before = at;
        if (next == '!' || next == '?') {
            at = skip(t, at);
            if (at == NO_END)
                status = unclosed(&r, before, err);
            else
                put_newlines(&r, before, at);
        } else if (next == '/')
            status = read_end(&r, &at, err);
        else if (is_letter(next))
            status = read_start(&r, &at, err);
        else if (at < t->size)
            at++;
    }
    close_to(&r, 0, t->size);
    bool written = !ferror(r.out);
    written = !fclose(r.out) && written && *xml;
    if (!status && !written) status = fail_memory(err, "the elements of a file");
    free(r.open);
    if (status) {
        free(*xml);
        *xml = NULL;
    }
    return status;
}
