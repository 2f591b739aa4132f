/* Gradients of the decoder's weights between cells: sum of v dpre, and of pools dstep, for every pair of
 * blocks, in parts (beside the main line). */
#include "decoder.cuh"

enum { WEIGHT_ROWS = 320 }; /* rows of a plane in shared memory, about */

struct conv_weights_args {
    conv_args c;
    int items; /* of a step: n, or 1 for the pools */
    int ic, steps, tiles;
    float *part; /* [splits, pairs, 3, C, C] */
};

/* part = sum over cells of v_b(t - l, i) dpre_m(t, i), CB x CB channels a block, 4 x 4 and all lags a thread.
 */
template <int CB, bool POOL>
__global__ void __launch_bounds__(256) conv_weights(const __grid_constant__ conv_weights_args a) {
    extern __shared__ float4 memory[];
    constexpr int Q = CB / 4, EACH = Q * Q, SL = 256 / EACH, ldp = CB + 4;
    const conv_args &p = a.c;
    const int C = p.C, n = p.n, tid = threadIdx.x;
    int pair = blockIdx.y, m = 1;
    while (m * (m + 1) / 2 <= pair) m++;
    int b = pair - m * (m - 1) / 2, e0 = (int)blockIdx.z % (C / CB) * CB,
        c0 = (int)blockIdx.z / (C / CB) * CB;
    float *vs = (float *)memory, *ds = vs + ((a.steps + 2) * a.ic + 1) * ldp;
    const int zero = (a.steps + 2) * a.ic * ldp;
    for (int i = tid; i < ldp; i += 256) vs[zero + i] = 0;
    int slice = tid / EACH, e = tid % EACH / Q * 4, c = tid % Q * 4;
    float acc[3][4][4] = {};
    for (int tile_at = blockIdx.x; tile_at < a.tiles; tile_at += gridDim.x) {
        int s0 = tile_at * a.steps, steps = min(a.steps, p.R - s0);
        for (int i0 = 0; i0 < a.items; i0 += a.ic) {
            int ic = min(a.ic, a.items - i0);
            __syncthreads();
            struct loaded {
                float4 v, d, x, y; /* of the earlier block; of this one: dv and r, or the sums of a step */
            };
            staged<2>((steps + 2) * ic * Q,
                      [&](int i) {
                          int k = i % Q * 4, row = i / Q, step = s0 - 2 + row / ic, item = i0 + row % ic;
                          size_t early = max(step, 0), here = max(step, s0);
                          loaded x;
                          if (POOL) {
                              size_t from = ((size_t)m * p.R + here) * C + c0 + k;
                              x.v = load4(p.praw + ((size_t)b * p.R + early) * C + e0 + k);
                              x.d = load4(p.step_dv + from);
                              x.x = load4(p.step_count + from);
                              x.y = load4(p.step_r + from);
                          } else {
                              size_t from = (size_t)m * p.plane + (here * n + item) * C + c0 + k;
                              x.v = load4(p.r + (size_t)b * p.plane + (early * n + item) * C + e0 + k);
                              x.d = load4(p.dv + from);
                              x.x = load4(p.r + from);
                          }
                          return x;
                      },
                      [&](int i, const loaded &x) {
                          int k = i % Q * 4, row = i / Q, ch = m * C + c0 + k;
                          float4 g = load4(p.norm.g + b * C + e0 + k), e = load4(p.norm.e + b * C + e0 + k);
                          store4(vs + row * ldp + k, make_float4(g.x * x.v.x + e.x, g.y * x.v.y + e.y,
                                                                 g.z * x.v.z + e.z, g.w * x.v.w + e.w));
                          if (row < 2 * ic) return;
                          g = load4(p.norm.g + ch);
                          float4 k0 = load4(p.k0 + ch), k1 = load4(p.k1 + ch), d = x.d, r = x.x;
                          if (POOL)
                              d = make_float4(g.x * d.x - k0.x * r.x - k1.x * x.y.x,
                                              g.y * d.y - k0.y * r.y - k1.y * x.y.y,
                                              g.z * d.z - k0.z * r.z - k1.z * x.y.z,
                                              g.w * d.w - k0.w * r.w - k1.w * x.y.w);
                          else
                              d = make_float4(r.x > 0 ? g.x * d.x - k0.x - k1.x * r.x : 0.0f,
                                              r.y > 0 ? g.y * d.y - k0.y - k1.y * r.y : 0.0f,
                                              r.z > 0 ? g.z * d.z - k0.z - k1.z * r.z : 0.0f,
                                              r.w > 0 ? g.w * d.w - k0.w - k1.w * r.w : 0.0f);
                          store4(ds + (row - 2 * ic) * ldp + k, d);
                      });
            __syncthreads();
            int cells = steps * ic, sl = slice / ic, item = slice % ic, t = (s0 + sl) % n;
            for (int q = slice; q < cells; q += SL) {
                float4 d = load4(ds + q * ldp + c);
#pragma unroll
                for (int l = 0; l < 3; l++) {
                    float4 v = load4(vs + (t >= l ? (q + (2 - l) * ic) * ldp : zero) + e);
                    float ve[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
                    for (int i = 0; i < 4; i++) {
                        acc[l][i][0] += ve[i] * d.x;
                        acc[l][i][1] += ve[i] * d.y;
                        acc[l][i][2] += ve[i] * d.z;
                        acc[l][i][3] += ve[i] * d.w;
                    }
                }
                for (item += SL; item >= ic; item -= ic) t = t + 1 < n ? t + 1 : 0;
            }
        }
    }
    /* Add up the slices: each thread's 48 numbers, then place by place. */
    __syncthreads();
    float *red = (float *)memory; /* [SL][3][CB][CB] */
#pragma unroll
    for (int l = 0; l < 3; l++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            store4(red + ((slice * 3 + l) * CB + e + i) * CB + c,
                   make_float4(acc[l][i][0], acc[l][i][1], acc[l][i][2], acc[l][i][3]));
    __syncthreads();
    float *part = a.part + ((size_t)blockIdx.x * gridDim.y + pair) * 3 * C * C;
    for (int i = tid; i < 3 * CB * CB; i += 256) {
        float add = 0;
        for (int z = 0; z < SL; z++) add += red[z * 3 * CB * CB + i];
        part[((size_t)(i / (CB * CB)) * C + e0 + i / CB % CB) * C + c0 + i % CB] = add;
    }
}

template <bool POOL> static int conv_weights_launch(gpu *s, cudaStream_t where, float *part) {
    conv_weights_args a = {};
    a.c = gpu_conv_args(s, -1, true);
    int CB = s->C % 32 ? 16 : 32, z = (s->C / CB) * (s->C / CB), count = pairs(s->N);
    a.items = POOL ? 1 : s->base.n;
    a.ic = a.items < WEIGHT_ROWS / 4 ? a.items : WEIGHT_ROWS / 4;
    a.steps = WEIGHT_ROWS / a.ic - 2;
    if (a.steps > a.c.R) a.steps = a.c.R;
    a.tiles = up(a.c.R, a.steps);
    int splits = up(2 * s->multiprocessors, count * z);
    if (splits > a.tiles) splits = a.tiles;
    if (splits > CONV_SPLITS) splits = CONV_SPLITS;
    a.part = part;
    size_t floats = ((size_t)(2 * a.steps + 2) * a.ic + 1) * (CB + 4), red = 256 * 48;
    size_t shared = (floats > red ? floats : red) * sizeof(float);
    dim3 grid(splits, count, z);
    if (CB == 16)
        LAUNCH(s, where, grid, 256, shared, (conv_weights<16, POOL>), a);
    else
        LAUNCH(s, where, grid, 256, shared, (conv_weights<32, POOL>), a);
    return splits;
}

int gpu_conv_weights(gpu *s, cudaStream_t where, bool pools, float *part) {
    return pools ? conv_weights_launch<true>(s, where, part) : conv_weights_launch<false>(s, where, part);
}

template <bool POOL> static bool weights_limits(gpu *s) {
    int most = (int)s->shared;
    cudaFuncAttribute what = cudaFuncAttributeMaxDynamicSharedMemorySize;
    return gpu_ok(s, cudaFuncSetAttribute(conv_weights<16, POOL>, what, most), "shared memory") &&
           gpu_ok(s, cudaFuncSetAttribute(conv_weights<32, POOL>, what, most), "shared memory");
}

bool gpu_conv_weights_limits(gpu *s) {
    return weights_limits<false>(s) && weights_limits<true>(s);
}
