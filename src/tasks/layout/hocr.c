/* Reads and rewrites the reading order of hOCR (OCR results in HTML, as Tesseract writes it): areas,
 * paragraphs and lines with title="bbox x0 y0 x1 y1". The order is that of the elements in the file, or of
 * their "order" properties. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/number.h"
#include "tasks/layout/format.h"
#include "tasks/layout/guard.h"

/* Whether one of the element's classes is `name`. */
static bool has_class(const xmlNode *node, const char *name) {
    char text[512];
    size_t length = strlen(name);
    if (node->type != XML_ELEMENT_NODE) return false;
    xml_get(node, "class", text, sizeof text);
    for (const char *at = text; *at; at += strcspn(at, " "), at += strspn(at, " "))
        if (!strncmp(at, name, length) && (!at[length] || at[length] == ' ')) return true;
    return false;
}

static void box_of(const xmlNode *node, page_box *box) {
    char *text = xml_copy(node, "title");
    const char *at = strstr(text, "bbox "), *end = text + strlen(text);
    double value[4];
    int read = 0;
    if (at) at += 5;
    while (at && read < 4) {
        at += strspn(at, " ");
        const char *next = number_scan(at, end, NUMBER_LOOSE, &value[read]);
        if (next == at) break;
        at = next;
        read++;
    }
    free(text);
    if (read < 4) return;
    page_box_add(box, value[0], value[1]);
    page_box_add(box, value[2], value[3]);
}

/* Reads the name of the scan: image "scan.png" in the title of the page. */
static void read_image(const xmlNode *node, page *p) {
    char *text = xml_copy(node, "title"), *at = strstr(text, "image \""),
         *end = at ? strchr(at + 7, '"') : NULL;
    if (end) {
        *end = '\0';
        if (at[7]) p->image = guard_copy(at + 7);
    }
    free(text);
}

/* Finds the property `order` in the title of an element, the span of its number and the number; false: it has
 * none. */
static bool order_of(const page_file *f, size_t element, text_span *at, int *number) {
    text_span title;
    if (!xml_value(&f->text, &f->xml.places[element], "title", &title)) return false;
    const char *text = f->text.utf8;
    for (size_t i = title.start; i + 6 < title.end; i++) {
        bool begins = i == title.start || strchr("; \t\r\n", text[i - 1]);
        if (!begins || strncmp(text + i, "order ", 6) != 0) continue;
        size_t start = i + 6;
        while (start < title.end && text[start] == ' ') start++;
        size_t end = start;
        for (*number = 0; end < title.end && end - start < 8 && text[end] >= '0' && text[end] <= '9'; end++)
            *number = 10 * *number + (text[end] - '0');
        if (end == start || (end < title.end && text[end] >= '0' && text[end] <= '9')) return false;
        *at = (text_span){start, end};
        return true;
    }
    return false;
}

/* Whether all blocks that are read have the property `order`: it is the order then, and they stay where they
 * are. */
static bool is_numbered(const page_file *f, const page *p) {
    bool any = false;
    text_span at;
    int number;
    for (int k = 0; k < p->count; k++) {
        if (!p->regions[k].listed) continue;
        if (!order_of(f, p->regions[k].element, &at, &number)) return false;
        any = true;
    }
    return any;
}

static onet_status write_numbers(page_file *f, const page *p, onet_error *err) {
    int32_t *order = array_new((size_t)p->placed + 1, sizeof *order);
    int *numbers = array_new((size_t)p->placed + 1, sizeof *numbers);
    onet_status status = order && numbers ? ONET_OK : fail_memory(err, "the reading order of a page");
    text_span at;
    if (!status) page_order_of(p, true, order);
    for (int k = 0; k < p->placed && !status; k++)
        if (!order_of(f, p->regions[order[k]].element, &at, &numbers[k])) numbers[k] = -1;
    if (!status) page_numbers(numbers, p->placed);
    for (int k = 0; k < p->placed && !status; k++) {
        int now;
        if (order_of(f, p->regions[order[k]].element, &at, &now) && now != numbers[k])
            status = page_text_number(&f->text, at, numbers[k], err);
    }
    free(order);
    free(numbers);
    return status;
}

static const struct {
    const char *name, *type;
    page_kind kind;
} blocks[] = {
    {"ocr_carea", "paragraph", KIND_TEXT},     {"ocrx_block", "paragraph", KIND_TEXT},
    {"ocr_par", "paragraph", KIND_TEXT},       {"ocr_header", "header", KIND_FURNITURE},
    {"ocr_footer", "footer", KIND_FURNITURE},  {"ocr_pageno", "page-number", KIND_FURNITURE},
    {"ocr_caption", "caption", KIND_NOTE},     {"ocr_table", "table", KIND_OTHER},
    {"ocr_photo", "image", KIND_OTHER},        {"ocr_image", "image", KIND_OTHER},
    {"ocr_linedrawing", "image", KIND_OTHER},  {"ocr_float", "paragraph", KIND_TEXT},
    {"ocr_textfloat", "paragraph", KIND_TEXT}, {"ocr_separator", "separator", KIND_SEPARATOR},
    {"ocr_line", "paragraph", KIND_TEXT},      {"ocrx_line", "paragraph", KIND_TEXT},
};

