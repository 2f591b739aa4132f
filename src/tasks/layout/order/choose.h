/* Predicts the order of a page with the network, and how certain it is: of the rules' orders, chooses the one
 * that the network finds most probable. Also what a model knows of its title, such as the usual rule. */
#ifndef LAYOUT_ORDER_CHOOSE_H
#define LAYOUT_ORDER_CHOOSE_H

#include "tasks/layout/order/page.h"

/* A page of at most PAGE_SMALL regions is ordered by the usual way alone, since the network is right less
 * often on such pages; with a network that was fine-tuned on corrected pages of the title, a page of at most
 * PAGE_SMALL_TUNED (experiments/pages). Training makes more variants of a page of over PAGE_VARIED regions,
 * and the network scores the orders of such a page on several variants. */
enum { PAGE_SMALL = 16, PAGE_SMALL_TUNED = 12, PAGE_VARIED = 12 };

/* An order that a page may have. */
typedef struct page_alternative {
    int32_t *order; /* [n], in numbers of the page's placed regions */
    double logprob;
    bool crosses; /* it crosses a division of the page */
} page_alternative;

/* What is known of the pages' title beside the network. */
typedef struct pages_style {
    bool tuned;   /* the model learned from corrected pages, after others */
    bool crosses; /* some of them are read across what divides a page */
    int usual;    /* the way that is usually right (ways.h) */
    /* Called for each page, or NULL: its different orders, and which is that of the usual way. */
    void (*judged)(void *context, const page_alternative *orders, size_t count, size_t n, size_t usual);
    void *context;
} pages_style;

/* The key of a model's record for the name of the way that its pages are usually read; missing: the rule of
 * gutters. */
#define PAGES_USUAL_KEY "pages.usual"
/* The key that a model fine-tuned on pages that are read across what divides them has; its value is "yes". */
#define PAGES_CROSSES_KEY "pages.crosses"
/* Reads what a model knows of its title. ONET_BAD if its usual way is of a later version. */
onet_status pages_style_of(pages_style *style, const onet_model *model, onet_error *err);

/* Finds an order for each page that has placed regions; confidence [count]: how probable it is that the order
 * is right to the last region, 0 if the network did not judge it; may be NULL. orderer NULL: by the usual
 * way. */
onet_status pages_choose(onet_orderer *orderer, const pages_style *style, page **pages, size_t count,
                         double *confidence, onet_error *err);

#endif
