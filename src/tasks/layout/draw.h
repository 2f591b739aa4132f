/* Draws a page's regions as boxes with the order as numbers and arrows: the given order beside the predicted
 * one. */
#ifndef LAYOUT_DRAW_H
#define LAYOUT_DRAW_H

#include "tasks/layout/order/page.h"

/* Writes path (.svg or .png), or PATH.svg and PATH.png. image: a PNG scan to draw over, or NULL. */
onet_status pages_draw(const page *p, const char *image, const char *path, onet_error *err);

#endif
