/* Orders a page by one of the rules: implements top-down, recursive XY-cut (splits the page again and again
 * at its widest gap) and bands of columns, and calls the others (gutters.c, prints.c). Also orders the lines
 * within a region by XY-cut. */
#include "tasks/layout/order/rules.h"

#include <math.h>
#include <stdlib.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"

const onet_choice *page_rules(void) {
    static const onet_choice rules[] = {
        {"top-down", "by the upper edge", RULE_TOP_DOWN},
        {"prints", "top-down, but initials before their text, text beside text from left to right",
         RULE_PRINTS},
        {"xy-rows", "recursive XY-cut, horizontal cuts first", RULE_ROWS},
        {"xy-columns", "recursive XY-cut, vertical cuts first", RULE_COLUMNS},
        {"bands", "wide regions divide the page into bands of columns", RULE_BANDS},
        {"xy-separators", "xy-rows without cuts across separators", RULE_SEPARATORS},
        {"gutters", "columns between gutters, in bands that wide regions and separators divide",
         RULE_GUTTERS},
        {0},
    };
    return rules;
}

/* The interval of a box along an axis, and its number. Ties go by the other axis and by the far ends, so that
 * the order of the input matters only for equal boxes. */
typedef struct side {
    double low, high, other, far;
    int32_t index;
} side;

