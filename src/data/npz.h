/* NumPy's .npz: a zip of items.npy, float32 or float64 [sets, n, width], and, where it is known, order.npy,
 * int32 or int64 [sets, n], and, where items are seen but not placed, context.npy, bool or uint8 [sets, n].
 * All sets have one size. */
#ifndef DATA_NPZ_H
#define DATA_NPZ_H

#include "base/file.h"

onet_status npz_read(onet_sets **sets, input *in, onet_error *err);
/* ONET_BAD for sets of different sizes, words and constraints, which the format cannot hold. */
onet_status npz_write(const onet_sets *sets, const char *path, const char *made, onet_error *err);

#endif
