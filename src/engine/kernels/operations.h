/* How many operations the work needs after splitting (docs/speed.md has the formula): the yardstick of speed.
 * A multiply-add counts 2. */
#ifndef KERNELS_OPERATIONS_H
#define KERNELS_OPERATIONS_H

#include "engine/model/shape.h"

/* One set of n items through a training step, forward and backward. */
double operations_train(const shape *sh, int n);
/* One set put in order by a beam search. */
double operations_order(const shape *sh, int n, int beams);

#endif
