/* Orders a page by the rule "gutters": divides it by its white space and separators. The page is split into
 * rows wherever white space reaches across it; rows that share their gutters (the white space between
 * columns) form a band of columns, and wide regions and separators divide bands. So columns are found anew in
 * each band, and two paragraphs of neighbouring columns that happen to end at the same height divide
 * nothing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "tasks/layout/order/clean.h"
#include "tasks/layout/order/rules.h"

/* Layout analysis draws boxes a little too large: so much of each, as a share of its size and at most in
 * heights of the page, may lie beyond a cut. */
static const double OVERLAP = 0.2, MOST_ACROSS = 0.012, MOST_DOWN = 0.006;

/* A column is at least NARROWEST times as wide as the others (column_width); what is narrower is a margin,
 * with two exceptions. It is a column if its text and a separator beside it each have SEPARATED of the height
 * or more; or if it has at least SIDE of that width and SIDE_HIGH of the height, DENSE of which is text. */
static const double NARROWEST = 0.3, SEPARATED = 0.5, SIDE = 0.2, SIDE_HIGH = 0.25, DENSE = 0.8;

/* A gutter so many times wider than another divides facing pages. */
static const double FACING = 1.4;
/* On a page that is wider than high, facing pages are divided by a gutter over its whole height that is at
 * least so wide, in heights of the page, and about as far from the middle at most, in widths; each page has
 * at least this share of the height. */
static const double FOLD = 0.02, OFF_MIDDLE = 0.1, PAGE_HIGH = 0.3;

/* White across columns divides them if it is more than WHITE times as high as their gutters are wide,
 * WHITE_GAPS times as high as the usual white between paragraphs, and higher than LEAST_WHITE; the bands
 * above and below it must be higher than BAND. Where the usual white is as high as this, no paragraphs show
 * what is usual: white above HIGH_WHITE must then be WHITE_ALONE times as high as the gutters are wide
 * instead. HIGH_WHITE, LEAST_WHITE and BAND are in heights of the page. */
static const double WHITE = 1.8, WHITE_ALONE = 4, HIGH_WHITE = 0.05, WHITE_GAPS = 2.5, LEAST_WHITE = 0.005,
                    BAND = 0.1;

/* White is the usual one if it is higher by no more than this, in heights of the page. */
static const double NEARLY = 0.004;
/* Columns end and begin anew at one height if gaps of their paragraphs would by chance be as close to each
 * other on fewer than CHANCE of all pages; heights are not known better than EXACT, in heights of the page.
 */
static const double CHANCE = 0.003, EXACT = 0.002;

/* What is narrower than this share of a column may stand alone; it is of the column if the white above it is
 * no more than NEXT times that between paragraphs, or NEXT_LINE of its own height. */
static const double LOOSE = 0.6, NEXT = 1.3, NEXT_LINE = 0.5;

/* Headlines beside each other are no higher than HEADING, in heights of the page; if nothing says that they
 * are headlines, no higher than HEADLINE and at least OVER as wide as the columns below them. */
static const double HEADING = 0.15, HEADLINE = 0.06, OVER = 0.7;

/* A row of text that nothing calls a running title is one if it is no higher than TITLE at the top or the
 * foot of a part of at least WHOLE of the page's height, with more white beside it than paragraphs have, over
 * (or under) more columns than it has regions, which all begin (or end) within LEVEL of each other. One at
 * the top also if it begins and ends at the edges of the columns, the last region APART of its column's width
 * or more from that column's left edge; one at the foot of three regions or more with FOOT above it, as
 * columns have no headlines there. What is called a running title is at the head of a page if it ends within
 * HEADS of its top. All in heights of the page, but APART. */
static const double TITLE = 0.025, WHOLE = 0.8, LEVEL = 0.012, FOOT = 0.025, APART = 0.3, HEADS = 0.04;

/* A title is centred if its middle is no further from that of the columns than this, in widths of them. */
static const double CENTRED = 0.02;

/* What fills so much of a gutter is of neither column beside it; a heading is not if it fills HEADING_ACROSS.
 * A gutter goes on where more than LEFT of it is left; what leaves WITHIN of each is within the columns. */
static const double ACROSS = 0.9, HEADING_ACROSS = 0.6, LEFT = 0.1, WITHIN = 0.5;

/* A row is low if it is no higher than LOW, in heights of the page (cells of a table: in its larger side). A
 * table has TABLE_ROWS low rows or more, which fill less than ALL_FILLED of their width. They are lines of
 * text in columns, not a table, if MOST_FULL of the regions or more have FULL of their column's width, and
 * gutters take less than GUTTERS of the width. */
enum { TABLE_ROWS = 3 };
static const double LOW = 0.05, ALL_FILLED = 0.8, FULL = 0.9, MOST_FULL = 0.6, GUTTERS = 0.18;

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

typedef struct cutting {
    const page_box *boxes, *given; /* straightened, and as they are */
    const page_kind *kinds;        /* [n]; NULL: all are text */
    int n, all;                    /* boxes from n on are separators */
    double unit, wide;             /* height and width of what is ordered */
    double usual;                  /* white between paragraphs of a column */
    span *work;                    /* [all] */
    row *rows;                     /* [all] */
    spans a, b, merged;            /* [all] each */
    int32_t *order;                /* [all] */
    int32_t *part;                 /* [all] */
    page_box *some;                /* [all] */
    page_kind *some_are;           /* [all] */
    int *stack;                    /* [2 all + 2]: parts to be cut, as start and end */
    int depth;
    int *uncut; /* [2 all]: parts that no gutter divides, as start and end */
    int uncut_count;
    page_division *divisions; /* [n], with separators among the places; or NULL */
    int division_count;
    int columns; /* the most that a part of the page has beside each other */
    bool facing; /* it has facing pages */
} cutting;

