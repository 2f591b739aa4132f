/* Declares the arguments of the kernels over the pairs of an encoder block, forward (pairs.cu) and backward
 * (pairs_back.cu; pairs_bf16.cu in bfloat16), and defines the device functions that both backward kernels
 * share: what a thread block works on, du (the gradient before the ReLU of u), the backward pass of norm1. */
#ifndef CUDA_LAYERS_PAIRS_CUH
#define CUDA_LAYERS_PAIRS_CUH

#include "engine/cuda/base/mma.cuh"
#include "engine/cuda/base/relations.cuh"
#include "engine/cuda/layers/layers.cuh"

struct pairs_of_block {
    int n, B, H, O, hidden, out;
    onet_pool pool;
    const float *ac, *theta;
    size_t weight, bias;          /* W2 and b2 */
    const uint16_t *w2, *w2_back; /* with bfloat16: as in bf16_block */
    const float *w2_turned, *bias2;
    norms norm1;
    const float *e, *related; /* [pairs, both], [both, H]: relations, where there are some */
    int both;                 /* 2E */
};

static inline pairs_of_block pairs_of(const gpu *s, int block) {
    const net_shape *sh = s->base.sh;
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
            .w2 = s->half.block[block].w2,
            .w2_back = s->half.block[block].w2_back,
            .w2_turned = s->half.block[block].w2_turned,
            .bias2 = s->half.block[block].bias2,
            .norm1 = s->enc[block].norm1,
            .e = s->related.e,
            .related = s->related.w[block],
            .both = 2 * sh->s.relations};
}

static inline int pairs_width(const gpu *s) { /* channels at a time */
    return s->O < 32 ? 16 : s->O > 32 && precision_of(s) == ONET_BF16 ? 64 : 32;
}

enum { BACK_WARPS = 16 }; /* the most of a thread block of the backward pass */

struct back_args : pairs_of_block {
    back_plan plan;
    const back_tile *tiles; /* of a batch of several sizes */
    const void *u;          /* stored<P>, as in encoder_block */
    const float *gd;
    const int *arg;
    const float *k0, *k1; /* [O] */
    float *grad;
    float *sum;  /* [R, 2H] */
    float *more; /* [., H]: contributions to dc of the later tiles of a set */
    float *g;    /* [tiles, H, O] */
    float *part; /* [tiles, H + O] */
    unsigned *counter;
    norm_backward back;
};

/* What a thread block works on; `whole`: several sets, all their rows at a time. */
struct back_work {
    int n, row0, rows, sets, RS, JC; /* RS rows and JC items j at a time */
    int set0, i0;                    /* the first row of the (first) set, and row0 counted from there */
    bool whole;
    size_t pair0;
    float
        *dc; /* of a batch of several sizes: where the sums over i go, from row set0 on, and the row stride */
    size_t ldc;
};

/* Returns the address for the sums over i, of item `item` counted from row set0 and hidden channel k. */
template <bool MIXED>
__device__ static __forceinline__ float *back_dc(const back_args &p, const back_work &c, int item, int k) {
    if constexpr (MIXED) return c.dc + (size_t)item * c.ldc + k;
    return p.sum + (size_t)(c.set0 + item) * 2 * p.H + p.H + k;
}

template <bool MIXED> __device__ static __forceinline__ back_work back_work_at(const back_args &p) {
    back_work c;
    if constexpr (MIXED) {
        const back_tile t = p.tiles[blockIdx.x];
        c.n = t.n;
        c.sets = t.sets;
        c.set0 = t.row0;
        c.i0 = t.i0;
        c.row0 = t.row0 + t.i0;
        c.rows = t.own;
        c.pair0 = (size_t)t.pair0;
        c.RS = t.rows;
        c.JC = t.jc;
        c.whole = t.sets > 1;
        c.ldc = (t.more < 0 ? 2 : 1) * (size_t)p.H;
        c.dc = t.more < 0 ? p.sum + (size_t)t.row0 * c.ldc + p.H : p.more + (size_t)t.more * c.ldc;
    } else {
        int set0 = (int)blockIdx.x * p.plan.S;
        c.n = p.n;
        c.sets = min(p.plan.S, p.B - set0);
        c.row0 = c.set0 = set0 * p.n;
        c.i0 = 0;
        c.rows = c.sets * p.n;
        c.pair0 = (size_t)c.row0 * p.n;
        c.RS = p.plan.rows;
        c.JC = p.plan.jc;
        c.whole = p.plan.S > 1;
    }
    return c;
}

