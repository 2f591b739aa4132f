/* Data augmentation for `pages train`: makes random variants of a page, and copies without separators and
 * images. */
#ifndef LAYOUT_AUGMENT_H
#define LAYOUT_AUGMENT_H

#include "engine/base/rng.h"
#include "tasks/layout/order/page.h"

/* Makes a variant of p, whose given order follows from that of p: by chance paragraphs are joined or divided,
 * the page is cropped, regions and separators are left out, the scan is askew and has other proportions,
 * boxes are a little off, kinds are unknown. The caller frees it. */
onet_status page_variant(page *variant, const page *p, rng *r, onet_error *err);
/* Copies the placed regions with their given order, without separators and images. The caller frees it. */
onet_status page_without_context(page *copy, const page *p, onet_error *err);

#endif
