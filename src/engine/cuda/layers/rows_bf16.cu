/* Multiplies the items' features by the first weights of an encoder block or of the decoder in bfloat16, on
 * the GPU; features.cuh, encoder.cu and decoder.cu do so in float32 and TF32.
 *
 * features_bf16 writes the pool of the block before, normed, to the features, in float32 for the head and in
 * bfloat16.
 *
 * rows_bf16_kernel writes a and c of an encoder block in bfloat16, or q of the decoder (base/gpu.cuh) in
 * float32. */
#include "engine/cuda/layers/features.cuh"

struct features_half_args {
    features f;
    half_columns half; /* before those of the pool */
    int width;
    uint16_t *x; /* [R + 1, width] */
};

/* One channel of one row per thread. */
__global__ void __launch_bounds__(256) features_bf16(features_half_args p) {
    wait_turn();
    const features &f = p.f;
    const int O = p.half.O, i = (int)blockIdx.x * 256 + (int)threadIdx.x, row = i / O, o = i - row * O;
    if (row >= f.rows) return;
    float v = 0;
    if (o < p.half.out) {
        pooled make(load(f.norm.g + o), load(f.norm.e + o), f.pool, f.row_at ? f.row_at[row].x : f.n);
        const int c = f.columns.first + o;
        v = make(load(f.best + (size_t)row * f.ldb + o)) * f.drop.factor(row, c);
        f.x[(size_t)row * f.ldx + c] = v;
    }
    p.x[(size_t)row * p.width + p.half.width + o] = bf16_of(v).bits;
}

struct rows_half_args {
    const uint16_t *x, *w; /* [R, stride], [N, K] */
    int stride, K, R, N;
    const float *bias; /* of the first `hidden` of N: encoder */
    int hidden;
    void *to;   /* [R, N]: bfloat16 or, for the decoder, float */
    bool early; /* no kernel that may still run writes w */
};

template <bool ENCODER, class T>
__global__ void __launch_bounds__(T::THREADS, T::RESIDENT) rows_bf16_kernel(rows_half_args p) {
    extern __shared__ float4 memory[];
    T &s = *(T *)memory;
    const int m0 = blockIdx.x * T::BM, n0 = blockIdx.y * T::BN;
    const bf16 *x = (const bf16 *)p.x, *w = (const bf16 *)p.w;
    if (!p.early) wait_turn();
    product_of_bf16(
        s, (p.K + T::BK - 1) / T::BK,
        [&](int q, bf16 *to) {
            fetch_along_bf16<T, T::BM>(to, q * T::BK, p.K,
                                       [&](int m) { return x + (size_t)min(m0 + m, p.R - 1) * p.stride; });
        },
        [&](int q, bf16 *to) {
            fetch_along_bf16<T, T::BN>(to, q * T::BK, p.K,
                                       [&](int n) { return w + (size_t)min(n0 + n, p.N - 1) * p.K; });
        });
    const int c = (int)threadIdx.x % (T::BN / 4) * 4;
    if (n0 + c >= p.N) return;
    float4 b = make_float4(0, 0, 0, 0);
    if (ENCODER) {
        float own[4];
#pragma unroll
        for (int k = 0; k < 4; k++) own[k] = n0 + c + k < p.hidden ? load(p.bias + n0 + c + k) : 0.0f;
        b = make_float4(own[0], own[1], own[2], own[3]);
    }
#pragma unroll 2
    for (int m = (int)threadIdx.x / (T::BN / 4); m < T::BM && m0 + m < p.R; m += T::THREADS / (T::BN / 4)) {
        float4 v = s.results(m, c);
        v = make_float4(v.x + b.x, v.y + b.y, v.z + b.z, v.w + b.w);
        size_t at = (size_t)(m0 + m) * p.N + n0 + c;
        if (ENCODER)
            put_four((bf16 *)p.to + at, v);
        else
            put_four((float *)p.to + at, v);
    }
}

/* Launches with large tiles if they give every multiprocessor two. */
template <bool ENCODER> static void rows_launch(gpu *s, const rows_half_args &p) {
    typedef tile_bf16<128, 128, 2, 4, true, true> large;
    typedef tile_bf16<64, 64, 2, 2, true, true> small;
    int x = up(p.R, 128), y = up(p.N, 128);
    if ((long)x * y >= 2 * s->multiprocessors)
        CHAIN(s, dim3(x, y), large::THREADS, sizeof(large), (rows_bf16_kernel<ENCODER, large>), p);
    else
        CHAIN(s, dim3(up(p.R, 64), up(p.N, 64)), small::THREADS, sizeof(small),
              (rows_bf16_kernel<ENCODER, small>), p);
}

void rows_bf16(gpu *s, int block) {
    const net_shape *sh = s->base.sh;
    const int width = half_columns_of(s, s->M).width;
    if (block) {
        features_half_args f = {.f = gpu_features(s, block),
                                .half = half_columns_of(s, block - 1),
                                .width = width,
                                .x = s->half.x};
        CHAIN(s, up(f.f.rows * s->O, 256), 256, 0, features_bf16, f);
    }
    rows_half_args p = {
        .x = s->half.x, .stride = width, .K = half_columns_of(s, block).width, .R = (int)s->here.items};
    if (block < s->M) {
        p.w = s->half.block[block].w1;
        p.N = 2 * s->H;
        p.bias = s->weights.theta + sh->enc[block].bias1;
        p.hidden = sh->s.hidden;
        p.to = s->enc[block].ac;
        p.early = block > 0; /* else the kernel before packs the weights */
        rows_launch<true>(s, p);
    } else if (s->N) {
        p.w = s->half.rows;
        p.N = s->Q;
        p.R++;
        p.to = s->step.q;
        p.early = true; /* a side stream, which has been joined, packs them */
        rows_launch<false>(s, p);
    }
}