static int by_low(const void *a, const void *b) {
    const span *x = a, *y = b;
    if (x->low != y->low) return x->low < y->low ? -1 : 1;
    if (x->high != y->high) return x->high < y->high ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static span span_of(const cutting *c, int32_t i, bool down) {
    const page_box *b = &c->boxes[i];
    double low = down ? b->y0 : b->x0, high = down ? b->y1 : b->x1,
           less = fmin(OVERLAP * (high - low), (down ? MOST_DOWN : MOST_ACROSS) * c->unit);
    return (span){low + less, high - less, i};
}

static bool is_vertical(const cutting *c, int32_t i) {
    return i >= c->n && c->boxes[i].x0 == c->boxes[i].x1;
}

static page_kind kind_of(const cutting *c, int32_t i) {
    return i >= c->n ? KIND_SEPARATOR : c->kinds ? c->kinds[i] : KIND_TEXT;
}

/* Whether a separator has regions on one side alone: it divides nothing then. */
static bool at_edge(const cutting *c, int start, int end, int32_t line) {
    bool vertical = is_vertical(c, line), before = false, after = false;
    double at = vertical ? c->boxes[line].x0 : c->boxes[line].y0;
    for (int k = start; k < end && !(before && after); k++) {
        if (c->order[k] >= c->n) continue;
        const page_box *b = &c->boxes[c->order[k]];
        double middle = vertical ? (b->x0 + b->x1) / 2 : (b->y0 + b->y1) / 2;
        if (middle < at)
            before = true;
        else
            after = true;
    }
    return !(before && after);
}

/* Moves separators that divide nothing to the end of a part; returns where they begin. */
static int set_aside(cutting *c, int start, int end) {
    for (int k = start; k < end;) {
        int32_t i = c->order[k];
        if (i < c->n || !at_edge(c, start, end, i)) {
            k++;
            continue;
        }
        c->order[k] = c->order[--end];
        c->order[end] = i;
    }
    return end;
}

/* What boxes order[start .. end) cover from left to right. Vertical separators cover nothing. */
static void cover(cutting *c, int start, int end, spans *out) {
    int count = 0;
    for (int k = start; k < end; k++)
        if (!is_vertical(c, c->order[k])) c->work[count++] = span_of(c, c->order[k], false);
    qsort(c->work, (size_t)count, sizeof *c->work, by_low);
    out->count = 0;
    for (int k = 0; k < count; k++)
        if (out->count && c->work[k].low <= out->at[out->count - 1].high)
            out->at[out->count - 1].high = fmax(out->at[out->count - 1].high, c->work[k].high);
        else
            out->at[out->count++] = c->work[k];
}

static void unite(const spans *a, const spans *b, spans *out) {
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

static void swap_spans(spans *a, spans *b) {
    spans other = *a;
    *a = *b;
    *b = other;
}

static double widest_gap(const spans *s) {
    double widest = 0;
    for (int k = 1; k < s->count; k++) widest = fmax(widest, s->at[k].low - s->at[k - 1].high);
    return widest;
}

/* The widest gap of s of which no more than `left` is white in `in`, which covers s and more; of a gap wider
 * than `most`, no more than that share of `most`. */
static double widest_lost(const spans *s, const spans *in, double left, double most) {
    double widest = 0;
    int j = 0;
    for (int k = 1; k < s->count; k++) {
        double low = s->at[k - 1].high, high = s->at[k].low;
        while (j < in->count && in->at[j].high < low) j++;
        bool kept = false;
        for (int i = j; i + 1 < in->count && in->at[i].high < high && !kept; i++)
            kept = in->at[i + 1].low > low &&
                   fmin(in->at[i + 1].low, high) - fmax(in->at[i].high, low) > left * fmin(high - low, most);
        if (!kept) widest = fmax(widest, high - low);
    }
    return widest;
}

/* The widest gutter of s that `other` closes; `both` is what they cover together. What stands within the
 * columns of `other`, such as short headings, has wider gaps than these have gutters. */
static double widest_closed(const spans *s, const spans *other, const spans *both) {
    bool within = widest_lost(other, both, WITHIN, HUGE_VAL) == 0;
    return widest_lost(s, both, LEFT, within ? widest_gap(other) : HUGE_VAL);
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
    cover(c, start, end, &c->a);
    for (int k = 1; k < c->a.count; k++) white += fmax(c->a.at[k].low - c->a.at[k - 1].high - trimmed, 0);
    for (int k = start; k < end; k++) {
        span s = span_of(c, c->order[k], false);
        for (at = 0; c->a.at[at].high < s.high;) at++;
        full += s.high - s.low >= FULL * (c->a.at[at].high - c->a.at[at].low);
    }
    return full >= MOST_FULL * (end - start) &&
           white < GUTTERS * (c->a.at[c->a.count - 1].high - c->a.at[0].low + trimmed);
}

/* Adds what the row covers to c->a if a gutter is left. */
static bool joins(cutting *c, const row *r) {
    cover(c, r->start, r->end, &c->b);
    unite(&c->a, &c->b, &c->merged);
    bool left = c->merged.count > 1;
    if (left) swap_spans(&c->a, &c->merged);
    return left;
}

/* Whether rows first .. last - 1 are a few of those between the same gutters. */
static bool columns_go_on(cutting *c, int first, int last, int rows) {
    int start = first, end = last;
    cover(c, c->rows[first].start, c->rows[last - 1].end, &c->a);
    while (start > 0 && joins(c, &c->rows[start - 1])) start--;
    while (end < rows && joins(c, &c->rows[end])) end++;
    return 2 * (c->rows[last - 1].end - c->rows[first].start) < c->rows[end - 1].end - c->rows[start].start;
}

/* How wide a column is, of those that c->a has. Of up to three, one of which may be a margin at each side, it
 * is the widest; a page that faces one of columns is wider than they are. */
static double column_width(cutting *c) {
    int count = c->a.count;
    for (int k = 0; k < count; k++) c->work[k].low = c->a.at[k].high - c->a.at[k].low;
    qsort(c->work, (size_t)count, sizeof *c->work, by_low);
    return c->work[count > 3 ? count / 2 : count - 1].low;
}

/* Whether rows first .. last - 1 have something narrow beside their text, such as the numbers of a table of
 * contents. */
static bool is_list(cutting *c, int first, int last) {
    cover(c, c->rows[first].start, c->rows[last - 1].end, &c->a);
    double wide = column_width(c);
    bool narrow = false;
    for (int k = 0; k < c->a.count; k++) narrow |= c->a.at[k].high - c->a.at[k].low < NARROWEST * wide;
    return narrow;
}

/* Divides order[start .. end) into rows from top to bottom; returns their number. */
static int find_rows(cutting *c, int start, int end) {
    int count = end - start, rows = 0;
    for (int k = 0; k < count; k++) c->work[k] = span_of(c, c->order[start + k], true);
    qsort(c->work, (size_t)count, sizeof *c->work, by_low);
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
        bool table = last - k >= TABLE_ROWS &&
                     (is_list(c, k, last) || (filled < ALL_FILLED * (last - k) && !is_text(c, k, last)));
        table = table && !columns_go_on(c, k, last, rows);
        for (int i = k; i < last && !table; i++) c->rows[i].cells = false;
    }
    return rows;
}

static bool has_only(const cutting *c, const row *r, page_kind kind) {
    bool all = true;
    for (int k = r->start; k < r->end; k++) all = all && kind_of(c, c->order[k]) == kind;
    return all;
}

/* Whether what covers `some` is one piece that fills a gutter between the columns nearly whole, or most of
 * the gutters at both sides of a column. */
static bool sticks_out(const cutting *c, const row *r, const spans *some, const spans *columns) {
    if (some->count != 1) return false;
    const span *s = &some->at[0];
    double across = has_only(c, r, KIND_HEADING) ? HEADING_ACROSS : ACROSS;
    int most = 0;
    for (int k = 1; k < columns->count; k++) {
        double low = columns->at[k - 1].high, high = columns->at[k].low,
               shared = fmin(s->high, high) - fmax(s->low, low);
        if (shared > across * (high - low) && shared > 2 * MOST_ACROSS * c->unit) return true;
        most += shared > (high - low) / 2;
    }
    return most > 1;
}

/* Whether row a, which covers c->a, is a title alone over the middle of the columns of c->b. */
static bool is_centred(const cutting *c, const row *a, const row *b) {
    if (c->a.count != 1 || c->b.count < 3 || a->y1 - a->y0 > HEADLINE * c->unit || b->y0 < a->y1)
        return false;
    double left = c->b.at[0].low, right = c->b.at[c->b.count - 1].high;
    return fabs(c->a.at[0].low + c->a.at[0].high - left - right) < 2 * CENTRED * (right - left);
}

/* Whether one of the rows a and b, which cover c->a and c->b, reaches over the columns of the other. */
static bool reaches_over(const cutting *c, const row *a, const row *b) {
    return sticks_out(c, a, &c->a, &c->b) || sticks_out(c, b, &c->b, &c->a) || is_centred(c, a, b);
}

/* Whether the row, which covers c->a, is of headlines over columns: each gap of c->a is a gutter of the row
 * below, which covers c->b and has more of them, and c->merged is what both cover. */
static bool heads_columns(const cutting *c, const row *r) {
    if (c->a.count < 2 || c->b.count <= c->a.count || c->merged.count != c->a.count) return false;
    int regions = 0;
    bool headings = true;
    for (int k = r->start; k < r->end; k++) {
        if (c->order[k] >= c->n) return false;
        headings = headings && kind_of(c, c->order[k]) == KIND_HEADING;
        regions++;
    }
    for (int k = 1; k < c->merged.count; k++)
        if (c->merged.at[k].low - c->merged.at[k - 1].high < MOST_ACROSS * c->unit) return false;
    if (regions != c->a.count || r->y1 - r->y0 > (headings ? HEADING : HEADLINE) * c->unit) return false;
    for (int k = 0; k < c->a.count && !headings; k++) {
        double own = c->a.at[k].high - c->a.at[k].low, all = c->merged.at[k].high - c->merged.at[k].low;
        if (own < OVER * all) return false;
    }
    return true;
}

/* Whether row b goes on with the columns of a band, which covers c->a and ends with row a; c->b is what b
 * covers. If so, c->merged is what both cover. */
static bool goes_on(cutting *c, const row *a, const row *b, bool headed) {
    unite(&c->a, &c->b, &c->merged);
    if (a->furniture || b->furniture || a->title || b->title || (a->cells && b->cells)) return false;
    if (c->merged.count < 2 || (c->a.count < 2 && c->b.count < 2)) return false;
    if (reaches_over(c, a, b)) return false;
    if (headed && c->merged.count == c->a.count) return true;
    double lost = fmax(widest_closed(&c->a, &c->b, &c->merged), widest_closed(&c->b, &c->a, &c->merged));
    /* No more white than between paragraphs, and less than a gutter that reaches through both. */
    if (b->y0 - a->y1 <= fmin(c->usual, widest_gap(&c->merged) - 2 * MOST_ACROSS * c->unit)) return true;
    return lost == 0 || widest_gap(&c->merged) > FACING * lost;
}

static void push(cutting *c, int start, int end) {
    c->stack[c->depth++] = start;
    c->stack[c->depth++] = end;
}

static void divide(cutting *c, int start, int middle, int end, page_doubt doubt) {
    if (c->divisions) c->divisions[c->division_count++] = (page_division){start, middle, end, doubt};
}

/* Whether what covers `some` is a single region, or several above each other, that is much narrower than the
 * column that it would belong to; the last line of a paragraph (close to what is above it) begins at the left
 * edge of the column. */
static bool is_loose(const cutting *c, const spans *some, const spans *columns, bool close) {
    if (some->count != 1) return false;
    for (int k = 0; k < columns->count; k++) {
        const span *column = &columns->at[k], *s = &some->at[0];
        if (s->low < column->high && column->low < s->high)
            return !(close && fabs(s->low - column->low) < 2 * MOST_ACROSS * c->unit) &&
                   s->high - s->low < LOOSE * (column->high - column->low);
    }
    return true;
}

static bool has(const cutting *c, const row *r, page_kind kind) {
    bool any = false;
    for (int k = r->start; k < r->end; k++) any = any || kind_of(c, c->order[k]) == kind;
    return any;
}

/* Whether more white than columns have between their paragraphs divides rows first .. k - 1 from those below,
 * and neither are a mere foot or head. c->merged is what rows k - 1 and k cover. */
static bool white_divides(const cutting *c, int first, int k, int rows) {
    const row *a = &c->rows[k - 1], *b = &c->rows[k];
    double white = b->y0 - a->y1, gutter = widest_gap(&c->merged) - 2 * MOST_ACROSS * c->unit;
    /* Where no paragraphs follow each other, the usual white is this very one. */
    bool alone = white > HIGH_WHITE * c->unit && white <= c->usual + NEARLY * c->unit;
    return white > (alone ? WHITE_ALONE : WHITE) * gutter && (alone || white > WHITE_GAPS * c->usual) &&
           white > LEAST_WHITE * c->unit && a->y1 - c->rows[first].y0 > BAND * c->unit &&
           c->rows[rows - 1].y1 - b->y0 > BAND * c->unit && !has_only(c, a, KIND_NOTE) &&
           !has(c, b, KIND_NOTE);
}

/* Whether the columns of c->merged, three or more, all end and begin anew at one height between rows first ..
 * k - 1 and row k, with more white than their gutters have: paragraphs of one text do not by chance. That is
 * likelier the more gaps there are: each of those of one column would have to be near one of each other
 * column. */
static bool ends_divide(const cutting *c, int first, int k, int rows) {
    const row *a = &c->rows[k - 1], *b = &c->rows[k];
    double gutter = widest_gap(&c->merged) - 2 * MOST_ACROSS * c->unit, off = EXACT * c->unit;
    if (c->merged.count < 3 || b->y0 - a->y1 < fmax(gutter, LEAST_WHITE * c->unit) ||
        fmin(a->y1 - a->y0, b->y1 - b->y0) < LOW * c->unit)
        return false;
    double gaps = 1; /* product over the columns */
    for (int i = 0; i < c->merged.count; i++) {
        const span *s = &c->merged.at[i];
        double end = -HUGE_VAL, top = HUGE_VAL;
        int regions = 0;
        for (int j = c->rows[first].start; j < c->rows[rows - 1].end; j++) {
            const page_box *box = &c->boxes[c->order[j]];
            double middle = (box->x0 + box->x1) / 2;
            if (c->order[j] >= c->n || middle < s->low || middle > s->high) continue;
            regions++;
            if (j < b->start)
                end = fmax(end, box->y1);
            else
                top = fmin(top, box->y0);
        }
        off = fmax(off, fmax(a->y1 - end, top - b->y0));
        gaps *= regions - 1;
    }
    double high = c->rows[rows - 1].y1 - c->rows[first].y0;
    return off < high && gaps * pow(2 * off / high, c->merged.count - 1) < CHANCE;
}

/* Rows first .. last - 1 of text that stand in one column of row `last`, as beside an image that is not
 * ordered. */
typedef struct beside {
    int first, last;
} beside;

/* The rows beside which columns begin, of those from `first` up to the next that has columns; first == last
 * if there are none. */
static beside find_beside(cutting *c, int first, int rows) {
    int k = first;
    for (; k < rows && has_only(c, &c->rows[k], KIND_TEXT); k++) {
        cover(c, c->rows[k].start, c->rows[k].end, &c->b);
        if (c->b.count != 1) break;
    }
    beside found = {k, k};
    if (k < first + 2 || k == rows) return found;
    cover(c, c->rows[k].start, c->rows[k].end, &c->b);
    double low = -HUGE_VAL, high = HUGE_VAL; /* where the next columns are */
    for (; found.first > first; found.first--) {
        const row *r = &c->rows[found.first - 1];
        cover(c, r->start, r->end, &c->a);
        const span *s = &c->a.at[0];
        for (int i = 0; i < c->b.count && low == -HUGE_VAL && high == HUGE_VAL; i++)
            if (s->low < c->b.at[i].high && c->b.at[i].low < s->high) {
                if (i) low = c->b.at[i - 1].high;
                if (i + 1 < c->b.count) high = c->b.at[i + 1].low;
            }
        if (s->low <= low || s->high >= high) break;
    }
    if (found.first == k) return found;
    cover(c, c->rows[found.first].start, c->rows[k - 1].end, &c->a);
    if (c->a.count != 1 || !goes_on(c, &c->rows[k - 1], &c->rows[k], false) ||
        c->merged.count != c->b.count || is_loose(c, &c->a, &c->b, false))
        found.first = k;
    return found;
}

/* The row with columns in which those from `first` on stand alone, in different ones: the heads of columns
 * are not at one height. `first` if there is none. */
static int find_staggered(cutting *c, int first, int rows) {
    int k = first, column = 0;
    bool different = false;
    for (; k < rows; k++) {
        const row *r = &c->rows[k];
        cover(c, r->start, r->end, &c->b);
        if (c->b.count > 1 || r->furniture || r->title || has(c, r, KIND_SEPARATOR)) break;
    }
    if (k < first + 2 || k == rows || c->rows[k].furniture || c->rows[k].title || c->rows[k].cells)
        return first;
    for (int i = first; i < k; i++) {
        cover(c, c->rows[i].start, c->rows[i].end, &c->a);
        unite(&c->a, &c->b, &c->merged);
        if (c->merged.count != c->b.count || reaches_over(c, &c->rows[i], &c->rows[k]) ||
            (!has_only(c, &c->rows[i], KIND_HEADING) && is_loose(c, &c->a, &c->b, false)))
            return first;
        int at = 0;
        while (c->b.at[at].high < c->a.at[0].low) at++;
        if (i == first) column = at;
        different = different || at != column;
    }
    return different ? k : first;
}

/* Whether a row is a single region whose middle is in a gutter of c->a, such as a page number below two
 * columns: it is of neither. */
static bool is_between(const cutting *c, const row *r) {
    if (r->end - r->start > 1 || c->order[r->start] >= c->n) return false;
    const page_box *b = &c->boxes[c->order[r->start]];
    double middle = (b->x0 + b->x1) / 2;
    for (int i = 1; i < c->a.count; i++)
        if (middle > c->a.at[i - 1].high && middle < c->a.at[i].low) return true;
    return false;
}

/* Whether row `first` is a heading that reaches over the columns of the rows below it, the first of which may
 * be a short line each. */
static bool is_over_columns(cutting *c, int first, int rows) {
    const row *r = &c->rows[first];
    if (r->end - r->start > 1 || !has_only(c, r, KIND_HEADING)) return false;
    cover(c, c->rows[first + 1].start, c->rows[first + 1].end, &c->a);
    for (int k = first + 2; k < rows && joins(c, &c->rows[k]);) k++;
    swap_spans(&c->a, &c->b);
    cover(c, r->start, r->end, &c->a);
    return c->b.count > 1 && (sticks_out(c, r, &c->a, &c->b) || is_centred(c, r, &c->rows[first + 1]));
}

/* Whether row k, a single region, is the last one of a column of the band above it, which begins with row
 * `first` and covers c->a: it is no wider than the column, and no further below its text than
 * paragraphs usually are, or than a part of its own line. */
static bool ends_column(const cutting *c, int first, int k) {
    const row *r = &c->rows[k];
    if (r->end - r->start > 1 || kind_of(c, c->order[r->start]) != KIND_TEXT) return false;
    const page_box *b = &c->boxes[c->order[r->start]];
    double edge = 2 * MOST_ACROSS * c->unit, bottom = -HUGE_VAL;
    int at = 0;
    while (at < c->a.count && c->a.at[at].high + edge < b->x1) at++;
    if (at == c->a.count || b->x0 < c->a.at[at].low - edge) return false;
    for (int i = c->rows[first].start; i < r->start; i++) {
        const page_box *above = &c->boxes[c->order[i]];
        double middle = (above->x0 + above->x1) / 2;
        if (c->order[i] < c->n && middle > c->a.at[at].low && middle < c->a.at[at].high)
            bottom = fmax(bottom, above->y1);
    }
    return b->y0 - bottom <= fmax(NEXT * c->usual, NEXT_LINE * page_box_height(b));
}

/* Cuts rows into bands; returns whether there are several. A short line below columns, such as a signature,
 * is of their band only if the columns go on below it. */
static bool cut_bands(cutting *c, int rows) {
    int first = 0, last = 0; /* rows first .. last are a band; those up to k are not decided */
    bool headed = false;     /* its first row is of headlines over some columns each */
    bool above = false;      /* it is a heading over all of them */
    beside alone = {0};
    for (int k = 1; k < rows; k++) {
        if (k == first + 1) {
            int staggered = find_staggered(c, first, rows);
            if (staggered > first)
                k = staggered;
            else if (first >= alone.last)
                alone = find_beside(c, first, rows);
            if (staggered == first && first >= alone.first && k < alone.last)
                k = alone.first = alone.last; /* tried once */
            above = k == first + 1 && is_over_columns(c, first, rows);
            cover(c, c->rows[first].start, c->rows[k - 1].end, &c->a);
            cover(c, c->rows[k].start, c->rows[k].end, &c->b);
            unite(&c->a, &c->b, &c->merged);
            headed = k == first + 1 && heads_columns(c, &c->rows[first]);
        } else {
            above = false;
            cover(c, c->rows[k].start, c->rows[k].end, &c->b);
        }
        bool on = !above && goes_on(c, &c->rows[k - 1], &c->rows[k], headed),
             white = white_divides(c, first, k, rows) || ends_divide(c, first, k, rows);
        on = on && !white;
        bool close = has_only(c, &c->rows[k], KIND_TEXT) &&
                     c->rows[k].y0 - c->rows[k - 1].y1 < c->rows[k].y1 - c->rows[k].y0;
        if (on && is_loose(c, &c->b, &c->a, close) && !ends_column(c, first, k)) continue;
        on = on && (!is_loose(c, &c->a, &c->b, false) || c->rows[k].y0 < c->rows[k - 1].y1);
        if (on) {
            swap_spans(&c->a, &c->merged);
            last = k;
            continue;
        }
        push(c, c->rows[first].start, c->rows[last].end);
        /* Rows of a table, or nothing but white or a separator above what reaches over the columns. */
        bool cells = c->rows[k - 1].cells && c->rows[k].cells,
             line = has_only(c, &c->rows[k - 1], KIND_SEPARATOR) || has_only(c, &c->rows[k], KIND_SEPARATOR),
             over = above || c->merged.count < 2 || reaches_over(c, &c->rows[k - 1], &c->rows[k]) ||
                    c->rows[k - 1].title || c->rows[k].title;
        if (last == k - 1 && (cells || white || over))
            divide(c, c->rows[0].start, c->rows[k].start, c->rows[rows - 1].end,
                   cells || line ? DOUBT_NONE : DOUBT_TITLES);
        k = first = ++last;
    }
    if (!first && last == rows - 1) return false;
    push(c, c->rows[first].start, c->rows[last].end);
    for (int k = last + 1; k < rows; k++) {
        push(c, c->rows[k].start, c->rows[k].end);
        if (is_between(c, &c->rows[k]))
            divide(c, c->rows[0].start, c->rows[k].start, c->rows[rows - 1].end, DOUBT_TITLES);
    }
    return true;
}

/* The bounds of the boxes order[start .. end) whose middle is between `low` and `high`. */
static page_box bounds_between(const cutting *c, int start, int end, double low, double high) {
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
            line = line || (page_box_height(b) >= SEPARATED * high && b->x0 > left && b->x0 < right &&
                            (b->x0 < narrow->low || b->x0 > narrow->high));
        else if (middle > narrow->low && middle < narrow->high)
            text += page_box_height(b);
    }
    if (line && text >= SEPARATED * high) return true;
    page_box own = bounds_between(c, start, end, narrow->low, narrow->high);
    return narrow->high - narrow->low >= SIDE * wide && page_box_height(&own) >= SIDE_HIGH * high &&
           text >= DENSE * page_box_height(&own);
}

