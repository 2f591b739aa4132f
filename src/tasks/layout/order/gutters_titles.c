/* Finds the running titles of a page, also where no type names them, and cuts those at its head from the
 * columns that stand beside and below them. */
#include "tasks/layout/order/gutters.h"

#include <string.h>

/* A row of text that nothing calls a running title is one if it is no higher than TITLE at the top or the
 * foot of a part of at least WHOLE of the page's height, over (or under) more columns than it has regions,
 * which all begin (or end) within LEVEL of each other. One at the top also if it begins and ends at the edges
 * of the columns, the last region APART of its column's width or more from that column's left edge. One at
 * the foot has more white above it than paragraphs have, or is no wider than NUMBER times its height (it may
 * then be under any column but the lowest one), or its middle is within CENTRED of that of the columns, in
 * widths of them; and three regions or more with FOOT above them are one, as columns have no headlines there.
 * What is called a running title is at the head of a page if it ends within HEADS of its top. All in heights
 * of the page, but APART, NUMBER and CENTRED. */
static const double TITLE = 0.025, WHOLE = 0.8, LEVEL = 0.012, FOOT = 0.025, APART = 0.3, HEADS = 0.04,
                    NUMBER = 3, CENTRED = 0.02;

/* Whether row r is a line that begins with something short at the left edge of the columns in row `next` and
 * ends with something short at their right edge, as a running title between page number and date does: a
 * headline is at the left of its column or in the middle. */
static bool is_flanked(cutting *c, const row *r, const row *next) {
    const page_box *left = NULL, *right = NULL;
    double edge = 2 * MOST_ACROSS * c->unit;
    if (r->y1 - r->y0 > TITLE * c->unit || !row_has_only(c, r, KIND_TEXT)) return false;
    for (int k = r->start; k < r->end; k++) {
        const page_box *b = &c->boxes[c->order[k]];
        if (!left || b->x0 < left->x0) left = b;
        if (!right || b->x1 > right->x1) right = b;
    }
    spans_of(c, next->start, next->end, &c->b);
    const span *first = &c->b.at[0], *last = &c->b.at[c->b.count - 1];
    return c->b.count > 1 && left != right && fabs(left->x0 - first->low) < edge && left->x1 < first->high &&
           fabs(right->x1 - last->high) < edge && right->x0 - last->low > APART * (last->high - last->low);
}

/* Whether row r is a page number or signature mark by its shape. */
static bool is_number(const cutting *c, const row *r) {
    const page_box *b = &c->boxes[c->order[r->start]];
    return r->end - r->start == 1 && page_box_width(b) <= NUMBER * page_box_height(b);
}

/* Whether row r is one region in the middle of the columns that c->b covers, and not a line of text that
 * begins at the left edge of one. */
static bool is_in_middle(const cutting *c, const row *r) {
    const page_box *b = &c->boxes[c->order[r->start]];
    double left = c->b.at[0].low, right = c->b.at[c->b.count - 1].high;
    for (int i = 0; i < c->b.count; i++)
        if (fabs(b->x0 - c->b.at[i].low) < 2 * MOST_ACROSS * c->unit) return false;
    return r->end - r->start == 1 && fabs(b->x0 + b->x1 - left - right) < 2 * CENTRED * (right - left);
}

