/* PAGE XML, the 2010 to 2019 schemas: regions and lines with their outlines; the order is in ReadingOrder,
 * and in the attribute custom="readingOrder {index:3;}" where Transkribus wrote the file. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/memory.h"
#include "pages/format.h"
#include "pages/guard.h"
#include "pages/names.h"

/* "index:3" within "readingOrder {...}" of a custom attribute: where the digits stand; false: there are none.
 */
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

/* The number in an element's custom attribute; -1: none. */
static int custom_index(const xmlNode *node) {
    char *text = xml_copy(node, "custom");
    size_t start, end;
    int index = custom_digits(text, strlen(text), &start, &end) ? atoi(text + start) : -1;
    free(text);
    return index;
}

/* A whole number of an attribute; -1: none. */
static int number_of(const xmlNode *node, const char *name) {
    char text[32];
    const char *at = xml_get(node, name, text, sizeof text) + strspn(text, " \t\r\n");
    if (*at == '+') at++;
    size_t digits = strspn(at, "0123456789"), end = digits + strspn(at + digits, " \t\r\n");
    return digits && !at[end] && digits < 9 ? atoi(at) : -1;
}

/* The type that Transkribus keeps in custom="structure {type:heading;}". */
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

/* The outline of an element: points="x,y ..." or, in the oldest schema, Point elements. */
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
        if (l->given < 0) l->given = number_of(c, "index");
        numbered = numbered && l->given >= 0;
    }
    /* The places by number, ties by where they stand. */
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
    if (p->count >= PAGE_MAX_REGIONS)
        return fail(err, ONET_BAD, "%s:%ld: the page has over %d regions", f->path, line, PAGE_MAX_REGIONS);
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

static onet_status read_regions(page_file *f, page *p, const xmlNode *node, bool nested, onet_error *err) {
    onet_status status = ONET_OK;
    for (const xmlNode *c = node->children; c && !status; c = c->next)
        if (is_region(c)) {
            status = read_region(f, p, c, nested, err);
            if (!status) status = read_regions(f, p, c, true, err);
        }
    return status;
}

static bool is_group(const xmlNode *node) {
    return node->type == XML_ELEMENT_NODE && strstr((const char *)node->name, "orderedGroup") != NULL;
}
static bool is_ordered(const xmlNode *node) {
    return !strncmp((const char *)node->name, "OrderedGroup", 12);
}
/* OrderedGroup and UnorderedGroup, with or without Indexed, and RegionRef, with or without it. */
static bool is_member(const xmlNode *node) {
    return node->type == XML_ELEMENT_NODE &&
           (is_group(node) || is_ordered(node) || !strncmp((const char *)node->name, "RegionRef", 9));
}

/* A member of a group of the reading order. */
typedef struct member {
    xmlNode *node;
    int index, place;    /* @index, -1: none; where it stands among the members */
    page_region *region; /* that it refers to; NULL: none */
    int rank;            /* in the order to be written */
} member;

static int by_index(const void *a, const void *b) {
    const member *x = a, *y = b;
    return x->index != y->index ? (x->index > y->index) - (x->index < y->index)
                                : (x->place > y->place) - (x->place < y->place);
}
static int by_rank(const void *a, const void *b) {
    const member *x = a, *y = b;
    return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank)
                              : (x->place > y->place) - (x->place < y->place);
}

/* The members of a group in the order of their @index, or as they stand where one has none. */
static onet_status gather_members(member **members, int *count, const xmlNode *group, const page_names *n,
                                  onet_error *err) {
    size_t room = 0;
    bool indexed = true;
    *members = NULL;
    *count = 0;
    for (xmlNode *c = group->children; c; c = c->next) {
        if (!is_member(c)) continue;
        if (!array_reserve(members, &room, (size_t)*count + 1, sizeof **members))
            return fail_memory(err, "the reading order of a page");
        char *id = xml_copy(c, "regionRef");
        bool line;
        member m = {.node = c,
                    .index = number_of(c, "index"),
                    .place = *count,
                    .region = page_names_find(n, id, &line)};
        free(id);
        indexed = indexed && m.index >= 0;
        (*members)[(*count)++] = m;
    }
    if (indexed && *count && is_ordered(group)) qsort(*members, (size_t)*count, sizeof **members, by_index);
    return ONET_OK;
}