/* Some rows i and items j of the tile, at a time. */
struct back_piece {
    int i0, j0, rs, jn, jl; /* rs rows from i0 on; jl items from j0 on, padded to jn */
    int inverse;            /* x / jn is x * inverse >> 20 */
    int row0, others, other0;
};
__device__ static __forceinline__ back_piece back_piece_at(const back_work &c, int i0, int j0) {
    back_piece x;
    x.i0 = i0;
    x.j0 = j0;
    x.rs = min(c.RS, c.rows - i0);
    x.jn = min(c.JC, (c.n - j0 + 7) & ~7);
    x.jl = min(c.JC, c.n - j0);
    x.inverse = ((1 << 20) + x.jn - 1) / x.jn;
    x.row0 = c.row0 + i0;
    x.others = c.whole ? x.rs : x.jl;
    x.other0 = c.whole ? x.row0 : c.set0 + j0;
    return x;
}

/* Returns du of four channels of the pair (own, j) from u, the gradient d at the pool and the item that the
 * pool took. */
__device__ static __forceinline__ float4 back_du_of(float4 u, float4 d, int4 arg, int own, int j,
                                                    onet_pool pool, float4 k0, float4 k1) {
    if (pool_sums(pool)) arg.x = arg.y = arg.z = arg.w = own == j ? -1 : j;
    d.x = u.x > 0 ? (arg.x == j ? d.x : 0.0f) - k0.x - k1.x * u.x : 0.0f;
    d.y = u.y > 0 ? (arg.y == j ? d.y : 0.0f) - k0.y - k1.y * u.y : 0.0f;
    d.z = u.z > 0 ? (arg.z == j ? d.z : 0.0f) - k0.z - k1.z * u.z : 0.0f;
    d.w = u.w > 0 ? (arg.w == j ? d.w : 0.0f) - k0.w - k1.w * u.w : 0.0f;
    return d;
}

/* Writes the warp's sums of du to gbs or, with `again`, adds them to what is there. */
template <int W> __device__ static __forceinline__ void back_sum_du(float4 add, bool again, double *gbs) {
    constexpr int Q = W / 4;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, quad = (int)threadIdx.x % Q * 4;
    double sums[4] = {(double)add.x, (double)add.y, (double)add.z, (double)add.w};
#pragma unroll
    for (int q = 0; q < 4; q++) {
#pragma unroll
        for (int z = Q; z < 32; z *= 2) sums[q] += __shfl_xor_sync(0xffffffff, sums[q], z);
        double *to = gbs + warp * W + quad + q;
        if (lane < Q) *to = again ? *to + sums[q] : sums[q];
    }
}

/* Starts the copy of the gradient at the pool, and of the item that each pool took, of a piece's rows. */
template <int W>
__device__ static __forceinline__ void back_fetch_pool(const back_args &p, const back_piece &x, int o0,
                                                       float *gds, float *args) {
    constexpr int Q = W / 4;
    const int T = (int)blockDim.x, quad = (int)threadIdx.x % Q * 4;
#pragma unroll 1
    for (int r = (int)threadIdx.x / Q; r < x.rs; r += T / Q) {
        size_t at = (size_t)(x.row0 + r) * p.O + o0 + quad;
        async_copy(gds + r * W + quad, p.gd + at);
        async_copy(args + r * W + quad, (const float *)p.arg + at);
    }
}

/* By the last thread block to finish: the gradient of b2, and the backward pass of norm1. */
__device__ static __forceinline__ void back_norm(const back_args &p,
                                                 double *total /* [H + O], and scratch */) {
    const int H = p.H, O = p.O, T = (int)blockDim.x, tid = (int)threadIdx.x;
    const double *b_total = total + H;
    column_totals(p.part, (int)gridDim.x, H + O, total, total + H + O,
                  (int)(p.plan.shared / sizeof(double)) - H - O);
#pragma unroll 1
    for (int o = tid; o < p.out; o += T) p.grad[p.bias + o] = (float)b_total[o];
#pragma unroll 1
    for (int h = tid; h < p.hidden; h += T) {
        double dy = 0;
#pragma unroll 8
        for (int o = 0; o < p.out; o++)
            dy += (double)__ldg(p.theta + p.weight + (size_t)o * p.hidden + h) * b_total[o];
        norm_back(p.back, h, dy, (total[h] - (double)p.norm1.mean[h] * dy) * (double)p.norm1.inv[h]);
    }
}

/* For bfloat16 (pairs_bf16.cu): pairs_pack packs the weights, once norm1 is known; back_shared_bf16 returns
 * the bytes of shared memory of a tile of the backward pass; pair_backward_bf16 launches it. */
void pairs_pack(gpu *s, int block);
size_t back_shared_bf16(const gpu *s, const back_plan *p, int S, int rows, int jc);
void pair_backward_bf16(gpu *s, const back_args &p);

#endif
