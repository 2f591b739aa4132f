/* Reads and rewrites boxes in JSON: a list of boxes, which is written back in reading order (with
 * page numbers, the boxes of a page trade places among themselves), or a list of such lists, one per page; a
 * document of docling, whose body's references are moved; or JSON Lines with one page per line,
 * {"items": [[x0, y0, x1, y1, ...], ...], "order": [...]}, whose "order" is written. Everything else stays as
 * it was, byte for byte. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/base/error.h"
#include "engine/base/json_tree.h"
#include "engine/base/memory.h"
#include "engine/base/names.h"
#include "engine/base/number.h"
#include "tasks/layout/format.h"

static bool whole_number(const json_value *value, int64_t *out) {
    if (!json_is(value, '0') || !(fabs(value->number) < 1e15) || value->number != floor(value->number))
        return false;
    *out = (int64_t)value->number;
    return true;
}

/* Reads the first n elements of an array; false: one is no number. */
static bool numbers_of(const json_value *array, size_t n, double *out) {
    for (size_t i = 0; i < n; i++) {
        const json_value *value = json_element(array, i);
        if (!json_is(value, '0')) return false;
        out[i] = value->number;
    }
    return true;
}

/* Reads four members of an object by their keys; false: one is missing, or no number. */
static bool members_of(const json_value *object, const char *const keys[4], double *out) {
    for (int i = 0; i < 4; i++) {
        const json_value *value = json_member(object, keys[i]);
        if (!json_is(value, '0')) return false;
        out[i] = value->number;
    }
    return true;
}

/* Reads a list of numbers x0, y0, x1, y1, ... as points; false: it is no such list. */
static bool points_of(const json_value *value, page_box *box) {
    size_t count = json_elements(value);
    if (count < 6 || count % 2) return false;
    for (size_t i = 0; i < count; i++)
        if (!json_is(&value->items[i], '0')) return false;
    for (size_t i = 0; i < count; i += 2)
        page_box_add(box, value->items[i].number, value->items[i + 1].number);
    return true;
}

/* Reads a box in one of the forms that tools write; depth limits how deep boxes are nested. Two corners are
 * kept as they are written, so that page_box_valid tells whether the upper left one comes first. */
static bool box_of(const json_value *value, page_box *box, int depth) {
    static const char *const corners[][4] = {{"x0", "y0", "x1", "y1"},
                                             {"xmin", "ymin", "xmax", "ymax"},
                                             {"left", "top", "right", "bottom"},
                                             {"l", "t", "r", "b"},
                                             {"x1", "y1", "x2", "y2"}};
    static const char *const sizes[][4] = {
        {"x", "y", "width", "height"}, {"x", "y", "w", "h"}, {"left", "top", "width", "height"}};
    static const char *const inner[] = {"bbox",    "box",    "bounding_box", "boundingBox",
                                        "polygon", "points", "coords",       "boxes"};
    double v[4];
    if (json_is(value, '[')) {
        size_t count = value->count;
        if (numbers_of(value, 4, v)) {
            *box = (page_box){v[0], v[1], v[2], v[3]};
            return true;
        }
        bool points = count > 1;
        for (size_t i = 0; i < count && points; i++) { /* a polygon of points */
            points = json_elements(&value->items[i]) == 2 && numbers_of(&value->items[i], 2, v);
            if (points) page_box_add(box, v[0], v[1]);
        }
        if (points) return true;
        *box = page_box_none;
        /* [box, text, score], but not a list of boxes */
        page_box other = page_box_none;
        return depth < 3 && count && box_of(json_element(value, 0), box, depth + 1) &&
               !(count > 1 && box_of(json_element(value, 1), &other, depth + 1));
    }
    if (!json_is(value, '{')) return false;
    for (size_t i = 0; i < sizeof corners / sizeof *corners; i++)
        if (members_of(value, corners[i], v)) {
            const char *origin = json_text(json_member(value, "coord_origin"));
            double sign = origin && !strcasecmp(origin, "BOTTOMLEFT") ? -1 : 1; /* docling: y grows upwards */
            *box = (page_box){v[0], sign * v[1], v[2], sign * v[3]};
            return true;
        }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (members_of(value, sizes[i], v)) {
            *box = (page_box){v[0], v[1], v[0] + v[2], v[1] + v[3]};
            return true;
        }
    for (size_t i = 0; i < sizeof inner / sizeof *inner && depth < 3; i++) {
        const json_value *in = json_member(value, inner[i]);
        if (in) return (i >= 2 && points_of(in, box)) || box_of(in, box, depth + 1); /* bbox, box: corners */
    }
    const json_value *prov = json_member(value, "prov"); /* docling: the first place of the item */
    return depth < 3 && json_elements(prov) && box_of(json_element(prov, 0), box, depth + 1);
}

