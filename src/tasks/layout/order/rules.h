/* Declares the rules that order a page, or the lines of a region, without a network, and the divisions of a
 * page that the rule "gutters" finds. The rules are the baselines of the network, and the ranks that they
 * give are features of it. */
#ifndef LAYOUT_ORDER_RULES_H
#define LAYOUT_ORDER_RULES_H

#include "tasks/layout/order/page.h"

typedef enum page_rule {
    RULE_TOP_DOWN,   /* by the upper edge */
    RULE_PRINTS,     /* top-down, but initials before their text, text beside text from left to right */
    RULE_ROWS,       /* recursive XY-cut that prefers horizontal cuts */
    RULE_COLUMNS,    /* recursive XY-cut that prefers vertical cuts */
    RULE_BANDS,      /* wide regions divide the page; between them, columns from left to right */
    RULE_SEPARATORS, /* as RULE_ROWS, but no cut crosses a separator */
    RULE_GUTTERS,    /* columns between gutters, in bands that wide regions and separators divide */
    PAGE_RULES
} page_rule;
const onet_choice *page_rules(void);

/* Writes the order of boxes [n + lines] to order [n]. The last `lines` of them are separators: they have no
 * place in the order, but some rules do not cut through them. kinds [n]; NULL: all are text. Shifting and
 * scaling all boxes does not change the order. */
onet_status rule_order(page_rule rule, const page_box *boxes, const page_kind *kinds, int n, int lines,
                       int32_t *order, onet_error *err);

/* Recursive XY-cut. A cut needs a gap of at least this, in heights of the page; below 0 boxes may overlap by
 * so much. Before, boxes lose `trim` at each side, at most a fifth of their size: layout analysis draws them
 * a little too large. */
typedef struct xy_cut {
    bool rows_first;
    double row_gap, column_gap, trim;
} xy_cut;
onet_status rule_xy_cut(const xy_cut *cut, const page_box *boxes, int n, int lines, int32_t *order,
                        onet_error *err);
/* RULE_BANDS: regions wider than the share `wide` of the page divide it into bands. */
onet_status rule_bands(double wide, const page_box *boxes, int n, int32_t *order, onet_error *err);

/* RULE_PRINTS, with running titles and page numbers of one row in an order of page_titles.
 * TITLES_CATCHWORD_FIRST: at the foot of the page from right to left, so that the catch-word comes before the
 * signature mark; at its head the highest first. */
typedef enum page_titles {
    TITLES_HIGHEST_FIRST,
    TITLES_WIDEST_FIRST,
    TITLES_LEFT_FIRST,
    TITLES_CATCHWORD_FIRST
} page_titles;
onet_status rule_prints(page_titles titles, const page_box *boxes, const page_kind *kinds, int n,
                        int32_t *order, onet_error *err);

/* Whether one of the boxes, no higher than `highest`, is that of an initial in another one. */
bool rule_has_initials(const page_box *boxes, int n, double highest);

/* What may be read across a division: nothing (facing pages, separators across the page); headings, notes and
 * running titles, where white space or separators divide a part of the page in one direction alone, so that
 * the order of the text is unambiguous; the columns beside a gutter, where white that is wider crosses them.
 */
typedef enum page_doubt { DOUBT_NONE, DOUBT_TITLES, DOUBT_COLUMNS } page_doubt;
/* Regions at places start .. middle - 1 are read before those at middle .. end - 1. */
typedef struct page_division {
    int start, middle, end;
    page_doubt doubt;
} page_division;
/* RULE_GUTTERS. The divisions of the order that it finds go to divisions [n + lines], which may be NULL, and
 * their number to *count. */
onet_status rule_gutters(const page_box *boxes, const page_kind *kinds, int n, int lines, int32_t *order,
                         page_division *divisions, int *count, onet_error *err);

/* Orders the lines of a region: columns from left to right, each from top to bottom. */
onet_status rule_lines(const page_box *boxes, int n, int32_t *order, onet_error *err);

#endif
