/* Measures the usual white between paragraphs, and decides where white between rows divides columns: it is
 * higher than the usual one, or the columns all end there. */
#include "tasks/layout/order/gutters.h"

#include <stdlib.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "tasks/layout/order/clean.h"

/* White across columns divides them if it is more than WHITE times as high as their gutters are wide,
 * WHITE_GAPS times as high as the usual white between paragraphs and as the median of the other gaps, and
 * higher than LEAST_WHITE; the bands above and below it must be higher than BAND. Where the usual white is as
 * high as this, no paragraphs show what is usual: white above HIGH_WHITE must then be WHITE_ALONE times as
 * high as the gutters are wide instead. HIGH_WHITE, LEAST_WHITE and BAND are in heights of the page. */
static const double WHITE = 1.8, WHITE_ALONE = 4, HIGH_WHITE = 0.05, LEAST_WHITE = 0.005, BAND = 0.1;

/* What is usual elsewhere on the page is known if there are so many gaps between regions. */
enum { LEAST_GAPS = 3 };

/* White is the usual one if it is higher by no more than this, in heights of the page. */
static const double NEARLY = 0.004;

/* Columns end and begin anew at one height if gaps of their paragraphs would by chance be as close to each
 * other on fewer than CHANCE of all pages; heights are not known better than EXACT, in heights of the page.
 */
static const double CHANCE = 0.003, EXACT = 0.002;

onet_status white_find_usual(cutting *c, onet_error *err) {
    int32_t *below = array_new((size_t)c->n, sizeof *below);
    onet_status status =
        below ? boxes_below(c->boxes, c->n, below, err) : fail_memory(err, "the boxes of a page");
    for (int i = 0; i < c->n && !status; i++)
        if (below[i] >= 0) c->gaps[c->gap_count++] = (span){c->boxes[i].y1, c->boxes[below[i]].y0, below[i]};
    for (int k = 0; k < c->gap_count; k++)
        c->work[k] = (span){.low = fmax(c->gaps[k].high - c->gaps[k].low, 0)};
    spans_sort(c->work, c->gap_count);
    c->usual = c->gap_count ? c->work[(c->gap_count - 1) / 4].low : 0;
    free(below);
    return status;
}

/* The median white between a region and the next one below it, but for those with height `at` between them.
 */
static double usual_elsewhere(const cutting *c, double at) {
    int count = 0;
    for (int k = 0; k < c->gap_count; k++)
        if (c->gaps[k].high < at || c->gaps[k].low > at)
            c->work[count++] = (span){.low = fmax(c->gaps[k].high - c->gaps[k].low, 0)};
    spans_sort(c->work, count);
    return count < LEAST_GAPS ? 0 : c->work[count / 2].low;
}

/* Whether rows k .. rows - 1 stand in one of several columns of c->merged: the others end above them. */
static bool is_rest_of_column(const cutting *c, int k, int rows) {
    page_box all = bounds_between(c, c->rows[k].start, c->rows[rows - 1].end, -HUGE_VAL, HUGE_VAL);
    double trimmed = MOST_ACROSS * c->unit;
    for (int i = 0; i < c->merged.count && c->merged.count > 1; i++)
        if (all.x0 >= c->merged.at[i].low - trimmed && all.x1 <= c->merged.at[i].high + trimmed) return true;
    return false;
}

/* Whether more white than columns have between their paragraphs divides rows first .. k - 1 from those below,
 * and neither are a mere foot or head. c->merged is what rows k - 1 and k cover. */
static bool is_too_high(const cutting *c, int first, int k, int rows) {
    const row *a = &c->rows[k - 1], *b = &c->rows[k];
    double white = b->y0 - a->y1, gutter = spans_widest_gap(&c->merged) - 2 * MOST_ACROSS * c->unit;
    /* Where no paragraphs follow each other, the usual white is this very one. */
    bool alone = white > HIGH_WHITE * c->unit && white <= c->usual + NEARLY * c->unit;
    return white > (alone ? WHITE_ALONE : WHITE) * gutter && (alone || white > WHITE_GAPS * c->usual) &&
           white > LEAST_WHITE * c->unit && a->y1 - c->rows[first].y0 > BAND * c->unit &&
           c->rows[rows - 1].y1 - b->y0 > BAND * c->unit && !row_has_only(c, a, KIND_NOTE) &&
           !row_has(c, b, KIND_NOTE) && !is_rest_of_column(c, k, rows) &&
           (alone || white > WHITE_GAPS * usual_elsewhere(c, (a->y1 + b->y0) / 2));
}

/* Whether the columns of c->merged, three or more, all end and begin anew at one height between rows first ..
 * k - 1 and row k, with more white than their gutters have: paragraphs of one text do not by chance. That is
 * likelier the more gaps there are: each of those of one column would have to be near one of each other
 * column. */
static bool ends_divide(const cutting *c, int first, int k, int rows) {
    const row *a = &c->rows[k - 1], *b = &c->rows[k];
    double gutter = spans_widest_gap(&c->merged) - 2 * MOST_ACROSS * c->unit, off = EXACT * c->unit;
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

bool white_divides(const cutting *c, int first, int k, int rows) {
    return is_too_high(c, first, k, rows) || ends_divide(c, first, k, rows);
}
