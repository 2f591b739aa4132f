/* Decides which rows belong to several columns: what reaches across a gutter, a title over the middle of the
 * columns, a heading over the columns below it, headlines side by side, each over columns of its own. */
#include "tasks/layout/order/gutters.h"

/* What fills so much of a gutter is of neither column beside it; a heading is not if it fills HEADING_ACROSS.
 */
static const double ACROSS = 0.9, HEADING_ACROSS = 0.6;

/* A title is centred if its middle is no further from that of the columns than CENTRED, in widths of them, or
 * ABOUT_CENTRED if these begin within LEVEL of each other, in heights of the page. */
static const double CENTRED = 0.02, ABOUT_CENTRED = 0.1, LEVEL = 0.012;

/* Headlines beside each other are no higher than HEADING, in heights of the page; if nothing says that they
 * are headlines, no higher than HEADLINE and at least OVER as wide as the columns below them, or OVER_CENTRED
 * if their middles are no further from those of the columns than NEAR_MIDDLE, in widths of these. */
static const double HEADING = 0.15, HEADLINE = 0.06, OVER = 0.7, OVER_CENTRED = 0.15, NEAR_MIDDLE = 0.05;

/* Whether what covers `some` is one piece that fills a gutter between the columns nearly whole, or most of
 * the gutters at both sides of a column. */
static bool sticks_out(const cutting *c, const row *r, const spans *some, const spans *columns) {
    if (some->count != 1) return false;
    const span *s = &some->at[0];
    double across = row_has_only(c, r, KIND_HEADING) ? HEADING_ACROSS : ACROSS;
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
    if (c->a.count != 1 || c->b.count < 3 || a->y1 - a->y0 > HEADLINE * fmax(c->unit, c->wide) ||
        b->y0 < a->y1 - 2 * MOST_DOWN * c->unit)
        return false;
    double left = c->b.at[0].low, right = c->b.at[c->b.count - 1].high;
    return fabs(c->a.at[0].low + c->a.at[0].high - left - right) < 2 * CENTRED * (right - left);
}

bool row_is_above_level(const cutting *c, const row *a, const row *b) {
    double high = fmax(c->unit, c->wide);
    if (a->end - a->start > 1 || c->a.count != 1 || c->b.count < 2 || a->y1 - a->y0 > HEADLINE * high)
        return false;
    double left = c->b.at[0].low, right = c->b.at[c->b.count - 1].high;
    if (fabs(c->a.at[0].low + c->a.at[0].high - left - right) > 2 * ABOUT_CENTRED * (right - left))
        return false;
    for (int k = 0; k < c->b.count; k++) {
        double top = bounds_between(c, b->start, b->end, c->b.at[k].low, c->b.at[k].high).y0;
        if (top - b->y0 > LEVEL * high || top < a->y1 - 2 * MOST_DOWN * c->unit) return false;
    }
    return true;
}

bool rows_reach_over(const cutting *c, const row *a, const row *b) {
    return sticks_out(c, a, &c->a, &c->b) || sticks_out(c, b, &c->b, &c->a) || is_centred(c, a, b) ||
           row_is_above_level(c, a, b);
}

bool row_heads_columns(const cutting *c, const row *r) {
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
    if (regions != c->a.count || r->y1 - r->y0 > (headings ? HEADING : HEADLINE) * fmax(c->unit, c->wide))
        return false;
    for (int k = 0; k < c->a.count && !headings; k++) {
        double own = c->a.at[k].high - c->a.at[k].low, all = c->merged.at[k].high - c->merged.at[k].low;
        double off = fabs(c->a.at[k].low + c->a.at[k].high - c->merged.at[k].low - c->merged.at[k].high) / 2;
        if (own < OVER * all && (own < OVER_CENTRED * all || off > NEAR_MIDDLE * all)) return false;
    }
    return true;
}

bool row_is_over_columns(cutting *c, int first, int rows) {
    const row *r = &c->rows[first];
    if (r->end - r->start > 1 || !row_has_only(c, r, KIND_HEADING)) return false;
    spans_of(c, c->rows[first + 1].start, c->rows[first + 1].end, &c->a);
    for (int k = first + 2; k < rows && row_joins(c, &c->rows[k]);) k++;
    spans_swap(&c->a, &c->b);
    spans_of(c, r->start, r->end, &c->a);
    return c->b.count > 1 && (sticks_out(c, r, &c->a, &c->b) || is_centred(c, r, &c->rows[first + 1]));
}