/* The highest white between rows that reaches across them. */
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

/* Cuts order[start .. end), which has so many rows, at its gutters; returns whether it has some. */
static bool cut_columns(cutting *c, int start, int end, int rows) {
    double gap = highest_gap(c, rows);
    int count = end - start, columns = 0;
    bool headed = false;
    if (rows > 1) {
        cover(c, c->rows[0].start, c->rows[0].end, &c->a);
        cover(c, c->rows[1].start, c->rows[1].end, &c->b);
        unite(&c->a, &c->b, &c->merged);
        headed = heads_columns(c, &c->rows[0]);
    }
    cover(c, start, end, &c->a);
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
        if (i) divide(c, start, first, end, !certain ? DOUBT_COLUMNS : headed ? DOUBT_NONE : DOUBT_TITLES);
        push(c, first, at);
    }
    return true;
}

/* Orders boxes that no gutter divides: running titles and page numbers of a row, text with notes in its
 * margin, regions that overlap. On a page of a book they are read from top to bottom, and which of two titles
 * is first follows the height as well (experiments/pages); on one of columns, what is beside each other is
 * read from left to right. */
static onet_status order_part(cutting *c, int start, int end, onet_error *err) {
    bool newspaper = c->columns > 2 || (c->columns == 2 && c->all > c->n);
    int count = 0, last = end;
    for (int k = start; k < end; k++)
        if (c->order[k] < c->n) {
            c->part[count] = c->order[k];
            c->some[count] = c->given[c->order[k]];
            c->some_are[count++] = kind_of(c, c->order[k]);
        }
    int32_t *found = array_new((size_t)count + 1, sizeof *found);
    if (!found) return fail_memory(err, "the boxes of a page");
    bool titles = true;
    for (int k = 0; k < count && titles; k++) titles = c->some_are[k] == KIND_FURNITURE;
    newspaper = newspaper && !rule_has_initials(c->some, count, 2 * LOW * c->unit);
    if (titles) newspaper = count > 2 || c->columns > 3 || c->facing || (newspaper && c->all > c->n);
    onet_status status = newspaper
                             ? rule_xy_cut(&(xy_cut){true, 0, 0, 0.008}, c->some, count, 0, found, err)
                             : rule_prints(TITLES_HIGHEST_FIRST, c->some, c->some_are, count, found, err);
    for (int k = end - 1; k >= start && !status; k--)
        if (c->order[k] >= c->n) c->order[--last] = c->order[k];
    for (int k = 0; k < count && !status; k++) c->order[start + k] = c->part[found[k]];
    free(found);
    return status;
}

