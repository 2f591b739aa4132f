/* An encoder block's way back on the GPU; the algebra is that of kernels/cpu_encoder.c.
 *
 * First comes pair_backward (pairs_back.cu).
 *
 * encoder_correct: dac = sum - c0*count - c1*total, where count and total are those of the row's h > 0.
 *
 * encoder_inputs: dac times W1: the gradient of the features, and the way back through the pool of the block
 * before. */
#include "launch.cuh"

struct correct_args {
    int n, H;
    const float *ac, *sum, *c0, *c1;
    float *dac;
};

/* A block has some rows of a set, a thread four channels of a row's a or c. */
__global__ void __launch_bounds__(256) encoder_correct(correct_args p) {
    wait_turn();
    int quads = p.H / 4, i = blockIdx.y * 256 + threadIdx.x, own = i / quads, k = (i - own * quads) * 4;
    bool c = own >= p.n;
    if (own >= 2 * p.n) return;
    size_t set = (size_t)blockIdx.x * p.n * 2 * p.H,
           at = set + (size_t)(c ? own - p.n : own) * 2 * p.H + (c ? p.H : 0) + k;
    const float *other = p.ac + set + (c ? 0 : p.H) + k;
    float4 x = load4(p.ac + at), sum = load4(p.sum + at), c0 = load4(p.c0 + k), c1 = load4(p.c1 + k);
#pragma unroll 4
    for (int j = 0; j < p.n; j++) {
        float4 y = load4(other + (size_t)j * 2 * p.H);
        float h[4] = {x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w};
        sum.x -= h[0] > 0 ? c0.x + c1.x * h[0] : 0.0f;
        sum.y -= h[1] > 0 ? c0.y + c1.y * h[1] : 0.0f;
        sum.z -= h[2] > 0 ? c0.z + c1.z * h[2] : 0.0f;
        sum.w -= h[3] > 0 ? c0.w + c1.w * h[3] : 0.0f;
    }
    store4(p.dac + at, sum);
}

struct inputs_args {
    const float *dac, *w1;
    feature_columns columns;
    int K, R; /* K: 2H */
    float *dx;
    int ldx;
    pool_backward pool;
};

template <class T> __global__ void __launch_bounds__(T::THREADS, T::RESIDENT) encoder_inputs(inputs_args p) {
    extern __shared__ float4 memory[];
    T &s = *(T *)memory;
    int m0 = blockIdx.x * T::BM, n0 = blockIdx.y * T::BN;
    product(
        s, (p.K + T::BK - 1) / T::BK,
        [&](int q, float *to) {
            fetch_along<T, T::BM, 4>(to, q * T::BK, p.K,
                                     [&](int m) { return p.dac + (size_t)min(m0 + m, p.R - 1) * p.K; });
        },
        [&](int q, float *to) {
            fetch_across<T, T::BN, 4>(to, q * T::BK, p.K, p.columns.width - n0,
                                      [&](int k) { return p.w1 + k * p.columns.width + n0; });
        });
    gradient_epilogue(s, m0, n0, p.R, p.columns, p.dx, p.ldx, true, nullptr, nullptr, p.pool);
}

/* ---- launches ---- */

pool_backward gpu_pool_backward(gpu *s, int block) {
    pool_backward p = {};
    if (block < 0) return p;
    const shape *sh = s->base.sh;
    encoder_block *e = &s->enc[block];
    p.width = sh->s.encoder_out;
    p.O = s->O;
    p.n = s->base.n;
    p.mean = sh->s.pool == ONET_POOL_MEAN;
    p.x = s->x;
    p.ldx = s->D;
    p.best = e->best;
    p.norm = e->norm2;
    p.gd = s->gd;
    p.part = s->part;
    p.counter = s->counters;
    p.back = norms_second_back(s, block);
    return p;
}

template <bool TF32> static void encoder_inputs_launch(gpu *s, const inputs_args &in) {
    typedef inputs_tile<64, TF32> large;
    typedef inputs_tile<32, TF32> middle;
    typedef inputs_tile<16, TF32> small;
    int y = up(in.columns.width, 64), rows = inputs_rows(s, in.R, y);
    dim3 grid(up(in.R, rows), y);
    if (rows == 64)
        CHAIN(s, grid, large::THREADS, sizeof(large), encoder_inputs<large>, in);
    else if (rows == 32)
        CHAIN(s, grid, middle::THREADS, sizeof(middle), encoder_inputs<middle>, in);
    else
        CHAIN(s, grid, small::THREADS, sizeof(small), encoder_inputs<small>, in);
}

void gpu_encoder_rows_backward(gpu *s, int block) {
    const shape *sh = s->base.sh;
    const encoder_at *at = &sh->enc[block];
    encoder_block *e = &s->enc[block];
    int R = s->base.B * s->base.n;
    int n = s->base.n;
    correct_args correct = {n, s->H, e->ac, e->sum, e->c0, e->c1, e->dac};
    CHAIN(s, dim3(s->base.B, up(2 * n * (s->H / 4), 256)), 256, 0, encoder_correct, correct);
    gpu_fork(s, 2);
    e->splits = gpu_rows_weights(s, s->side[2], e->dac, 2 * s->H, R, at->in, 1, e->weight_part);
    if (block == 0 && !s->train_vectors) return; /* its input needs no gradient */
    inputs_args in = {e->dac, e->w1, columns_of(sh, block),          2 * s->H, R,
                      s->dx,  s->D,  gpu_pool_backward(s, block - 1)};
    if (s->base.tf32)
        encoder_inputs_launch<true>(s, in);
    else
        encoder_inputs_launch<false>(s, in);
}
