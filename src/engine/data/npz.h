/* NumPy's .npz: a zip of items.npy [sets, n, width] and, where they are known, order.npy and context.npy
 * [sets, n]; sets of several sizes one behind the other, with sizes.npy [sets]. docs/formats.md has all that
 * is read. */
#ifndef DATA_NPZ_H
#define DATA_NPZ_H

#include "engine/base/file.h"

onet_status npz_read(onet_sets **sets, input *in, onet_error *err);
/* ONET_BAD for words and constraints, which the format cannot hold, nor `made`. */
onet_status npz_write(const onet_sets *sets, const char *path, const char *made, onet_error *err);

#endif
