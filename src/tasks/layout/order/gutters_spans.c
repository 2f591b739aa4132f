/* Computes what boxes cover from left to right, what two such covers cover together, and the bounds of boxes:
 * the geometry of gutters. */
#include "tasks/layout/order/gutters.h"

#include <stdlib.h>

static int by_low(const void *a, const void *b) {
    const span *x = a, *y = b;
    if (x->low != y->low) return x->low < y->low ? -1 : 1;
    if (x->high != y->high) return x->high < y->high ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

void spans_sort(span *at, int count) {
    qsort(at, (size_t)count, sizeof *at, by_low);
}

void spans_of(cutting *c, int start, int end, spans *out) {
    int count = 0;
    for (int k = start; k < end; k++)
        if (!is_vertical(c, c->order[k])) c->work[count++] = span_of(c, c->order[k], false);
    spans_sort(c->work, count);
    out->count = 0;
    for (int k = 0; k < count; k++)
        if (out->count && c->work[k].low <= out->at[out->count - 1].high)
            out->at[out->count - 1].high = fmax(out->at[out->count - 1].high, c->work[k].high);
        else
            out->at[out->count++] = c->work[k];
}

void spans_unite(const spans *a, const spans *b, spans *out) {
    int i = 0, j = 0;
    out->count = 0;
    while (i < a->count || j < b->count) {
        bool first = j == b->count || (i < a->count && a->at[i].low <= b->at[j].low);
        span s = first ? a->at[i++] : b->at[j++];
        if (out->count && s.low <= out->at[out->count - 1].high)
            out->at[out->count - 1].high = fmax(out->at[out->count - 1].high, s.high);
        else
            out->at[out->count++] = s;
    }
}

page_box bounds_between(const cutting *c, int start, int end, double low, double high) {
    page_box all = page_box_none;
    for (int k = start; k < end; k++) {
        const page_box *b = &c->boxes[c->order[k]];
        double middle = (b->x0 + b->x1) / 2;
        if (c->order[k] >= c->n || middle < low || middle > high) continue;
        page_box_add(&all, b->x0, b->y0);
        page_box_add(&all, b->x1, b->y1);
    }
    return all;
}