/* Returns the type under one of the keys that tools use, in the words of PAGE XML; other words stay. */
static const char *type_of(const json_value *value) {
    static const char *const keys[] = {"type", "label", "category", "class", "block_type"};
    static const char *const words[][2] = {
        {"title", "heading"},       {"section_header", "heading"},  {"section-header", "heading"},
        {"page_header", "header"},  {"page-header", "header"},      {"page_footer", "footer"},
        {"page-footer", "footer"},  {"page_number", "page-number"}, {"picture", "image"},
        {"figure", "image"},        {"formula", "paragraph"},       {"text", "paragraph"},
        {"list_item", "paragraph"},
    };
    const char *word = NULL;
    for (size_t i = 0; i < sizeof keys / sizeof *keys && !word; i++)
        word = json_text(json_member(value, keys[i]));
    for (size_t i = 0; i < sizeof words / sizeof *words && word; i++)
        if (!strcasecmp(word, words[i][0])) return words[i][1];
    return word ? word : "paragraph";
}

static page_kind kind_of(const char *type) {
    static const char *const other[] = {"table", "image", "graphic", "chart"};
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        if (!strcasecmp(type, other[i])) return KIND_OTHER;
    return !strcasecmp(type, "separator") ? KIND_SEPARATOR : page_kind_of(type);
}

/* Reads the flags after the four numbers of a box, as in the training data: heading, furniture, note, not
 * text. */
static page_kind flags_of(const json_value *item) {
    for (size_t i = 4; i < 8 && i < json_elements(item); i++)
        if (json_is(&item->items[i], '0') && item->items[i].number > 0.5)
            return (page_kind)(KIND_HEADING + (i - 4));
    return KIND_TEXT;
}

/* Whether the box would be valid with its corners exchanged. */
static bool is_reversed(const page_box *b) {
    page_box other = {fmin(b->x0, b->x1), fmin(b->y0, b->y1), fmax(b->x0, b->x1), fmax(b->y0, b->y1)};
    return !page_box_valid(b) && page_box_valid(&other);
}

static onet_status fail_reversed(const page_file *f, long line, size_t number, const page_box *b,
                                 onet_error *err) {
    return fail(err, ONET_BAD,
                "%s:%ld: the box of item %zu is [%g, %g, %g, %g]; it must be [x0, y0, x1, y1] with x0 <= x1 "
                "and y0 <= y1, y growing downwards: exchange its corners, or say \"coord_origin\": "
                "\"BOTTOMLEFT\" beside l, t, r, b",
                f->path, line, number, b->x0, b->y0, b->x1, b->y1);
}

/* Adds item `number` of a list, on line `line` of the file, to the page. Without an id it is named by its
 * number. */
static onet_status add_box(page_file *f, page *p, const json_value *value, size_t number, long line,
                           onet_error *err) {
    static const char *const flagged[] = {"paragraph", "heading", "header", "footnote", "table"};
    bool plain = json_elements(value) == 8;
    const char *type = plain ? flagged[flags_of(value)] : type_of(value);
    const char *id = json_text(json_member(value, "id"));
    char name[32];
    snprintf(name, sizeof name, "item %zu", number);
    if (p->count >= ONET_PAGES_MAX_REGIONS)
        return fail(err, ONET_BAD, "%s:%ld: the page has over %d boxes", f->path, line,
                    ONET_PAGES_MAX_REGIONS);
    page_region *r = page_add(p, id && *id ? id : name, type, plain ? flags_of(value) : kind_of(type));
    if (!r) return fail_memory(err, "the boxes of a page");
    r->line = line;
    r->element = number;
    r->listed = r->kind != KIND_SEPARATOR;
    if (box_of(value, &r->box, 0) && page_box_valid(&r->box)) return ONET_OK;
    if (is_reversed(&r->box)) return fail_reversed(f, line, number, &r->box, err);
    page_box first = page_box_none;
    if (json_elements(value) && box_of(&value->items[0], &first, 0))
        return fail(err, ONET_BAD,
                    "%s:%ld: item %zu is a list of boxes, but not all items are: give a list of boxes, or a "
                    "list of them for each page",
                    f->path, line, number);
    return fail(
        err, ONET_BAD,
        "%s:%ld: item %zu is not a box; a box is [x0, y0, x1, y1], a list of points, or an object with "
        "bbox, with x0, y0, x1, y1 or with x, y, width, height, in numbers below 1e9",
        f->path, line, number);
}

