/* Reads and rewrites boxes in JSON: a list of boxes, which is written back in reading order (with
 * page numbers, the boxes of a page trade places among themselves), or a list of such lists, one per page; a
 * document of docling, the references of whose body are moved; or JSON Lines with one page per line,
 * {"items": [[x0, y0, x1, y1, ...], ...], "order": [...]}, whose "order" is written. Everything else stays as
 * it was, byte for byte: jansson reads the values, and a scanner finds where they stand in the text. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/memory.h"
#include "engine/base/names.h"
#include "engine/base/number.h"
#include "tasks/layout/format.h"
#include "tasks/layout/guard.h"

/* All numbers are read as real ones: the hash of its source that docling writes is larger than an integer of
 * jansson. */
enum { READ_JSON = JSON_DECODE_INT_AS_REAL };

static bool whole_number(const json_t *value, json_int_t *out) {
    double x = json_number_value(value);
    if (!json_is_number(value) || !(fabs(x) < 1e15) || x != floor(x)) return false;
    *out = (json_int_t)x;
    return true;
}

/* Scans from `start` on; jansson has checked the text. */
static json_scan scan_from(const page_text *t, size_t start) {
    json_scan s = scan_of(t->utf8, t->size);
    s.at += start;
    scan_next(&s);
    return s;
}

static bool numbers_of(json_t *const *values, int n, double *out) {
    for (int i = 0; i < n; i++) {
        if (!json_is_number(values[i])) return false;
        out[i] = json_number_value(values[i]);
    }
    return true;
}

/* Four members of an object by their keys; false: one is missing. */
static bool members_of(const json_t *object, const char *const keys[4], double *out) {
    json_t *values[4];
    for (int i = 0; i < 4; i++)
        if (!(values[i] = json_object_get(object, keys[i]))) return false;
    return numbers_of(values, 4, out);
}

/* Numbers x0, y0, x1, y1, ... one after the other as points; false: it is no such list. */
static bool points_of(const json_t *value, page_box *box) {
    size_t count = json_array_size(value);
    if (count < 6 || count % 2) return false;
    for (size_t i = 0; i < count; i++)
        if (!json_is_number(json_array_get(value, i))) return false;
    for (size_t i = 0; i < count; i += 2)
        page_box_add(box, json_number_value(json_array_get(value, i)),
                     json_number_value(json_array_get(value, i + 1)));
    return true;
}

/* A box in one of the forms that tools write; depth guards against a box within a box. Two corners are kept
 * as they are written, so that page_box_valid tells whether the upper left one comes first. */
static bool box_of(const json_t *value, page_box *box, int depth) {
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
    if (json_is_array(value)) {
        size_t count = json_array_size(value);
        json_t *values[4];
        for (size_t i = 0; i < 4 && count >= 4; i++) values[i] = json_array_get(value, i);
        if (count >= 4 && numbers_of(values, 4, v)) {
            *box = (page_box){v[0], v[1], v[2], v[3]};
            return true;
        }
        bool points = count > 1;
        for (size_t i = 0; i < count && points; i++) { /* a polygon of points */
            json_t *point = json_array_get(value, i),
                   *xy[2] = {json_array_get(point, 0), json_array_get(point, 1)};
            points = json_array_size(point) == 2 && numbers_of(xy, 2, v);
            if (points) page_box_add(box, v[0], v[1]);
        }
        if (points) return true;
        *box = page_box_none;
        /* [box, text, score], but not a list of boxes */
        page_box other = page_box_none;
        return depth < 3 && count && box_of(json_array_get(value, 0), box, depth + 1) &&
               !(count > 1 && box_of(json_array_get(value, 1), &other, depth + 1));
    }
    if (!json_is_object(value)) return false;
    for (size_t i = 0; i < sizeof corners / sizeof *corners; i++)
        if (members_of(value, corners[i], v)) {
            const char *origin = json_string_value(json_object_get(value, "coord_origin"));
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
        const json_t *in = json_object_get(value, inner[i]);
        if (in) return (i >= 2 && points_of(in, box)) || box_of(in, box, depth + 1); /* bbox, box: corners */
    }
    const json_t *prov = json_object_get(value, "prov"); /* docling: the first place of the item */
    return depth < 3 && json_array_size(prov) && box_of(json_array_get(prov, 0), box, depth + 1);
}

