/* Cuts a scan of two facing pages at the gutter between them. */
#include "tasks/layout/order/gutters.h"

#include <string.h>

/* On a page that is wider than high, facing pages are divided by a gutter over its whole height that is at
 * least so wide, in heights of the page, and about as far from the middle at most, in widths; each page has
 * at least this share of the height. */
static const double FOLD = 0.02, OFF_MIDDLE = 0.1, PAGE_HIGH = 0.3;

bool cut_fold(cutting *c, int start, int end) {
    page_box all = bounds_between(c, start, end, -HUGE_VAL, HUGE_VAL);
    double middle = (all.x0 + all.x1) / 2, at = 0, other = 0, fold = 0;
    if (c->wide < c->unit || page_box_width(&all) < (1 - OFF_MIDDLE) * c->wide) return false;
    spans_of(c, start, end, &c->a);
    for (int k = 1; k < c->a.count; k++) {
        double low = c->a.at[k - 1].high, high = c->a.at[k].low;
        bool near = fabs((low + high) / 2 - middle) < OFF_MIDDLE * c->wide;
        if (near && high - low > fold) {
            other = fmax(other, fold);
            fold = high - low;
            at = (low + high) / 2;
        } else
            other = fmax(other, high - low);
    }
    if (fold == 0) return false;
    page_box left = bounds_between(c, start, end, -HUGE_VAL, at),
             right = bounds_between(c, start, end, at, HUGE_VAL);
    double high = PAGE_HIGH * c->unit, trimmed = 2 * MOST_ACROSS * c->unit;
    if (right.x0 - left.x1 < FOLD * c->unit || fold - trimmed < FACING * (other - trimmed) ||
        page_box_height(&left) < high || page_box_height(&right) < high)
        return false;
    int count = 0, first = start;
    for (int k = start; k < end; k++) {
        const page_box *b = &c->boxes[c->order[k]];
        if ((b->x0 + b->x1) / 2 > at)
            c->part[count++] = c->order[k];
        else
            c->order[first++] = c->order[k];
    }
    memcpy(c->order + first, c->part, (size_t)count * sizeof *c->part);
    c->facing = true;
    part_divide(c, start, first, end, DOUBT_NONE);
    part_push(c, start, first);
    part_push(c, first, end);
    return true;
}
