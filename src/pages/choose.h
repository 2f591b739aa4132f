/* The order of a page by the network: of the rules' orders, the one that it holds for the most probable. */
#ifndef PAGES_CHOOSE_H
#define PAGES_CHOOSE_H

#include "pages/page.h"

/* What is known of the pages' title beside the network. */
typedef struct pages_style {
    bool tuned; /* the network was fine-tuned on pages of it */
    int usual;  /* the way that is usually right (ways.h) */
} pages_style;

/* Finds an order for each page that has placed regions; logprob [count], of the found order, may be NULL. */
onet_status pages_choose(onet_orderer *orderer, const pages_style *style, page **pages, size_t count,
                         double *logprob, onet_error *err);

#endif