/* The type under one of the keys that tools use, in the words of PAGE XML; other words stay. */
static const char *type_of(const json_t *value) {
    static const char *const keys[] = {"type", "label", "category", "class", "block_type"};
    static const char *const words[][2] = {
        {"title", "heading"},       {"section_header", "heading"},  {"section-header", "heading"},
        {"page_header", "header"},  {"page-header", "header"},      {"page_footer", "footer"},
        {"page-footer", "footer"},  {"page_number", "page-number"}, {"picture", "image"},
        {"figure", "image"},        {"formula", "paragraph"},       {"text", "paragraph"},
        {"list_item", "paragraph"},
    };
    const char *word = NULL;
    for (size_t i = 0; i < sizeof keys / sizeof *keys && !word && json_is_object(value); i++)
        word = json_string_value(json_object_get(value, keys[i]));
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

/* The flags after the four numbers of a box, as in the training data: heading, furniture, note, not text. */
static page_kind flags_of(const json_t *item) {
    for (size_t i = 4; i < 8 && i < json_array_size(item); i++)
        if (json_number_value(json_array_get(item, i)) > 0.5) return (page_kind)(KIND_HEADING + (i - 4));
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

/* Adds item `number` of a list, which stands in that line of the file, to the page. Without an id it is
 * named by its number. */
static onet_status add_box(page_file *f, page *p, const json_t *value, size_t number, long line,
                           onet_error *err) {
    static const char *const flagged[] = {"paragraph", "heading", "header", "footnote", "table"};
    bool plain = json_is_array(value) && json_array_size(value) == 8;
    const char *type = plain ? flagged[flags_of(value)] : type_of(value);
    const char *id = json_is_object(value) ? json_string_value(json_object_get(value, "id")) : NULL;
    char name[32];
    snprintf(name, sizeof name, "item %zu", number);
    if (p->count >= PAGE_MAX_REGIONS)
        return fail(err, ONET_BAD, "%s:%ld: over %d boxes", f->path, line, PAGE_MAX_REGIONS);
    page_region *r = page_add(p, id && *id ? id : name, type, plain ? flags_of(value) : kind_of(type));
    if (!r) return fail_memory(err, "the boxes of a page");
    r->line = line;
    r->element = number;
    r->listed = r->kind != KIND_SEPARATOR;
    if (box_of(value, &r->box, 0) && page_box_valid(&r->box)) return ONET_OK;
    if (is_reversed(&r->box)) return fail_reversed(f, line, number, &r->box, err);
    page_box first = page_box_none;
    if (json_is_array(value) && box_of(json_array_get(value, 0), &first, 0))
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

/* Notes where a piece of the text stands, as an element of the file; places are used as for XML. */
static onet_status add_place(page_file *f, size_t start, size_t end, onet_error *err) {
    if (!array_reserve(&f->xml.places, &f->xml.room, f->xml.count + 1, sizeof *f->xml.places))
        return fail_memory(err, "the boxes of a page");
    f->xml.places[f->xml.count++] = (xml_place){{start, end}, {start, end}};
    return ONET_OK;
}

/* Pages that are called by a text get numbers from here on, by the order in which they appear. */
static const json_int_t PAGES_BY_NAME = (json_int_t)1 << 60;

/* The page under a key, a number or text; numbers in quotes are numbers. */
static onet_status take_page(const json_t *value, names *called, json_int_t *number) {
    const char *text = json_string_value(value), *end = text ? text + strlen(text) : NULL;
    double x;
    size_t label;
    if (whole_number(value, number)) return ONET_OK;
    if (!text) return ONET_BAD;
    if (*text && number_scan(text, end, NUMBER_LOOSE, &x) == end && fabs(x) < 1e15 && x == floor(x))
        *number = (json_int_t)x;
    else if (names_add(called, text, strlen(text), &label))
        *number = PAGES_BY_NAME + (json_int_t)label;
    else
        return ONET_MEMORY;
    return ONET_OK;
}

/* The page that an item of a document is on, where it says one; otherwise 0. */
static onet_status find_page(const page_file *f, const json_t *value, long line, size_t item, names *called,
                             json_int_t *number, onet_error *err) {
    static const char *const keys[] = {"page", "page_no", "page_number", "page_num", "page_idx"};
    *number = 0;
    for (int depth = 0; json_is_object(value) && depth < 2; depth++) {
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
            const json_t *given = json_object_get(value, keys[i]);
            if (!given || json_is_null(given)) continue;
            onet_status status = take_page(given, called, number);
            if (status == ONET_BAD)
                return fail(err, ONET_BAD,
                            "%s:%ld: \"%s\" of item %zu is neither a whole number nor a text; name its page "
                            "by one of them",
                            f->path, line, keys[i], item);
            return status ? fail_memory(err, "the names of the pages") : ONET_OK;
        }
        value = json_array_get(json_object_get(value, "prov"), 0);
    }
    return ONET_OK;
}

typedef struct list_item {
    json_int_t page;
    size_t number;
    long line;
} list_item;

static int by_page(const void *a, const void *b) {
    const list_item *x = a, *y = b;
    return x->page != y->page ? (x->page > y->page) - (x->page < y->page)
                              : (x->number > y->number) - (x->number < y->number);
}

/* Finds where the items of a list stand. */
static onet_status find_items(page_file *f, const json_t *list, size_t start, list_item *items,
                              onet_error *err) {
    onet_status status = ONET_OK;
    names called = {0};
    json_scan s = scan_from(&f->text, start);
    const char *seen = s.at;
    long line = page_text_line(&f->text, start);
    bool first = scan_take(&s, '[');
    for (size_t i = 0; i < json_array_size(list) && !status && scan_more(&s, ']', &first); i++) {
        size_t at = (size_t)(s.at - s.text);
        for (; seen < s.at; seen++) line += *seen == '\n';
        scan_extent(&s);
        status = add_place(f, at, (size_t)(s.at - s.text), err);
        items[i] = (list_item){0, i, line};
        if (!status) status = find_page(f, json_array_get(list, i), line, i, &called, &items[i].page, err);
    }
    names_free(&called);
    return status;
}

/* The pages of such files trade the places of their items, where others have a member "order". */
static const size_t NO_ORDER = SIZE_MAX;

static page *add_page(page_file *f) {
    page *p = page_file_add(f);
    if (p) p->element = NO_ORDER;
    return p;
}

/* The items of each page trade places among themselves. */
static onet_status read_list(page_file *f, const json_t *list, size_t start, onet_error *err) {
    size_t count = json_array_size(list), element = f->xml.count;
    list_item *items = array_new(count + 1, sizeof *items);
    onet_status status = items ? find_items(f, list, start, items, err) : fail_memory(err, "the boxes");
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
        status = add_box(f, p, json_array_get(list, number), number, items[i].line, err);
        page_region *r = status ? NULL : &p->regions[p->count - 1];
        if (r) r->element = element + number;
        if (r && r->listed) r->given = p->count - 1;
    }
    free(items);
    return status;
}

/* Whether the value is a list of boxes; an empty list is one too. */
static bool is_page(const json_t *value) {
    bool boxes = json_is_array(value);
    for (size_t i = 0; i < json_array_size(value) && boxes; i++) {
        page_box box = page_box_none;
        boxes = box_of(json_array_get(value, i), &box, 1);
    }
    return boxes;
}

/* A list of boxes, or a list of such lists. */
static onet_status read_lists(page_file *f, const json_t *list, size_t start, onet_error *err) {
    bool pages = json_array_size(list) > 0;
    for (size_t i = 0; i < json_array_size(list) && pages; i++) pages = is_page(json_array_get(list, i));
    if (!pages) return read_list(f, list, start, err);
    onet_status status = ONET_OK;
    json_scan s = scan_from(&f->text, start);
    bool first = scan_take(&s, '[');
    for (size_t i = 0; i < json_array_size(list) && !status && scan_more(&s, ']', &first); i++) {
        size_t at = (size_t)(s.at - s.text);
        scan_extent(&s);
        status = read_list(f, json_array_get(list, i), at, err);
    }
    return status;
}

/* Where the value of a key of the object in a span stands; an empty span at the object's end where there is
 * no such key. */
static text_span key_value(const page_text *t, text_span object, const char *key) {
    json_scan s = scan_from(t, object.start);
    bool first = scan_take(&s, '{');
    while (scan_more(&s, '}', &first)) {
        const char *name = s.at;
        scan_extent(&s);
        bool found = (size_t)(s.at - name) == strlen(key) + 2 && !strncmp(name + 1, key, strlen(key));
        scan_take(&s, ':');
        scan_next(&s);
        size_t from = (size_t)(s.at - s.text);
        if (scan_extent(&s) && found) return (text_span){from, (size_t)(s.at - s.text)};
    }
    size_t end = (size_t)(s.at - s.text) - 1;
    return (text_span){end, end};
}

/* What {"$ref": "#/texts/12"} refers to in a document of docling; NULL: nothing. */
static const json_t *referred(const json_t *document, const json_t *reference) {
    const char *path = json_string_value(json_object_get(reference, "$ref"));
    char key[32];
    size_t index;
    int end = 0;
    if (!path || sscanf(path, "#/%31[^/]/%zu%n", key, &index, &end) != 2 || path[end]) return NULL;
    return json_array_get(json_object_get(document, key), index);
}

/* An item of the body of a docling document, whose place is being looked for. */
typedef struct body_item {
    const page_file *f;
    const json_t *document;
    names *called; /* the pages that have names */
    size_t *left;  /* how many items may be looked at, since groups may hold each other */
    list_item *item;
    page_box *box;
} body_item;

/* Adds the place of an item and, if that has none, of what it holds, as far as it is on the same page. A list
 * of docling is such a group. */
static onet_status add_item(body_item *b, const json_t *item, int depth, onet_error *err) {
    page_box own = page_box_none;
    const json_t *children = json_object_get(item, "children");
    if (!*b->left || !--*b->left) return ONET_OK;
    bool boxed = item && box_of(item, &own, 0);
    if (boxed && is_reversed(&own)) return fail_reversed(b->f, b->item->line, b->item->number, &own, err);
    if (boxed && page_box_valid(&own)) {
        json_int_t its;
        onet_status status = find_page(b->f, item, b->item->line, b->item->number, b->called, &its, err);
        if (status || (b->item->page && its != b->item->page)) return status;
        b->item->page = its;
        page_box_add(b->box, own.x0, own.y0);
        page_box_add(b->box, own.x1, own.y1);
        return ONET_OK;
    }
    onet_status status = ONET_OK;
    for (size_t i = 0; i < json_array_size(children) && depth < 8 && !status; i++)
        status = add_item(b, referred(b->document, json_array_get(children, i)), depth + 1, err);
    return status;
}

/* A document of docling: its order is that of the references in its body. Those of a page trade places; what
 * has no place on a page stays. */
static onet_status read_document(page_file *f, const json_t *document, size_t start, onet_error *err) {
    const json_t *list = json_object_get(json_object_get(document, "body"), "children");
    text_span body = key_value(&f->text, (text_span){start, 0}, "body"),
              children = key_value(&f->text, body, "children");
    size_t count = json_array_size(list), element = f->xml.count, left = 1000000;
    list_item *items = array_new(count + 1, sizeof *items);
    page_box *boxes = array_new(count + 1, sizeof *boxes);
    onet_status status =
        items && boxes ? find_items(f, list, children.start, items, err) : fail_memory(err, "the boxes");
    if (!status && f->xml.count != element + count) /* a key twice, or written with escapes */
        status = fail(err, ONET_BAD, "%s: the document's \"body\" cannot be found in the text", f->path);
    names called = {0};
    for (size_t i = 0; i < count && !status; i++) {
        body_item b = {f, document, &called, &left, &items[i], &boxes[i]};
        boxes[i] = page_box_none;
        items[i].page = 0;
        status = add_item(&b, referred(document, json_array_get(list, i)), 0, err);
    }
    names_free(&called);
    if (!status) qsort(items, count, sizeof *items, by_page);
    page *p = NULL;
    json_int_t page_no = 0;
    for (size_t i = 0; i < count && !status; i++) {
        const json_t *reference = json_array_get(list, items[i].number),
                     *item = referred(document, reference);
        const char *type = type_of(item);
        if (!page_box_valid(&boxes[items[i].number])) continue;
        if (!p || items[i].page != page_no) p = add_page(f);
        page_no = items[i].page;
        if (p && p->count >= PAGE_MAX_REGIONS)
            status = fail(err, ONET_BAD, "%s:%ld: over %d boxes on page %lld", f->path, items[i].line,
                          PAGE_MAX_REGIONS, (long long)page_no);
        page_region *r = p && !status ? page_add(p, json_string_value(json_object_get(reference, "$ref")),
                                                 type, kind_of(type))
                                      : NULL;
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

/* Text of an object's member, copied; NULL: none. */
static char *text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? guard_copy(text) : NULL;
}

static onet_status read_line(page_file *f, size_t start, size_t end, long line, onet_error *err) {
    const char *text = f->text.utf8;
    json_error_t why;
    json_t *object = json_loadb(text + start, end - start, READ_JSON, &why);
    if (!object)
        return fail(err, ONET_BAD, "%s:%ld: not JSON: %s", f->path, line + (why.line > 0 ? why.line - 1 : 0),
                    why.text);
    const json_t *items = json_object_get(object, "items"), *order = json_object_get(object, "order");
    onet_status status = ONET_OK;
    page *p = NULL;
    if (!items && json_is_array(json_object_get(json_object_get(object, "body"), "children"))) {
        status = read_document(f, object, start, err);
        json_decref(object);
        return status;
    }
    if (!json_is_array(items))
        status = fail(err, ONET_BAD,
                      "%s:%ld: a page needs \"items\", a list of boxes; boxes alone are a list, [[x0, y0, "
                      "x1, y1], ...], and a document of docling has a \"body\"",
                      f->path, line);
    else if (!(p = page_file_add(f)))
        status = fail_memory(err, "a page");
    if (!status) {
        p->id = text_of(object, "id");
        p->document = text_of(object, "doc");
        p->source = text_of(object, "source");
        p->element = f->xml.count;
        status = add_place(f, start, end, err);
    }
    for (size_t i = 0; i < json_array_size(items) && !status; i++)
        status = add_box(f, p, json_array_get(items, i), i, line, err);
    for (size_t k = 0; k < json_array_size(order) && !status; k++) {
        json_int_t i;
        if (!whole_number(json_array_get(order, k), &i) || i < 0 || i >= p->count || p->regions[i].given >= 0)
            status =
                fail(err, ONET_BAD, "%s:%ld: \"order\" must name each item at most once, by its index from 0",
                     f->path, line);
        else
            p->regions[i].given = (int)k;
    }
    /* Items that an order leaves out are context. One that names separators instead did not count them. */
    int line_named = -1, left_out = -1;
    for (int i = 0; !status && json_array_size(order) && i < p->count; i++) {
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
    json_decref(object);
    return status;
}

static onet_status read(page_file *f, onet_error *err) {
    const char *text = f->text.utf8;
    json_scan s = scan_from(&f->text, 0);
    size_t end = f->text.size, start = (size_t)(s.at - text);
    onet_status status = ONET_OK;
    if (scan_next(&s) == '[') {
        json_error_t why;
        json_t *list = json_loadb(text, end, READ_JSON, &why);
        if (!list) return fail(err, ONET_BAD, "%s:%d: not JSON: %s", f->path, why.line, why.text);
        status = read_lists(f, list, start, err);
        json_decref(list);
        return status;
    }
    /* One object may take many lines; several have one each. */
    bool whole = scan_extent(&s);
    size_t first_end = whole ? (size_t)(s.at - text) : end;
    if (!whole || scan_end(&s, ""))
        return read_line(f, start, first_end, page_text_line(&f->text, start), err);
    long line = 1;
    for (size_t at = 0; at < end && !status; line++) {
        const char *newline = memchr(text + at, '\n', end - at);
        size_t last = newline ? (size_t)(newline - text) : end;
        json_scan rest = {.at = text + at, .end = text + last};
        scan_next(&rest);
        size_t first = (size_t)(rest.at - text);
        if (first < last) status = read_line(f, first, last, line, err);
        at = last + 1;
    }
    return status;
}

static onet_status write_order(page_file *f, const page *p, onet_error *err) {
    text_span at = key_value(&f->text, f->xml.places[p->element].whole, "order");
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
