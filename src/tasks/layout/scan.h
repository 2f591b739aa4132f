/* Scans of pages, to draw over. */
#ifndef SHOW_SCAN_H
#define SHOW_SCAN_H

#include <cairo/cairo.h>

#include "ordernet.h"

/* Reads a PNG or JPEG file, by its first bytes; a large JPEG at a fraction of its size. Free it with
 * cairo_surface_destroy. */
onet_status scan_read(cairo_surface_t **scan, const char *path, onet_error *err);

#endif
