/* Divides a part of a page into rows, between which white reaches across it, and finds which of them are
 * cells of a table. */
#include "tasks/layout/order/gutters.h"

/* A table has TABLE_ROWS low rows or more, which fill less than ALL_FILLED of their width. They are lines of
 * text in columns, not a table, if MOST_FULL of the regions or more have FULL of their column's width, and
 * gutters take less than GUTTERS of the width. */
enum { TABLE_ROWS = 3 };
static const double ALL_FILLED = 0.8, FULL = 0.9, MOST_FULL = 0.6, GUTTERS = 0.18;

bool row_has(const cutting *c, const row *r, page_kind kind) {
    bool any = false;
    for (int k = r->start; k < r->end; k++) any = any || kind_of(c, c->order[k]) == kind;
    return any;
}

bool row_has_only(const cutting *c, const row *r, page_kind kind) {
    bool all = true;
    for (int k = r->start; k < r->end; k++) all = all && kind_of(c, c->order[k]) == kind;
    return all;
}

bool row_joins(cutting *c, const row *r) {
    spans_of(c, r->start, r->end, &c->b);
    spans_unite(&c->a, &c->b, &c->merged);
    bool left = c->merged.count > 1;
    if (left) spans_swap(&c->a, &c->merged);
    return left;
}

static void describe_row(cutting *c, row *r) {
    double lowest = INFINITY, highest = 0, top = -INFINITY, filled = 0;
    page_box box = page_box_none;
    int regions = 0;
    r->furniture = true;
    for (int k = r->start; k < r->end; k++) {
        int32_t i = c->order[k];
        const page_box *b = &c->boxes[i];
        r->furniture = r->furniture && kind_of(c, i) == KIND_FURNITURE;
        if (i >= c->n) continue;
        regions++;
        page_box_add(&box, b->x0, b->y0);
        page_box_add(&box, b->x1, b->y1);
        lowest = fmin(lowest, page_box_height(b));
        highest = fmax(highest, page_box_height(b));
        top = fmax(top, b->y0);
        filled += page_box_width(b);
    }
    r->y0 = box.y0;
    r->y1 = box.y1;
    r->filled = filled / page_box_width(&box);
    r->cells = regions > 1 && regions == r->end - r->start && highest <= LOW * fmax(c->unit, c->wide) &&
               highest <= 4 * lowest && top - box.y0 < highest;
}

/* Whether rows first .. last - 1 are lines of text: most are as wide as their columns, and gutters are
 * narrow. */
static bool is_text(cutting *c, int first, int last) {
    int start = c->rows[first].start, end = c->rows[last - 1].end, full = 0, at;
    double trimmed = 2 * MOST_ACROSS * c->unit, white = 0;
    spans_of(c, start, end, &c->a);
    for (int k = 1; k < c->a.count; k++) white += fmax(c->a.at[k].low - c->a.at[k - 1].high - trimmed, 0);
    for (int k = start; k < end; k++) {
        span s = span_of(c, c->order[k], false);
        for (at = 0; c->a.at[at].high < s.high;) at++;
        full += s.high - s.low >= FULL * (c->a.at[at].high - c->a.at[at].low);
    }
    return full >= MOST_FULL * (end - start) &&
           white < GUTTERS * (c->a.at[c->a.count - 1].high - c->a.at[0].low + trimmed);
}

/* Whether rows first .. last - 1 are a few of those between the same gutters. */
static bool columns_go_on(cutting *c, int first, int last, int rows) {
    int start = first, end = last;
    spans_of(c, c->rows[first].start, c->rows[last - 1].end, &c->a);
    while (start > 0 && row_joins(c, &c->rows[start - 1])) start--;
    while (end < rows && row_joins(c, &c->rows[end])) end++;
    return 2 * (c->rows[last - 1].end - c->rows[first].start) < c->rows[end - 1].end - c->rows[start].start;
}

int rows_find(cutting *c, int start, int end) {
    int count = end - start, rows = 0;
    for (int k = 0; k < count; k++) c->work[k] = span_of(c, c->order[start + k], true);
    spans_sort(c->work, count);
    for (int k = 0; k < count; k++) {
        const span *s = &c->work[k];
        c->order[start + k] = s->index;
        if (!rows || s->low >= c->rows[rows - 1].bottom)
            c->rows[rows++] = (row){.start = start + k, .top = s->low, .bottom = s->high};
        row *r = &c->rows[rows - 1];
        r->end = start + k + 1;
        r->bottom = fmax(r->bottom, s->high);
    }
    for (int k = 0; k < rows; k++) describe_row(c, &c->rows[k]);
    /* Fewer rows of cells than a table has are columns. */
    for (int k = 0, last; k < rows; k = last + 1) {
        double filled = 0;
        for (last = k; last < rows && c->rows[last].cells; last++) filled += c->rows[last].filled;
        bool table = last - k >= TABLE_ROWS && (has_margin(c, c->rows[k].start, c->rows[last - 1].end) ||
                                                (filled < ALL_FILLED * (last - k) && !is_text(c, k, last)));
        table = table && !columns_go_on(c, k, last, rows);
        for (int i = k; i < last && !table; i++) c->rows[i].cells = false;
    }
    return rows;
}