/* Cuts order[start .. end) between facing pages, before their running titles can divide it across; returns
 * whether there are some. */
static bool cut_fold(cutting *c, int start, int end) {
    page_box all = bounds_between(c, start, end, -HUGE_VAL, HUGE_VAL);
    double middle = (all.x0 + all.x1) / 2, at = 0, other = 0, fold = 0;
    if (c->wide < c->unit || page_box_width(&all) < (1 - OFF_MIDDLE) * c->wide) return false;
    cover(c, start, end, &c->a);
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
    divide(c, start, first, end, DOUBT_NONE);
    push(c, start, first);
    push(c, first, end);
    return true;
}

/* Whether row r is a line that begins with something short at the left edge of the columns in row `next` and
 * ends with something short at their right edge, as a running title between page number and date does: a
 * headline is at the left of its column or in the middle. */
static bool is_flanked(cutting *c, const row *r, const row *next) {
    const page_box *left = NULL, *right = NULL;
    double edge = 2 * MOST_ACROSS * c->unit;
    if (r->y1 - r->y0 > TITLE * c->unit || !has_only(c, r, KIND_TEXT)) return false;
    for (int k = r->start; k < r->end; k++) {
        const page_box *b = &c->boxes[c->order[k]];
        if (!left || b->x0 < left->x0) left = b;
        if (!right || b->x1 > right->x1) right = b;
    }
    cover(c, next->start, next->end, &c->b);
    const span *first = &c->b.at[0], *last = &c->b.at[c->b.count - 1];
    return c->b.count > 1 && left != right && fabs(left->x0 - first->low) < edge && left->x1 < first->high &&
           fabs(right->x1 - last->high) < edge && right->x0 - last->low > APART * (last->high - last->low);
}

