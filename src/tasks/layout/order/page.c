/* Implements a page in memory: adds regions and lines, tells the kind of a region by its type, decides which
 * regions take a place and numbers those by the given order, stores the found order, mirrors the page, orders
 * the lines within regions. */
#include "tasks/layout/order/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "tasks/layout/order/rules.h"

const page_box page_box_none = {INFINITY, INFINITY, -INFINITY, -INFINITY};

bool page_box_valid(const page_box *b) {
    return isfinite(b->x0) && isfinite(b->y0) && isfinite(b->x1) && isfinite(b->y1) && b->x0 <= b->x1 &&
           b->y0 <= b->y1 && fmax(fabs(b->x0), fabs(b->x1)) < 1e9 && fmax(fabs(b->y0), fabs(b->y1)) < 1e9;
}

page_kind page_kind_of(const char *type) {
    static const struct {
        const char *type;
        page_kind kind;
    } kinds[] = {
        {"heading", KIND_HEADING},         {"header", KIND_FURNITURE},     {"footer", KIND_FURNITURE},
        {"page-number", KIND_FURNITURE},   {"catch-word", KIND_FURNITURE}, {"signature-mark", KIND_FURNITURE},
        {"marginalia", KIND_NOTE},         {"footnote", KIND_NOTE},        {"caption", KIND_NOTE},
        {"footnote-continued", KIND_NOTE}, {"endnote", KIND_NOTE},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i].type, type)) return kinds[i].kind;
    return KIND_TEXT;
}

page_region *page_add(page *p, const char *id, const char *type, page_kind kind) {
    if (!array_reserve(&p->regions, &p->room, (size_t)p->count + 1, sizeof *p->regions)) return NULL;
    page_region *r = &p->regions[p->count];
    *r = (page_region){
        .id = strdup(id), .type = strdup(type), .kind = kind, .given = -1, .found = -1, .custom = -1};
    r->box = page_box_none;
    if (!r->id || !r->type) {
        free(r->id);
        free(r->type);
        return NULL;
    }
    p->count++;
    return r;
}

page_line *page_add_line(page_region *r) {
    /* Doubles the room whenever the count reaches a power of two. */
    if (!(r->line_count & (r->line_count - 1))) {
        size_t room = r->line_count ? 2 * (size_t)r->line_count : 1;
        page_line *more = realloc(r->lines, room * sizeof *more);
        if (!more) return NULL;
        r->lines = more;
    }
    page_line *l = &r->lines[r->line_count];
    *l = (page_line){.box = page_box_none, .given = r->line_count, .found = r->line_count};
    r->line_count++;
    return l;
}

void page_order_of(const page *p, bool found, int32_t *order) {
    for (int i = 0; i < p->count; i++) {
        const page_region *r = &p->regions[i];
        if (r->placed) order[found ? r->found : r->given] = i;
    }
}

const char *page_next_type(const char **list, size_t *length) {
    const char *type = *list + strspn(*list, ", ");
    *length = strcspn(type, ",");
    *list = type + *length;
    while (*length && type[*length - 1] == ' ') --*length;
    return *length ? type : NULL;
}

bool page_region_is(const page_region *r, const char *type, size_t length) {
    if (strlen(r->type) == length && !strncasecmp(r->type, type, length)) return true;
    return length == 4 && !strncasecmp(type, "text", 4) && r->kind < KIND_OTHER;
}

/* Whether the list "text,table,heading" has the region's type. */
static bool listed(const char *types, const page_region *r) {
    size_t length;
    for (const char *type; (type = page_next_type(&types, &length));)
        if (page_region_is(r, type, length)) return true;
    return false;
}

typedef struct ranked {
    int given, index;
} ranked;

static int by_given(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    return x->given != y->given ? (x->given > y->given) - (x->given < y->given)
                                : (x->index > y->index) - (x->index < y->index);
}

