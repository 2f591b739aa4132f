/* Reads and rewrites the reading order of ALTO files (an XML format for OCR results), versions 2 to 4:
 * blocks, with their types from tags, and lines, with HPOS, VPOS, WIDTH, HEIGHT. The order is that of the
 * blocks in the file, of their IDNEXT links, or of ReadingOrder where there is one (4.3 and newer). */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/number.h"
#include "tasks/layout/names.h"

static bool number_of(const xmlNode *node, const char *name, double *value) {
    char text[64];
    xml_get(node, name, text, sizeof text);
    const char *end = text + strlen(text);
    return *text && number_scan(text, end, NUMBER_LOOSE, value) == end;
}

/* Reads the box of an element from its numbers, or from its outline. */
static void box_of(const xmlNode *node, page_box *box) {
    double x, y, width, height;
    if (number_of(node, "HPOS", &x) && number_of(node, "VPOS", &y) && number_of(node, "WIDTH", &width) &&
        number_of(node, "HEIGHT", &height)) {
        page_box_add(box, x, y);
        page_box_add(box, x + width, y + height);
        return;
    }
    const xmlNode *shape = xml_child(node, "Shape"), *polygon = shape ? xml_child(shape, "Polygon") : NULL;
    double points[4] = {box->x0, box->y0, box->x1, box->y1};
    if (polygon && xml_points(polygon, "POINTS", points))
        *box = (page_box){points[0], points[1], points[2], points[3]};
}

static const char *block_type(const xmlNode *node) {
    return xml_is(node, "TextBlock")          ? "paragraph"
           : xml_is(node, "ComposedBlock")    ? "composed"
           : xml_is(node, "Illustration")     ? "image"
           : xml_is(node, "GraphicalElement") ? "separator"
                                              : NULL;
}

/* Sets the box of a block without one of its own: around all blocks in it. */
static void box_of_parts(const xmlNode *node, page_box *box) {
    for (const xmlNode *c = node->children; c; c = c->next)
        if (c->type == XML_ELEMENT_NODE && block_type(c)) {
            page_box part = page_box_none;
            box_of(c, &part);
            if (!page_box_valid(&part)) box_of_parts(c, &part);
            if (!page_box_valid(&part)) continue;
            page_box_add(box, part.x0, part.y0);
            page_box_add(box, part.x1, part.y1);
        }
}

/* Returns the value of an attribute, owned by the document; "" if it is missing. */
static const char *value_of(const xmlNode *node, const char *name) {
    const xmlAttr *attribute = xmlHasProp(node, (const xmlChar *)name);
    const xmlNode *text = attribute ? attribute->children : NULL;
    return text && text->content ? (const char *)text->content : "";
}

/* The types of blocks: the LABEL of each tag that TAGREFS may name, sorted by ID. */
typedef struct tag {
    const char *id, *label;
} tag;

typedef struct tags {
    tag *all;
    size_t count, room;
} tags;

static int by_tag(const void *a, const void *b) {
    return strcmp(((const tag *)a)->id, ((const tag *)b)->id);
}

static onet_status read_tags(tags *t, const page_file *f, onet_error *err) {
    const xmlNode *list = xml_child(xmlDocGetRootElement(f->xml.doc), "Tags");
    for (const xmlNode *c = list ? list->children : NULL; c; c = c->next) {
        if (c->type != XML_ELEMENT_NODE) continue;
        if (!array_reserve(&t->all, &t->room, t->count + 1, sizeof *t->all))
            return fail_memory(err, "the tags of a file");
        t->all[t->count++] = (tag){value_of(c, "ID"), value_of(c, "LABEL")};
    }
    if (t->count) qsort(t->all, t->count, sizeof *t->all, by_tag);
    return ONET_OK;
}

/* Returns the label of the first of the block's tags that has one; "paragraph" if none has. */
static const char *label_of(const tags *t, const xmlNode *node) {
    char id[128];
    for (const char *at = value_of(node, "TAGREFS"); *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        snprintf(id, sizeof id, "%.*s", (int)length, at);
        const tag key = {id, ""},
                  *found = t->count ? bsearch(&key, t->all, t->count, sizeof key, by_tag) : NULL;
        if (found && *found->label) return found->label;
        at += length;
    }
    return "paragraph";
}

/* Where the blocks of a part of the page go, and what they have in common. */
typedef struct blocks {
    page_file *f;
    page *p;
    const tags *tags;
    bool margin, nested;
} blocks;

static onet_status read_blocks(const blocks *b, const xmlNode *node, onet_error *err);

