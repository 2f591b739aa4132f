/* The C functions that the browser page calls for reading orders: read a file of pages, describe their
 * regions (box, kind, beginning of the text), find the orders, take those that the user corrected, write the
 * file. Refuses boxes in JSON. Conventions as in src/front/wasm/exports.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/wasm_export.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "ordernet_pages.h"
#include "tasks/layout/format.h"
#include "tasks/layout/order/choose.h"
#include "tasks/layout/order/features.h"

typedef struct layout {
    page_file file;
    const xmlNode **elements; /* by their number */
} layout;

/* The browser page shows regions by their elements of XML, which boxes in JSON do not have. */
static onet_status refuse_boxes(page_file *f, onet_error *err) {
    return fail(err, ONET_BAD,
                "%s: boxes as JSON are read by the program; the browser page reads PAGE XML, ALTO and hOCR",
                f->path);
}
const page_format boxes_format = {.name = "boxes", .read = refuse_boxes};

/* ---- Files ------------------------------------------------------------------------------------------- */

EXPORT(web_pages_close) void web_pages_close(layout *l) {
    if (!l) return;
    page_file_free(&l->file);
    free(l->elements);
    free(l);
}

/* Reads a file of pages; NULL on failure. */
EXPORT(web_pages_open) layout *web_pages_open(const char *path) {
    layout *l = calloc(1, sizeof *l);
    if (!l) {
        wasm_no_memory();
        return NULL;
    }
    onet_status status = page_file_read(&l->file, path, NULL, &wasm_failure);
    if (!status && !(l->elements = array_new(l->file.xml.count + 1, sizeof *l->elements)))
        status = wasm_no_memory();
    if (status) {
        web_pages_close(l);
        return NULL;
    }
    size_t count = 0;
    for (const xmlNode *root = xmlDocGetRootElement(l->file.xml.doc), *at = root; at;) {
        if (at->type == XML_ELEMENT_NODE) l->elements[count++] = at;
        if (at->children)
            at = at->children;
        else {
            while (at != root && !at->next) at = at->parent;
            at = at == root ? NULL : at->next;
        }
    }
    return l;
}

EXPORT(web_pages_format) const char *web_pages_format(const layout *l) {
    return l->file.format->name;
}

/* Returns the warnings about the file, one per line; NULL: none. */
EXPORT(web_pages_notes) const char *web_pages_notes(const layout *l) {
    return l->file.notes;
}

EXPORT(web_pages_count) int web_pages_count(const layout *l) {
    return (int)l->file.count;
}

EXPORT(web_pages_regions) int web_pages_regions(const layout *l, int k) {
    return l->file.pages[k].count;
}

/* Describes page k: size [3] is its width and height, 0 if not known, and whether the file gives an
 * order; boxes [regions, 4]; facts [regions, 4]: kind, whether it takes a place in the order, its given and
 * its found place. */
EXPORT(web_pages_read)
void web_pages_read(const layout *l, int k, double *size, double *boxes, int32_t *facts) {
    const page *p = &l->file.pages[k];
    size[0] = p->width;
    size[1] = p->height;
    size[2] = p->ordered;
    for (int i = 0; i < p->count; i++) {
        const page_region *r = &p->regions[i];
        memcpy(boxes + 4 * i, (double[]){r->box.x0, r->box.y0, r->box.x1, r->box.y1}, 4 * sizeof *boxes);
        memcpy(facts + 4 * i, (int32_t[]){(int32_t)r->kind, r->placed, r->given, r->found},
               4 * sizeof *facts);
    }
}

EXPORT(web_pages_id) const char *web_pages_id(const layout *l, int k, int i) {
    return l->file.pages[k].regions[i].id;
}

EXPORT(web_pages_type) const char *web_pages_type(const layout *l, int k, int i) {
    return l->file.pages[k].regions[i].type;
}

/* Returns the name of the scan; NULL: not known. */
EXPORT(web_pages_image) const char *web_pages_image(const layout *l, int k) {
    return l->file.pages[k].image;
}

