/* Data augmentation for `pages train`: makes random variants of a page, and copies without separators and
 * images. */
#ifndef LAYOUT_AUGMENT_H
#define LAYOUT_AUGMENT_H

#include "engine/base/rng.h"
#include "tasks/layout/order/page.h"

/* A page like p, with the given order that follows from p's: paragraphs joined or divided, a part of the
 * page, regions left out, some separators left out, the scan askew, other proportions, boxes a little
 * off, kinds not known. Free it. */
onet_status page_variant(page *variant, const page *p, rng *r, onet_error *err);
/* A copy of the placed regions with their given order, as of a file without separators and images. Free it.
 */
onet_status page_without_context(page *copy, const page *p, onet_error *err);

#endif