static onet_status read_group(page_file *f, const xmlNode *group, const page_names *n, bool ordered,
                              int *place, onet_error *err) {
    member *members;
    int count;
    onet_status status = gather_members(&members, &count, group, n, err);
    for (int i = 0; i < count && !status; i++) {
        const member *m = &members[i];
        char id[256];
        bool refers = *xml_get(m->node, "regionRef", id, sizeof id);
        if (refers && !m->region)
            page_file_note(f, xmlGetLineNo(m->node),
                           "the reading order names '%s', which no region is called", id);
        else if (refers && m->region->listed)
            page_file_note(f, xmlGetLineNo(m->node), "the reading order names '%s' twice", id);
        else if (refers) {
            m->region->listed = true;
            m->region->given = ordered ? (*place)++ : -1;
        }
        if (is_group(m->node) || is_ordered(m->node)) status = read_group(f, m->node, n, ordered, place, err);
    }
    free(members);
    return status;
}

/* The group that holds the whole order; NULL: none. */
static xmlNode *top_group(const xmlNode *page_node) {
    const xmlNode *reading = xml_child(page_node, "ReadingOrder");
    for (xmlNode *c = reading ? reading->children : NULL; c; c = c->next)
        if (c->type == XML_ELEMENT_NODE && (is_group(c) || is_ordered(c))) return c;
    return NULL;
}

