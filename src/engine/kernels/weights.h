/* Prepares the parameters for the CPU kernels, anew at each step: transposed, split into the parts that
 * multiply x_i, x_j, x', y', earlier v and p, padded to LANES, packed into panels. Also holds a batch norm
 * as a factor and an offset per channel, computes it from stored statistics, and folds norms into weights. */
#ifndef KERNELS_WEIGHTS_H
#define KERNELS_WEIGHTS_H

#include <stdbool.h>

#include "engine/base/memory.h"
#include "engine/kernels/kernels.h"
#include "engine/model/net_shape.h"

/* Allocates `count` numbers; returns false when memory is short. */
static inline bool real_new(real **p, size_t count) {
    return (*p = array_new(count, sizeof **p)) != NULL;
}

typedef struct encoder_weights {
    real *first;   /* packed [d_k, 2H]: columns 0..H-1 see x_i, H..2H-1 x_j */
    real *first_t; /* packed [2H, d_k padded]: the same, transposed, for the backward pass */
    real *related; /* [2R, H]: the weights of e_ij and e_ji; NULL without relations */
    real *bias1;   /* [2H]: the second half is zero */
    real *second;  /* [H, O] */
    real *bias2;   /* [O] */
    real *sign;    /* [O]: +1, or -1 where the second norm's scale is negative */
} encoder_weights;

typedef struct decoder_weights {
    real *v;    /* [planes, 3 lags, C in, C out]: the relations' plane, if any, and m earlier blocks */
    real *v_t;  /* [planes, 3, C out, C in] */
    real *p;    /* [3 lags, m*C in, C out] */
    real *p_t;  /* [3 lags, C out, m*C in] */
    real *bias; /* [C] */
    real *sign; /* [C] */
} decoder_weights;

typedef struct weights {
    const net_shape *sh;
    int H, O, C, D; /* padded */
    int E;          /* 1: there are relations, and the decoder's blocks see a plane of them first; 0: none */
    int Q;          /* 6*C*N: for each block x' by lags 0, 1, 2, then y' by lags 0, 1, 2 */
    encoder_weights enc[MAX_BLOCKS];
    decoder_weights dec[MAX_BLOCKS];
    real *rows;   /* packed [D, Q] */
    real *rows_t; /* packed [Q, D padded] */
    real *head_x; /* [D padded] */
    real *head_v; /* [N, C] */
    real *head_e; /* [C]: of the relations' plane */
    int jobs;     /* the number of independent jobs of weights_fill */
    real *block;  /* [taken]: all of them, since one large block takes huge memory pages */
    size_t taken;
} weights;

bool weights_new(weights *w, const net_shape *sh, bool backward);
void weights_free(weights *w);
void weights_fill(weights *w, const real *theta, int job);

/* Right-hand matrices [K, N] for the kernels: packed and row_major describe one in panels and one row by row;
 * packed_size is the size of one in panels, packed_at finds its element (k, c). */
static inline matrix packed(const real *data, int K) {
    return (matrix){data, PANEL, (size_t)K * PANEL};
}
static inline size_t packed_size(int K, int N) {
    return (size_t)((N + PANEL - 1) / PANEL) * (size_t)K * PANEL;
}
static inline real *packed_at(real *data, int K, int k, int c) {
    return data + ((size_t)(c / PANEL) * (size_t)K + (size_t)k) * PANEL + (size_t)(c % PANEL);
}
static inline matrix row_major(const real *data, size_t row_stride) {
    return (matrix){data, row_stride, PANEL};
}

/* A batch norm for one forward pass: y = g*x + e, with g = gamma*inv, e = beta - mean*g. Padded channels
 * have g = e = 0. */
typedef struct norm {
    real *mean, *inv, *g, *e; /* [width padded] */
} norm;

bool norm_new(norm *b, int width);
void norm_free(norm *b);
/* Fills in a norm from given statistics, laid out as in theta: [sh->total - sh->trained]. */
void norm_frozen(norm *b, const net_shape *sh, const real *theta, const real *statistics, norm_at at,
                 int width);

/* Folds the norm before them into w [H, O] and b [O]: wf = g w, bf = b + e w; wf_t [O, H] may be NULL. */
void fold_second(const encoder_weights *e, const norm *b, int H, int O, real *wf, real *bf, real *wf_t);
/* Folds the norms of the earlier blocks into the v weights of block m, wf, and into bias [3, C], the bias of
 * steps 0, 1 and from 2 on. */
void fold_conv(const decoder_weights *d, const norm *earlier, int E, int m, int C, real *wf, real *bias);

#endif