/* Notes the span of a part of the text as an element of the file, as for XML. */
static onet_status add_place(page_file *f, const char *from, const char *to, onet_error *err) {
    size_t start = (size_t)(from - f->text.utf8), end = (size_t)(to - f->text.utf8);
    if (!array_reserve(&f->xml.places, &f->xml.room, f->xml.count + 1, sizeof *f->xml.places))
        return fail_memory(err, "the boxes of a page");
    f->xml.places[f->xml.count++] = (xml_place){{start, end}, {start, end}};
    return ONET_OK;
}

/* Pages with names instead of numbers are numbered from here on, in the order in which they appear. */
static const int64_t PAGES_BY_NAME = (int64_t)1 << 60;

/* Reads the number or name of a page; a number in quotes is a number. */
static onet_status take_page(const json_value *value, names *called, int64_t *number) {
    const char *text = json_text(value), *end = text ? text + strlen(text) : NULL;
    double x;
    size_t label;
    if (whole_number(value, number)) return ONET_OK;
    if (!text) return ONET_BAD;
    if (*text && number_scan(text, end, NUMBER_LOOSE, &x) == end && fabs(x) < 1e15 && x == floor(x))
        *number = (int64_t)x;
    else if (names_add(called, text, strlen(text), &label))
        *number = PAGES_BY_NAME + (int64_t)label;
    else
        return ONET_MEMORY;
    return ONET_OK;
}

/* Finds the page that an item says it is on; 0 if it says none. */
static onet_status find_page(const page_file *f, const json_value *value, long line, size_t item,
                             names *called, int64_t *number, onet_error *err) {
    static const char *const keys[] = {"page", "page_no", "page_number", "page_num", "page_idx"};
    *number = 0;
    for (int depth = 0; json_is(value, '{') && depth < 2; depth++) {
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
            const json_value *given = json_member(value, keys[i]);
            if (!given || json_is(given, 'n')) continue;
            onet_status status = take_page(given, called, number);
            if (status == ONET_BAD)
                return fail(err, ONET_BAD,
                            "%s:%ld: \"%s\" of item %zu is neither a whole number nor a text; name its page "
                            "by one of them",
                            f->path, line, keys[i], item);
            return status ? fail_memory(err, "the names of the pages") : ONET_OK;
        }
        value = json_element(json_member(value, "prov"), 0);
    }
    return ONET_OK;
}

typedef struct list_item {
    int64_t page;
    size_t number;
    long line;
} list_item;

static int by_page(const void *a, const void *b) {
    const list_item *x = a, *y = b;
    return x->page != y->page ? (x->page > y->page) - (x->page < y->page)
                              : (x->number > y->number) - (x->number < y->number);
}

static long lines_between(const char *from, const char *to) {
    long lines = 0;
    for (; from < to; from++) lines += *from == '\n';
    return lines;
}

/* Finds the place, line and page of each item of a list, which begins on line `line`. */
static onet_status find_items(page_file *f, const json_value *list, long line, list_item *items,
                              onet_error *err) {
    onet_status status = ONET_OK;
    names called = {0};
    const char *seen = list->at;
    for (size_t i = 0; i < list->count && !status; i++) {
        const json_value *item = &list->items[i];
        line += lines_between(seen, item->at);
        seen = item->at;
        status = add_place(f, item->at, item->end, err);
        items[i] = (list_item){0, i, line};
        if (!status) status = find_page(f, item, line, i, &called, &items[i].page, err);
    }
    names_free(&called);
    return status;
}

