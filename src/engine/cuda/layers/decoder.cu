/* Computes the part of the decoder that depends on single items, before its blocks (conv.cu), and packs the
 * decoder's weights, on the GPU; the algebra is that of kernels/cpu_decoder.c.
 *
 * pack: the weights, transposed and split by what they multiply, once per step, on a side stream.
 *
 * decoder_rows: q = x' times all weights that multiply x' or y' (base/gpu.cuh); without decoder blocks,
 * features_only completes x' alone. */
#include "engine/cuda/layers/decoder.cuh"
#include "engine/cuda/layers/features.cuh"

/* ---- weights ---- */

struct pack_args {
    const float *theta;
    size_t weight[MAX_BLOCKS];
    int in[MAX_BLOCKS];
    int N, C, out, D, base;   /* base: channels before those of v and pools */
    onet_precision precision; /* conv and pool are rounded, here once for all that multiply them */
    feature_columns columns;
    float *rows, *conv, *conv_t, *pool, *pool_t;
    half_columns half;
    uint16_t *rows_half; /* in bfloat16 */
};

__global__ void __launch_bounds__(256) pack(const __grid_constant__ pack_args p) {
    int C = p.C, D = p.D, side_rows = 6 * p.N * C * D;
    int square = C * C, count = side_rows + p.N * (p.N - 1) / 2 * 3 * square;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        if (i < side_rows) {
            int x = i % D, col = i / D, c = col % C, l = col / C % 3, side = col / (3 * C) % 2,
                m = col / (6 * C);
            float v =
                c < p.out ? p.theta[p.weight[m] + ((size_t)c * p.in[m] + side * D + x) * 3 + 2 - l] : 0.0f;
            p.rows[col * p.columns.width + x + (x < p.columns.first ? 0 : p.columns.gap)] = v;
            if (p.precision == ONET_BF16) {
                int k = x - p.half.inputs,
                    to = k < 0 ? x : p.half.base + k / p.half.out * p.half.O + k % p.half.out;
                p.rows_half[(size_t)col * p.half.width + to] = bf16_of(v).bits;
            }
            continue;
        }
        int k = i - side_rows, c = k % C, e = k / C % C, l = k / square % 3, pair = k / (3 * square), m = 1;
        while (m * (m + 1) / 2 <= pair) m++;
        int b = pair - m * (m - 1) / 2;
        float v = 0, q = 0;
        if (c < p.out && e < p.out) {
            const float *from =
                p.theta + p.weight[m] + ((size_t)c * p.in[m] + p.base + 2 * p.out * b + e) * 3 + 2 - l;
            v = from[0];
            q = from[3 * p.out];
            if (p.precision == ONET_TF32) {
                v = tf32_rounded(v);
                q = tf32_rounded(q);
            }
        }
        int back = (pair * 3 + l) * square + c * C + e;
        if (p.precision == ONET_BF16) {
            ((bf16 *)p.conv)[k] = ((bf16 *)p.conv_t)[back] = bf16_of(v);
            ((bf16 *)p.pool)[k] = ((bf16 *)p.pool_t)[back] = bf16_of(q);
            continue;
        }
        p.conv[k] = v;
        p.pool[k] = q;
        p.conv_t[back] = v;
        p.pool_t[back] = q;
    }
}

void gpu_pack(gpu *s) {
    const net_shape *sh = s->base.sh;
    pack_args p = {};
    p.theta = s->weights.theta;
    for (int m = 0; m < s->N; m++) {
        p.weight[m] = sh->dec[m].weight;
        p.in[m] = sh->dec[m].in;
    }
    p.N = s->N;
    p.C = s->C;
    p.out = sh->s.decoder_out;
    p.D = sh->D;
    p.base = sh->base;
    p.precision = precision_of(s);
    p.columns = columns_of(sh, s->M);
    p.half = half_columns_of(s, s->M);
    p.rows_half = s->half.rows;
    p.rows = s->weights.rows;
    p.conv = s->weights.conv;
    p.conv_t = s->weights.conv_t;
    p.pool = s->weights.pool;
    p.pool_t = s->weights.pool_t;
    if (!s->N) return;
    gpu_fork(s, 1);
    LAUNCH(s, s->queue.side[1], 2 * s->multiprocessors, 256, 0, pack, p);
}

/* ---- rows ---- */

struct q_args {
    features f;
    const float *rows; /* [Q, columns] */
    int Q;
    float *q;
};

template <bool MIXED, class T>
__global__ void __launch_bounds__(T::THREADS, T::RESIDENT) decoder_rows(q_args p) {
    extern __shared__ float4 memory[];
    T &s = *(T *)memory;
    int m0 = blockIdx.x * T::BM, n0 = blockIdx.y * T::BN, R = p.f.rows + 1;
    features_product<MIXED>(s, p.f, m0, R - 1, blockIdx.y == 0 ? p.f.rows - m0 : 0, true,
                            [&](int c) { return p.rows + min(n0 + c, p.Q - 1) * p.f.columns.width; });
    int c = (int)threadIdx.x % (T::BN / 4) * 4;
    rolled<2, T::BM, T::THREADS / (T::BN / 4)>((int)threadIdx.x / (T::BN / 4), [&](int m) {
        if (m0 + m < R && n0 + c < p.Q) store4(p.q + (size_t)(m0 + m) * p.Q + n0 + c, s.results(m, c));
    });
}

/* Without a decoder the pooled features of the last block must still be written to x. */
__global__ void features_only(features f) {
    wait_turn();
    features_keep(f, blockIdx.x);
}

template <onet_precision P, bool MIXED> static void decoder_rows_launch(gpu *s, const q_args &p, int R) {
    typedef tile<128, 64, 4, 2, 1, true, true, P> large;
    typedef tile<64, 64, 2, 2, 1, true, true, P> small;
    int x = up(R, 128), y = up(p.Q, 64);
    if ((long)x * y >= 2 * s->multiprocessors)
        CHAIN(s, dim3(x, y), large::THREADS, sizeof(large), (decoder_rows<MIXED, large>), p);
    else
        CHAIN(s, dim3(up(R, 64), y), small::THREADS, sizeof(small), (decoder_rows<MIXED, small>), p);
}

void gpu_decoder_rows_forward(gpu *s) {
    features f = gpu_features(s, s->M);
    int R = (int)s->here.items + 1;
    gpu_join(s, 1); /* the packed weights */
    if (precision_of(s) == ONET_BF16) {
        rows_bf16(s, s->M);
        return;
    }
    if (!s->N) {
        CHAIN(s, f.rows, 64, 0, features_only, f);
        return;
    }
    q_args p = {.f = f, .rows = s->weights.rows, .Q = s->Q, .q = s->step.q};
    if (precision_of(s) == ONET_TF32)
        s->ragged.mixed ? decoder_rows_launch<ONET_TF32, true>(s, p, R)
                        : decoder_rows_launch<ONET_TF32, false>(s, p, R);
    else
        s->ragged.mixed ? decoder_rows_launch<ONET_FLOAT32, true>(s, p, R)
                        : decoder_rows_launch<ONET_FLOAT32, false>(s, p, R);
}
