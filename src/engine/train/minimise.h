/* The minimum of a smooth convex function of many numbers, by L-BFGS. */
#ifndef TRAIN_MINIMISE_H
#define TRAIN_MINIMISE_H

#include <stdbool.h>
#include <stddef.h>

/* The function's value at x [n], and its gradient [n]. */
typedef double smooth(void *context, const double *x, double *gradient);

/* Moves x [n] to the minimum, in `most` iterations at most: until one lowers the value by no more than
 * `least` of it. False when memory is short. */
bool minimise(double *x, size_t n, smooth *f, void *context, int most, double least);

#endif