/* The element of pages whose items trade places; other pages have a member "order" there. */
static const size_t NO_ORDER = SIZE_MAX;

static page *add_page(page_file *f) {
    page *p = page_file_add(f);
    if (p) p->element = NO_ORDER;
    return p;
}

/* Reads a list of boxes; those of each page trade places among themselves. */
static onet_status read_list(page_file *f, const json_value *list, long line, onet_error *err) {
    size_t count = list->count, element = f->xml.count;
    list_item *items = array_new(count + 1, sizeof *items);
    onet_status status = items ? find_items(f, list, line, items, err) : fail_memory(err, "the boxes");
    if (!status) qsort(items, count, sizeof *items, by_page);
    page *p = NULL;
    if (!status && !count && !add_page(f)) status = fail_memory(err, "a page");
    for (size_t i = 0; i < count && !status; i++) {
        if (!i || items[i].page != items[i - 1].page) p = add_page(f);
        if (!p) {
            status = fail_memory(err, "a page");
            break;
        }
        size_t number = items[i].number;
        status = add_box(f, p, &list->items[number], number, items[i].line, err);
        page_region *r = status ? NULL : &p->regions[p->count - 1];
        if (r) r->element = element + number;
        if (r && r->listed) r->given = p->count - 1;
    }
    free(items);
    return status;
}

/* Whether the value is a list of boxes; an empty list is one too. */
static bool is_page(const json_value *value) {
    bool boxes = json_is(value, '[');
    for (size_t i = 0; i < json_elements(value) && boxes; i++) {
        page_box box = page_box_none;
        boxes = box_of(&value->items[i], &box, 1);
    }
    return boxes;
}

/* Reads a list of boxes, or a list of such lists, one per page. */
static onet_status read_lists(page_file *f, const json_value *list, long line, onet_error *err) {
    bool pages = list->count > 0;
    for (size_t i = 0; i < list->count && pages; i++) pages = is_page(&list->items[i]);
    if (!pages) return read_list(f, list, line, err);
    onet_status status = ONET_OK;
    const char *seen = list->at;
    for (size_t i = 0; i < list->count && !status; i++) {
        const json_value *own = &list->items[i];
        line += lines_between(seen, own->at);
        seen = own->at;
        status = read_list(f, own, line, err);
    }
    return status;
}

/* Returns what {"$ref": "#/texts/12"} refers to in a document of docling; NULL: nothing. */
static const json_value *referred(const json_value *document, const json_value *reference) {
    const char *path = json_text(json_member(reference, "$ref"));
    char key[32];
    size_t index;
    int end = 0;
    if (!path || sscanf(path, "#/%31[^/]/%zu%n", key, &index, &end) != 2 || path[end]) return NULL;
    return json_element(json_member(document, key), index);
}

/* An item of the body of a docling document whose box and page are being looked for. */
typedef struct body_item {
    const page_file *f;
    const json_value *document;
    names *called; /* the pages that have names */
    size_t *left;  /* how many items may be looked at, since groups may hold each other */
    list_item *item;
    page_box *box;
} body_item;

/* Adds the box of an item or, if it has none, those of its children on the same page: a list of docling has
 * only children. */
static onet_status add_item(body_item *b, const json_value *item, int depth, onet_error *err) {
    page_box own = page_box_none;
    const json_value *children = json_member(item, "children");
    if (!*b->left || !--*b->left) return ONET_OK;
    bool boxed = item && box_of(item, &own, 0);
    if (boxed && is_reversed(&own)) return fail_reversed(b->f, b->item->line, b->item->number, &own, err);
    if (boxed && page_box_valid(&own)) {
        int64_t its;
        onet_status status = find_page(b->f, item, b->item->line, b->item->number, b->called, &its, err);
        if (status || (b->item->page && its != b->item->page)) return status;
        b->item->page = its;
        page_box_add(b->box, own.x0, own.y0);
        page_box_add(b->box, own.x1, own.y1);
        return ONET_OK;
    }
    onet_status status = ONET_OK;
    for (size_t i = 0; i < json_elements(children) && depth < 8 && !status; i++)
        status = add_item(b, referred(b->document, &children->items[i]), depth + 1, err);
    return status;
}

