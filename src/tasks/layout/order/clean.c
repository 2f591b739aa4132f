/* Cleans the boxes of a page before it is ordered: straightens a page that is askew, and takes from boxes
 * beside each other the strip in which they overlap. Also finds the next box below each box. */
#include "tasks/layout/order/clean.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"

/* Two boxes that share less than this of the narrower one are beside each other, and neither gets it; where a
 * separator stands in it, each gets what is on its side. */
static const double SHARED = 0.2;

/* A page is straightened if it leans by LEAST_ASKEW (half a degree; less is within what may lie beyond a cut)
 * to MOST_ASKEW: the median over LEAST_PAIRS or more of regions below each other whose widths differ by no
 * more than SAME_WIDTH and whose middles are LEAST_DOWN of the page's height apart, if the middle half of
 * them differ by less than it. In a table few cells are as wide as the next: there may be MOST_OTHERS times
 * as many other pairs. If columns do not show it, rows do, of LEAST_CELLS regions or more and of half of
 * those of the page, each with one as low, no higher than LOWEST, beside it. */
enum { LEAST_PAIRS = 3, MOST_OTHERS = 2, LEAST_CELLS = 6 };
static const double LEAST_ASKEW = 0.008, MOST_ASKEW = 0.06, SAME_WIDTH = 0.03, LEAST_DOWN = 0.01,
                    LOWEST = 0.05;

typedef struct standing {
    double top, bottom;
    int32_t index;
} standing;

