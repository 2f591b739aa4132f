/* Lists the ways (rules with parameters: gap sizes, trims, widths) to order a page, computes the order of
 * each, and tells whether an order keeps to the divisions of the page, which white space and separators make.
 */
#include "tasks/layout/order/ways.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "tasks/layout/order/rules.h"

typedef struct way {
    enum { PRINTS, DOWN, BANDS, CUT, GUTTERS } rule;
    bool whole; /* frames and regions inside others are ordered like the rest */
    bool lines; /* no cut crosses a separator */
    page_titles titles;
    xy_cut cut;
    double wide;
} way;

#define ROWS(row_gap, column_gap, trim)    .rule = CUT, .cut = {true, row_gap, column_gap, trim}
#define COLUMNS(row_gap, column_gap, trim) .rule = CUT, .cut = {false, row_gap, column_gap, trim}

static const way ways[] = {
    /* judged, and their ranks are features of the network */
    {.rule = PRINTS, .whole = true},
    {.rule = DOWN, .whole = true},
    {ROWS(-0.003, -0.003, 0)},
    {COLUMNS(0, 0, 0)},
    {ROWS(0.003, 0, 0.004)},
    {COLUMNS(0.003, -0.003, 0.01)},
    {ROWS(0, 0, 0.004)},
    {ROWS(0.006, 0.003, 0.01)},
    {COLUMNS(-0.003, 0.003, 0)},
    {COLUMNS(0.006, 0, 0.004)},
    {.rule = BANDS, .wide = 0.5},
    {.rule = BANDS, .wide = 0.3},
    {.rule = BANDS, .wide = 2},
    {ROWS(0.003, 0, 0.008), .lines = true},
    {ROWS(0, 0, 0.008), .lines = true},
    {COLUMNS(0.003, 0, 0.008), .lines = true},
    {.rule = GUTTERS, .lines = true},
    /* judged, but no features */
    {.rule = PRINTS, .whole = true, .titles = TITLES_WIDEST_FIRST},
    {.rule = PRINTS, .whole = true, .titles = TITLES_LEFT_FIRST},
    {.rule = PRINTS, .whole = true, .titles = TITLES_CATCHWORD_FIRST},
    {.rule = DOWN},
    {ROWS(-0.003, -0.003, 0), .whole = true},
    {COLUMNS(0, 0, 0), .whole = true},
    {ROWS(-0.006, -0.003, 0)},
    {ROWS(0, 0, 0)},
    {ROWS(0.003, 0, 0)},
    {ROWS(0.006, 0.003, 0)},
    {ROWS(0.006, 0, 0.004)},
    {ROWS(0.012, 0, 0.004)},
    {ROWS(0, 0.003, 0.004)},
    {COLUMNS(-0.003, -0.003, 0)},
    {COLUMNS(0, -0.01, 0)},
    {COLUMNS(0.006, 0.003, 0)},
    {COLUMNS(0.003, 0, 0.004)},
    {COLUMNS(0.006, 0.003, 0.01)},
    {COLUMNS(0.006, 0, 0.02)},
    {ROWS(0.003, 0, 0.004), .lines = true},
    {ROWS(0.006, 0, 0.012), .lines = true},
    {COLUMNS(0, 0, 0.004), .lines = true},
    {COLUMNS(0.006, 0, 0.012), .lines = true},
    {.rule = GUTTERS, .lines = true, .whole = true},
};
enum { WAYS = sizeof ways / sizeof *ways };

int page_way_count(void) {
    return WAYS;
}

const char *page_way_name(int way_index, char name[PAGE_WAY_NAME]) {
    static const char *const titles[] = {"", "-widest-first", "-left-first", "-catchword-first"};
    const way *w = &ways[way_index];
    switch (w->rule) {
    case PRINTS:
        snprintf(name, PAGE_WAY_NAME, "prints%s", titles[w->titles]);
        break;
    case DOWN:
        snprintf(name, PAGE_WAY_NAME, "top-down");
        break;
    case BANDS:
        snprintf(name, PAGE_WAY_NAME, "bands-%g", w->wide);
        break;
    case GUTTERS:
        snprintf(name, PAGE_WAY_NAME, "gutters");
        break;
    default:
        snprintf(name, PAGE_WAY_NAME, "%s%s:%g:%g:%g", w->lines ? "separators-" : "",
                 w->cut.rows_first ? "rows" : "columns", w->cut.row_gap, w->cut.column_gap, w->cut.trim);
        break;
    }
    if (w->rule != PRINTS && w->whole) strcat(name, "-whole");
    return name;
}