/* Reads a document of docling: its order is that of the references in its body. Those of a page trade places;
 * one without a box stays. */
static onet_status read_document(page_file *f, const json_value *document, long line, onet_error *err) {
    const json_value *body = json_member(document, "body"), *list = json_member(body, "children");
    if (json_is_twice(document, "body") || json_is_twice(body, "children"))
        return fail(err, ONET_BAD, "%s:%ld: the document's \"body\" or its \"children\" is there twice",
                    f->path, line);
    size_t count = list->count, element = f->xml.count, left = 1000000;
    list_item *items = array_new(count + 1, sizeof *items);
    page_box *boxes = array_new(count + 1, sizeof *boxes);
    onet_status status = items && boxes
                             ? find_items(f, list, line + lines_between(document->at, list->at), items, err)
                             : fail_memory(err, "the boxes");
    names called = {0};
    for (size_t i = 0; i < count && !status; i++) {
        body_item b = {f, document, &called, &left, &items[i], &boxes[i]};
        boxes[i] = page_box_none;
        items[i].page = 0;
        status = add_item(&b, referred(document, &list->items[i]), 0, err);
    }
    names_free(&called);
    if (!status) qsort(items, count, sizeof *items, by_page);
    page *p = NULL;
    int64_t page_no = 0;
    for (size_t i = 0; i < count && !status; i++) {
        const json_value *reference = &list->items[items[i].number], *item = referred(document, reference);
        const char *type = type_of(item);
        if (!page_box_valid(&boxes[items[i].number])) continue;
        if (!p || items[i].page != page_no) p = add_page(f);
        page_no = items[i].page;
        if (p && p->count >= ONET_PAGES_MAX_REGIONS)
            status = fail(err, ONET_BAD, "%s:%ld: there are over %d boxes on page %lld", f->path,
                          items[i].line, ONET_PAGES_MAX_REGIONS, (long long)page_no);
        page_region *r =
            p && !status ? page_add(p, json_text(json_member(reference, "$ref")), type, kind_of(type)) : NULL;
        if (!r && !status) status = fail_memory(err, "the boxes of a page");
        if (status) break;
        r->box = boxes[items[i].number];
        r->line = items[i].line;
        r->element = element + items[i].number;
        r->listed = r->kind != KIND_SEPARATOR;
        if (r->listed) r->given = p->count - 1;
    }
    if (!status && !f->count)
        status =
            fail(err, ONET_BAD, "%s: no item of the document's body has a box on a page (prov)", f->path);
    free(items);
    free(boxes);
    return status;
}

/* Copies the text of an object's member; *copy stays as it is if there is none. */
static onet_status copy_text(char **copy, const json_value *object, const char *key, onet_error *err) {
    const char *text = json_text(json_member(object, key));
    return !text || (*copy = strdup(text)) ? ONET_OK : fail_memory(err, "the names of a page");
}

static onet_status read_object(page_file *f, const json_value *object, long line, onet_error *err) {
    const json_value *items = json_member(object, "items"), *order = json_member(object, "order");
    if (!items && json_is(json_member(json_member(object, "body"), "children"), '['))
        return read_document(f, object, line, err);
    if (!json_is(items, '['))
        return fail(err, ONET_BAD,
                    "%s:%ld: a page needs \"items\", a list of boxes; boxes alone are a list, [[x0, y0, "
                    "x1, y1], ...], and a document of docling has a \"body\"",
                    f->path, line);
    page *p = page_file_add(f);
    if (!p) return fail_memory(err, "a page");
    /* Without an "order", one is written before the bracket that closes the object. */
    p->element = f->xml.count;
    onet_status status = order ? add_place(f, order->at, order->end, err)
                               : add_place(f, object->end - 1, object->end - 1, err);
    if (!status) status = copy_text(&p->id, object, "id", err);
    if (!status) status = copy_text(&p->document, object, "doc", err);
    if (!status) status = copy_text(&p->source, object, "source", err);
    for (size_t i = 0; i < items->count && !status; i++)
        status = add_box(f, p, &items->items[i], i, line, err);
    for (size_t k = 0; k < json_elements(order) && !status; k++) {
        int64_t i;
        if (!whole_number(&order->items[k], &i) || i < 0 || i >= p->count || p->regions[i].given >= 0)
            status =
                fail(err, ONET_BAD, "%s:%ld: \"order\" must name each item at most once, by its index from 0",
                     f->path, line);
        else
            p->regions[i].given = (int)k;
    }
    /* Items that an order leaves out are context. If it names separators instead, its indices did not count
     * separators. */
    int line_named = -1, left_out = -1;
    for (int i = 0; !status && json_elements(order) && i < p->count; i++) {
        page_region *r = &p->regions[i];
        r->listed = r->given >= 0;
        if (r->listed && r->kind == KIND_SEPARATOR && line_named < 0) line_named = i;
        if (!r->listed && r->kind != KIND_SEPARATOR && left_out < 0) left_out = i;
    }
    if (line_named >= 0 && left_out >= 0)
        status =
            fail(err, ONET_BAD,
                 "%s:%ld: \"order\" names item %d, a separator, and leaves out item %d: its indices count "
                 "separators too",
                 f->path, line, line_named, left_out);
    return status;
}