/* Whether row r, the first of a part or the last, is a running title of the columns in row `next`. */
static bool is_title(cutting *c, const row *r, const row *next, bool first) {
    int regions = r->end - r->start;
    double white = first ? next->y0 - r->y1 : r->y0 - next->y1;
    if (r->y1 - r->y0 > TITLE * c->unit || !has_only(c, r, KIND_TEXT) ||
        white < fmax(WHITE_GAPS * c->usual, LEVEL * c->unit))
        return false;
    cover(c, next->start, next->end, &c->b);
    bool foot = !first && regions > 2 && white >= FOOT * c->unit;
    if (c->b.count <= regions && !foot) return false;
    cover(c, r->start, r->end, &c->a);
    unite(&c->a, &c->b, &c->merged);
    if (first && heads_columns(c, r)) return false; /* headlines of articles beside each other */
    for (int i = 0; i < c->b.count && !foot; i++) {
        double edge = first ? HUGE_VAL : -HUGE_VAL;
        for (int k = next->start; k < next->end; k++) {
            const page_box *b = &c->boxes[c->order[k]];
            double middle = (b->x0 + b->x1) / 2;
            if (c->order[k] >= c->n || middle < c->b.at[i].low || middle > c->b.at[i].high) continue;
            edge = first ? fmin(edge, b->y0) : fmax(edge, b->y1);
        }
        if (fabs(edge - (first ? next->y0 : next->y1)) > LEVEL * c->unit) return false;
    }
    return true;
}

