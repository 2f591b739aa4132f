/* Defines a page independently of its file format: regions with a box and a type, the order that the file
 * gives, and the predicted order; and how its tables are replaced by one region each while it is ordered. A
 * format (format.h) reads a file into this form and writes the file back with nothing but the order changed.
 */
#ifndef LAYOUT_ORDER_PAGE_H
#define LAYOUT_ORDER_PAGE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ordernet_pages.h"

/* What a region is, as far as the network is told. */
typedef enum page_kind {
    KIND_TEXT,
    KIND_HEADING,
    KIND_FURNITURE, /* header, footer, page number, signature mark, catch-word */
    KIND_NOTE,      /* marginal note, footnote, caption */
    KIND_OTHER,     /* not text: table, image, ... */
    KIND_SEPARATOR  /* a rule between columns or articles; never placed */
} page_kind;

/* Returns the kind of a text region by its type in PAGE XML ("page-number"); KIND_TEXT for unknown types. */
page_kind page_kind_of(const char *type);

typedef struct page_box {
    double x0, y0, x1, y1;
} page_box;

static inline double page_box_width(const page_box *b) {
    return b->x1 - b->x0;
}
static inline double page_box_height(const page_box *b) {
    return b->y1 - b->y0;
}
static inline double page_box_area(const page_box *b) {
    return page_box_width(b) * page_box_height(b);
}
/* An empty box, for page_box_add to grow. */
extern const page_box page_box_none;
static inline void page_box_add(page_box *box, double x, double y) {
    box->x0 = x < box->x0 ? x : box->x0;
    box->y0 = y < box->y0 ? y : box->y0;
    box->x1 = x > box->x1 ? x : box->x1;
    box->y1 = y > box->y1 ? y : box->y1;
}
/* Whether two boxes share more than an edge. */
static inline bool page_boxes_meet(const page_box *a, const page_box *b) {
    return a->x0 < b->x1 && b->x0 < a->x1 && a->y0 < b->y1 && b->y0 < a->y1;
}
/* Whether a box lies in a larger one with this share of its area. */
#define PAGE_INSIDE 0.7
static inline bool page_box_lies_in(const page_box *a, const page_box *b) {
    if (!page_boxes_meet(a, b)) return false;
    double width = fmin(a->x1, b->x1) - fmax(a->x0, b->x0), height = fmin(a->y1, b->y1) - fmax(a->y0, b->y0);
    return page_box_area(b) > page_box_area(a) && width * height >= PAGE_INSIDE * page_box_area(a);
}
/* Whether x0 <= x1 and y0 <= y1, and all are between -1e9 and 1e9. */
bool page_box_valid(const page_box *box);

typedef struct page_line {
    page_box box;
    int given;      /* its place in the file's order */
    int found;      /* its place in the order that was found */
    size_t element; /* for the format */
    const char *id; /* where an order may name lines: in the file's document; otherwise NULL */
} page_line;

typedef struct page_region {
    char *id;   /* "" where the file gives none */
    char *type; /* "paragraph", "heading", "table", "image", ... */
    page_kind kind;
    page_box box;
    bool listed;            /* the file's order names it */
    bool nested;            /* it is part of another region: placed only where it is listed */
    bool placed;            /* it takes a place in the order; otherwise it is context */
    int given;              /* its place in the file's order; -1: none */
    int found;              /* its place in the order that was found; -1: none */
    int custom;             /* the number that Transkribus keeps in `custom`; -1: none */
    int table;              /* 1 + the number of the table that it is a cell of; 0: none */
    long line;              /* where it stands in the file, from 1 */
    size_t element, parent; /* for the format: its number, and that of the element that it stands in */
    page_line *lines;
    int line_count;
    bool lines_moved; /* the found order of its lines is another than the given one */
} page_region;

typedef struct page {
    char *id, *document, *source; /* its name; the book or issue and the collection that it belongs to */
    char *image;                  /* name of the scan; NULL: not known */
    double width, height;         /* of the page; 0: not known */
    page_region *regions;
    int count, placed;
    bool ordered;   /* the file gives an order to its placed regions */
    size_t room;    /* of regions */
    size_t element; /* for the format */
} page;

/* Adds a region with copies of id and type; NULL if memory runs out. */
page_region *page_add(page *p, const char *id, const char *type, page_kind kind);
/* Adds a line to a region; NULL if memory runs out. */
page_line *page_add_line(page_region *r);
/* Writes the placed regions by their given or found place to order [placed]. */
void page_order_of(const page *p, bool found, int32_t *order);
/* Returns the next type of a list "text,table, heading", with its length, and advances *list; NULL at the
 * end. */
const char *page_next_type(const char **list, size_t *length);
/* Whether the region is of that type, or that is "text" and the region is text of any type. */
bool page_region_is(const page_region *r, const char *type, size_t length);
/* Decides by `types` (NULL: as the file does) which regions are placed, and numbers the given places anew
 * from 0. */
onet_status page_place(page *p, const char *types, onet_error *err);
/* Takes order [placed] of the placed regions as the found one. */
void page_found(page *p, const int32_t *order);
/* Finds the order of the lines in each region where the given one jumps back. */
onet_status page_order_lines(page *p, bool rtl, onet_error *err);
/* Mirrors all boxes at a vertical axis: a page that is read from right to left becomes one that is read from
 * left to right. */
void page_mirror(page *p);
void page_free(page *p);

/* ---- Tables (tables.c) ------------------------------------------------------------------------------- */

/* What is kept of a page while each table is one region. Zeroed: the page has no tables. */
typedef struct page_tables {
    page_region *kept; /* [count of the page] */
    int placed;
} page_tables;

/* Leaves one region in the place of each table with two placed cells or more: the table itself, or where that
 * takes no place its first cell, with the box of all. */
onet_status page_tables_fold(page_tables *t, page *p, onet_error *err);
/* Undoes page_tables_fold. found: the folded page has a found order, which the cells are added to. */
onet_status page_tables_unfold(page_tables *t, page *p, bool found, onet_error *err);

#endif
