/* Computes the last part of an encoder block's backward pass over pairs, after pairs_back.cu: dac, the
 * gradient of its first layer's outputs a and c, on the GPU; the algebra is that of kernels/cpu_encoder.c.
 *
 * encoder_correct: dac = sum - c0*count - c1*total, where count and total are the number and the sum of the
 * row's h > 0. gpu_encoder_rows_backward launches it, then the gradients of the block's first weights
 * (relations.cu, weights.cu) and of its features (inputs.cu). */
#include "engine/cuda/base/relations.cuh"
#include "engine/cuda/layers/layers.cuh"

struct correct_args {
    int n, H;
    const set_place *places; /* where the batch has several sizes */
    const void *ac;          /* stored<P>, as in encoder_block */
    const float *sum, *more, *c0, *c1;
    void *dac;                /* stored<P> too */
    const float *e, *related; /* [pairs, both], [both, H]: relations, where there are some */
    int both;                 /* 2E */
};

/* A thread block has some rows of a set, a thread four channels of a row's a or c. */
template <onet_precision P, bool RELATED>
__global__ void __launch_bounds__(256) encoder_correct(correct_args p) {
    wait_turn();
    int quads = p.H / 4, i = blockIdx.y * 256 + threadIdx.x, own = i / quads, k = (i - own * quads) * 4;
    const set_place place = place_of(p.places, p.n, blockIdx.x);
    const int n = place.n;
    bool c = own >= n;
    if (own >= 2 * n) return;
    size_t set = (size_t)place.row0 * 2 * p.H,
           at = set + (size_t)(c ? own - n : own) * 2 * p.H + (c ? p.H : 0) + k;
    const stored<P> *ac = (const stored<P> *)p.ac, *other = ac + set + (c ? 0 : p.H) + k;
    float4 x = four_of(ac + at), sum = load4(p.sum + at), c0 = load4(p.c0 + k), c1 = load4(p.c1 + k);
    if (c)
#pragma unroll 1
        for (int part = 1; part < place.parts; part++) {
            float4 m = load4(p.more + (size_t)(place.more + (part - 1) * n + own - n) * p.H + k);
            sum = make_float4(sum.x + m.x, sum.y + m.y, sum.z + m.z, sum.w + m.w);
        }
#pragma unroll 4
    for (int j = 0; j < n; j++) {
        float4 y = four_of(other + (size_t)j * 2 * p.H);
        if constexpr (RELATED) {
            size_t pair = (size_t)place.pair0 + (c ? (size_t)j * n + (own - n) : (size_t)own * n + j);
            y = with_relations(y, p.e + pair * p.both, p.related + k, p.both, p.H);
        }
        float h[4] = {x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w};
        sum.x -= h[0] > 0 ? c0.x + c1.x * h[0] : 0.0f;
        sum.y -= h[1] > 0 ? c0.y + c1.y * h[1] : 0.0f;
        sum.z -= h[2] > 0 ? c0.z + c1.z * h[2] : 0.0f;
        sum.w -= h[3] > 0 ? c0.w + c1.w * h[3] : 0.0f;
    }
    put_four((stored<P> *)p.dac + at, sum);
}

void gpu_encoder_rows_backward(gpu *s, int block) {
    const net_shape *sh = s->base.sh;
    const encoder_at *at = &sh->enc[block];
    encoder_block *e = &s->enc[block];
    int R = (int)s->here.items, n = s->ragged.mixed ? s->ragged.mixed->largest : s->n;
    correct_args correct = {.n = s->n,
                            .H = s->H,
                            .places = s->ragged.mixed ? s->ragged.mixed->places : nullptr,
                            .ac = e->ac,
                            .sum = e->sum,
                            .more = s->step.sum_more,
                            .c0 = e->c0,
                            .c1 = e->c1,
                            .dac = e->dac,
                            .e = s->related.e,
                            .related = s->related.w[block],
                            .both = 2 * sh->s.relations};
    dim3 grid(s->base.B, up(2 * n * (s->H / 4), 256));
    with_precision(s, [&]<onet_precision P>() {
        if (correct.both)
            CHAIN(s, grid, 256, 0, (encoder_correct<P, true>), correct);
        else
            CHAIN(s, grid, 256, 0, (encoder_correct<P, false>), correct);
    });
    if (correct.both) gpu_related_weights(s, block);
    gpu_fork(s, 2);
    e->splits = gpu_rows_weights(s, s->queue.side[2], e->dac, 2 * s->H, R, at->in, 1, e->weight_part);
    if (block == 0 && !s->given.train_vectors) return; /* its input needs no gradient */
    gpu_inputs(s, block, e->dac, e->w1, 2 * s->H);
}