static onet_status read_block(const blocks *b, const xmlNode *node, onet_error *err) {
    page_file *f = b->f;
    const char *type = xml_is(node, "TextBlock") ? label_of(b->tags, node) : block_type(node);
    page_kind kind = xml_is(node, "GraphicalElement") ? KIND_SEPARATOR
                     : xml_is(node, "Illustration")   ? KIND_OTHER
                     : b->margin                      ? KIND_FURNITURE
                                                      : page_kind_of(type);
    if (b->p->count >= ONET_PAGES_MAX_REGIONS)
        return fail(err, ONET_BAD, "%s:%ld: the page has over %d blocks", f->path, xmlGetLineNo(node),
                    ONET_PAGES_MAX_REGIONS);
    char *id = xml_copy(node, "ID");
    page_region *r = page_add(b->p, id, type, kind);
    free(id);
    if (!r) return fail_memory(err, "the blocks of a page");
    r->line = xmlGetLineNo(node);
    r->nested = b->nested;
    r->element = (size_t)(xml_place_of(&f->xml, node) - f->xml.places);
    r->parent = (size_t)(xml_place_of(&f->xml, node->parent) - f->xml.places);
    box_of(node, &r->box);
    if (!page_box_valid(&r->box)) box_of_parts(node, &r->box);
    for (const xmlNode *c = node->children; c; c = c->next) {
        if (!xml_is(node, "TextBlock") || !xml_is(c, "TextLine")) continue;
        page_line *l = page_add_line(r);
        if (!l) return fail_memory(err, "the lines of a page");
        box_of(c, &l->box);
        l->element = (size_t)(xml_place_of(&f->xml, c) - f->xml.places);
        l->id = value_of(c, "ID");
    }
    if (!xml_is(node, "ComposedBlock")) return ONET_OK;
    return read_blocks(&(blocks){f, b->p, b->tags, b->margin, true}, node, err);
}

static onet_status read_blocks(const blocks *b, const xmlNode *node, onet_error *err) {
    onet_status status = ONET_OK;
    for (const xmlNode *c = node->children; c && !status; c = c->next)
        if (c->type == XML_ELEMENT_NODE && block_type(c)) status = read_block(b, c, err);
    return status;
}

/* Reads the name of the scan: Description/sourceImageInformation/fileName. */
static void read_image(const page_file *f, page *p) {
    const xmlNode *at = xmlDocGetRootElement(f->xml.doc);
    static const char *const way[] = {"Description", "sourceImageInformation", "fileName"};
    for (size_t i = 0; i < 3 && at; i++) at = xml_child(at, way[i]);
    char *name = at ? (char *)xmlNodeGetContent(at) : NULL;
    const char *start = name ? name + strspn(name, " \t\r\n") : "";
    size_t length = strcspn(start, "\r\n");
    while (length && start[length - 1] == ' ') length--;
    if (length && memmove(name, start, length)) name[length] = '\0', p->image = name;
    if (!p->image) free(name);
}

static const xmlNode *reading_order(const page_file *f) {
    const xmlNode *root = xmlDocGetRootElement(f->xml.doc), *found = xml_child(root, "ReadingOrder");
    const xmlNode *layout = xml_child(root, "Layout");
    return found || !layout ? found : xml_child(layout, "ReadingOrder");
}

static bool is_group(const xmlNode *node) {
    return xml_is(node, "OrderedGroup") || xml_is(node, "UnorderedGroup");
}

/* Gives the blocks that are named in a group, and in the groups in it, their places. A line that is named
 * counts as its block. */
static void read_group(page_file *f, const page_names *n, const xmlNode *group, bool ordered, int *place) {
    for (const xmlNode *c = group->children; c; c = c->next) {
        if (is_group(c)) read_group(f, n, c, ordered, place);
        if (!xml_is(c, "ElementRef")) continue;
        char *id = xml_copy(c, "REF");
        bool line = false;
        page_region *r = page_names_find(n, id, &line);
        if (!r)
            page_file_note(f, xmlGetLineNo(c), "the reading order names '%s', but no block has this id", id);
        else if (r->listed && !line)
            page_file_note(f, xmlGetLineNo(c), "the reading order names '%s' twice", id);
        else if (!r->listed) {
            r->listed = true;
            r->given = ordered ? (*place)++ : -1;
        }
        free(id);
    }
}

/* ---- IDNEXT: a block names the one that is read after it ------------------------------------------------
 */

/* Returns the start tag of a region's block. */
static const xml_place *place_of(const page_file *f, const page_region *r) {
    return &f->xml.places[r->element];
}

static bool next_of(const page_file *f, const page_region *r, text_span *value) {
    return xml_value(&f->text, place_of(f, r), "IDNEXT", value);
}