/* Whether row r, the first of a part or the last, is a running title of the columns in row `next`. */
static bool is_title(cutting *c, const row *r, const row *next, bool first) {
    int regions = r->end - r->start;
    double white = first ? next->y0 - r->y1 : r->y0 - next->y1, level = LEVEL * c->unit;
    bool apart = white >= fmax(WHITE_GAPS * c->usual, level), number = !first && is_number(c, r);
    if (r->y1 - r->y0 > TITLE * c->unit || !row_has_only(c, r, KIND_TEXT)) return false;
    spans_of(c, next->start, next->end, &c->b);
    if (!first && !apart && !number && !is_in_middle(c, r)) return false;
    bool foot = !first && regions > 2 && white >= FOOT * c->unit;
    if (c->b.count <= regions && !foot) return false;
    spans_of(c, r->start, r->end, &c->a);
    spans_unite(&c->a, &c->b, &c->merged);
    if (first && row_heads_columns(c, r)) return false; /* headlines of articles beside each other */
    /* Where a page is askew, the heading of one column may be above those of the others. */
    if (first && !apart &&
        (c->a.at[0].high < c->b.at[0].low - LOW * c->unit ||
         c->a.at[c->a.count - 1].low > c->b.at[c->b.count - 1].high + LOW * c->unit))
        return false;
    double own = -HUGE_VAL; /* where the column of a number ends */
    bool even = true;
    for (int i = 0; i < c->b.count && !foot; i++) {
        page_box column = bounds_between(c, next->start, next->end, c->b.at[i].low, c->b.at[i].high);
        even = even && (first ? column.y0 - next->y0 : next->y1 - column.y1) <= level;
        if (c->a.at[0].low < c->b.at[i].high && c->b.at[i].low < c->a.at[0].high) own = column.y1;
    }
    return even || (number && next->y1 - own > level);
}

/* Whether separators stand in all gutters of row `next`, and end below row r, which is a line above them: a
 * running title, not headlines of the columns. */
static bool is_above_lines(cutting *c, const row *r, const row *next) {
    if (r->y1 - r->y0 > TITLE * c->unit || !row_has_only(c, r, KIND_TEXT)) return false;
    spans_of(c, next->start, next->end, &c->b);
    for (int i = 1; i < c->b.count; i++) {
        bool line = false;
        for (int k = next->start; k < next->end && !line; k++) {
            double left = c->b.at[i - 1].high, right = c->b.at[i].low, high = next->y1 - next->y0;
            line = separator_between(c, c->order[k], left, right, high) && c->boxes[c->order[k]].y0 >= r->y1;
        }
        if (!line) return false;
    }
    return c->b.count > 1;
}

void mark_titles(cutting *c, int rows) {
    row *first = &c->rows[0], *last = &c->rows[rows - 1];
    if (rows < 2 || last->y1 - first->y0 < WHOLE * c->unit) return;
    if (is_title(c, first, first + 1, true) || is_above_lines(c, first, first + 1) ||
        is_flanked(c, first, first + 1))
        first->title = true;
    if (is_title(c, last, last - 1, false)) last->title = true;
}

/* Whether what order[k] names is a running title or page number that ends above `bottom`. */
static bool is_head(const cutting *c, int k, double bottom) {
    return kind_of(c, c->order[k]) == KIND_FURNITURE && c->boxes[c->order[k]].y1 <= bottom;
}

bool cut_heads(cutting *c, int start, int end) {
    page_box all = bounds_between(c, start, end, -HUGE_VAL, HUGE_VAL);
    double bottom = all.y0 + HEADS * c->unit, lowest = -HUGE_VAL;
    int heads = 0, count = 0, first = start;
    bool column = false;
    /* A part that is wider than high may be of two pages. */
    if (page_box_height(&all) < WHOLE * c->unit || page_box_width(&all) > page_box_height(&all)) return false;
    for (int k = start; k < end; k++)
        if (is_head(c, k, bottom)) {
            heads++;
            lowest = fmax(lowest, c->boxes[c->order[k]].y1);
        }
    for (int k = start; k < end; k++)
        column = column || (c->order[k] < c->n && kind_of(c, c->order[k]) != KIND_FURNITURE &&
                            c->boxes[c->order[k]].y0 < lowest);
    if (heads < 2 || !column) return false;
    for (int k = start; k < end; k++)
        if (is_head(c, k, bottom))
            c->order[first++] = c->order[k];
        else
            c->part[count++] = c->order[k];
    memcpy(c->order + first, c->part, (size_t)count * sizeof *c->part);
    part_divide(c, start, first, end, DOUBT_TITLES);
    part_push(c, start, first);
    part_push(c, first, end);
    return true;
}
