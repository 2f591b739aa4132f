/* Declares the arguments of the kernels over the decoder's cells (conv.cu, decoder_back.cu, last_weights of
 * relations.cu) and the launch of those for the gradients of its weights between blocks (conv_weights.cu);
 * defines dpre_at, the gradient before the ReLU. base/gpu.cuh has the notation. */
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
    float *r, *dv, *v, *dpre; /* [N, T, n, C]; v of all but the last block, dpre of all but the first; v and
                                 dpre are stored<P>: */
    float *pv, *dstep;        /* [N, T, C]: pools after the norm, dpre summed over items; stored<P> */
    size_t plane;             /* T*n*C, or C times the cells of all sets */
    norms norm;               /* [N, C] */
    const float *k0, *k1;
    const float *conv, *pool; /* packed, for this direction, stored<P> too */
    const float *q;
    const int *pos, *order;
    float *praw;
    int *parg;
    float *step_dv, *step_count, *step_r;
    const float *dlogit, *head; /* head: [C] weights of this block's v */
    const float *e, *last;      /* [pairs, 2E], [3, E, C] of this block: relations, where there are some */
    int relations;              /* E */
    const float *theta;
    size_t bias, gamma;
    double *part; /* [tiles, 2*C or 5*C] */
    unsigned *counter;
    norm_forward forward;
    norm_backward backward;
};

/* Returns dpre of four channels of block m, at place `at` of the planes of all blocks. That of the first
 * block is not in memory, since no block reads it. */
template <onet_precision P>
__device__ static __forceinline__ float4 dpre_at(const conv_args &p, int m, size_t at, float4 g, float4 k0,
                                                 float4 k1) {
    if (m) return four_of((const stored<P> *)p.dpre + at);
    float4 v = load4(p.dv + at), r = load4(p.r + at);
    return make_float4(
        r.x > 0 ? g.x * v.x - k0.x - k1.x * r.x : 0.0f, r.y > 0 ? g.y * v.y - k0.y - k1.y * r.y : 0.0f,
        r.z > 0 ? g.z * v.z - k0.z - k1.z * r.z : 0.0f, r.w > 0 ? g.w * v.w - k0.w - k1.w * r.w : 0.0f);
}

/* Returns the arguments for block m or, with m == -1, those that are the same for all blocks. */
conv_args gpu_conv_args(gpu *s, int m, bool back);
/* Writes the gradients of the weights that multiply v, or with `pools` the pools, to part [splits, pairs, 3,
 * C, C]; returns the number of splits. */
int gpu_conv_weights(gpu *s, cudaStream_t where, bool pools, float *part);

#endif
