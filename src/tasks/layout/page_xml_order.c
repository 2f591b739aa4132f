/* Reads and rewrites the <ReadingOrder> element of PAGE XML: nested groups of references to regions, ordered
 * by @index or unordered. */
#include "tasks/layout/page_xml_order.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"

static bool is_group(const xmlNode *node) {
    return node->type == XML_ELEMENT_NODE && strstr((const char *)node->name, "orderedGroup") != NULL;
}
static bool is_ordered(const xmlNode *node) {
    return !strncmp((const char *)node->name, "OrderedGroup", 12);
}
/* Whether it is an OrderedGroup, an UnorderedGroup or a RegionRef, with or without Indexed. */
static bool is_member(const xmlNode *node) {
    return node->type == XML_ELEMENT_NODE &&
           (is_group(node) || is_ordered(node) || !strncmp((const char *)node->name, "RegionRef", 9));
}

/* A member of a group of the reading order. */
typedef struct member {
    xmlNode *node;
    int index, place;    /* @index, -1: none; where it stands among the members */
    page_region *region; /* the region that it refers to; NULL: none */
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

/* Lists the members of a group in the order of their @index, or as they stand if one has none. */
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
                    .index = xml_number(c, "index"),
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
                           "the reading order names '%s', but no region has this id", id);
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

xmlNode *page_xml_order_group(const xmlNode *page_node) {
    const xmlNode *reading = xml_child(page_node, "ReadingOrder");
    for (xmlNode *c = reading ? reading->children : NULL; c; c = c->next)
        if (c->type == XML_ELEMENT_NODE && (is_group(c) || is_ordered(c))) return c;
    return NULL;
}

onet_status page_xml_order_read(page_file *f, const xmlNode *group, const page_names *n, onet_error *err) {
    int place = 0;
    return read_group(f, group, n, is_ordered(group), &place, err);
}

/* *first: the first found place of a region that is named in a group, or in the groups in it; INT_MAX: none.
 */
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

onet_status page_xml_order_settle(page *p, const xmlNode *group, const page_names *n, onet_error *err) {
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

static onet_status write_index(page_file *f, const member *m, int number, onet_error *err) {
    text_span value;
    if (!xml_value(&f->text, xml_place_of(&f->xml, m->node), "index", &value)) return ONET_OK;
    return page_text_number(&f->text, value, number, err);
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
            status = convert ? make_indexed(f, &members[k], numbers[k], err)
                             : write_index(f, &members[k], numbers[k], err);
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

/* Writes an id of the tree, in which entities are resolved, as part of an attribute value. */
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

onet_status page_xml_order_new(page_file *f, const page *p, const xmlNode *node, const page_names *n,
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

onet_status page_xml_order_write(page_file *f, xmlNode *group, const page_names *n, onet_error *err) {
    int rank;
    return write_group(f, group, n, !is_ordered(group), &rank, err);
}
