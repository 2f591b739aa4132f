/* Declares the arguments of the kernels over the decoder's cells, forward and backward (conv.cu), and of
 * those for their weights' gradients (conv_weights.cu). */
#ifndef CUDA_LAYERS_DECODER_CUH
#define CUDA_LAYERS_DECODER_CUH

#include "engine/cuda/layers/layers.cuh"

struct conv_args {
    conv_plan plan;
    const conv_span *tiles;          /* of a batch of several sizes, as places and row_at */
    const set_place *places;         /* [B] */
    const int2 *row_at;              /* [R] */
    const int *step_set;             /* [T] */
    int n, R, T, B, C, out, N, m, Q; /* R rows, T steps; n: of every set, where the batch has one size */
    divider by_n;
    float *r, *dv, *v, *dpre; /* [N, T, n, C]; v of all but the last block, dpre of all but the first */
    float *pv, *dstep;        /* [N, T, C], likewise */
    size_t plane;             /* T*n*C, or C times the cells of all sets */
    norms norm;               /* [N, C] */
    const float *k0, *k1;
    const float *conv, *pool; /* packed, for this direction */
    const float *q;
    const int *pos, *order;
    float *praw;
    int *parg;
    float *step_dv, *step_count, *step_r;
    const float *dlogit, *head; /* head: [C] weights of this block's v */
    const float *theta;
    size_t bias, gamma;
    double *part; /* [tiles, 2*C or 5*C] */
    unsigned *counter;
    norm_forward forward;
    norm_backward backward;
};

/* For block m, or (m == -1) for all of them. */
conv_args gpu_conv_args(gpu *s, int m, bool back);
/* part [splits, pairs, 3, C, C]: gradients of the weights that multiply v, or pools; returns the number of
 * parts. */
int gpu_conv_weights(gpu *s, cudaStream_t where, bool pools, float *part);

#endif