/* Whether separators stand in all gutters of row `next`, and end below row r, which is a line above them: a
 * running title, not headlines of the columns. */
static bool is_above_lines(cutting *c, const row *r, const row *next) {
    if (r->y1 - r->y0 > TITLE * c->unit || !has_only(c, r, KIND_TEXT)) return false;
    cover(c, next->start, next->end, &c->b);
    for (int i = 1; i < c->b.count; i++) {
        bool line = false;
        for (int k = next->start; k < next->end && !line; k++) {
            const page_box *b = &c->boxes[c->order[k]];
            line = is_vertical(c, c->order[k]) && b->x0 > c->b.at[i - 1].high && b->x0 < c->b.at[i].low &&
                   b->y0 >= r->y1 && page_box_height(b) >= SEPARATED * (next->y1 - next->y0);
        }
        if (!line) return false;
    }
    return c->b.count > 1;
}

/* Whether what order[k] names is a running title or page number that ends above `bottom`. */
static bool is_head(const cutting *c, int k, double bottom) {
    return kind_of(c, c->order[k]) == KIND_FURNITURE && c->boxes[c->order[k]].y1 <= bottom;
}

/* Cuts the running titles at the head of a page, order[start .. end), from what stands beside and below them;
 * returns whether there are some that a column beside them begins as high as. A part that is wider than high
 * may be of two pages. */
