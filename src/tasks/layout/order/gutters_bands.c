/* Cuts the rows of a part into bands: rows that follow each other and share their gutters (the white between
 * columns). Decides which band a heading, a title or a short line is of, and finds columns that begin at
 * different heights. */
#include "tasks/layout/order/gutters.h"

/* A gutter goes on where more than LEFT of it is left; what leaves WITHIN of each is within the columns. */
static const double LEFT = 0.1, WITHIN = 0.5;

/* What is narrower than this share of a column may stand alone; it is of the column if the white above it is
 * no more than NEXT times that between paragraphs, or NEXT_LINE of its own height. */
static const double LOOSE = 0.6, NEXT = 1.3, NEXT_LINE = 0.5;

/* A column begins beside something if it begins at least LOWER below the column beside it, as a share of the
 * page's height. */
static const double LOWER = 0.025;

/* A page number is below the middle of columns if its own middle is less than MIDDLE away from theirs, as a
 * share of their width. */
static const double MIDDLE = 0.05;

/* Returns the widest gap of s of which no more than `left` is white in `in`, which covers s and more; of a
 * gap wider than `most`, no more than that share of `most`. */
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

/* Returns the widest gutter of s that `other` closes; `both` is what they cover together. What stands within
 * the columns of `other`, such as short headings, has wider gaps than these have gutters. */
static double widest_closed(const spans *s, const spans *other, const spans *both) {
    bool within = widest_lost(other, both, WITHIN, HUGE_VAL) == 0;
    return widest_lost(s, both, LEFT, within ? spans_widest_gap(other) : HUGE_VAL);
}

/* Whether row r, which covers `own`, is one low piece with its middle in a gutter of `columns`, such as a
 * line of authors above two headings: it is of no column. */
static bool stands_between(const cutting *c, const row *r, const spans *own, const spans *columns) {
    if (own->count > 1 || r->y1 - r->y0 > LOW * c->unit) return false;
    double middle = (own->at[0].low + own->at[0].high) / 2;
    for (int k = 1; k < columns->count; k++)
        if (middle > columns->at[k - 1].high && middle < columns->at[k].low) return true;
    return false;
}

/* Whether row b goes on with the columns of a band, which covers c->a and ends with row a; c->b is what b
 * covers. If so, c->merged is what both cover. */
