/* Moves a network that was fine-tuned on a few pages of a title half-way back to the one that it began with.
 */
#ifndef LAYOUT_ORDER_BACK_H
#define LAYOUT_ORDER_BACK_H

#include "ordernet.h"

/* The key of the model's record for the share of the way back. */
#define PAGES_BACK_KEY "pages.back"
/* from: the model that all networks of `model` began with; it has as many as were merged. */
onet_status pages_go_back(onet_model *model, const onet_model *from, int networks, onet_error *err);

#endif
