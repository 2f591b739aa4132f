/* Reads and rewrites the reading order of PAGE XML files (an XML format for the layout of scanned pages),
 * schemas of 2010 to 2019: regions and lines with their outlines. The order is in ReadingOrder, and in the
 * attribute custom="readingOrder {index:3;}" if Transkribus wrote the file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "tasks/layout/format.h"
#include "tasks/layout/guard.h"
#include "tasks/layout/page_xml_order.h"

/* Finds the digits of "index:3" within "readingOrder {...}" of a custom attribute; false: there are none. */
static bool custom_digits(const char *text, size_t size, size_t *start, size_t *end) {
    static const char name[] = "readingOrder";
    const char *at = memmem(text, size, name, sizeof name - 1), *last = text + size;
    if (!at) return false;
    const char *close = memchr(at, '}', (size_t)(last - at));
    const char *index = memmem(at, (size_t)((close ? close : last) - at), "index:", 6);
    if (!index) return false;
    index += 6;
    while (index < last && *index == ' ') index++;
    size_t digits = strspn(index, "0123456789");
    if (!digits || digits > 8 || index + digits > last) return false;
    *start = (size_t)(index - text);
    *end = *start + digits;
    return true;
}

/* Returns the number in an element's custom attribute; -1: none. */
static int custom_index(const xmlNode *node) {
    char *text = xml_copy(node, "custom");
    size_t start, end;
    int index = custom_digits(text, strlen(text), &start, &end) ? atoi(text + start) : -1;
    free(text);
    return index;
}

/* Reads the type that Transkribus keeps in custom="structure {type:heading;}". */
static void custom_type(const xmlNode *node, char type[64]) {
    char *text = xml_copy(node, "custom");
    char *at = strstr(text, "structure"), *end = at ? strchr(at, '}') : NULL;
    char *value = at ? strstr(at, "type:") : NULL;
    if (value && end && value < end) {
        value += 5;
        snprintf(type, 64, "%.*s", (int)strcspn(value, ";}"), value);
    }
    free(text);
}

/* Reads the outline of an element: points="x,y ..." or, in the oldest schema, Point elements. */
static void outline(const xmlNode *node, page_box *box) {
    double points[4] = {box->x0, box->y0, box->x1, box->y1};
    const xmlNode *coords = xml_child(node, "Coords");
    if (!coords) return;
    char text[32];
    if (*xml_get(coords, "points", text, sizeof text)) {
        if (xml_points(coords, "points", points))
            *box = (page_box){points[0], points[1], points[2], points[3]};
        return;
    }
    for (const xmlNode *p = coords->children; p; p = p->next)
        if (xml_is(p, "Point")) {
            char y[32];
            page_box_add(box, atof(xml_get(p, "x", text, sizeof text)), atof(xml_get(p, "y", y, sizeof y)));
        }
}

static bool ends_in(const char *name, const char *end) {
    size_t length = strlen(name), tail = strlen(end);
    return length > tail && !strcmp(name + length - tail, end);
}

typedef struct numbered_line {
    int number, line;
} numbered_line;

static int by_line_number(const void *a, const void *b) {
    const numbered_line *x = a, *y = b;
    return x->number != y->number ? (x->number > y->number) - (x->number < y->number)
                                  : (x->line > y->line) - (x->line < y->line);
}

static onet_status read_lines(page_file *f, page_region *r, const xmlNode *node, onet_error *err) {
    bool numbered = true;
    for (const xmlNode *c = node->children; c; c = c->next) {
        if (!xml_is(c, "TextLine")) continue;
        page_line *l = page_add_line(r);
        if (!l) return fail_memory(err, "the lines of a page");
        outline(c, &l->box);
        l->element = (size_t)(xml_place_of(&f->xml, c) - f->xml.places);
        l->given = custom_index(c);
        if (l->given < 0) l->given = xml_number(c, "index");
        numbered = numbered && l->given >= 0;
    }
    /* Lines go in the order of their numbers; those of equal numbers as they stand in the file. */
    int n = r->line_count;
    numbered_line *sorted = array_new((size_t)n + 1, sizeof *sorted);
    if (!sorted) return fail_memory(err, "the lines of a page");
    for (int j = 0; j < n; j++) sorted[j] = (numbered_line){numbered ? r->lines[j].given : 0, j};
    qsort(sorted, (size_t)n, sizeof *sorted, by_line_number);
    for (int k = 0; k < n; k++) r->lines[sorted[k].line].given = r->lines[sorted[k].line].found = k;
    free(sorted);
    return ONET_OK;
}

