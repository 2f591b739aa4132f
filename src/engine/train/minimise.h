/* Minimises a smooth convex function of many variables with L-BFGS; used by the linear ranker (ranker.c). */
#ifndef TRAIN_MINIMISE_H
#define TRAIN_MINIMISE_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the function's value at x [n], and writes its gradient [n]. */
typedef double smooth(void *context, const double *x, double *gradient);

/* Moves x [n] to the minimum, in at most `most` iterations; ends when an iteration lowers the value by less
 * than the share `least`. False when memory is short. */
bool minimise(double *x, size_t n, smooth *f, void *context, int most, double least);

#endif
