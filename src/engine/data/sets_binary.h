/* The project's own binary form of sets: a safetensors file with sizes (I32 [sets]), items (F32 [items,
 * width]) or word (I32 [items]) with words.text and words.vectors, and order (I32 [items]) where it is known.
 * Mixed sizes, no parsing of numbers. */
#ifndef DATA_SETS_BINARY_H
#define DATA_SETS_BINARY_H

#include "engine/base/file.h"

onet_status sets_binary_read(onet_sets **sets, input *in, onet_error *err);
/* made: how, for the metadata; NULL: nothing is said. */
onet_status sets_binary_write(const onet_sets *sets, const char *path, const char *made, onet_error *err);

#endif