static bool cut_heads(cutting *c, int start, int end) {
    page_box all = bounds_between(c, start, end, -HUGE_VAL, HUGE_VAL);
    double bottom = all.y0 + HEADS * c->unit, lowest = -HUGE_VAL;
    int heads = 0, count = 0, first = start;
    bool column = false;
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
    divide(c, start, first, end, DOUBT_TITLES);
    push(c, start, first);
    push(c, first, end);
    return true;
}

/* Cuts order[start .. end), or leaves it for order_part. */
static void cut_part(cutting *c, int start, int end) {
    end = set_aside(c, start, end);
    if (end - start < 2) return;
    int rows = find_rows(c, start, end), cells = 0;
    for (int k = 0; k < rows; k++) cells += c->rows[k].cells;
    if (2 * cells <= rows && cut_fold(c, start, end)) return;
    if (rows > 1 && c->rows[rows - 1].y1 - c->rows[0].y0 >= WHOLE * c->unit) {
        if (is_title(c, &c->rows[0], &c->rows[1], true) || is_above_lines(c, &c->rows[0], &c->rows[1]) ||
            is_flanked(c, &c->rows[0], &c->rows[1]))
            c->rows[0].title = true;
        if (is_title(c, &c->rows[rows - 1], &c->rows[rows - 2], false)) c->rows[rows - 1].title = true;
    }
    if (cut_heads(c, start, end)) return;
    bool low = rows == 1 && (c->rows[0].furniture || c->rows[0].bottom - c->rows[0].top < LOW * c->unit);
    if (!low && ((rows > 1 && cut_bands(c, rows)) || cut_columns(c, start, end, rows))) return;
    c->uncut[c->uncut_count++] = start;
    c->uncut[c->uncut_count++] = end;
}

