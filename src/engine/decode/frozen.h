/* Prepares a model to put sets in order: folds the batch norms' statistics into the weights, once for each
 * set size. The result is read-only, so that any number of threads may share it. */
#ifndef DECODE_FROZEN_H
#define DECODE_FROZEN_H

#include "engine/kernels/weights.h"
#include "engine/model/model.h"

/* The weights for sets of one size. */
typedef struct frozen {
    const onet_model *model;
    const kernels *k;
    int n;                      /* items; 0: any number, when the statistics do not depend on it */
    weights w;                  /* w and start_q are the freezer's */
    const real *start_q;        /* [Q]: the part of the start vector as y' */
    norm enc_norm[MAX_BLOCKS];  /* second norm of each encoder block, [O] */
    real *enc_w[MAX_BLOCKS];    /* [H, O] */
    real *enc_b[MAX_BLOCKS];    /* [O] */
    norm dec_norm[MAX_BLOCKS];  /* [C] */
    real *dec_w[MAX_BLOCKS];    /* [E + m, 3, C, C] */
    real *dec_bias[MAX_BLOCKS]; /* [3, C]: at step 0, 1, and from 2 on */
    real *head_v;               /* [N, C] */
} frozen;

enum { FROZEN_SIZES = 64 }; /* how many sizes a freezer holds */

/* What all sizes share, and the sizes that are ready. */
typedef struct freezer {
    const onet_model *model;
    const kernels *k;
    weights w;
    real *start_q;
    frozen *size[FROZEN_SIZES];
    int count;
} freezer;

bool freezer_new(freezer *z, const onet_model *model, const kernels *k);
void freezer_free(freezer *z);
/* Returns the frozen model for sets of n items; NULL: it is not made yet. */
const frozen *freezer_find(const freezer *z, int n);
/* Returns the frozen model for sets of n items, and makes it if it is missing; a full freezer is cleared
 * first. NULL: out of memory. */
const frozen *freezer_prepare(freezer *z, int n);

#endif
