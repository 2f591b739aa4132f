/* How the norms' statistics go with the size of a set: a straight line in 1/n through those of many batches,
 * each of one size, for every mean and for the logarithm of every variance. Batches weigh as many cells as
 * they have. It is carried on to sizes larger than those that were seen. */
#ifndef TRAIN_SIZES_H
#define TRAIN_SIZES_H

#include "model/model.h"

typedef struct sizes {
    const shape *sh;
    double weight, x, xx; /* sums of the weights w, of w/n, of w/n^2 */
    double *y, *xy;       /* [statistics]: sums of w*y, of w*y/n */
    int smallest, largest;
} sizes;

bool sizes_new(sizes *s, const shape *sh);
void sizes_free(sizes *s);
/* The statistics of a batch of `sets` sets of n items: [sh->total - sh->trained]. */
void sizes_add(sizes *s, int sets, int n, const float *statistics);
/* Gives the model what was found. From sizes that lie too close together, or of which one has nearly all
 * cells, no line is drawn. */
void sizes_fit(const sizes *s, onet_model *model);

#endif