/* The white that is usual between a region and the next one below it. */
static onet_status find_usual(cutting *c, onet_error *err) {
    int count = 0;
    int32_t *below = array_new((size_t)c->n, sizeof *below);
    onet_status status =
        below ? boxes_below(c->boxes, c->n, below, err) : fail_memory(err, "the boxes of a page");
    for (int i = 0; i < c->n && !status; i++)
        if (below[i] >= 0) c->work[count++] = (span){.low = fmax(c->boxes[below[i]].y0 - c->boxes[i].y1, 0)};
    if (!status) qsort(c->work, (size_t)count, sizeof *c->work, by_low);
    c->usual = count ? c->work[(count - 1) / 4].low : 0;
    free(below);
    return status;
}

onet_status rule_gutters(const page_box *boxes, const page_kind *kinds, int n, int lines, int32_t *order,
                         page_division *divisions, int *count, onet_error *err) {
    if (count) *count = 0;
    if (n < 1) return ONET_OK;
    int all = n + lines, done = 0;
    page_box whole = page_box_none;
    for (int i = 0; i < n; i++) {
        page_box_add(&whole, boxes[i].x0, boxes[i].y0);
        page_box_add(&whole, boxes[i].x1, boxes[i].y1);
    }
    double height = page_box_height(&whole);
    cutting c = {.boxes = boxes,
                 .kinds = kinds,
                 .n = n,
                 .all = all,
                 .unit = height > 0 ? height : 1,
                 .wide = page_box_width(&whole)};
    size_t room = (size_t)all;
    page_box *straight = array_new(room, sizeof *straight), *given = array_new(room, sizeof *given);
    c.work = array_new(room, sizeof *c.work);
    c.rows = array_new(room, sizeof *c.rows);
    c.a.at = array_new(room, sizeof *c.a.at);
    c.b.at = array_new(room, sizeof *c.b.at);
    c.merged.at = array_new(room, sizeof *c.merged.at);
    c.order = array_new(room, sizeof *c.order);
    c.part = array_new(room, sizeof *c.part);
    c.some = array_new(room, sizeof *c.some);
    c.some_are = array_new(room, sizeof *c.some_are);
    c.stack = array_new(2 * room + 2, sizeof *c.stack);
    c.uncut = array_new(2 * room, sizeof *c.uncut);
    if (divisions) c.divisions = array_new(room, sizeof *c.divisions);
    onet_status status = c.uncut && (c.divisions || !divisions) && c.work && c.rows && c.a.at && c.b.at &&
                                 straight && given && c.merged.at && c.order && c.part && c.some &&
                                 c.some_are && c.stack
                             ? ONET_OK
                             : fail_memory(err, "the boxes of a page");
    if (!status) status = boxes_clean(boxes, n, lines, straight, given, err);
    c.boxes = straight;
    c.given = given;
    for (int i = 0; i < all && !status; i++) c.order[i] = i;
    if (!status) status = find_usual(&c, err);
    if (!status) push(&c, 0, all);
    while (c.depth && !status) {
        int end = c.stack[--c.depth], start = c.stack[--c.depth];
        cut_part(&c, start, end);
    }
    while (c.uncut_count && !status) {
        int end = c.uncut[--c.uncut_count], start = c.uncut[--c.uncut_count];
        status = order_part(&c, start, end, err);
    }
    for (int i = 0; i < all && !status; i++) {
        if (!divisions) continue;
        c.stack[i] = done; /* the place without separators */
        c.stack[i + 1] = done += c.order[i] < n;
    }
    for (int k = 0; k < c.division_count && !status; k++) {
        const page_division *d = &c.divisions[k];
        page_division plain = {c.stack[d->start], c.stack[d->middle], c.stack[d->end], d->doubt};
        if (plain.start < plain.middle && plain.middle < plain.end) divisions[(*count)++] = plain;
    }
    done = 0;
    for (int i = 0; i < all && !status; i++)
        if (c.order[i] < n) order[done++] = c.order[i];
    free(straight);
    free(given);
    free(c.work);
    free(c.rows);
    free(c.a.at);
    free(c.b.at);
    free(c.merged.at);
    free(c.order);
    free(c.part);
    free(c.some);
    free(c.some_are);
    free(c.stack);
    free(c.uncut);
    free(c.divisions);
    return status;
}
