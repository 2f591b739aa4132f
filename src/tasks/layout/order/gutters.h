/* Declares what the files of the rule "gutters" (rules.h) share: a page while it is cut, what its boxes
 * cover, and its rows. gutters.c takes one part of the page after another: the first of gutters_fold.c,
 * gutters_titles.c, gutters_bands.c and gutters_columns.c that can cuts it; what none cuts is put in order as
 * it is. */
#ifndef LAYOUT_ORDER_GUTTERS_H
#define LAYOUT_ORDER_GUTTERS_H

#include "tasks/layout/order/rules.h"

/* From `low` to `high`, across the page or down: a box, or several that touch. */
typedef struct span {
    double low, high;
    int32_t index;
} span;

/* Spans that do not touch, from left to right. */
typedef struct spans {
    span *at;
    int count;
} spans;

/* Boxes order[start .. end), with nothing but white above and below them. */
typedef struct row {
    int start, end;
    double top, bottom; /* without what may lie beyond a cut */
    double y0, y1;
    bool furniture; /* running titles, page numbers, ... alone */
    bool title;     /* of the page or all columns, though nothing calls it so */
    bool cells;     /* it may be one of a table */
    double filled;  /* share of its width */
} row;

/* A page while it is cut. A part of it is order[start .. end). a, b and merged are what was looked at last:
 * mostly the rows or columns above, the row below, and what both cover. */
typedef struct cutting {
    const page_box *boxes, *given; /* straightened, and as they are */
    const page_kind *kinds;        /* [n]; NULL: all are text */
    int n, all;                    /* boxes from n on are separators */
    double unit, wide;             /* height and width of what is ordered */
    double usual;                  /* white between paragraphs of a column */
    span *gaps;                    /* [gap_count]: from each region down to the next one below it */
    int gap_count;
    span *work;          /* [all] */
    row *rows;           /* [all], of the part that is cut */
    spans a, b, merged;  /* [all] each */
    int32_t *order;      /* [all] */
    int32_t *part;       /* [all] */
    page_box *some;      /* [all] */
    page_kind *some_are; /* [all] */
    int *stack;          /* [2 all + 2]: parts to be cut, as start and end */
    int depth;
    int *uncut; /* [2 all]: parts that no gutter divides, as start and end */
    int uncut_count;
    page_division *divisions; /* [n], with separators among the places; or NULL */
    int division_count;
    int columns; /* the most that a part of the page has beside each other */
    bool facing; /* it has facing pages */
} cutting;

/* Layout analysis draws boxes a little too large: so much of each, as a share of its size and at most in
 * heights of the page, may lie beyond a cut. */
static const double OVERLAP = 0.2, MOST_ACROSS = 0.012, MOST_DOWN = 0.006;

/* A row is low if it is no higher than this, in heights of the page (cells of a table: in its larger side).
 */
static const double LOW = 0.05;

/* A gutter so many times wider than another divides facing pages. */
static const double FACING = 1.4;

/* White is more than paragraphs have between them if it is so many times as high as the usual one. */
static const double WHITE_GAPS = 2.5;

static inline bool is_vertical(const cutting *c, int32_t i) {
    return i >= c->n && c->boxes[i].x0 == c->boxes[i].x1;
}
static inline page_kind kind_of(const cutting *c, int32_t i) {
    return i >= c->n ? KIND_SEPARATOR : c->kinds ? c->kinds[i] : KIND_TEXT;
}

/* Leaves a part to be cut later. */
static inline void part_push(cutting *c, int start, int end) {
    c->stack[c->depth++] = start;
    c->stack[c->depth++] = end;
}
/* Notes that order[start .. middle) is read before order[middle .. end). */
static inline void part_divide(cutting *c, int start, int middle, int end, page_doubt doubt) {
    if (c->divisions) c->divisions[c->division_count++] = (page_division){start, middle, end, doubt};
}

/* ---- What boxes cover (gutters_spans.c) --------------------------------------------------------------- */

