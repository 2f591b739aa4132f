/* The Pointer Network's text format: x1 y1 x2 y2 ... output 1 3 2 ... 1, one set a line. Indices count from
 * 1; the one that closes a tour may be left out, and so may `output` and all after it. */
#ifndef DATA_POINTER_H
#define DATA_POINTER_H

#include "engine/base/file.h"
#include "engine/data/record.h"

/* Parses the record's text as items of `width` features. */
onet_status pointer_parse(record *r, int width, const char *name, onet_error *err);
/* The items (as they stood, where they came from this format) and the order, which may be NULL. */
onet_status pointer_write(output *out, const record *r, const int32_t *order, onet_error *err);

#endif