/* Reads a part of the text, which begins on line `line`: an object, which is a page or a document; or a list,
 * if it is the whole text. */
static onet_status read_piece(page_file *f, size_t start, size_t end, long line, onet_error *err) {
    json_tree tree;
    const char *from = f->text.utf8 + start;
    json_scan s = scan_of(from, end - start);
    scan_next(&s);
    if (!json_tree_read(&tree, &s)) {
        const char *begin = s.at; /* of the line */
        while (begin > from && begin[-1] != '\n') begin--;
        if (!s.expected) return fail_memory(err, "the boxes");
        return fail(err, ONET_BAD, "%s:%ld: not valid JSON at column %td: expected %s", f->path,
                    line + lines_between(from, s.at), s.at - begin + 1, s.expected);
    }
    line += lines_between(from, tree.root.at);
    bool list = json_is(&tree.root, '[') && !start && end == f->text.size;
    onet_status status = list ? read_lists(f, &tree.root, line, err) : read_object(f, &tree.root, line, err);
    json_tree_free(&tree);
    return status;
}

static onet_status read(page_file *f, onet_error *err) {
    const char *text = f->text.utf8;
    size_t end = f->text.size;
    json_scan s = scan_of(text, end);
    /* A list, or one object, may take many lines; several objects have one each. */
    if (scan_next(&s) == '[' || !scan_extent(&s) || scan_end(&s, "")) return read_piece(f, 0, end, 1, err);
    onet_status status = ONET_OK;
    long line = 1;
    for (size_t at = 0; at < end && !status; line++) {
        const char *newline = memchr(text + at, '\n', end - at);
        size_t last = newline ? (size_t)(newline - text) : end;
        json_scan rest = scan_of(text + at, last - at);
        if (scan_next(&rest)) status = read_piece(f, at, last, line, err);
        at = last + 1;
    }
    return status;
}

static onet_status write_order(page_file *f, const page *p, onet_error *err) {
    text_span at = f->xml.places[p->element].whole;
    char *text = NULL;
    size_t size = 0;
    int32_t *order = array_new((size_t)p->placed + 1, sizeof *order);
    FILE *out = order ? open_memstream(&text, &size) : NULL;
    if (!out) {
        free(order);
        return fail_memory(err, "the order of a page");
    }
    page_order_of(p, true, order);
    fprintf(out, "%s[", at.start == at.end ? ", \"order\": " : "");
    for (int k = 0; k < p->placed; k++) fprintf(out, "%s%d", k ? ", " : "", (int)order[k]);
    fprintf(out, "]");
    bool written = !ferror(out);
    written = !fclose(out) && written && text; /* without memory fclose gives no text, and no error */
    onet_status status =
        written ? page_text_replace(&f->text, at, text, err) : fail_memory(err, "the order of a page");
    free(order);
    free(text);
    return status;
}

static onet_status change(page_file *f, onet_error *err) {
    onet_status status = ONET_OK;
    for (size_t i = 0; i < f->count && !status; i++)
        status = f->pages[i].element == NO_ORDER ? page_file_move_regions(f, &f->pages[i], err)
                                                 : write_order(f, &f->pages[i], err);
    return status;
}

const page_format boxes_format = {.name = "boxes", .read = read, .change = change};
