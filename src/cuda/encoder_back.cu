/* An encoder block's way back on the GPU; the algebra is that of kernels/cpu_encoder.c.
 *
 * First comes pair_backward (pairs_back.cu).
 *
 * encoder_inputs: dac = sum - c0*count - c1*total as it is loaded, times W1: the gradient of the features,
 * and the way back through the pool of the block before. */
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

struct raw_sums {
    float sum, count, total, c0, c1;
};

__device__ static inline raw_sums sums_load(const inputs_args &p, int row, int k) {
    size_t at = (size_t)row * 2 * p.H + k;
    int h = k < p.H ? k : k - p.H;
    return {get(p.sum + at), get(p.count + at), get(p.total + at), get(p.c0 + h), get(p.c1 + h)};
}

__device__ static inline float sums_value(raw_sums x) {
    return x.sum - x.c0 * x.count - x.c1 * x.total;
}

template <class T> __global__ void __launch_bounds__(T::THREADS) encoder_inputs(inputs_args p) {
    wait_turn();
    __shared__ T s;
    int m0 = blockIdx.x * T::BM, n0 = blockIdx.y * T::BN;
    bool write = blockIdx.y == 0;
    float acc[T::TM][T::TN];
    product<true, false>(
        s, 0, 2 * p.H, [&](int m, int k) { return sums_load(p, min(m0 + m, p.R - 1), k); },
        [&](int, int, raw_sums x) { return sums_value(x); },
        [&](int c, int k) {
            int side = k >= p.H, h = min(k - side * p.H, p.hidden - 1);
            return __ldg(p.theta + p.weight + ((size_t)h * 2 + side) * p.in + min(n0 + c, p.in - 1));
        },
        [&](int, int k, float v) { return (k < p.H ? k : k - p.H) < p.hidden ? v : 0.0f; }, acc,
        [&](int m, int k, float d) {
            if (write && m0 + m < p.R) p.dac[(size_t)(m0 + m) * 2 * p.H + k] = d;
        });
    gradient_epilogue(s, acc, m0, n0, p.R, p.in, p.dx, p.ldx, true, nullptr, nullptr, p.pool);
}

/* The first block's input needs no gradient unless words' vectors are trained. */
__global__ void encoder_correct(inputs_args p) {
    wait_turn();
    int k = blockIdx.y * blockDim.x + threadIdx.x;
    if (k < 2 * p.H) p.dac[(size_t)blockIdx.x * 2 * p.H + k] = sums_value(sums_load(p, blockIdx.x, k));
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
    typedef tile<64, 64, 8, 4, 2, TF32> large;
    typedef tile<16, 64, 4, 4, 4, TF32> small;
    int x = up(in.R, 64), y = up(in.in, 64);
    if ((long)x * y >= s->multiprocessors / 2)
        CHAIN(s, dim3(x, y), large::THREADS, 0, encoder_inputs<large>, in);
    else
        CHAIN(s, dim3(up(in.R, 16), y), small::THREADS, 0, encoder_inputs<small>, in);
}

void gpu_encoder_rows_backward(gpu *s, int block) {
    const shape *sh = s->base.sh;
    const encoder_at *at = &sh->enc[block];
    encoder_block *e = &s->enc[block];
    int R = s->base.B * s->base.n;
    inputs_args in = {e->sum,   e->count,    e->total, e->c0, e->c1,
                      s->theta, at->weight1, e->dac,   s->H,  sh->s.hidden,
                      at->in,   R,           s->dx,    s->D,  gpu_pool_backward(s, block - 1)};
    if (block == 0 && !s->train_vectors) {
        CHAIN(s, dim3(R, up(2 * s->H, 256)), 256, 0, encoder_correct, in);
    } else if (s->base.tf32)
        encoder_inputs_launch<true>(s, in);
    else
        encoder_inputs_launch<false>(s, in);
    gpu_fork(s, 2);
    e->splits = gpu_rows_weights(s, s->side[2], e->dac, 2 * s->H, R, at->in, 1, e->weight_part);
}
