/* Defines the state of a training run between two steps, as a checkpoint stores it: parameters, Adam's
 * moments, EMA (exponential moving average of the parameters), losses and counters. */
#ifndef TRAIN_STATE_H
#define TRAIN_STATE_H

#include "engine/base/world.h"
#include "engine/model/model.h"

typedef struct train_state {
    uint64_t step;                            /* steps done */
    double loss;                              /* EMA of the loss, not yet divided by loss_weight */
    double loss_weight;                       /* sum of the weights in that EMA */
    double valid_exact, valid_loglik;         /* the last validation; NaN before the first */
    double best_loglik;                       /* the best validation so far */
    uint64_t best_epoch;                      /* of it, from 1; 0 before the first */
    uint64_t log_bytes;                       /* length of the log */
    double seconds;                           /* spent training, in all runs together */
    size_t params, vectors;                   /* numbers in each block below */
    float *theta, *m, *v, *average;           /* [params]; average may be NULL */
    float *vec, *vec_m, *vec_v, *vec_average; /* [vectors]; NULL when vectors are not trained */
} train_state;

onet_status state_new(train_state *s, size_t params, size_t vectors, int average, onet_error *err);
void state_free(train_state *s);
/* Rank 0's numbers to all ranks. */
void state_share_numbers(train_state *s, const world *w);
/* Rank 0's state to all ranks; each has made its own with the same sizes. */
void state_share(train_state *s, const world *w);

/* `identity` (train/identity.h): a checkpoint of another run is refused. */
onet_status checkpoint_write(const train_state *s, const char *identity, const char *path, onet_error *err);
/* *found = 0, and the state untouched, when there is no such file. *steps: those of the run that wrote it. */
onet_status checkpoint_read(train_state *s, const char *identity, const char *path, uint64_t *steps,
                            int *found, onet_error *err);

#endif