/* Whether a block of the page has an IDNEXT. */
static bool is_chained(const page_file *f, const page *p) {
    text_span value;
    for (int k = 0; k < p->count; k++)
        if (p->regions[k].kind < KIND_OTHER && !p->regions[k].nested && next_of(f, &p->regions[k], &value))
            return true;
    return false;
}

/* Numbers the listed blocks along their IDNEXT links, starting from blocks that no other links to. Blocks
 * whose links form a circle come last, from the first one in the file on. */
static onet_status read_chains(page_file *f, page *p, const page_names *n, onet_error *err) {
    page_region **next = array_new((size_t)p->count + 1, sizeof *next);
    bool *named = array_new((size_t)p->count + 1, sizeof *named);
    int place = 0;
    onet_status status = next && named ? ONET_OK : fail_memory(err, "the reading order of a page");
    for (int k = 0; k < p->count && !status; k++) {
        page_region *r = &p->regions[k];
        text_span value;
        r->given = -1;
        if (!r->listed || !next_of(f, r, &value)) continue;
        char *id = strndup(f->text.utf8 + value.start, value.end - value.start);
        bool line = false;
        page_region *other = id ? page_names_find(n, id, &line) : NULL;
        if (!id)
            status = fail_memory(err, "the reading order of a page");
        else if (!other || line || !other->listed || other < p->regions || other >= p->regions + p->count)
            page_file_note(f, r->line, "IDNEXT names '%s', but no block of text on the page has this id", id);
        else {
            next[k] = other;
            named[other - p->regions] = true;
        }
        free(id);
    }
    for (int circles = 0; circles < 2; circles++)
        for (int k = 0; k < p->count && !status; k++)
            for (page_region *r = &p->regions[k];
                 r && r->listed && r->given < 0 && (circles || !named[k] || r != &p->regions[k]);
                 r = next[r - p->regions])
                r->given = place++;
    free(next);
    free(named);
    return status;
}

/* Returns the span of the attribute that has this value, from the white space before it to its closing quote.
 */
static text_span attribute_of(const page_text *t, text_span value) {
    size_t start = value.start - 1;
    while (start && t->utf8[start] != 'I') start--;
    while (start && strchr(" \t\r\n", t->utf8[start - 1])) start--;
    return (text_span){start, value.end + 1};
}

/* Makes each placed block name the next one in the found order. Blocks stay where they are. */
static onet_status write_chain(page_file *f, const page *p, onet_error *err) {
    int32_t *order = array_new((size_t)p->placed + 1, sizeof *order);
    onet_status status = order ? ONET_OK : fail_memory(err, "the reading order of a page");
    if (!status) page_order_of(p, true, order);
    for (int k = 0; k < p->placed && !status; k++) {
        const page_region *r = &p->regions[order[k]],
                          *after = k + 1 < p->placed ? &p->regions[order[k + 1]] : NULL;
        text_span value;
        bool has = next_of(f, r, &value);
        if (!after || !*after->id) {
            if (has) status = page_text_replace(&f->text, attribute_of(&f->text, value), "", err);
            continue;
        }
        size_t length = strlen(after->id);
        if (has && value.end - value.start == length &&
            !strncmp(f->text.utf8 + value.start, after->id, length))
            continue;
        size_t end = xml_name_end(&f->text, place_of(f, r)), room = length + 16;
        char *text = array_new(room, 1);
        if (!text) {
            status = fail_memory(err, "the reading order of a page");
            break;
        }
        snprintf(text, room, has ? "%s" : " IDNEXT=\"%s\"", after->id);
        status = page_text_replace(&f->text, has ? value : (text_span){end, end}, text, err);
        free(text);
    }
    free(order);
    return status;
}

