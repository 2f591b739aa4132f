/* Many ways to order a page by rule: XY-cuts with several gaps, bands of columns. */
#include "pages/ways.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "pages/rules.h"

typedef struct way {
    enum { DOWN, BANDS, CUT } rule;
    bool whole; /* regions inside others are ordered like the rest */
    bool lines; /* no cut crosses a separator */
    xy_cut cut;
    double wide;
} way;

#define ROWS(row_gap, column_gap, trim)    .rule = CUT, .cut = {true, row_gap, column_gap, trim}
#define COLUMNS(row_gap, column_gap, trim) .rule = CUT, .cut = {false, row_gap, column_gap, trim}

static const way ways[] = {
    /* ranks for the network */
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
    /* judged only */
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
};
enum { WAYS = sizeof ways / sizeof *ways };

int page_way_count(void) {
    return WAYS;
}

static onet_status order_by(const way *w, const page_box *boxes, int n, int lines, int32_t *order,
                            onet_error *err) {
    if (w->rule == BANDS) return rule_bands(w->wide, boxes, n, order, err);
    return w->rule == CUT ? rule_xy_cut(&w->cut, boxes, n, w->lines ? lines : 0, order, err)
                          : rule_order(RULE_TOP_DOWN, boxes, n, 0, order, err);
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

onet_status page_way(int way_index, const page_layout *l, int32_t *order, onet_error *err) {
    const way *w = &ways[way_index];
    const page_box *boxes = l->boxes;
    const int32_t *host = l->host;
    int n = l->n, outside = 0, inside = 0, at = 0;
    for (int i = 0; i < n; i++) outside += host[i] < 0;
    if (w->whole || outside == n) return order_by(w, boxes, n, l->lines, order, err);
    page_box *outer_boxes = array_new((size_t)n + (size_t)l->lines, sizeof *outer_boxes);
    spot *inner = array_new((size_t)n, sizeof *inner);
    int32_t *outer = array_new((size_t)n, sizeof *outer), *index = array_new((size_t)n, sizeof *index);
    int *start = array_new((size_t)n, sizeof *start); /* [n]: where the regions inside each begin in inner */
    onet_status status =
        outer_boxes && inner && outer && index && start ? ONET_OK : fail_memory(err, "the boxes of a page");
    outside = 0;
    for (int i = 0; i < n && !status; i++)
        if (host[i] < 0) {
            index[outside] = i;
            outer_boxes[outside++] = boxes[i];
        } else
            inner[inside++] = spot_of(&boxes[i], host[i], i);
    for (int i = 0; i < l->lines && !status; i++) outer_boxes[outside + i] = boxes[n + i];
    for (int i = 0; i < n && !status; i++) start[i] = inside;
    if (!status) status = order_by(w, outer_boxes, outside, l->lines, outer, err);
    if (!status) qsort(inner, (size_t)inside, sizeof *inner, by_host);
    for (int k = inside - 1; k >= 0 && !status; k--) start[inner[k].host] = k;
    for (int t = 0; t < outside && !status; t++) {
        int32_t j = index[outer[t]];
        double middle = (boxes[j].y0 + boxes[j].y1) / 2;
        int k = start[j];
        while (k < inside && inner[k].host == j && inner[k].y < middle) order[at++] = inner[k++].index;
        order[at++] = j;
        while (k < inside && inner[k].host == j) order[at++] = inner[k++].index;
    }
    free(outer_boxes);
    free(inner);
    free(outer);
    free(index);
    free(start);
    return status;
}
