/* Declares the arguments of the kernels over the pairs of an encoder block, forward (pairs.cu) and backward
 * (pairs_back.cu). */
#ifndef CUDA_LAYERS_PAIRS_CUH
#define CUDA_LAYERS_PAIRS_CUH

#include "engine/cuda/base/relations.cuh"
#include "engine/cuda/layers/layers.cuh"

struct pairs_of_block {
    int n, B, H, O, hidden, out;
    onet_pool pool;
    const float *ac, *theta;
    size_t weight, bias; /* W2 and b2 */
    norms norm1;
    const float *e, *related; /* [pairs, both], [both, H]: relations, where there are some */
    int both;                 /* 2E */
};

static inline pairs_of_block pairs_of(const gpu *s, int block) {
    const shape *sh = s->base.sh;
    const encoder_at *at = &sh->enc[block];
    return {.n = s->n,
            .B = s->base.B,
            .H = s->H,
            .O = s->O,
            .hidden = sh->s.hidden,
            .out = sh->s.encoder_out,
            .pool = sh->s.pool,
            .ac = s->enc[block].ac,
            .theta = s->weights.theta,
            .weight = at->weight2,
            .bias = at->bias2,
            .norm1 = s->enc[block].norm1,
            .e = s->related.e,
            .related = s->related.w[block],
            .both = 2 * sh->s.relations};
}

static inline int pairs_width(const gpu *s) { /* channels at a time */
    return s->O < 32 ? 16 : 32;
}

#endif
