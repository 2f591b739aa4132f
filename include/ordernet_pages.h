/* The public C API for reading order: orders the regions of a page from their boxes and kinds, and gives the
 * probability that the order is right.
 *
 *   onet_pages   orders pages with a model, or by gutters alone (the white space between columns)
 *
 *   onet_pages_new(&pages, model, NULL, &err);
 *   onet_pages_order(pages, boxes, NULL, n, 0, order, &count, &err);     boxes [n, 4] in, order [count] out
 */
#ifndef ORDERNET_PAGES_H
#define ORDERNET_PAGES_H

#include "ordernet.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a region is. */
typedef enum onet_region {
    ONET_REGION_TEXT = 0,
    ONET_REGION_HEADING,
    ONET_REGION_FURNITURE, /* header, footer, page number, signature mark, catch-word */
    ONET_REGION_NOTE,      /* marginal note, footnote, caption */
    ONET_REGION_OTHER,     /* not text: table, image, ... */
    ONET_REGION_SEPARATOR  /* a rule between columns or articles: it takes no place in the order */
} onet_region;

/* The kind of a region by a type as PAGE XML, docling, PyMuPDF and others name it ("page-number",
 * "section_header", "caption"), in any case; ONET_REGION_TEXT for types that it does not know. */
ONET_API onet_region onet_region_of(const char *type);

/* Finds orders, with a model or by the rule of gutters; one thread at a time may use it. */
typedef struct onet_pages onet_pages;

/* model NULL: the rule of gutters alone. It must outlive the onet_pages; ONET_BAD if it was not trained on
 * pages. options NULL: the defaults. */
ONET_API onet_status onet_pages_new(onet_pages **pages, const onet_model *model,
                                    const onet_order_options *options, onet_error *err);
ONET_API void onet_pages_free(onet_pages *pages);

enum { ONET_PAGES_MAX_REGIONS = 20000 };

/* The reading order of a page: boxes [n, 4] are x0, y0, x1, y1 with y downwards, in any unit; regions [n]
 * are of onet_region; NULL: all are text. rtl 1: columns are read from right to left. Writes the indices of
 * all but the separators to order [n], and their number to *count. ONET_BAD for boxes that are not finite or
 * have x1 < x0 or y1 < y0, and for more than ONET_PAGES_MAX_REGIONS. */
ONET_API onet_status onet_pages_order(onet_pages *pages, const double *boxes, const int32_t *regions, int n,
                                      int rtl, int32_t *order, int *count, onet_error *err);
/* onet_pages_order, and *confidence: the probability that the order is right to the last region; 0: no
 * network judged it (without a model, and on pages of over 1500 regions). Slower on small pages, whose order
 * needs no network. */
ONET_API onet_status onet_pages_order_confidence(onet_pages *pages, const double *boxes,
                                                 const int32_t *regions, int n, int rtl, int32_t *order,
                                                 int *count, double *confidence, onet_error *err);

#ifdef __cplusplus
}
#endif

#endif
