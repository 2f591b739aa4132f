/* Counts the floating-point operations that training and ordering need (docs/speed.md has the formulas), to
 * express speed in GFLOP/s. A multiply-add counts 2. */
#ifndef KERNELS_OPERATIONS_H
#define KERNELS_OPERATIONS_H

#include "engine/model/net_shape.h"

/* One set of n items through a training step, forward and backward. */
double operations_train(const net_shape *sh, int n);
/* One set put in order by a beam search. */
double operations_order(const net_shape *sh, int n, int beams);

#endif
