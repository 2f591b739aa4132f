/* The norms' statistics, measured on many batches with the final weights.
 *
 * Of batches of one size each: how they go with the size of a set, as a straight line in 1/n for every mean
 * and for the logarithm of every variance, carried on to sizes larger than those that were seen. Of batches
 * of mixed sizes: mean and variance over the cells of all batches together. Batches weigh as many cells as
 * they have. */
#ifndef TRAIN_SIZES_H
#define TRAIN_SIZES_H

#include "kernels/net.h"
#include "model/model.h"

typedef struct sizes {
    const shape *sh;
    double weight, x, xx; /* sums of the weights w, of w/n, of w/n^2 */
    double *y, *xy;       /* [statistics]: sums of w*y, of w*y/n */
    double *square;       /* [statistics]: sums of w*mean^2, at the place of the mean */
    int smallest, largest;
    bool mixed; /* a batch had sets of different sizes: there is no line */
} sizes;

bool sizes_new(sizes *s, const shape *sh);
void sizes_free(sizes *s);
/* The statistics of a batch: [sh->total - sh->trained]. */
void sizes_add(sizes *s, batch_size batch, const float *statistics);
/* Gives the model what was found. From sizes that lie too close together, or of which one has nearly all
 * cells, no line is drawn. */
void sizes_fit(const sizes *s, onet_model *model);

#endif