/* Writes the first text below an element: of its first line in PAGE XML, else of the element; in ALTO the
 * words of the first line. */
static void write_text(const xmlNode *node, FILE *out) {
    const xmlNode *line = xml_child(node, "TextLine"), *from = line ? line : node;
    const xmlNode *text = xml_child(from, "TextEquiv");
    if (!text && line) text = xml_child(node, "TextEquiv");
    if (line && !text) {
        for (const xmlNode *c = line->children; c; c = c->next)
            if (xml_is(c, "String")) {
                char *word = xml_copy(c, "CONTENT");
                fprintf(out, "%s ", word);
                free(word);
            }
        return;
    }
    bool html = !text && strcmp((const char *)node->name, "TextRegion") != 0;
    if (text) text = xml_child(text, "Unicode");
    xmlChar *content = text || html ? xmlNodeGetContent(text ? text : node) : NULL;
    if (content) fputs((const char *)content, out);
    xmlFree(content);
}

/* Writes the beginning of the text of region i to text [room]. */
EXPORT(web_pages_text) void web_pages_text(const layout *l, int k, int i, char *text, size_t room) {
    FILE *out = fmemopen(text, room, "w");
    if (!out) return;
    write_text(l->elements[l->file.pages[k].regions[i].element], out);
    fclose(out);
    text[room - 1] = '\0';
}

/* ---- Orders ------------------------------------------------------------------------------------------ */

static onet_status find_one(page *p, onet_orderer *orderer, const pages_style *style, bool rtl) {
    page_tables tables = {0};
    if (rtl) page_mirror(p);
    onet_status status = page_tables_fold(&tables, p, &wasm_failure);
    if (!status) status = pages_choose(orderer, style, &p, 1, NULL, &wasm_failure);
    onet_status unfolded = page_tables_unfold(&tables, p, !status && p->placed, &wasm_failure);
    if (rtl) page_mirror(p);
    return status ? status : unfolded;
}

/* Finds the order of each page, as `ordernet pages order` does. Returns the status. */
EXPORT(web_pages_find) int web_pages_find(layout *l, const onet_model *model, int rtl) {
    onet_order_options o = {.size = sizeof o, .threads = 1, .device = "cpu"};
    onet_orderer *orderer = NULL;
    pages_style style = {0};
    onet_status status = pages_style_of(&style, model, &wasm_failure);
    if (!status) status = onet_orderer_new(&orderer, model, &o, &wasm_failure);
    for (size_t k = 0; k < l->file.count && !status; k++)
        status = find_one(&l->file.pages[k], orderer, &style, rtl != 0);
    if (!status) status = page_file_settle(&l->file, &wasm_failure);
    onet_orderer_free(orderer);
    return (int)status;
}

/* Takes order [placed] of page k, or the file's own if it is NULL, as the found one. Returns the status. */
EXPORT(web_pages_take) int web_pages_take(layout *l, int k, const int32_t *order) {
    page *p = &l->file.pages[k];
    int32_t *own = array_new((size_t)p->placed + 1, sizeof *own);
    if (!own) return (int)wasm_no_memory();
    if (!order) page_order_of(p, false, own);
    page_found(p, order ? order : own);
    free(own);
    return ONET_OK;
}

/* Makes the found orders such that the file can hold them. Returns the status. */
EXPORT(web_pages_settle) int web_pages_settle(layout *l) {
    return (int)page_file_settle(&l->file, &wasm_failure);
}

/* Writes the file with the found orders, once; lines: those within a region too, where they jump back.
 * Returns the status. */
EXPORT(web_pages_save) int web_pages_save(layout *l, const char *path, int lines, int rtl) {
    onet_status status = ONET_OK;
    for (size_t k = 0; k < l->file.count && !status && lines; k++)
        status = page_order_lines(&l->file.pages[k], rtl != 0, &wasm_failure);
    if (!status) status = page_file_write(&l->file, path, &wasm_failure);
    return (int)status;
}