int page_way_named(const char *name) {
    char other[PAGE_WAY_NAME];
    int k = 0;
    while (k < WAYS && strcmp(page_way_name(k, other), name)) k++;
    return k < WAYS ? k : -1;
}

static onet_status order_by(const way *w, const page_layout *l, int32_t *order, onet_error *err) {
    switch (w->rule) {
    case PRINTS:
        return rule_prints(w->titles, l->boxes, l->kind, l->n, order, err);
    case DOWN:
        return rule_order(RULE_TOP_DOWN, l->boxes, l->kind, l->n, 0, order, err);
    case BANDS:
        return rule_bands(w->wide, l->boxes, l->n, order, err);
    case GUTTERS:
        return rule_gutters(l->boxes, l->kind, l->n, l->lines, order, NULL, NULL, err);
    default:
        return rule_xy_cut(&w->cut, l->boxes, l->n, w->lines ? l->lines : 0, order, err);
    }
}

typedef struct spot {
    int32_t host, index;
    double x, y; /* of the middle */
} spot;

static spot spot_of(const page_box *b, int32_t host, int32_t index) {
    return (spot){host, index, (b->x0 + b->x1) / 2, (b->y0 + b->y1) / 2};
}

static int by_x(const void *a, const void *b) {
    const spot *p = a, *q = b;
    return p->x != q->x ? (p->x > q->x) - (p->x < q->x) : (p->index > q->index) - (p->index < q->index);
}

static int by_host(const void *a, const void *b) {
    const spot *p = a, *q = b;
    if (p->host != q->host) return p->host < q->host ? -1 : 1;
    return p->y != q->y ? (p->y > q->y) - (p->y < q->y) : by_x(a, b);
}

/* The order as it grows: a frame comes directly before the first region that lies in it. */
typedef struct growing {
    const int32_t *frame; /* [n] */
    bool *begun;          /* [n]: frames that are in the order */
    int32_t *order;
    int count;
} growing;

static void append(growing *g, int32_t region) {
    int32_t frame = g->frame[region];
    if (frame >= 0 && !g->begun[frame]) {
        g->begun[frame] = true;
        g->order[g->count++] = frame;
    }
    g->order[g->count++] = region;
}

/* The rule of gutters reads notes with the region that holds them, and headings if the region that holds them
 * is less tall than this share of the page: what holds a whole page is no paragraph with its heading. */
static const double PARAGRAPH = 0.25;

/* Whether a region is read with the one that it lies in. */
static bool is_inside(const way *w, const page_layout *l, int i) {
    if (l->host[i] < 0 || w->rule != GUTTERS) return l->host[i] >= 0;
    return l->kind[i] == KIND_NOTE ||
           (l->kind[i] == KIND_HEADING && page_box_height(&l->boxes[l->host[i]]) < PARAGRAPH);
}