static int block_of(const xmlNode *node) {
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (has_class(node, blocks[i].name)) return (int)i;
    return -1;
}

static bool is_line(const xmlNode *node) {
    return has_class(node, "ocr_line") || has_class(node, "ocrx_line") || has_class(node, "ocr_header") ||
           has_class(node, "ocr_caption") || has_class(node, "ocr_textfloat");
}

/* Reads the lines under a node; they are ordered only if all stand in one element (*alike). */
static onet_status read_lines(page_file *f, page_region *r, const xmlNode *node, const xmlNode **parent,
                              bool *alike, onet_error *err) {
    onet_status status = ONET_OK;
    for (const xmlNode *c = node->children; c && !status; c = c->next) {
        if (c->type != XML_ELEMENT_NODE) continue;
        if (!is_line(c)) {
            status = read_lines(f, r, c, parent, alike, err);
            continue;
        }
        page_line *l = page_add_line(r);
        if (!l) return fail_memory(err, "the lines of a page");
        box_of(c, &l->box);
        l->element = (size_t)(xml_place_of(&f->xml, c) - f->xml.places);
        *alike = *alike && (!*parent || *parent == c->parent);
        *parent = c->parent;
    }
    return status;
}

static onet_status read_blocks(page_file *f, page *p, const xmlNode *node, onet_error *err) {
    onet_status status = ONET_OK;
    for (const xmlNode *c = node->children; c && !status; c = c->next) {
        if (c->type != XML_ELEMENT_NODE) continue;
        int block = block_of(c);
        if (block < 0) {
            status = read_blocks(f, p, c, err);
            continue;
        }
        char id[256];
        if (p->count >= ONET_PAGES_MAX_REGIONS)
            return fail(err, ONET_BAD, "%s:%ld: the page has over %d blocks", f->path, xmlGetLineNo(c),
                        ONET_PAGES_MAX_REGIONS);
        page_region *r = page_add(p, xml_get(c, "id", id, sizeof id), blocks[block].type, blocks[block].kind);
        if (!r) return fail_memory(err, "the blocks of a page");
        r->line = xmlGetLineNo(c);
        r->element = (size_t)(xml_place_of(&f->xml, c) - f->xml.places);
        r->parent = (size_t)(xml_place_of(&f->xml, c->parent) - f->xml.places);
        r->listed = r->kind < KIND_OTHER || !strcmp(r->type, "table");
        r->given = r->listed ? p->count : -1;
        box_of(c, &r->box);
        const xmlNode *parent = NULL;
        bool alike = true;
        status = read_lines(f, r, c, &parent, &alike, err);
        if (!alike) r->line_count = 0;
    }
    return status;
}

static onet_status read_pages(page_file *f, const xmlNode *node, onet_error *err) {
    onet_status status = ONET_OK;
    for (const xmlNode *c = node->children; c && !status; c = c->next) {
        if (!has_class(c, "ocr_page")) {
            if (c->type == XML_ELEMENT_NODE) status = read_pages(f, c, err);
            continue;
        }
        page *p = page_file_add(f);
        page_box box = page_box_none;
        if (!p) return fail_memory(err, "a page");
        box_of(c, &box);
        if (page_box_valid(&box)) {
            p->width = page_box_width(&box);
            p->height = page_box_height(&box);
        }
        read_image(c, p);
        status = read_blocks(f, p, c, err);
        text_span at;
        bool numbered = !status && is_numbered(f, p);
        for (int k = 0; k < p->count && numbered; k++)
            if (p->regions[k].listed) order_of(f, p->regions[k].element, &at, &p->regions[k].given);
    }
    return status;
}

static onet_status read(page_file *f, onet_error *err) {
    onet_status status = read_pages(f, xmlDocGetRootElement(f->xml.doc), err);
    if (!status && !f->count)
        status = fail(err, ONET_BAD,
                      "%s: no element has the class ocr_page; hOCR files have one for each page", f->path);
    return status;
}

static onet_status change(page_file *f, onet_error *err) {
    onet_status status = ONET_OK;
    for (size_t i = 0; i < f->count && !status; i++) {
        const page *p = &f->pages[i];
        status = is_numbered(f, p) ? write_numbers(f, p, err) : page_file_move_regions(f, p, err);
        for (int k = 0; k < p->count && !status; k++)
            if (p->regions[k].lines_moved) status = page_file_move_lines(f, &p->regions[k], err);
    }
    return status;
}

static onet_status settle(page_file *f, onet_error *err) {
    for (size_t i = 0; i < f->count; i++)
        if (is_numbered(f, &f->pages[i])) return ONET_OK;
    return page_file_settle_regions(f, err);
}

const page_format hocr_format = {
    .name = "hOCR", .root = "html", .read = read, .settle = settle, .change = change};
