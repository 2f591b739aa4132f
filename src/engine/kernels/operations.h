/* Counts the floating-point operations that training and ordering need (docs/speed.md has the formulas), to
 * express speed in GFLOP/s. A multiply-add counts 2. */
#ifndef KERNELS_OPERATIONS_H
#define KERNELS_OPERATIONS_H

#include "engine/model/net_shape.h"

/* Returns the operations of a training step on one set of n items, forward and backward. */
double operations_train(const net_shape *sh, int n);
/* Returns the operations of ordering one set of n items by a beam search. */
double operations_order(const net_shape *sh, int n, int beams);

#endif
