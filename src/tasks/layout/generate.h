/* Generates random synthetic page layouts with an undisputed reading order, for training beside real pages
 * and for tests; lists their families (columns, headlines, tables and others). */
#ifndef LAYOUT_GENERATE_H
#define LAYOUT_GENERATE_H

#include "engine/base/rng.h"
#include "tasks/layout/order/page.h"

typedef enum page_family {
    FAMILY_COLUMNS,       /* 2 to 5 columns of a few paragraphs */
    FAMILY_OVERLAPPING,   /* such columns, with boxes that overlap a little */
    FAMILY_SEPARATED,     /* such columns, with separators and uneven heights */
    FAMILY_HEADLINE,      /* a headline over columns */
    FAMILY_BANDS,         /* bands of columns, divided by rules across the page */
    FAMILY_FACING,        /* two facing pages, with running titles and page numbers */
    FAMILY_HEADINGS,      /* headings of three levels: of the page, of bands, in columns */
    FAMILY_INSETS,        /* narrow boxes between the paragraphs of columns */
    FAMILY_CAPTIONS,      /* figures with captions in columns */
    FAMILY_FOOTNOTES,     /* footnotes across the columns */
    FAMILY_ADS,           /* a row of advertisements below a rule */
    FAMILY_MARGINS,       /* one column with notes in the margin */
    FAMILY_TABLE,         /* the rows of a table */
    FAMILY_PAPER,         /* a paper of two columns: title, authors, abstract, figures, footnotes */
    FAMILY_ARTICLES,      /* articles beside each other, each headline over columns of its own */
    FAMILY_LINES,         /* columns of single lines, as text recognition gives them */
    FAMILY_LISTS,         /* columns of the items of lists */
    FAMILY_SIDE,          /* a main column and a narrow one beside it */
    FAMILY_WHITE,         /* bands of columns, divided by white */
    FAMILY_RIGHT_TO_LEFT, /* any of the others, mirrored: read from right to left */
    PAGE_FAMILIES
} page_family;
const onet_choice *page_families(void);

/* Makes a page of the family, in pixels, with its order as the given one. Skew, noise and missing types are
 * random too. The caller frees it. */
onet_status page_generate(page *p, page_family family, rng *r, onet_error *err);

#endif