static onet_status read(page_file *f, onet_error *err) {
    const xmlNode *root = xmlDocGetRootElement(f->xml.doc), *node = xml_child(root, "Page");
    if (!node) return fail(err, ONET_BAD, "%s:%ld: <PcGts> has no <Page>", f->path, xmlGetLineNo(root));
    page *p = page_file_add(f);
    if (!p) return fail_memory(err, "a page");
    char text[1024];
    p->width = number_of(node, "imageWidth");
    p->height = number_of(node, "imageHeight");
    if (*xml_get(node, "imageFilename", text, sizeof text)) p->image = guard_copy(text);
    page_names n = {0};
    onet_status status = read_regions(f, p, node, false, err);
    if (!status) status = page_names_make(&n, f, err);
    if (!status) page_names_note_repeated(&n, f);
    for (int i = 0; i < p->count && !status; i++)
        if (!*p->regions[i].id && p->regions[i].kind != KIND_SEPARATOR && !p->regions[i].nested)
            page_file_note(f, p->regions[i].line, "a region has no id; a reading order cannot name it");
    const xmlNode *group = top_group(node);
    int place = 0;
    if (!status && group) status = read_group(f, group, &n, is_ordered(group), &place, err);
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

/* Sets an element's number: its attribute `index`, where it has one. */
static onet_status write_number(page_file *f, const xml_place *place, const char *attribute, int number,
                                onet_error *err) {
    text_span value;
    char text[16];
    if (!xml_value(&f->text, place, attribute, &value)) return ONET_OK;
    if (!strcmp(attribute, "custom")) {
        size_t start, end;
        if (!custom_digits(f->text.utf8 + value.start, value.end - value.start, &start, &end)) return ONET_OK;
        value = (text_span){value.start + start, value.start + end};
    }
    snprintf(text, sizeof text, "%d", number);
    size_t length = value.end - value.start;
    if (strlen(text) == length && !memcmp(text, f->text.utf8 + value.start, length)) return ONET_OK;
    return page_text_replace(&f->text, value, text, err);
}

/* The first found place of a region that is named in a group, or in the groups in it; INT_MAX: none. */
static onet_status first_found(const xmlNode *group, const page_names *n, int *first, onet_error *err) {
    member *members;
    int count;
    onet_status status = gather_members(&members, &count, group, n, err);
    *first = INT_MAX;
    for (int i = 0; i < count && !status; i++) {
        const member *m = &members[i];
        int inner = INT_MAX;
        if (is_group(m->node) || is_ordered(m->node)) status = first_found(m->node, n, &inner, err);
        if (m->region && m->region->found >= 0 && m->region->found < inner) inner = m->region->found;
        if (inner < *first) *first = inner;
    }
    free(members);
    return status;
}

/* An order of the page's regions in the making. */
typedef struct grouping {
    const page *p;
    const page_names *n;
    int32_t *order; /* [count] */
    bool *seen;     /* [regions]: a region that is named twice counts once */
    int count;
} grouping;

/* Adds the regions of a group, and of the groups in it: groups stay together, by their first region. A group
 * that names a region itself has it before its members, as when it is read. An unordered group within the
 * order stays as it is. */
static onet_status gather_grouped(grouping *g, const xmlNode *group, bool sorts, onet_error *err) {
    member *members;
    int all;
    onet_status status = gather_members(&members, &all, group, g->n, err);
    for (int i = 0; i < all && !status; i++) {
        member *m = &members[i];
        if (is_group(m->node) || is_ordered(m->node)) status = first_found(m->node, g->n, &m->rank, err);
        if (m->region) m->rank = m->region->found;
    }
    if (!status && sorts && all) qsort(members, (size_t)all, sizeof *members, by_rank);
    for (int i = 0; i < all && !status; i++) {
        const member *m = &members[i];
        size_t region = m->region ? (size_t)(m->region - g->p->regions) : 0;
        if (m->region && m->region->found >= 0 && !g->seen[region]) {
            g->seen[region] = true;
            g->order[g->count++] = (int32_t)region;
        }
        if (is_group(m->node) || is_ordered(m->node))
            status = gather_grouped(g, m->node, is_ordered(m->node), err);
    }
    free(members);
    return status;
}

/* Makes the found order one that the groups can hold, so that the numbers in custom follow it as well. */
static onet_status keep_groups(page *p, const xmlNode *group, const page_names *n, onet_error *err) {
    grouping g = {.p = p, .n = n};
    g.order = array_new((size_t)p->count + 1, sizeof *g.order);
    g.seen = array_new((size_t)p->count + 1, sizeof *g.seen);
    onet_status status = g.order && g.seen ? gather_grouped(&g, group, true, err)
                                           : fail_memory(err, "the reading order of a page");
    if (!status && g.count == p->placed) page_found(p, g.order);
    free(g.order);
    free(g.seen);
    return status;
}

/* Adds "Indexed" to the names in the tags of a member, and the attribute index: what it takes to stand in an
 * ordered group. */
static onet_status make_indexed(page_file *f, const member *m, int number, onet_error *err) {
    const xml_place *place = xml_place_of(&f->xml, m->node);
    size_t at = xml_name_end(&f->text, place);
    char text[48];
    snprintf(text, sizeof text, "Indexed index=\"%d\"", number);
    onet_status status = page_text_replace(&f->text, (text_span){at, at}, text, err);
    if (!status && place->open.end < place->whole.end) {
        size_t end = place->whole.end - 1;
        while (strchr(" \t\r\n", f->text.utf8[end - 1])) end--;
        status = page_text_replace(&f->text, (text_span){end, end}, "Indexed", err);
    }
    return status;
}

/* Writes the members of a group, and of the groups in it, in the order of their ranks; *rank becomes the
 * smallest rank in the group. An unordered group within the order stays as it is; `convert`: it is the whole
 * order, and becomes an ordered one. */
static onet_status write_group(page_file *f, xmlNode *group, const page_names *n, bool convert, int *rank,
                               onet_error *err) {
    member *members;
    int count;
    onet_status status = gather_members(&members, &count, group, n, err);
    text_span *spans = array_new((size_t)count + 1, sizeof *spans);
    int32_t *order = array_new((size_t)count + 1, sizeof *order);
    int *numbers = array_new((size_t)count + 1, sizeof *numbers), last = 0;
    if (!status && (!spans || !order || !numbers)) status = fail_memory(err, "the reading order of a page");
    *rank = INT_MAX;
    for (int i = 0; i < count && !status; i++) {
        member *m = &members[i];
        int inner = INT_MAX;
        if (is_group(m->node) || is_ordered(m->node)) status = write_group(f, m->node, n, false, &inner, err);
        m->rank = m->region && m->region->found >= 0 ? m->region->found : inner;
        /* A reference that leads nowhere stays behind the one before it. */
        if (m->rank == INT_MAX) m->rank = last;
        last = m->rank;
        if (m->rank < *rank) *rank = m->rank;
        numbers[i] = m->index;
        spans[m->place] = xml_place_of(&f->xml, m->node)->whole;
    }
    if (!status && (is_ordered(group) || convert)) {
        page_numbers(numbers, count);
        if (count) qsort(members, (size_t)count, sizeof *members, by_rank);
        for (int k = 0; k < count && !status; k++) {
            order[k] = members[k].place;
            status = convert
                         ? make_indexed(f, &members[k], numbers[k], err)
                         : write_number(f, xml_place_of(&f->xml, members[k].node), "index", numbers[k], err);
        }
        if (!status) status = page_file_permute(f, spans, order, count, err);
    }
    if (!status && convert) status = page_file_make_ordered(f, group, err);
    free(members);
    free(spans);
    free(order);
    free(numbers);
    return status;
}

/* Attribute values in the text keep their entities; an id of the tree must get them back. */
static void put_escaped(FILE *out, const char *id) {
    for (; *id; id++) switch (*id) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            fputc(*id, out);
        }
}

