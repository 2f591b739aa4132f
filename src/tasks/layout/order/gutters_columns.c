/* Cuts a band at its gutters into columns, and decides what is too narrow to be a column: a margin. */
#include "tasks/layout/order/gutters.h"

/* A column is at least NARROWEST times as wide as the others (column_width); what is narrower is a margin,
 * with two exceptions. It is a column if its text and a separator beside it each have SEPARATED of the height
 * or more; or if it has at least SIDE of that width and SIDE_HIGH of the height, DENSE of which is text. */
static const double NARROWEST = 0.3, SEPARATED = 0.5, SIDE = 0.2, SIDE_HIGH = 0.25, DENSE = 0.8;

/* Returns how wide a column of c->a is. Of up to three, one of which may be a margin at each side, it
 * is the widest; a page that faces one of columns is wider than they are. */
static double column_width(cutting *c) {
    int count = c->a.count;
    for (int k = 0; k < count; k++) c->work[k].low = c->a.at[k].high - c->a.at[k].low;
    spans_sort(c->work, count);
    return c->work[count > 3 ? count / 2 : count - 1].low;
}

bool has_margin(cutting *c, int start, int end) {
    spans_of(c, start, end, &c->a);
    double wide = column_width(c);
    bool narrow = false;
    for (int k = 0; k < c->a.count; k++) narrow |= c->a.at[k].high - c->a.at[k].low < NARROWEST * wide;
    return narrow;
}

bool separator_between(const cutting *c, int32_t i, double left, double right, double high) {
    const page_box *b = &c->boxes[i];
    return is_vertical(c, i) && b->x0 > left && b->x0 < right && page_box_height(b) >= SEPARATED * high;
}

/* Whether what is narrow, at a place of c->a, is a column all the same, of a part of height `high`, the
 * columns of which are `wide`: a vertical separator stands in the white beside it, or it is full of text. */
static bool is_side_column(const cutting *c, int start, int end, int place, double wide, double high) {
    const span *narrow = &c->a.at[place];
    double near = 2 * MOST_ACROSS * c->unit, text = 0;
    double left = place ? c->a.at[place - 1].high : narrow->low - near,
           right = place + 1 < c->a.count ? c->a.at[place + 1].low : narrow->high + near;
    bool line = false;
    for (int k = start; k < end; k++) {
        const page_box *b = &c->boxes[c->order[k]];
        double middle = (b->x0 + b->x1) / 2;
        if (is_vertical(c, c->order[k]))
            line = line || (separator_between(c, c->order[k], left, right, high) &&
                            (b->x0 < narrow->low || b->x0 > narrow->high));
        else if (middle > narrow->low && middle < narrow->high)
            text += page_box_height(b);
    }
    if (line && text >= SEPARATED * high) return true;
    page_box own = bounds_between(c, start, end, narrow->low, narrow->high);
    return narrow->high - narrow->low >= SIDE * wide && page_box_height(&own) >= SIDE_HIGH * high &&
           text >= DENSE * page_box_height(&own);
}

/* Returns the height of the highest white between rows. */
static double highest_gap(const cutting *c, int rows) {
    double highest = 0;
    for (int k = 1; k < rows; k++) highest = fmax(highest, c->rows[k].y0 - c->rows[k - 1].y1);
    return highest;
}

/* Whether the columns c->a [columns] cannot be read as rows: no white reaches across them, or less than their
 * gutters have. */
static bool is_certain(const cutting *c, int columns, int rows, double gap) {
    double gutter = HUGE_VAL;
    for (int k = 1; k < columns; k++)
        gutter = fmin(gutter, c->a.at[k].low - c->a.at[k - 1].high - 2 * MOST_ACROSS * c->unit);
    return rows == 1 || gap < gutter;
}

bool cut_columns(cutting *c, int start, int end, int rows) {
    double gap = highest_gap(c, rows);
    int count = end - start, columns = 0;
    bool headed = false;
    if (rows > 1) {
        spans_of(c, c->rows[0].start, c->rows[0].end, &c->a);
        spans_of(c, c->rows[1].start, c->rows[1].end, &c->b);
        spans_unite(&c->a, &c->b, &c->merged);
        headed = row_heads_columns(c, &c->rows[0]);
    }
    spans_of(c, start, end, &c->a);
    double wide = column_width(c), top = HUGE_VAL, bottom = -HUGE_VAL;
    for (int k = start; k < end; k++) {
        top = fmin(top, c->boxes[c->order[k]].y0);
        bottom = fmax(bottom, c->boxes[c->order[k]].y1);
    }
    bool all_notes = true;
    for (int k = start; k < end && all_notes; k++)
        all_notes = c->order[k] >= c->n || kind_of(c, c->order[k]) == KIND_NOTE;
    for (int k = 0; k < c->a.count; k++) {
        bool notes = !all_notes;
        for (int i = start; i < end && notes; i++) {
            const page_box *b = &c->boxes[c->order[i]];
            double middle = (b->x0 + b->x1) / 2;
            if (middle < c->a.at[k].low || middle > c->a.at[k].high) continue;
            notes = kind_of(c, c->order[i]) == KIND_NOTE || kind_of(c, c->order[i]) == KIND_FURNITURE;
        }
        const span *s = &c->a.at[k];
        if (!notes && (headed || s->high - s->low >= NARROWEST * wide ||
                       is_side_column(c, start, end, k, wide, bottom - top)))
            c->a.at[columns++] = *s;
    }
    if (columns < 2) return false;
    if (columns > c->columns) c->columns = columns;
    bool certain = is_certain(c, columns, rows, gap);
    /* What stands in a margin goes to the column next to it. */
    int *member = c->part, at = start;
    for (int k = 0; k < count; k++) {
        const page_box *b = &c->boxes[c->order[start + k]];
        double middle = (b->x0 + b->x1) / 2, nearest = INFINITY;
        for (int i = 0; i < columns; i++) {
            double away = fmax(fmax(c->a.at[i].low - middle, middle - c->a.at[i].high), 0);
            if (away < nearest) member[k] = i;
            nearest = fmin(nearest, away);
        }
        c->work[k].index = c->order[start + k];
    }
    for (int i = 0; i < columns; i++) {
        int first = at;
        for (int k = 0; k < count; k++)
            if (member[k] == i) c->order[at++] = c->work[k].index;
        if (i)
            part_divide(c, start, first, end, !certain ? DOUBT_COLUMNS : headed ? DOUBT_NONE : DOUBT_TITLES);
        part_push(c, first, at);
    }
    return true;
}