onet_status page_way(int way_index, const page_layout *l, int32_t *order, onet_error *err) {
    const way *w = &ways[way_index];
    const page_box *boxes = l->boxes;
    const int32_t *host = l->host;
    int n = l->n, outside = 0, inside = 0;
    for (int i = 0; i < n; i++) outside += !is_inside(w, l, i) && l->frame[i] != i;
    if (w->whole || outside == n) return order_by(w, l, order, err);
    page_layout outermost = {.boxes = array_new((size_t)n + (size_t)l->lines, sizeof *boxes),
                             .kind = array_new((size_t)n, sizeof *l->kind),
                             .lines = l->lines};
    spot *inner = array_new((size_t)n, sizeof *inner);
    int32_t *outer = array_new((size_t)n, sizeof *outer), *index = array_new((size_t)n, sizeof *index);
    int *start = array_new((size_t)n, sizeof *start); /* [n]: where the regions inside each begin in inner */
    growing grown = {l->frame, array_new((size_t)n, sizeof *grown.begun), order, 0};
    onet_status status = outermost.boxes && outermost.kind && inner && outer && index && start && grown.begun
                             ? ONET_OK
                             : fail_memory(err, "the boxes of a page");
    for (int i = 0; i < n && !status; i++)
        if (is_inside(w, l, i))
            inner[inside++] = spot_of(&boxes[i], host[i], i);
        else if (l->frame[i] != i) {
            index[outermost.n] = i;
            outermost.kind[outermost.n] = l->kind[i];
            outermost.boxes[outermost.n++] = boxes[i];
        }
    for (int i = 0; i < l->lines && !status; i++) outermost.boxes[outside + i] = boxes[n + i];
    for (int i = 0; i < n && !status; i++) start[i] = inside;
    if (!status) status = order_by(w, &outermost, outer, err);
    if (!status) qsort(inner, (size_t)inside, sizeof *inner, by_host);
    for (int k = inside - 1; k >= 0 && !status; k--) start[inner[k].host] = k;
    for (int t = 0; t < outside && !status; t++) {
        int32_t j = index[outer[t]];
        double middle = (boxes[j].y0 + boxes[j].y1) / 2;
        int k = start[j];
        while (k < inside && inner[k].host == j && inner[k].y < middle) append(&grown, inner[k++].index);
        append(&grown, j);
        while (k < inside && inner[k].host == j) append(&grown, inner[k++].index);
    }
    free(outermost.boxes);
    free(outermost.kind);
    free(inner);
    free(outer);
    free(index);
    free(start);
    free(grown.begun);
    return status;
}

onet_status page_divisions_find(page_divisions *d, const page_layout *l, onet_error *err) {
    size_t n = (size_t)l->n;
    page_layout outermost = {.boxes = array_new(n + (size_t)l->lines + 1, sizeof *l->boxes),
                             .kind = array_new(n + 1, sizeof *l->kind),
                             .lines = l->lines};
    int32_t *index = array_new(n + 1, sizeof *index);
    *d = (page_divisions){.order = array_new(n + 1, sizeof *d->order),
                          .at = array_new(n + (size_t)l->lines + 1, sizeof *d->at)};
    onet_status status = outermost.boxes && outermost.kind && index && d->order && d->at
                             ? ONET_OK
                             : fail_memory(err, "the boxes of a page");
    for (int i = 0; i < l->n && !status; i++)
        if (l->host[i] < 0 && l->frame[i] != i) {
            index[outermost.n] = i;
            outermost.kind[outermost.n] = l->kind[i];
            outermost.boxes[outermost.n++] = l->boxes[i];
        }
    for (int i = 0; i < l->lines && !status; i++) outermost.boxes[outermost.n + i] = l->boxes[l->n + i];
    if (!status)
        status = rule_gutters(outermost.boxes, outermost.kind, outermost.n, l->lines, d->order, d->at,
                              &d->count, err);
    for (int k = 0; k < outermost.n && !status; k++) {
        int32_t i = index[d->order[k]];
        d->order[k] = l->kind[i] == KIND_TEXT ? i : ~i;
    }
    free(outermost.boxes);
    free(outermost.kind);
    free(index);
    if (status) page_divisions_free(d);
    return status;
}

bool page_divisions_kept(const page_divisions *d, int way_index, const int32_t *place) {
    bool columns = ways[way_index].rule != PRINTS && ways[way_index].rule != DOWN;
    for (int k = 0; k < d->count; k++) {
        const page_division *at = &d->at[k];
        int32_t last = -1;
        if (at->doubt == DOUBT_COLUMNS && columns) continue;
        for (int i = at->start; i < at->end; i++) {
            int32_t region = d->order[i] < 0 ? ~d->order[i] : d->order[i];
            if (d->order[i] < 0 && at->doubt != DOUBT_NONE) continue;
            if (i < at->middle)
                last = place[region] > last ? place[region] : last;
            else if (place[region] < last)
                return false;
        }
    }
    return true;
}

void page_divisions_free(page_divisions *d) {
    free(d->order);
    free(d->at);
    *d = (page_divisions){0};
}