/* A new flat order, in the place of the one that is there, or where the schema wants it. Regions that no
 * reference could mean, without an id or with that of an earlier one, are not in it. */
static onet_status write_new(page_file *f, const page *p, const xmlNode *node, const page_names *n,
                             onet_error *err) {
    const xmlNode *old = xml_child(node, "ReadingOrder");
    const xml_place *place = xml_place_of(&f->xml, node);
    size_t at = place->open.end, size = 0;
    for (const xmlNode *c = node->children; c && !old; c = c->next)
        if (xml_is(c, "AlternativeImage") || xml_is(c, "Border") || xml_is(c, "PrintSpace"))
            at = xml_place_of(&f->xml, c)->whole.end;
    text_span span = {at, at};
    if (old) span = xml_place_of(&f->xml, old)->whole;
    char *text = NULL, prefix[64];
    int written_refs = 0;
    int32_t *order = array_new((size_t)p->placed + 1, sizeof *order);
    FILE *out = order ? open_memstream(&text, &size) : NULL;
    if (!out) {
        free(order);
        return fail_memory(err, "the reading order of a page");
    }
    xml_prefix(node, prefix, sizeof prefix);
    page_order_of(p, true, order);
    if (!old) fprintf(out, "\n");
    fprintf(out, "<%sReadingOrder>\n<%sOrderedGroup id=\"ordernet_reading_order\">\n", prefix, prefix);
    for (int k = 0; k < p->placed; k++) {
        const page_region *r = &p->regions[order[k]];
        bool line;
        if (page_names_find(n, r->id, &line) != r) continue;
        fprintf(out, "<%sRegionRefIndexed index=\"%d\" regionRef=\"", prefix, written_refs++);
        put_escaped(out, r->id);
        fprintf(out, "\"/>\n");
    }
    fprintf(out, "</%sOrderedGroup>\n</%sReadingOrder>", prefix, prefix);
    bool written = !ferror(out);
    written = !fclose(out) && written && text; /* without memory fclose gives no text, and no error */
    onet_status status = ONET_OK;
    if (!written) status = fail_memory(err, "the reading order of a page");
    if (!status && written_refs) status = page_text_replace(&f->text, span, text, err);
    free(text);
    free(order);
    return status;
}

/* The numbers in custom: those that the placed regions have, given out anew in the found order. */
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

/* The group of the file's order if that names the placed regions and no others; NULL: a new order is
 * written. */
static xmlNode *kept_group(const page *p, const xmlNode *node) {
    xmlNode *group = top_group(node);
    for (int i = 0; i < p->count && group; i++)
        if (p->regions[i].placed != p->regions[i].listed) group = NULL;
    return group;
}

static onet_status settle(page_file *f, onet_error *err) {
    page *p = &f->pages[0];
    const xmlNode *group = kept_group(p, xml_child(xmlDocGetRootElement(f->xml.doc), "Page"));
    page_names n = {0};
    onet_status status = group ? page_names_make(&n, f, err) : ONET_OK;
    if (!status && group) status = keep_groups(p, group, &n, err);
    page_names_free(&n);
    return status;
}

static onet_status change(page_file *f, onet_error *err) {
    page *p = &f->pages[0];
    const xmlNode *node = xml_child(xmlDocGetRootElement(f->xml.doc), "Page");
    xmlNode *group = kept_group(p, node);
    page_names n = {0};
    int rank;
    onet_status status = page_names_make(&n, f, err);
    if (!status && group) status = write_group(f, group, &n, !is_ordered(group), &rank, err);
    if (!status && !group && p->placed) status = write_new(f, p, node, &n, err);
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