/* Returns what box i covers from left to right, or from top to bottom, without what may lie beyond a cut. */
static inline span span_of(const cutting *c, int32_t i, bool down) {
    const page_box *b = &c->boxes[i];
    double low = down ? b->y0 : b->x0, high = down ? b->y1 : b->x1,
           less = fmin(OVERLAP * (high - low), (down ? MOST_DOWN : MOST_ACROSS) * c->unit);
    return (span){low + less, high - less, i};
}
/* Sorts by `low`, then by `high`. */
void spans_sort(span *at, int count);
/* Writes what boxes order[start .. end) cover from left to right; vertical separators cover nothing. */
void spans_of(cutting *c, int start, int end, spans *out);
/* Writes what a and b cover together to out, which must be neither of them. */
void spans_unite(const spans *a, const spans *b, spans *out);
static inline double spans_widest_gap(const spans *s) {
    double widest = 0;
    for (int k = 1; k < s->count; k++) widest = fmax(widest, s->at[k].low - s->at[k - 1].high);
    return widest;
}
static inline void spans_swap(spans *a, spans *b) {
    spans other = *a;
    *a = *b;
    *b = other;
}
/* Returns the bounds of the boxes order[start .. end) whose middle is between `low` and `high`. */
page_box bounds_between(const cutting *c, int start, int end, double low, double high);

/* ---- Rows (gutters_rows.c) ---------------------------------------------------------------------------- */

/* Divides order[start .. end) into c->rows from top to bottom; returns their number. */
int rows_find(cutting *c, int start, int end);
bool row_has(const cutting *c, const row *r, page_kind kind);
bool row_has_only(const cutting *c, const row *r, page_kind kind);
/* Adds what the row covers to c->a if a gutter is left; returns whether one is. */
bool row_joins(cutting *c, const row *r);

/* ---- What reaches across columns (gutters_across.c) --------------------------------------------------- */

/* Whether one of the rows a and b, which cover c->a and c->b, reaches over the columns of the other. */
bool rows_reach_over(const cutting *c, const row *a, const row *b);
/* Whether the row, which covers c->a, is of headlines over columns: each gap of c->a is a gutter of the row
 * below, which covers c->b and has more of them, and c->merged is what both cover. */
bool row_heads_columns(const cutting *c, const row *r);
/* Whether row a, which covers c->a, is a line near the middle of the columns of row b, which cover c->b and
 * all begin at one height: if it were of one of them, the others would begin beside it. */
bool row_is_above_level(const cutting *c, const row *a, const row *b);
/* Whether row `first` is a heading that reaches over the columns of the rows below it, the first of which may
 * be a short line each. */
bool row_is_over_columns(cutting *c, int first, int rows);

/* ---- White between rows (gutters_white.c) ------------------------------------------------------------- */

/* Finds c->gaps, and c->usual, the lower quartile of their heights: the white between paragraphs. */
onet_status white_find_usual(cutting *c, onet_error *err);
/* Whether the white between rows k - 1 and k divides the columns of rows first .. k - 1 from those below.
 * c->merged is what rows k - 1 and k cover. */
bool white_divides(const cutting *c, int first, int k, int rows);

/* ---- Cuts --------------------------------------------------------------------------------------------- */

/* Each divides a part and leaves its parts to be cut, or returns false. c->rows are those of the part. */

/* gutters_fold.c: facing pages. Comes first, before their running titles can divide the part across. */
bool cut_fold(cutting *c, int start, int end);

/* gutters_titles.c: the running titles at the head of a page, if a column beside them begins as high as they
 * do, from what stands beside and below them. */
bool cut_heads(cutting *c, int start, int end);
/* Marks the first row and the last of a part as high as the page if they are running titles. */
void mark_titles(cutting *c, int rows);

/* gutters_bands.c: rows into bands. */
bool cut_bands(cutting *c, int rows);

/* gutters_columns.c: a part at its gutters. */
bool cut_columns(cutting *c, int start, int end, int rows);
/* Whether order[start .. end) has something narrow beside its text, such as the numbers of a table of
 * contents. */
bool has_margin(cutting *c, int start, int end);
/* Whether separator i stands between `left` and `right`, and is high enough to divide columns of height
 * `high`. */
bool separator_between(const cutting *c, int32_t i, double left, double right, double high);

#endif
