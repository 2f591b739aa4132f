/* Computes the features of items relative to their set: value minus the set's mean, over its deviation.
 * Training and ordering call the same function, so that both see the same bits. */
#ifndef KERNELS_RELATIVE_H
#define KERNELS_RELATIVE_H

#include <stddef.h>

#include "engine/kernels/real.h"

/* A smaller deviation within a set, of standardised features, is rounding. */
#define RELATIVE_LEAST 1e-6

/* Computes, for features c of c0 .. c1-1, x[i, d + c] = (x[i, c] - mean of column c) / deviation of column c,
 * both over the n items of the set; 0 where the deviation is not above RELATIVE_LEAST. x: [n, 2*d],
 * standardised; its rows are ld apart. */
void relative_features(real *x, size_t ld, int n, int c0, int c1, int d);

#endif