static onet_status read_region(page_file *f, page *p, const xmlNode *node, bool nested, onet_error *err) {
    const char *name = (const char *)node->name;
    char type[64] = "";
    long line = xmlGetLineNo(node);
    page_kind kind = KIND_OTHER;
    if (p->count >= ONET_PAGES_MAX_REGIONS)
        return fail(err, ONET_BAD, "%s:%ld: the page has over %d regions", f->path, line,
                    ONET_PAGES_MAX_REGIONS);
    if (!strcmp(name, "TextRegion")) {
        xml_get(node, "type", type, sizeof type);
        if (!*type) custom_type(node, type);
        kind = page_kind_of(type);
        if (!*type) strcpy(type, "paragraph");
    } else {
        snprintf(type, sizeof type, "%.*s", (int)(strlen(name) - 6), name);
        for (char *c = type; *c; c++)
            if (*c >= 'A' && *c <= 'Z') *c += 'a' - 'A';
        if (!strcmp(type, "separator")) kind = KIND_SEPARATOR;
    }
    char *id = xml_copy(node, "id");
    page_region *r = page_add(p, id, type, kind);
    free(id);
    if (!r) return fail_memory(err, "the regions of a page");
    r->line = line;
    r->nested = nested;
    r->element = (size_t)(xml_place_of(&f->xml, node) - f->xml.places);
    r->custom = custom_index(node);
    outline(node, &r->box);
    return kind < KIND_OTHER ? read_lines(f, r, node, err) : ONET_OK;
}

static bool is_region(const xmlNode *node) {
    return node->type == XML_ELEMENT_NODE && ends_in((const char *)node->name, "Region");
}

/* Reads the regions in an element. Text in a table or in another text is a part of it; text in a picture or
 * an advertisement is a region of its own. table: 1 + the number of the table that they are in; 0: none. */
static onet_status read_regions(page_file *f, page *p, const xmlNode *node, bool nested, int table,
                                onet_error *err) {
    onet_status status = ONET_OK;
    for (const xmlNode *c = node->children; c && !status; c = c->next)
        if (is_region(c)) {
            int number = p->count + 1;
            status = read_region(f, p, c, nested, err);
            if (status) break;
            p->regions[number - 1].table = table;
            bool is_table = xml_is(c, "TableRegion"), part = is_table || xml_is(c, "TextRegion");
            status = read_regions(f, p, c, nested || part, is_table ? number : table, err);
        }
    return status;
}

static onet_status read(page_file *f, onet_error *err) {
    const xmlNode *root = xmlDocGetRootElement(f->xml.doc), *node = xml_child(root, "Page");
    if (!node) return fail(err, ONET_BAD, "%s:%ld: <PcGts> has no <Page>", f->path, xmlGetLineNo(root));
    for (const xmlNode *other = node->next; other; other = other->next)
        if (xml_is(other, "Page"))
            return fail(err, ONET_BAD,
                        "%s:%ld: a second <Page>; a file of PAGE XML has one: divide it into files of a page "
                        "each",
                        f->path, xmlGetLineNo(other));
    page *p = page_file_add(f);
    if (!p) return fail_memory(err, "a page");
    char text[1024];
    p->width = xml_number(node, "imageWidth");
    p->height = xml_number(node, "imageHeight");
    if (*xml_get(node, "imageFilename", text, sizeof text)) p->image = guard_copy(text);
    page_names n = {0};
    onet_status status = read_regions(f, p, node, false, 0, err);
    if (!status) status = page_names_make(&n, f, err);
    if (!status) page_names_note_repeated(&n, f);
    for (int i = 0; i < p->count && !status; i++)
        if (!*p->regions[i].id && p->regions[i].kind != KIND_SEPARATOR && !p->regions[i].nested)
            page_file_note(f, p->regions[i].line, "a region has no id; a reading order cannot name it");
    const xmlNode *group = page_xml_order_group(node);
    if (!status && group) status = page_xml_order_read(f, group, &n, err);
    bool listed = false;
    for (int i = 0; i < p->count && !status; i++) listed = listed || p->regions[i].listed;
    for (int i = 0; i < p->count && !status && !listed; i++) {
        page_region *r = &p->regions[i];
        if (r->custom < 0 || r->nested) continue;
        r->listed = true;
        r->given = r->custom;
    }
    page_names_free(&n);
    return status;
}

