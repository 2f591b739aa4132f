/* Plain text: one bag of words a line, apart by spaces. A line that stands in a file of examples is in its
 * right order. */
#ifndef DATA_TEXT_H
#define DATA_TEXT_H

#include "engine/base/file.h"
#include "engine/data/record.h"

onet_status text_parse(record *r, const char *name, onet_error *err);
/* The words in this order. */
onet_status text_write(output *out, const record *r, const int32_t *order, onet_error *err);

#endif