static int by_low(const void *a, const void *b) {
    const side *x = a, *y = b;
    if (x->low != y->low) return x->low < y->low ? -1 : 1;
    if (x->other != y->other) return x->other < y->other ? -1 : 1;
    if (x->high != y->high) return x->high < y->high ? -1 : 1;
    if (x->far != y->far) return x->far < y->far ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* No two sides are equal, so that every method gives the same order. A few, most often nearly sorted, are
 * sorted faster by insertion. */
static void sort_sides(side *sides, int n) {
    enum { FEW = 40 };
    if (n > FEW) {
        qsort(sides, (size_t)n, sizeof *sides, by_low);
        return;
    }
    for (int i = 1; i < n; i++) {
        side one = sides[i];
        int k = i;
        for (; k && by_low(&sides[k - 1], &one) > 0; k--) sides[k] = sides[k - 1];
        sides[k] = one;
    }
}

static const double MOST_TRIM = 0.2;

static void make_sides(side *sides, const page_box *boxes, const int32_t *index, int n, bool rows,
                       double trim) {
    for (int i = 0; i < n; i++) {
        const page_box *whole = &boxes[index[i]];
        double dx = MOST_TRIM * page_box_width(whole), dy = MOST_TRIM * page_box_height(whole);
        dx = trim < dx ? trim : dx;
        dy = trim < dy ? trim : dy;
        const page_box trimmed = {whole->x0 + dx, whole->y0 + dy, whole->x1 - dx, whole->y1 - dy},
                       *b = &trimmed;
        sides[i] = rows ? (side){b->y0, b->y1, b->x0, b->x1, index[i]}
                        : (side){b->x0, b->x1, b->y0, b->y1, index[i]};
    }
    sort_sides(sides, n);
}

static page_box bounds(const page_box *boxes, int n) {
    page_box all = page_box_none;
    for (int i = 0; i < n; i++) {
        page_box_add(&all, boxes[i].x0, boxes[i].y0);
        page_box_add(&all, boxes[i].x1, boxes[i].y1);
    }
    return all;
}

static double positive(double x) {
    return x > 0 ? x : 1;
}

static onet_status top_down(const page_box *boxes, int n, int32_t *order, onet_error *err) {
    side *sides = array_new((size_t)n, sizeof *sides);
    if (!sides) return fail_memory(err, "the boxes of a page");
    for (int i = 0; i < n; i++) order[i] = i;
    make_sides(sides, boxes, order, n, true, 0);
    for (int i = 0; i < n; i++) order[i] = sides[i].index;
    free(sides);
    return ONET_OK;
}

/* What is left to cut: a part of the order, which ends where the next part begins. */
typedef struct cutting {
    const page_box *boxes;
    const xy_cut *cut;
    double unit;
    side *rows, *columns; /* [n + lines] */
    int32_t *order;       /* [n + lines] */
    int *stack;           /* [2 (n + lines)]: parts to be cut, as start and end */
} cutting;

/* Returns the largest gap between the sorted sides, which is before side *at. */
static double widest(const side *sides, int n, int *at) {
    double high = sides[0].high, best = -INFINITY;
    for (int i = 1; i < n; i++) {
        double gap = sides[i].low - high;
        if (gap > best) {
            best = gap;
            *at = i;
        }
        high = fmax(high, sides[i].high);
    }
    return best;
}

onet_status rule_xy_cut(const xy_cut *cut, const page_box *boxes, int n, int lines, int32_t *order,
                        onet_error *err) {
    if (n < 1) return ONET_OK;
    page_box whole = bounds(boxes, n);
    int all = n + lines;
    cutting c = {.boxes = boxes, .cut = cut, .unit = positive(page_box_height(&whole))};
    c.rows = array_new((size_t)all, sizeof *c.rows);
    c.columns = array_new((size_t)all, sizeof *c.columns);
    c.stack = array_new(2 * (size_t)all + 2, sizeof *c.stack);
    c.order = array_new((size_t)all, sizeof *c.order);
    onet_status status =
        c.rows && c.columns && c.stack && c.order ? ONET_OK : fail_memory(err, "the boxes of a page");
    int depth = 0, done = 0;
    for (int i = 0; i < all && !status; i++) c.order[i] = i;
    if (!status) {
        c.stack[depth++] = 0;
        c.stack[depth++] = all;
    }
    /* A part is cut at all gaps in one direction; what it falls into is cut on later. */
    while (depth && !status) {
        int end = c.stack[--depth], start = c.stack[--depth], count = end - start;
        if (count < 2) continue;
        make_sides(c.rows, boxes, c.order + start, count, true, cut->trim * c.unit);
        make_sides(c.columns, boxes, c.order + start, count, false, cut->trim * c.unit);
        int row = 1, column = 1;
        double row_gap = widest(c.rows, count, &row) / c.unit,
               column_gap = widest(c.columns, count, &column) / c.unit;
        bool row_fits = row_gap >= cut->row_gap, column_fits = column_gap >= cut->column_gap;
        bool rows = row_fits && column_fits ? cut->rows_first
                    : row_fits || column_fits
                        ? row_fits
                        : row_gap >= column_gap; /* no gap: where the overlap is least */
        const side *sides = rows ? c.rows : c.columns;
        for (int i = 0; i < count; i++) c.order[start + i] = sides[i].index;
        bool fits = row_fits || column_fits;
        double least = rows ? cut->row_gap : cut->column_gap;
        int widest_at = rows ? row : column;
        double high = sides[0].high;
        int first = start;
        for (int i = 1; i < count; i++) {
            if (fits ? (sides[i].low - high) / c.unit >= least : i == widest_at) {
                c.stack[depth++] = first;
                c.stack[depth++] = first = start + i;
            }
            high = fmax(high, sides[i].high);
        }
        c.stack[depth++] = first;
        c.stack[depth++] = end;
    }
    for (int i = 0; i < all && !status; i++)
        if (c.order[i] < n) order[done++] = c.order[i];
    free(c.order);
    free(c.rows);
    free(c.columns);
    free(c.stack);
    return status;
}

typedef struct column {
    double x0, x1;
} column;

/* Orders the regions sides[count] of a band: each joins the first column that shares half of the narrower
 * one's width with it. */
static void order_band(side *sides, int count, column *columns, int *member, const page_box *boxes,
                       int32_t *order) {
    int used = 0, done = 0;
    sort_sides(sides, count);
    for (int i = 0; i < count; i++) {
        double x0 = sides[i].low, x1 = sides[i].high;
        int k = 0;
        for (; k < used; k++) {
            double shared = fmin(x1, columns[k].x1) - fmax(x0, columns[k].x0);
            if (shared > 0.5 * fmin(x1 - x0, columns[k].x1 - columns[k].x0)) break;
        }
        if (k == used) columns[used++] = (column){x0, x1};
        columns[k].x0 = fmin(columns[k].x0, x0);
        columns[k].x1 = fmax(columns[k].x1, x1);
        member[i] = k;
    }
    /* Columns were opened from left to right, and only the right end of one grows. */
    for (int k = 0; k < used; k++) {
        int first = done;
        for (int i = 0; i < count; i++)
            if (member[i] == k) order[done++] = sides[i].index;
        for (int i = first + 1; i < done; i++) /* by the upper edge; columns are short */
            for (int j = i; j > first && boxes[order[j]].y0 < boxes[order[j - 1]].y0; j--) {
                int32_t swap = order[j];
                order[j] = order[j - 1];
                order[j - 1] = swap;
            }
    }
}

onet_status rule_bands(double wide, const page_box *boxes, int n, int32_t *order, onet_error *err) {
    if (n < 1) return ONET_OK;
    page_box all = bounds(boxes, n);
    int32_t *down = array_new((size_t)n, sizeof *down);
    side *sides = array_new((size_t)n, sizeof *sides);
    column *columns = array_new((size_t)n, sizeof *columns);
    int *member = array_new((size_t)n, sizeof *member);
    onet_status status =
        down && sides && columns && member ? ONET_OK : fail_memory(err, "the boxes of a page");
    if (!status) status = top_down(boxes, n, down, err);
    int count = 0, done = 0;
    for (int i = 0; i < n && !status; i++) {
        const page_box *b = &boxes[down[i]];
        bool divides = page_box_width(b) > wide * page_box_width(&all);
        if (!divides) sides[count++] = (side){b->x0, b->x1, b->y0, b->y1, down[i]};
        if (divides || i == n - 1) {
            order_band(sides, count, columns, member, boxes, order + done);
            done += count;
            count = 0;
        }
        if (divides) order[done++] = down[i];
    }
    free(down);
    free(sides);
    free(columns);
    free(member);
    return status;
}

/* The gaps were chosen on the training pages (experiments/pages). */
onet_status rule_order(page_rule rule, const page_box *boxes, const page_kind *kinds, int n, int lines,
                       int32_t *order, onet_error *err) {
    switch (rule) {
    case RULE_PRINTS:
        return rule_prints(TITLES_HIGHEST_FIRST, boxes, kinds, n, order, err);
    case RULE_ROWS:
        return rule_xy_cut(&(xy_cut){true, -0.003, -0.003, 0}, boxes, n, 0, order, err);
    case RULE_COLUMNS:
        return rule_xy_cut(&(xy_cut){false, 0, 0, 0}, boxes, n, 0, order, err);
    case RULE_BANDS:
        return rule_bands(0.5, boxes, n, order, err);
    case RULE_SEPARATORS:
        return rule_xy_cut(&(xy_cut){true, 0.003, 0, 0.008}, boxes, n, lines, order, err);
    case RULE_GUTTERS:
        return rule_gutters(boxes, kinds, n, lines, order, NULL, NULL, err);
    default:
        return top_down(boxes, n, order, err);
    }
}

/* Columns of lines are separated by at least the height of a line; pieces of one line overlap in height by
 * more than half of it, so rows are cut last. Gaps are in heights of the region. */
onet_status rule_lines(const page_box *boxes, int n, int32_t *order, onet_error *err) {
    double height = 0;
    page_box all = bounds(boxes, n);
    for (int i = 0; i < n; i++) height += page_box_height(&boxes[i]) / n;
    double unit = positive(page_box_height(&all));
    onet_status status =
        rule_xy_cut(&(xy_cut){false, -0.5 * height / unit, 0.25 * height / unit, 0}, boxes, n, 0, order, err);
    /* Words of one short line are not columns: where no two lines of a part stand above each other, x
     * decides, which is what the cut does. */
    return status;
}