/* Sets the number in an element's attribute `custom` or `index`, if it has one. */
static onet_status write_number(page_file *f, const xml_place *place, const char *attribute, int number,
                                onet_error *err) {
    text_span value;
    if (!xml_value(&f->text, place, attribute, &value)) return ONET_OK;
    if (!strcmp(attribute, "custom")) {
        size_t start, end;
        if (!custom_digits(f->text.utf8 + value.start, value.end - value.start, &start, &end)) return ONET_OK;
        value = (text_span){value.start + start, value.start + end};
    }
    return page_text_number(&f->text, value, number, err);
}

/* Writes the numbers in custom: those that the placed regions have, given out anew in the found order. */
static onet_status write_custom(page_file *f, const page *p, onet_error *err) {
    int32_t *order = array_new((size_t)p->placed + 1, sizeof *order);
    int *numbers = array_new((size_t)p->placed + 1, sizeof *numbers), count = 0, next = 0;
    onet_status status = order && numbers ? ONET_OK : fail_memory(err, "the reading order of a page");
    if (!status) page_order_of(p, true, order);
    for (int k = 0; k < p->placed && !status; k++)
        if (p->regions[order[k]].custom >= 0) numbers[count++] = p->regions[order[k]].custom;
    if (!status) page_numbers(numbers, count);
    for (int k = 0; k < p->placed && !status; k++)
        if (p->regions[order[k]].custom >= 0)
            status =
                write_number(f, &f->xml.places[p->regions[order[k]].element], "custom", numbers[next++], err);
    free(order);
    free(numbers);
    return status;
}

static onet_status write_lines(page_file *f, const page_region *r, onet_error *err) {
    int *numbers = array_new((size_t)r->line_count + 1, sizeof *numbers);
    onet_status status = numbers ? ONET_OK : fail_memory(err, "the lines of a region");
    for (int pass = 0; pass < 2 && !status; pass++) {
        const char *attribute = pass ? "index" : "custom";
        for (int j = 0; j < r->line_count; j++) {
            text_span value;
            size_t start, end;
            const xml_place *place = &f->xml.places[r->lines[j].element];
            const char *at = f->text.utf8;
            numbers[j] = -1;
            if (!xml_value(&f->text, place, attribute, &value)) continue;
            if (pass)
                numbers[j] = atoi(at + value.start);
            else if (custom_digits(at + value.start, value.end - value.start, &start, &end))
                numbers[j] = atoi(at + value.start + start);
        }
        page_numbers(numbers, r->line_count);
        for (int j = 0; j < r->line_count && !status; j++)
            status = write_number(f, &f->xml.places[r->lines[j].element], attribute,
                                  numbers[r->lines[j].found], err);
    }
    if (!status) status = page_file_move_lines(f, r, err);
    free(numbers);
    return status;
}

/* Returns the group of the file's order if that names the placed regions and no others; NULL: a new order is
 * written. */
static xmlNode *kept_group(const page *p, const xmlNode *node) {
    xmlNode *group = page_xml_order_group(node);
    for (int i = 0; i < p->count && group; i++)
        if (p->regions[i].placed != p->regions[i].listed) group = NULL;
    return group;
}

static onet_status settle(page_file *f, onet_error *err) {
    page *p = &f->pages[0];
    const xmlNode *group = kept_group(p, xml_child(xmlDocGetRootElement(f->xml.doc), "Page"));
    page_names n = {0};
    onet_status status = group ? page_names_make(&n, f, err) : ONET_OK;
    if (!status && group) status = page_xml_order_settle(p, group, &n, err);
    page_names_free(&n);
    return status;
}

static onet_status change(page_file *f, onet_error *err) {
    page *p = &f->pages[0];
    const xmlNode *node = xml_child(xmlDocGetRootElement(f->xml.doc), "Page");
    xmlNode *group = kept_group(p, node);
    page_names n = {0};
    onet_status status = page_names_make(&n, f, err);
    if (!status && group) status = page_xml_order_write(f, group, &n, err);
    if (!status && !group && p->placed) status = page_xml_order_new(f, p, node, &n, err);
    if (!status) status = write_custom(f, p, err);
    for (int i = 0; i < p->count && !status; i++) {
        const page_region *r = &p->regions[i];
        bool moved = r->lines_moved;
        for (int j = 0; j < r->line_count; j++) moved = moved || r->lines[j].found != j;
        if (moved) status = write_lines(f, r, err);
    }
    page_names_free(&n);
    return status;
}

const page_format page_xml_format = {
    .name = "PAGE XML", .root = "PcGts", .read = read, .settle = settle, .change = change};
