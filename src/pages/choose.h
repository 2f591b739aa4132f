/* The order of a page by the network: of the rules' orders, the one that it holds for the most probable. */
#ifndef PAGES_CHOOSE_H
#define PAGES_CHOOSE_H

#include "pages/page.h"

/* Finds an order for each page that has placed regions; logprob [count], of the found order, may be NULL. */
onet_status pages_choose(onet_orderer *orderer, page **pages, size_t count, double *logprob, onet_error *err);

#endif