onet_status page_place(page *p, const char *types, onet_error *err) {
    p->placed = 0;
    bool all = true, any = false;
    for (int i = 0; i < p->count; i++) any = any || p->regions[i].listed;
    for (int i = 0; i < p->count; i++) {
        page_region *r = &p->regions[i];
        if (types)
            r->placed = r->kind != KIND_SEPARATOR && listed(types, r) && (r->listed || !r->nested);
        else if (any)
            r->placed = r->listed;
        else
            r->placed = (r->kind < KIND_OTHER || !strcmp(r->type, "table")) && !r->nested;
        p->placed += r->placed;
        if (r->placed && r->given < 0) all = false;
    }
    p->ordered = all && p->placed > 0;
    ranked *order = array_new((size_t)p->placed + 1, sizeof *order);
    if (!order) return fail_memory(err, "the order of a page");
    int count = 0;
    for (int i = 0; i < p->count; i++)
        if (p->regions[i].placed) order[count++] = (ranked){p->ordered ? p->regions[i].given : i, i};
    if (p->ordered) {
        qsort(order, (size_t)count, sizeof *order, by_given);
        for (int i = 0; i < p->count; i++)
            if (!p->regions[i].placed) p->regions[i].given = -1;
        for (int k = 0; k < count; k++) p->regions[order[k].index].given = k;
    }
    free(order);
    return ONET_OK;
}

void page_found(page *p, const int32_t *order) {
    for (int i = 0; i < p->count; i++) p->regions[i].found = -1;
    for (int k = 0; k < p->placed; k++) p->regions[order[k]].found = k;
}

void page_mirror(page *p) {
    for (int i = 0; i < p->count; i++) {
        page_region *r = &p->regions[i];
        r->box = (page_box){-r->box.x1, r->box.y0, -r->box.x0, r->box.y1};
        for (int j = 0; j < r->line_count; j++) {
            page_box *b = &r->lines[j].box;
            *b = (page_box){-b->x1, b->y0, -b->x0, b->y1};
        }
    }
}

/* Lines in order go down, or jump up to a column that begins right of where they were: anything else is out
 * of order. Half a line is the tolerance, since the boxes of lines overlap. */
static bool jumps_back(const page_box *a, const page_box *b) {
    double height = fmin(page_box_height(a), page_box_height(b));
    double up = (a->y0 + a->y1) / 2 - (b->y0 + b->y1) / 2;
    if (up <=
        0.5 * height) /* beside or below: from a line's end to a piece of it further left is out of order */
        return up > -0.5 * height && b->x1 <= a->x0;
    return b->x0 < a->x1 - 0.5 * page_box_width(a);
}

/* Whether lines a, b, c jump from a column to the one right of it and back, further down. Such lines go down
 * and are still out of order: the columns are read in turns. */
static bool hops(const page_box *a, const page_box *b, const page_box *c) {
    return a->x1 <= b->x0 && c->x1 <= b->x0 && c->y0 >= a->y1 - 0.5 * page_box_height(a) && b->y0 < a->y1 &&
           fmin(page_box_width(a), page_box_width(c)) > 4 * page_box_height(a);
}

onet_status page_order_lines(page *p, bool rtl, onet_error *err) {
    onet_status status = ONET_OK;
    if (rtl) page_mirror(p);
    for (int i = 0; i < p->count && !status; i++) {
        page_region *r = &p->regions[i];
        int n = r->line_count;
        if (n < 2) continue;
        page_box *box = array_new((size_t)n, sizeof *box);
        int32_t *order = array_new((size_t)n, sizeof *order);
        bool wrong = false, valid = true;
        if (!box || !order) status = fail_memory(err, "the lines of a region");
        for (int j = 0; j < n && !status; j++) {
            box[r->lines[j].given] = r->lines[j].box;
            valid = valid && page_box_valid(&r->lines[j].box);
        }
        int hop = 0;
        for (int k = 0; k + 1 < n && !status && valid; k++) {
            wrong = wrong || jumps_back(&box[k], &box[k + 1]);
            if (k + 2 < n) hop += hops(&box[k], &box[k + 1], &box[k + 2]);
        }
        wrong = wrong || hop > 1;
        if (!status && valid && wrong) {
            for (int j = 0; j < n; j++) box[j] = r->lines[j].box;
            status = rule_lines(box, n, order, err);
            for (int k = 0; k < n && !status; k++) r->lines[order[k]].found = k;
        } else
            for (int j = 0; j < n && !status; j++) r->lines[j].found = r->lines[j].given;
        for (int j = 0; j < n && !status; j++)
            r->lines_moved = r->lines_moved || r->lines[j].found != r->lines[j].given;
        free(box);
        free(order);
    }
    if (rtl) page_mirror(p);
    return status;
}

void page_free(page *p) {
    for (int i = 0; i < p->count; i++) {
        free(p->regions[i].id);
        free(p->regions[i].type);
        free(p->regions[i].lines);
    }
    free(p->regions);
    free(p->id);
    free(p->document);
    free(p->source);
    free(p->image);
    *p = (page){0};
}
