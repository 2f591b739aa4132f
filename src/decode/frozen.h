/* A model made ready for ordering: the running statistics folded into the weights once. Read only, so that
 * any number of threads may share it. */
#ifndef DECODE_FROZEN_H
#define DECODE_FROZEN_H

#include "kernels/weights.h"
#include "model/model.h"

typedef struct frozen {
    const onet_model *model;
    const kernels *k;
    weights w;
    norm enc_norm[MAX_BLOCKS];  /* second norm of each encoder block, [O] */
    real *enc_w[MAX_BLOCKS];    /* [H, O] */
    real *enc_b[MAX_BLOCKS];    /* [O] */
    norm dec_norm[MAX_BLOCKS];  /* [C] */
    real *dec_w[MAX_BLOCKS];    /* [m, 3, C, C] */
    real *dec_bias[MAX_BLOCKS]; /* [3, C]: at step 0, 1, and from 2 on */
    real *head_v;               /* [N, C] */
    real *start_q;              /* [Q]: what the start vector gives as y' */
} frozen;

bool frozen_new(frozen *f, const onet_model *model, const kernels *k);
void frozen_free(frozen *f);

#endif
