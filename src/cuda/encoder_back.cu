/* An encoder block's way back on the GPU; the algebra is that of kernels/cpu_encoder.c.
 *
 * First comes pair_backward (pairs_back.cu).
 *
 * encoder_correct: dac = sum - c0*count - c1*total.
 *
 * encoder_inputs: dac times W1: the gradient of the features, and the way back through the pool of the block
 * before. */
#include "launch.cuh"

struct inputs_args {
    const float *sum, *count, *total, *c0, *c1, *theta;
    size_t weight;
    float *dac;
    int H, hidden, in, R;
    float *dx;
    int ldx;
    pool_backward pool;
};

__global__ void __launch_bounds__(256) encoder_correct(inputs_args p) {
    wait_turn();
    size_t at = ((size_t)blockIdx.x * 256 + threadIdx.x) * 4;
    if (at >= (size_t)p.R * 2 * p.H) return;
    int h = (int)(at % p.H);
    float4 sum = load4(p.sum + at), count = load4(p.count + at), total = load4(p.total + at),
           c0 = load4(p.c0 + h), c1 = load4(p.c1 + h);
    store4(p.dac + at,
           make_float4(sum.x - c0.x * count.x - c1.x * total.x, sum.y - c0.y * count.y - c1.y * total.y,
                       sum.z - c0.z * count.z - c1.z * total.z, sum.w - c0.w * count.w - c1.w * total.w));
}

template <class T> __global__ void __launch_bounds__(T::THREADS, T::RESIDENT) encoder_inputs(inputs_args p) {
    extern __shared__ float4 memory[];
    T &s = *(T *)memory;
    int m0 = blockIdx.x * T::BM, n0 = blockIdx.y * T::BN;
    product(
        s, (2 * p.H + T::BK - 1) / T::BK,
        [&](int q, float *to) {
            fetch_along<T, T::BM, 4>(to, q * T::BK, 2 * p.H,
                                     [&](int m) { return p.dac + (size_t)min(m0 + m, p.R - 1) * 2 * p.H; });
        },
        [&](int q, float *to) {
            fetch_across<T, T::BN, 1>(to, q * T::BK, 2 * p.H, p.in - n0, [&](int k) {
                int side = k >= p.H, h = min(k - side * p.H, p.hidden - 1); /* dac is 0 beyond */
                return p.theta + p.weight + (h * 2 + side) * p.in + n0;
            });
        });
    gradient_epilogue(s, m0, n0, p.R, p.in, p.dx, p.ldx, true, nullptr, nullptr, p.pool);
}

/* ---- launches ---- */

pool_backward gpu_pool_backward(gpu *s, int block) {
    pool_backward p = {};
    if (block < 0) return p;
    const shape *sh = s->base.sh;
    encoder_block *e = &s->enc[block];
    p.first = sh->enc[block].in;
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
    int y = up(in.in, 64), rows = inputs_rows(s, in.R, y);
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
    inputs_args in = {e->sum,   e->count,    e->total, e->c0, e->c1,
                      s->theta, at->weight1, e->dac,   s->H,  sh->s.hidden,
                      at->in,   R,           s->dx,    s->D,  gpu_pool_backward(s, block - 1)};
    CHAIN(s, (int)(((size_t)R * 2 * s->H + 1023) / 1024), 256, 0, encoder_correct, in);
    gpu_fork(s, 2);
    e->splits = gpu_rows_weights(s, s->side[2], e->dac, 2 * s->H, R, at->in, 1, e->weight_part);
    if (block == 0 && !s->train_vectors) return; /* its input needs no gradient */
    if (s->base.tf32)
        encoder_inputs_launch<true>(s, in);
    else
        encoder_inputs_launch<false>(s, in);
}