static onet_status read(page_file *f, onet_error *err) {
    const xmlNode *layout = xml_child(xmlDocGetRootElement(f->xml.doc), "Layout");
    if (!layout) return fail(err, ONET_BAD, "%s: <alto> has no <Layout>", f->path);
    tags t = {0};
    onet_status status = read_tags(&t, f, err);
    for (const xmlNode *node = layout->children; node && !status; node = node->next) {
        if (!xml_is(node, "Page")) continue;
        page *p = page_file_add(f);
        if (!p) {
            status = fail_memory(err, "a page");
            break;
        }
        if (!number_of(node, "WIDTH", &p->width)) p->width = 0;
        if (!number_of(node, "HEIGHT", &p->height)) p->height = 0;
        read_image(f, p);
        for (const xmlNode *space = node->children; space && !status; space = space->next)
            if (space->type == XML_ELEMENT_NODE)
                status = read_blocks(&(blocks){f, p, &t, !xml_is(space, "PrintSpace"), false}, space, err);
    }
    free(t.all);
    const xmlNode *reading = reading_order(f);
    int place = 0;
    page_names n = {0};
    if (!status) status = page_names_make(&n, f, err);
    if (!status) page_names_note_repeated(&n, f);
    for (const xmlNode *c = reading && !status ? reading->children : NULL; c; c = c->next)
        if (is_group(c)) read_group(f, &n, c, xml_is(c, "OrderedGroup"), &place);
    for (size_t i = 0; i < f->count && !reading; i++) /* blocks are read as they stand; images are not read */
        for (int k = 0; k < f->pages[i].count; k++) {
            page_region *r = &f->pages[i].regions[k];
            r->listed = r->kind < KIND_OTHER && !r->nested;
            r->given = r->listed ? k : -1;
        }
    for (size_t i = 0; i < f->count && !reading && !status; i++)
        if (is_chained(f, &f->pages[i])) status = read_chains(f, &f->pages[i], &n, err);
    page_names_free(&n);
    return status;
}

typedef struct member {
    int place, rank;
} member;

static int by_rank(const void *a, const void *b) {
    const member *x = a, *y = b;
    return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank)
                              : (x->place > y->place) - (x->place < y->place);
}

/* Writes the members of a group in the order of their ranks; *rank becomes the smallest. An unordered group
 * within the order stays as it is; `top`: it is the whole order, and becomes an ordered one. */
static onet_status write_group(page_file *f, const page_names *n, const xmlNode *group, bool top, int *rank,
                               onet_error *err) {
    int count = 0, last = 0;
    onet_status status = ONET_OK;
    *rank = INT_MAX;
    for (const xmlNode *c = group->children; c; c = c->next) count += is_group(c) || xml_is(c, "ElementRef");
    text_span *spans = array_new((size_t)count + 1, sizeof *spans);
    member *members = array_new((size_t)count + 1, sizeof *members);
    int32_t *order = array_new((size_t)count + 1, sizeof *order);
    if (!spans || !members || !order) status = fail_memory(err, "the reading order of a page");
    count = 0;
    for (const xmlNode *c = group->children; c && !status; c = c->next) {
        if (!is_group(c) && !xml_is(c, "ElementRef")) continue;
        char *id = xml_copy(c, "REF");
        bool line;
        const page_region *r = is_group(c) ? NULL : page_names_find(n, id, &line);
        free(id);
        members[count] = (member){count, r && r->found >= 0 ? r->found : last};
        if (is_group(c)) status = write_group(f, n, c, false, &members[count].rank, err);
        last = members[count].rank;
        if (last < *rank) *rank = last;
        spans[count++] = xml_place_of(&f->xml, c)->whole;
    }
    bool unordered = xml_is(group, "UnorderedGroup");
    if (!status && (top || !unordered)) {
        qsort(members, (size_t)count, sizeof *members, by_rank);
        for (int k = 0; k < count; k++) order[k] = members[k].place;
        status = page_file_permute(f, spans, order, count, err);
    }
    if (!status && top && unordered) status = page_file_make_ordered(f, group, err);
    free(spans);
    free(members);
    free(order);
    return status;
}

/* Without ReadingOrder and IDNEXT blocks stay in their element: those of the margins are read before those of
 * the print space. */
static onet_status settle(page_file *f, onet_error *err) {
    for (size_t i = 0; i < f->count; i++)
        if (is_chained(f, &f->pages[i])) return ONET_OK;
    return reading_order(f) ? ONET_OK : page_file_settle_regions(f, err);
}

static onet_status change(page_file *f, onet_error *err) {
    const xmlNode *reading = reading_order(f);
    onet_status status = ONET_OK;
    int rank;
    page_names n = {0};
    if (reading) status = page_names_make(&n, f, err);
    for (const xmlNode *c = reading ? reading->children : NULL; c && !status; c = c->next)
        if (is_group(c)) status = write_group(f, &n, c, true, &rank, err);
    page_names_free(&n);
    for (size_t i = 0; i < f->count && !status; i++) {
        const page *p = &f->pages[i];
        if (!reading) status = is_chained(f, p) ? write_chain(f, p, err) : page_file_move_regions(f, p, err);
        for (int k = 0; k < p->count && !status; k++)
            if (p->regions[k].lines_moved) status = page_file_move_lines(f, &p->regions[k], err);
    }
    return status;
}

const page_format alto_format = {
    .name = "ALTO", .root = "alto", .read = read, .settle = settle, .change = change};