static bool goes_on(cutting *c, const row *a, const row *b, bool headed) {
    spans_unite(&c->a, &c->b, &c->merged);
    if (a->furniture || b->furniture || a->title || b->title || (a->cells && b->cells)) return false;
    if (c->merged.count < 2 || (c->a.count < 2 && c->b.count < 2)) return false;
    if (rows_reach_over(c, a, b) || stands_between(c, a, &c->a, &c->b) || stands_between(c, b, &c->b, &c->a))
        return false;
    if (headed && c->merged.count == c->a.count) return true;
    double lost = fmax(widest_closed(&c->a, &c->b, &c->merged), widest_closed(&c->b, &c->a, &c->merged));
    /* No more white than between paragraphs, and less than a gutter that reaches through both. */
    if (b->y0 - a->y1 <= fmin(c->usual, spans_widest_gap(&c->merged) - 2 * MOST_ACROSS * c->unit))
        return true;
    return lost == 0 || spans_widest_gap(&c->merged) > FACING * lost;
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

/* Whether row k - 1, a single region, is the heading of one column of row k, which covers c->b: the column
 * begins right below it, and the others, beside an image that is not ordered, so much further down that it
 * cannot be over them too. */
static bool begins_column(const cutting *c, int k) {
    const row *r = &c->rows[k - 1], *below = &c->rows[k];
    if (r->end - r->start > 1 || c->order[r->start] >= c->n || r->furniture || r->y1 - r->y0 > LOW * c->unit)
        return false;
    const page_box *b = &c->boxes[c->order[r->start]];
    for (int i = 0; i < c->b.count; i++) {
        double low = i ? c->b.at[i - 1].high : -HUGE_VAL,
               high = i + 1 < c->b.count ? c->b.at[i + 1].low : HUGE_VAL,
               top = bounds_between(c, below->start, below->end, c->b.at[i].low, c->b.at[i].high).y0;
        bool own = b->x0 > low && b->x1 < high && (b->x0 + b->x1) / 2 > c->b.at[i].low &&
                   (b->x0 + b->x1) / 2 < c->b.at[i].high;
        if (own ? top > below->y0 : top < below->y0 + LOWER * c->unit) return false;
    }
    return c->b.count > 1;
}

/* Rows first .. last - 1 of text that stand in one column of row `last`, as beside an image that is not
 * ordered. */
typedef struct beside {
    int first, last;
} beside;

/* Finds the rows beside which columns begin, of those from `first` up to the next that has columns; first ==
 * last if there are none. */
static beside find_beside(cutting *c, int first, int rows) {
    int k = first;
    for (;
         k < rows && (row_has_only(c, &c->rows[k], KIND_TEXT) || row_has_only(c, &c->rows[k], KIND_HEADING));
         k++) {
        spans_of(c, c->rows[k].start, c->rows[k].end, &c->b);
        if (c->b.count != 1) break;
    }
    beside found = {k, k};
    if (k < first + 2 || k == rows) return found;
    spans_of(c, c->rows[k].start, c->rows[k].end, &c->b);
    double low = -HUGE_VAL, high = HUGE_VAL; /* where the next columns are */
    for (; found.first > first; found.first--) {
        const row *r = &c->rows[found.first - 1];
        spans_of(c, r->start, r->end, &c->a);
        const span *s = &c->a.at[0];
        for (int i = 0; i < c->b.count && low == -HUGE_VAL && high == HUGE_VAL; i++)
            if (s->low < c->b.at[i].high && c->b.at[i].low < s->high) {
                if (i) low = c->b.at[i - 1].high;
                if (i + 1 < c->b.count) high = c->b.at[i + 1].low;
            }
        if (s->low <= low || s->high >= high) break;
    }
    if (found.first == k) return found;
    spans_of(c, c->rows[found.first].start, c->rows[k - 1].end, &c->a);
    if (c->a.count != 1 || !goes_on(c, &c->rows[k - 1], &c->rows[k], false) ||
        c->merged.count != c->b.count || (is_loose(c, &c->a, &c->b, false) && !begins_column(c, k)))
        found.first = k;
    return found;
}

/* Returns the row with columns in which the rows from `first` on stand alone, in different ones: the heads of
 * columns are not at one height. `first` if there is none. */
static int find_staggered(cutting *c, int first, int rows) {
    int k = first, column = 0;
    bool different = false;
    for (; k < rows; k++) {
        const row *r = &c->rows[k];
        spans_of(c, r->start, r->end, &c->b);
        if (c->b.count > 1 || r->furniture || r->title || row_has(c, r, KIND_SEPARATOR)) break;
    }
    if (k < first + 2 || k == rows || c->rows[k].furniture || c->rows[k].title || c->rows[k].cells)
        return first;
    for (int i = first; i < k; i++) {
        spans_of(c, c->rows[i].start, c->rows[i].end, &c->a);
        spans_unite(&c->a, &c->b, &c->merged);
        if (c->merged.count != c->b.count || rows_reach_over(c, &c->rows[i], &c->rows[k]) ||
            (!row_has_only(c, &c->rows[i], KIND_HEADING) && is_loose(c, &c->a, &c->b, false)))
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

/* Whether a row is a running title or page number below the middle of the columns that c->a covers. */
static bool is_foot(const cutting *c, const row *r) {
    if (r->end - r->start > 1 || !r->furniture || c->a.count < 2) return false;
    const page_box *b = &c->boxes[c->order[r->start]];
    double left = c->a.at[0].low, right = c->a.at[c->a.count - 1].high;
    return fabs(b->x0 + b->x1 - left - right) < 2 * MIDDLE * (right - left);
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

/* Whether row k is a line over the columns of the row below it, to which it is nearer than to the row above,
 * and not one of text that begins at the left edge of a column. The band above begins with row `first`; c->a,
 * which covers it, is found anew. */
static bool heads_next(cutting *c, int first, int k, int rows) {
    const row *r = &c->rows[k];
    if (k + 1 == rows || r->end - r->start > 1 || c->order[r->start] >= c->n ||
        r->y1 - r->y0 > LOW * fmax(c->unit, c->wide) ||
        c->rows[k + 1].y0 - r->y1 > r->y0 - c->rows[k - 1].y1 || r->y0 - c->rows[k - 1].y1 < c->usual)
        return false;
    spans_of(c, r->start, r->end, &c->a);
    spans_of(c, c->rows[k + 1].start, c->rows[k + 1].end, &c->b);
    bool heads = row_is_above_level(c, r, &c->rows[k + 1]);
    for (int i = 0; i < c->b.count && row_has_only(c, r, KIND_TEXT); i++)
        heads = heads && fabs(c->a.at[0].low - c->b.at[i].low) > 2 * MOST_ACROSS * c->unit;
    spans_of(c, c->rows[first].start, c->rows[k - 1].end, &c->a);
    spans_of(c, r->start, r->end, &c->b);
    return heads;
}

bool cut_bands(cutting *c, int rows) {
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
            above = k == first + 1 && row_is_over_columns(c, first, rows);
            spans_of(c, c->rows[first].start, c->rows[k - 1].end, &c->a);
            spans_of(c, c->rows[k].start, c->rows[k].end, &c->b);
            spans_unite(&c->a, &c->b, &c->merged);
            headed = k == first + 1 && row_heads_columns(c, &c->rows[first]);
        } else {
            above = false;
            spans_of(c, c->rows[k].start, c->rows[k].end, &c->b);
        }
        bool on = !above && goes_on(c, &c->rows[k - 1], &c->rows[k], headed),
             white = white_divides(c, first, k, rows);
        on = on && !white && !heads_next(c, first, k, rows);
        bool close = row_has_only(c, &c->rows[k], KIND_TEXT) &&
                     c->rows[k].y0 - c->rows[k - 1].y1 < c->rows[k].y1 - c->rows[k].y0;
        /* A short line below columns, such as a signature, is of their band only if they go on below it. */
        if (on && is_loose(c, &c->b, &c->a, close) && !ends_column(c, first, k)) continue;
        on = on && (!is_loose(c, &c->a, &c->b, false) || c->rows[k].y0 < c->rows[k - 1].y1 ||
                    ((k == first + 1 || k == alone.last) && begins_column(c, k)));
        if (on) {
            spans_swap(&c->a, &c->merged);
            last = k;
            continue;
        }
        /* A heading is of what follows it. */
        while (last > first && row_has_only(c, &c->rows[last], KIND_HEADING)) last--;
        part_push(c, c->rows[first].start, c->rows[last].end);
        /* Rows of a table, or nothing but white or a separator above what reaches over the columns. */
        bool cells = c->rows[k - 1].cells && c->rows[k].cells,
             line = row_has_only(c, &c->rows[k - 1], KIND_SEPARATOR) ||
                    row_has_only(c, &c->rows[k], KIND_SEPARATOR),
             over = above || c->merged.count < 2 || rows_reach_over(c, &c->rows[k - 1], &c->rows[k]) ||
                    c->rows[k - 1].title || c->rows[k].title,
             level = k == first + 1 && row_is_above_level(c, &c->rows[first], &c->rows[k]),
             foot = k == rows - 1 && is_foot(c, &c->rows[k]);
        if (last == k - 1 && (cells || white || over || foot))
            part_divide(c, c->rows[0].start, c->rows[k].start, c->rows[rows - 1].end,
                        cells || line || level || foot ? DOUBT_NONE : DOUBT_TITLES);
        k = first = ++last;
    }
    if (!first && last == rows - 1) return false;
    part_push(c, c->rows[first].start, c->rows[last].end);
    for (int k = last + 1; k < rows; k++) {
        part_push(c, c->rows[k].start, c->rows[k].end);
        if (is_between(c, &c->rows[k]))
            part_divide(c, c->rows[0].start, c->rows[k].start, c->rows[rows - 1].end, DOUBT_TITLES);
    }
    return true;
}
