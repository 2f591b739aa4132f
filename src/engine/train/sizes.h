/* Gathers the batch norms' statistics, measured on many batches with the final weights: sizes with enough
 * sets keep their own, other sizes get a line in 1/n fitted through all; where batches mix sizes, one
 * average. */
#ifndef TRAIN_SIZES_H
#define TRAIN_SIZES_H

#include "engine/kernels/backend.h"
#include "engine/model/model.h"

/* Of batches of one size each: a row of statistics for every size with SIZE_SETS sets or more; and, for other
 * sizes, how they change with the size of a set, as a straight line in 1/n for every mean and for the
 * logarithm of every variance, extrapolated to sizes larger than those that were seen. Of batches of mixed
 * sizes: mean and variance over the cells of all batches together. Batches weigh as many cells as they have.
 *
 * The variance of a size is the mean of its batches' variances. The mean of their logarithms would be far
 * smaller for a channel that few sets activate, and in a set that does activate it, it would then outweigh
 * all other channels. */

enum { SIZE_SETS = 2048 };

typedef struct sizes {
    const net_shape *sh;
    double weight, x, xx; /* sums of the weights w, of w/n, of w/n^2, without the current size */
    double *y, *xy;       /* [statistics]: sums of w*y, of w*y/n, y a mean or the logarithm of a variance */
    int n;                /* the current size: of the last batch */
    double n_weight;      /* sum of the weights of that size's batches */
    double *n_sum;        /* [statistics]: sums of w*mean, of w*variance over its batches */
    double all_weight;    /* n_weight and n_sum, summed over all batches of every size */
    double *all_sum;
    double *square; /* [statistics]: sums of w*mean^2 over all batches, at the place of the mean */
    int smallest, largest;
    float *row_size, *row; /* as in model.h, of the sizes with enough sets */
    size_t rows, size_room, row_room;
    bool mixed; /* a batch had sets of different sizes: there is no line */
} sizes;

bool sizes_new(sizes *s, const net_shape *sh);
void sizes_free(sizes *s);
/* Adds the statistics of a batch: [sh->total - sh->trained]. Batches of one size must come one after the
 * other, smaller sizes first. False when memory is short. */
bool sizes_add(sizes *s, batch_size batch, const float *statistics);
/* Writes the statistics to the model. If sizes are too close together, or one has nearly all cells, no line
 * is fitted. False when memory is short. */
bool sizes_fit(sizes *s, onet_model *model);

#endif