static int by_top(const void *a, const void *b) {
    const standing *x = a, *y = b;
    if (x->top != y->top) return x->top < y->top ? -1 : 1;
    if (x->bottom != y->bottom) return x->bottom < y->bottom ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

onet_status boxes_below(const page_box *boxes, int n, int32_t *below, onet_error *err) {
    standing *down = array_new((size_t)n, sizeof *down);
    if (!down) return fail_memory(err, "the boxes of a page");
    for (int i = 0; i < n; i++) down[i] = (standing){boxes[i].y0, boxes[i].y1, i};
    qsort(down, (size_t)n, sizeof *down, by_top);
    for (int i = 0; i < n; i++) {
        const page_box *a = &boxes[down[i].index];
        int32_t found = -1;
        for (int k = i + 1; k < n && found < 0; k++) {
            const page_box *b = &boxes[down[k].index];
            double shared = fmin(a->x1, b->x1) - fmax(a->x0, b->x0);
            if (shared >= fmin(page_box_width(a), page_box_width(b)) / 2 && b->y0 + b->y1 >= 2 * a->y1)
                found = down[k].index;
        }
        below[down[i].index] = found;
    }
    free(down);
    return ONET_OK;
}

static int by_number(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns the median of slopes [count] if most of them are close to it, else 0. */
static double clear_slope(double *slopes, int count) {
    qsort(slopes, (size_t)count, sizeof *slopes, by_number);
    double slope = slopes[count / 2], spread = slopes[count - 1 - count / 4] - slopes[count / 4];
    return fabs(slope) >= LEAST_ASKEW && fabs(slope) <= MOST_ASKEW && spread < fabs(slope) ? slope : 0;
}

/* Returns by how much columns lean to the right per unit of height; 0 if that is little or not clear.
 * Paragraphs of a column are as wide as each other, and on a page that is askew each stands further to the
 * same side than the one above it. slopes [n]: scratch space. */
static double slope_of(const page_box *boxes, const int32_t *below, int n, double high, double *slopes) {
    int count = 0, others = 0;
    for (int i = 0; i < n; i++) {
        if (below[i] < 0) continue;
        const page_box *a = &boxes[i], *b = &boxes[below[i]];
        double down = (b->y0 + b->y1 - a->y0 - a->y1) / 2, right = (b->x0 + b->x1 - a->x0 - a->x1) / 2,
               wide = page_box_width(a);
        if (fabs(page_box_width(b) - wide) <= SAME_WIDTH * wide && down >= LEAST_DOWN * high)
            slopes[count++] = right / down;
        else
            others++;
    }
    return count < LEAST_PAIRS || MOST_OTHERS * count < others ? 0 : clear_slope(slopes, count);
}

/* The same by the cells of a table: by how much each is higher than the one left of it in its row. */
static double slope_of_rows(const page_box *boxes, int n, double high, double *slopes) {
    int count = 0;
    for (int i = 0; i < n; i++) {
        const page_box *a = &boxes[i];
        double tall = page_box_height(a), nearest = HUGE_VAL, slope = 0;
        if (tall > LOWEST * high) continue;
        for (int j = 0; j < n; j++) {
            const page_box *b = &boxes[j];
            double right = b->x0 + b->x1 - a->x0 - a->x1, up = a->y0 + a->y1 - b->y0 - b->y1,
                   away = right + fabs(up);
            if (b->x0 < a->x1 || fabs(up) > 2 * tall || fabs(page_box_height(b) - tall) > tall / 2) continue;
            if (away > nearest || (away == nearest && up / right <= slope)) continue;
            nearest = away;
            slope = up / right;
        }
        if (nearest < HUGE_VAL) slopes[count++] = slope;
    }
    return count < LEAST_CELLS || 2 * count < n ? 0 : clear_slope(slopes, count);
}

/* Moves boxes [all] to where they stand on a page that does not lean by `slope`; `whole` is around them. */
static void straighten(page_box *boxes, int all, double slope, const page_box *whole) {
    for (int i = 0; i < all; i++) {
        page_box *b = &boxes[i];
        double dx = -slope * (b->y0 + b->y1 - whole->y0 - whole->y1) / 2,
               dy = slope * (b->x0 + b->x1 - whole->x0 - whole->x1) / 2;
        *b = (page_box){b->x0 + dx, b->y0 + dy, b->x1 + dx, b->y1 + dy};
    }
}

static int by_left(const void *a, const void *b) {
    return by_number(&((const page_box *)a)->x0, &((const page_box *)b)->x0);
}

static bool stands_in(const page_box *line, const page_box *shared) {
    return line->x0 > shared->x0 && line->x0 < shared->x1 && line->y0 < shared->y1 && line->y1 > shared->y0;
}

/* Returns x of the vertical separator nearest to the middle of what two boxes share; NAN: none stands in it.
 * line [count]: from left to right. */
static double line_in(const page_box *line, int count, const page_box *shared) {
    double middle = (shared->x0 + shared->x1) / 2;
    int low = 0, high = count; /* the first that is right of the middle */
    while (low < high) {
        int half = low + (high - low) / 2;
        if (line[half].x0 > middle)
            high = half;
        else
            low = half + 1;
    }
    int left = low - 1, right = low;
    while (left >= 0 && line[left].x0 > shared->x0 && !stands_in(&line[left], shared)) left--;
    while (right < count && line[right].x0 < shared->x1 && !stands_in(&line[right], shared)) right++;
    bool before = left >= 0 && stands_in(&line[left], shared),
         after = right < count && stands_in(&line[right], shared);
    if (before && (!after || middle - line[left].x0 <= line[right].x0 - middle)) return line[left].x0;
    return after ? line[right].x0 : (double)NAN;
}

/* Takes what boxes share a little from both of them, in `out` [all]: one at least was drawn too large. line
 * [all]: scratch space. */
static void share_out(const page_box *boxes, int n, int all, page_box *out, page_box *line) {
    int count = 0;
    memcpy(out, boxes, (size_t)all * sizeof *out);
    for (int k = n; k < all; k++)
        if (boxes[k].x0 == boxes[k].x1) line[count++] = boxes[k];
    qsort(line, (size_t)count, sizeof *line, by_left);
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) {
            const page_box *a = &boxes[i], *b = &boxes[j];
            double x = fmin(a->x1, b->x1) - fmax(a->x0, b->x0), y = fmin(a->y1, b->y1) - fmax(a->y0, b->y0);
            if (x <= 0 || y <= 0) continue;
            double across = x / fmin(page_box_width(a), page_box_width(b)),
                   down = y / fmin(page_box_height(a), page_box_height(b));
            if (across >= down || across >= SHARED) continue;
            bool first = a->x0 + a->x1 < b->x0 + b->x1;
            page_box *left = &out[first ? i : j], *right = &out[first ? j : i];
            page_box both = {fmax(a->x0, b->x0), fmax(a->y0, b->y0), fmin(a->x1, b->x1), fmin(a->y1, b->y1)};
            double at = line_in(line, count, &both);
            left->x1 = fmin(left->x1, isnan(at) ? both.x0 : at);
            right->x0 = fmax(right->x0, isnan(at) ? both.x1 : at);
        }
}

onet_status boxes_clean(const page_box *boxes, int n, int lines, page_box *straight, page_box *given,
                        onet_error *err) {
    int all = n + lines;
    page_box whole = page_box_none;
    int32_t *below = array_new((size_t)n, sizeof *below);
    double *slopes = array_new((size_t)n, sizeof *slopes);
    page_box *moved = array_new((size_t)all, sizeof *moved), *line = array_new((size_t)all, sizeof *line);
    onet_status status = below && slopes && moved && line ? boxes_below(boxes, n, below, err)
                                                          : fail_memory(err, "the boxes of a page");
    for (int i = 0; i < n; i++) {
        page_box_add(&whole, boxes[i].x0, boxes[i].y0);
        page_box_add(&whole, boxes[i].x1, boxes[i].y1);
    }
    if (!status) {
        double high = fmax(page_box_height(&whole), page_box_width(&whole)),
               slope = slope_of(boxes, below, n, page_box_height(&whole), slopes);
        if (slope == 0) slope = slope_of_rows(boxes, n, high, slopes);
        share_out(boxes, n, all, given, line);
        memcpy(moved, boxes, (size_t)all * sizeof *moved);
        straighten(moved, all, slope, &whole);
        if (slope == 0)
            memcpy(straight, given, (size_t)all * sizeof *straight);
        else
            share_out(moved, n, all, straight, line);
    }
    free(below);
    free(slopes);
    free(moved);
    free(line);
    return status;
}
