/* Computes the backward pass of an encoder block over its pairs of items in bfloat16, on the GPU, and packs
 * W2 for both passes; pairs_back.cu does the backward pass in float32 and TF32, with the same algebra and the
 * same results in device memory.
 *
 * A thread block has some sets or some rows of one: it makes du once, in shared memory, for all hidden
 * channels. A warp has 16 of these, and takes two items i with 8 items j at a time: w du [16, 16 pairs] and
 * G [16, channels] += h [16, 16 pairs] du. Rows g and g + 8 of its products are the hidden channels 2g and
 * 2g + 1, so that a lane reads both at once.
 *
 * pairs_pack: W2 times norm1's scale, for both passes, and the bias with norm1's shift, once norm1 is known.
 */
#include <algorithm>

#include "engine/cuda/layers/pairs.cuh"

/* ---- weights ---- */

struct pairs_pack_args {
    const float *theta;
    size_t weight, bias;
    norms norm1;
    int H, O, hidden, out;
    uint16_t *w2, *w2_back;
    float *w2_turned, *bias2;
};

/* Returns the place of hidden channel h in w2: a lane of the forward pass reads four consecutive ones. */
__device__ static inline int pairs_place(int h) {
    int k = h & 15;
    return (h & ~15) + (k / 4 * 2 + k % 2) + (k & 2) * 4;
}

/* One channel per thread block. */
__global__ void __launch_bounds__(128) pairs_pack_kernel(pairs_pack_args p) {
    wait_turn();
    __shared__ float sums[4];
    const int o = (int)blockIdx.x;
    float shift = 0;
    for (int h = threadIdx.x; h < p.H; h += 128) {
        bool there = o < p.out && h < p.hidden;
        float w = there ? load(p.theta + p.weight + (size_t)o * p.hidden + h) : 0.0f,
              e = there ? load(p.norm1.e + h) : 0.0f;
        bf16 scaled = bf16_of(there ? w * load(p.norm1.g + h) : 0.0f);
        p.w2[(size_t)o * p.H + pairs_place(h)] = scaled.bits;
        p.w2_back[(size_t)h * p.O + o] = scaled.bits;
        p.w2_turned[(size_t)h * p.O + o] = w;
        shift = fmaf(w, e, shift);
    }
    shift = warp_sum(shift);
    if (!(threadIdx.x & 31)) sums[threadIdx.x >> 5] = shift;
    __syncthreads();
    if (!threadIdx.x)
        p.bias2[o] = (o < p.out ? load(p.theta + p.bias + o) : 0.0f) + sums[0] + sums[1] + sums[2] + sums[3];
}

void pairs_pack(gpu *s, int block) {
    const net_shape *sh = s->base.sh;
    const encoder_at *at = &sh->enc[block];
    const bf16_block *b = &s->half.block[block];
    pairs_pack_args p = {.theta = s->weights.theta,
                         .weight = at->weight2,
                         .bias = at->bias2,
                         .norm1 = s->enc[block].norm1,
                         .H = s->H,
                         .O = s->O,
                         .hidden = sh->s.hidden,
                         .out = sh->s.encoder_out,
                         .w2 = b->w2,
                         .w2_back = b->w2_back,
                         .w2_turned = b->w2_turned,
                         .bias2 = b->bias2};
    CHAIN(s, s->O, 128, 0, pairs_pack_kernel, p);
}

/* ---- the backward pass ---- */

/* Shared memory, for some rows i and jc items j at a time: du [rows][jc][channels + 8]; a [rows][KB + 8] and
 * c [rows of the sets, or jc, and 8 more][KB + 8] for KB hidden channels at a time; gd and arg
 * [rows][channels]; da [rows][KB]; sums of du by warp [warps][channels]; at the end, in place of all, sums
 * over the tiles. */
size_t back_shared_bf16(const gpu *s, const back_plan *p, int S, int rows, int jc) {
    size_t W = (size_t)pairs_width(s), KB = 16 * (size_t)p->warps, R = (size_t)rows,
           C = (S > 1 ? R : (size_t)jc) + 8;
    size_t halves = R * jc * (W + 8) + (R + C) * (KB + 8), floats = 2 * R * W + R * KB,
           doubles = W * (size_t)p->warps;
    return std::max(halves * 2 + floats * 4 + doubles * 8, 16 * (size_t)(s->H + s->O));
}

struct back_memory_bf16 { /* back_shared_bf16 says what is where */
    bf16 *du, *as;
    float *gds, *args, *das;
    double *gbs;
};

/* Starts the copy of u; the previous kernel does not write it. */
template <int W>
__device__ static __forceinline__ void back_fetch_u(const back_args &p, const back_work &c,
                                                    const back_piece &x, int o0, const back_memory_bf16 &m) {
    constexpr int E = W / 8, LD = W + 8;
    const int T = (int)blockDim.x, at = (int)threadIdx.x % E * 8;
    const bool there = o0 + at < p.O;
    const bf16 *from =
        (const bf16 *)p.u + (c.pair0 + (size_t)x.i0 * c.n + x.j0) * p.O + (there ? o0 + at : 0);
#pragma unroll 1
    for (int y = (int)threadIdx.x / E; y < x.rs * x.jn; y += T / E) {
        int r = y * x.inverse >> 20, j = y - r * x.jn;
        bool cell = there && j < x.jl;
        async_copy<4>((float *)(m.du + y * LD + at),
                      (const float *)(from + (cell ? (size_t)r * c.n + j : 0) * p.O), cell ? 4 : 0);
    }
}

/* Starts the copy of a and c of the hidden channels from kbase on. */
__device__ static __forceinline__ void back_fetch_ac(const back_args &p, const back_piece &x, int kbase,
                                                     const back_memory_bf16 &m) {
    const int T = (int)blockDim.x, KB = T / 2, ld = KB + 8;
    const bf16 *ac = (const bf16 *)p.ac;
#pragma unroll 1
    for (int r = (int)threadIdx.x >> 5; r < x.rs + x.others + 8; r += T >> 5) {
        bool own = r < x.rs, row = r < x.rs + x.others;
        const bf16 *from = ac +
                           (size_t)(own   ? x.row0 + r
                                    : row ? x.other0 + r - x.rs
                                          : x.other0) *
                               2 * p.H +
                           (own ? 0 : p.H) + kbase;
#pragma unroll 1
        for (int k = ((int)threadIdx.x & 31) * 8; k < KB; k += 256) {
            bool there = row && kbase + k < p.H;
            async_copy<4>((float *)(m.as + r * ld + k), (const float *)(from + (there ? k : -kbase)),
                          there ? 4 : 0);
        }
    }
}

/* Overwrites u with du; returns the thread's sums of it. */
template <int W>
__device__ static __forceinline__ float4 back_du_bf16(const back_args &p, const back_work &c,
                                                      const back_piece &x, float4 k0, float4 k1,
                                                      const back_memory_bf16 &m) {
    constexpr int Q = W / 4, LD = W + 8;
    const int T = (int)blockDim.x, quad = (int)threadIdx.x % Q * 4, n = c.n,
              inverse_n = ((1 << 20) + n - 1) / n;
    float4 add = make_float4(0, 0, 0, 0);
#pragma unroll 1
    for (int y = (int)threadIdx.x / Q; y < x.rs * x.jn; y += T / Q) {
        int r = y * x.inverse >> 20, j = x.j0 + y - r * x.jn, own = c.i0 + x.i0 + r;
        if (c.whole) own -= (own * inverse_n >> 20) * n;
        if (j >= n) continue;
        float4 d = back_du_of(four_of(m.du + y * LD + quad), load4(m.gds + r * W + quad),
                              *(const int4 *)(m.args + r * W + quad), own, j, p.pool, k0, k1);
        put_four(m.du + y * LD + quad, d);
        add = make_float4(add.x + d.x, add.y + d.y, add.z + d.z, add.w + d.w);
    }
    return add;
}

/* Returns the gradients at h of two pairs, 0 where h is 0. */
__device__ static inline float2 back_masked(unsigned h, float first, float second) {
    return make_float2(h & 0x7fff ? first : 0.0f, h & 0x7fff0000 ? second : 0.0f);
}

/* Adds the sums of two rows, each of the hidden channels 2g and 2g + 1, over the four lanes of a group;
 * returns in lane t that of row t / 2 and channel t % 2. */
__device__ static __forceinline__ float back_share_sums(float2 row0, float2 row1, int t) {
    const bool second = t & 2, odd = t & 1;
    float2 keep = second ? row1 : row0, give = second ? row0 : row1;
    keep.x += __shfl_xor_sync(0xffffffff, give.x, 2);
    keep.y += __shfl_xor_sync(0xffffffff, give.y, 2);
    float own = odd ? keep.y : keep.x, other = odd ? keep.x : keep.y;
    return own + __shfl_xor_sync(0xffffffff, other, 1);
}

/* G += h du over the piece, and its sums of w du where h > 0, as back_pairs of pairs_back.cu. */
template <int NT, bool MIXED>
__device__ static __forceinline__ void
back_pairs_bf16(const back_args &p, const back_work &c, const back_piece &x, bool later_j, bool later_i,
                int kbase, const unsigned (&wf)[NT / 2][4], const back_memory_bf16 &m, float (&G)[NT][4]) {
    constexpr int LD = 8 * NT + 8;
    const int H = p.H, KB = (int)blockDim.x / 2, ldk = KB + 8, lane = threadIdx.x & 31, g = lane >> 2,
              t = lane & 3, kl = ((int)threadIdx.x >> 5) * 16 + 2 * g, k = kbase + kl;
    const size_t ld = 2 * (size_t)H;
    /* Of a row's 8 pairs, the lane's address of four blocks of 8 channels. */
    const bf16 *du = m.du + (lane & 7) * LD + (lane >> 3) * 8;
#pragma unroll 1
    for (int set = 0; set < (c.whole ? c.sets : 1); set++)
#pragma unroll 1
        for (int j = 0; j < x.jn; j += 8) {
            const int first = set * c.n, last = c.whole ? first + c.n : x.rs;
            const bf16 *own = m.as + (x.rs + first + j + 2 * t) * ldk + kl;
            const unsigned c0 = *(const unsigned *)own, c1 = *(const unsigned *)(own + ldk);
            const unsigned cs[2] = {(c0 & 0xffff) | c1 << 16, c0 >> 16 | (c1 & 0xffff0000u)};
            float2 dc[2] = {};
#pragma unroll 1
            for (int r = first; r < last; r += 2) {
                const bool two = r + 1 < last;
                float back[2][4] = {};
                unsigned h[4], turned[2][NT];
                float2 da[2];
#pragma unroll
                for (int y = 0; y < 2; y++) {
                    const int row = two ? r + y : r;
                    const unsigned a = *(const unsigned *)(m.as + row * ldk + kl);
                    h[2 * y] = bf16_relu_sum((a & 0xffff) | a << 16, cs[0]);
                    h[2 * y + 1] = bf16_relu_sum(a >> 16 | (a & 0xffff0000u), cs[1]);
                    if (y && !two) h[2] = h[3] = 0;
                    const bf16 *from = du + (size_t)(row * x.jn + j) * LD;
#pragma unroll
                    for (int o = 0; o < NT; o += 4) {
                        unsigned b[4];
                        /* Where there are two, the other addresses are theirs again. */
                        const bf16 *at = NT == 2 ? from - (lane >> 4) * 16 : from + o * 8;
                        matrices(b, at);
                        mma16(back[y], wf[o / 2], b[0], b[1]);
                        if constexpr (NT > 2) mma16(back[y], wf[o / 2 + 1], b[2], b[3]);
                        matrices_turned(b, at);
#pragma unroll
                        for (int q = 0; q < 4 && q < NT; q++) turned[y][o + q] = b[q];
                    }
                    float2 m0 = back_masked(h[2 * y], back[y][0], back[y][1]),
                           m1 = back_masked(h[2 * y + 1], back[y][2], back[y][3]);
                    dc[0] = make_float2(dc[0].x + m0.x, dc[0].y + m0.y);
                    dc[1] = make_float2(dc[1].x + m1.x, dc[1].y + m1.y);
                    da[y] = make_float2(m0.x + m0.y, m1.x + m1.y);
                }
#pragma unroll
                for (int q = 0; q < NT; q++) mma16(G[q], h, turned[0][q], turned[1][q]);
                float sum = back_share_sums(da[0], da[1], t);
                const int row = r + t / 2, at = row * KB + kl + t % 2;
                if (t >= 2 && !two) continue;
                if (j) sum += m.das[at];
                if (j + 8 < x.jn)
                    m.das[at] = sum;
                else {
                    float *to = p.sum + (size_t)(x.row0 + row) * ld + k + t % 2;
                    *to = later_j ? *to + sum : sum;
                }
            }
#pragma unroll
            for (int y = 0; y < 2; y++) {
                int item = j + 2 * t + y;
                float2 *to = (float2 *)back_dc<MIXED>(p, c, x.other0 - c.set0 + first + item, k),
                       v = y ? make_float2(dc[0].y, dc[1].y) : make_float2(dc[0].x, dc[1].x);
                if (x.j0 + item >= c.n) continue;
                *to = later_i ? make_float2(to->x + v.x, to->y + v.y) : v;
            }
        }
}

/* Adds G of the piece to that of the pieces before; with the last piece, writes the sums of w G. */
template <int NT>
__device__ static __forceinline__ void back_leave_G_bf16(const back_args &p, const float (&G)[NT][4], int o0,
                                                         int k, bool again, bool complete, bool later_o,
                                                         float *part) {
    const int t = threadIdx.x & 3;
#pragma unroll
    for (int x = 0; x < 2; x++) {
        float sum = 0;
#pragma unroll
        for (int q = 0; q < NT; q++) {
            const int o = o0 + q * 8 + 2 * t;
            if (o >= p.O) continue;
            float2 *to = (float2 *)(p.g + ((size_t)blockIdx.x * p.H + k + x) * p.O + o),
                   v = make_float2(G[q][2 * x], G[q][2 * x + 1]);
            if (again) v = make_float2(to->x + v.x, to->y + v.y);
            *to = v;
            if (!complete) continue;
            float2 w = *(const float2 *)(p.w2_turned + (size_t)(k + x) * p.O + o);
            sum += w.x * v.x + w.y * v.y;
        }
        if (!complete) continue;
        sum += __shfl_xor_sync(0xffffffff, sum, 1);
        sum += __shfl_xor_sync(0xffffffff, sum, 2);
        if (!t) part[k + x] = later_o ? part[k + x] + sum : sum;
    }
}

template <int NT, bool MIXED>
__global__ void __launch_bounds__(BACK_WARPS * 32, 1) pair_backward_bf16_kernel(back_args p) {
    constexpr int W = 8 * NT, Q = W / 4, LD = W + 8; /* channels at a time */
    extern __shared__ float4 memory[];
    const back_work c = back_work_at<MIXED>(p);
    const int n = c.n, H = p.H, O = p.O, T = (int)blockDim.x, tid = (int)threadIdx.x, KB = T / 2,
              g = (tid & 31) / 4, t = tid & 3;
    back_memory_bf16 m;
    m.gbs = (double *)memory;
    m.gds = (float *)(m.gbs + W * (T >> 5));
    m.args = m.gds + c.RS * W;
    m.das = m.args + c.RS * W;
    m.du = (bf16 *)(m.das + c.RS * KB);
    m.as = m.du + c.RS * c.JC * LD;
    const int quad = tid % Q * 4;
    float *part = p.part + (size_t)blockIdx.x * (H + O);
#pragma unroll 1
    for (int o0 = 0; o0 < O; o0 += W) {
        const bool there = o0 + quad < O;
        bool again = false; /* G has a part already */
#pragma unroll 1
        for (int i0 = 0; i0 < c.rows; i0 += c.RS)
#pragma unroll 1
            for (int j0 = 0; j0 < n; j0 += c.JC) {
                const back_piece x = back_piece_at(c, i0, j0);
                __syncthreads();
                back_fetch_u<W>(p, c, x, o0, m);
                back_fetch_ac(p, x, 0, m);
                if (!o0 && !i0 && !j0) wait_turn(); /* the previous kernel writes gd, k0 and k1 */
                float4 k0 = make_float4(0, 0, 0, 0), k1 = k0, add = k0;
                if (there) {
                    k0 = load4(p.k0 + o0 + quad);
                    k1 = load4(p.k1 + o0 + quad);
                    back_fetch_pool<W>(p, x, o0, m.gds, m.args);
                }
                async_commit();
                async_wait<0>();
                __syncthreads();
                if (there) add = back_du_bf16<W>(p, c, x, k0, k1, m);
                back_sum_du<W>(add, again, m.gbs);
#pragma unroll 1
                for (int kbase = 0; kbase < H; kbase += KB) {
                    if (kbase) {
                        __syncthreads();
                        back_fetch_ac(p, x, kbase, m);
                        async_commit();
                        async_wait<0>();
                    }
                    __syncthreads();
                    const int k = kbase + (tid >> 5) * 16 + 2 * g; /* this lane's: k and k + 1 */
                    if (kbase + (tid >> 5) * 16 >= H) continue;
                    unsigned wf[NT / 2][4];
#pragma unroll
                    for (int q = 0; q < NT / 2; q++)
#pragma unroll
                        for (int y = 0; y < 4; y++) {
                            int o = o0 + q * 16 + y / 2 * 8 + 2 * t;
                            wf[q][y] =
                                o < O ? *(const unsigned *)(p.w2_back + (size_t)(k + y % 2) * O + o) : 0;
                        }
                    float G[NT][4] = {};
                    back_pairs_bf16<NT, MIXED>(p, c, x, j0 || o0, i0 || o0, kbase, wf, m, G);
                    back_leave_G_bf16<NT>(p, G, o0, k, again, i0 + c.RS >= c.rows && j0 + c.JC >= n, o0 > 0,
                                          part);
                }
                again = true;
            }
        __syncthreads();
        if (tid < W && o0 + tid < O) {
            double add = 0;
#pragma unroll 4
            for (int z = 0; z < T >> 5; z++) add += m.gbs[z * W + tid];
            part[H + o0 + tid] = (float)add;
        }
    }
    if (last_block(p.counter, gridDim.x)) back_norm(p, (double *)memory);
}

template <int NT> static void pair_backward_bf16_launch(gpu *s, const back_args &p) {
    int threads = p.plan.warps * 32;
    if (s->ragged.mixed)
        CHAIN(s, p.plan.tiles, threads, p.plan.shared, (pair_backward_bf16_kernel<NT, true>), p);
    else
        CHAIN(s, p.plan.tiles, threads, p.plan.shared, (pair_backward_bf16_kernel<NT, false>), p);
}

void pair_backward_bf16(gpu *s, const back_args &p) {
    if (pairs_width(s) == 16)
        pair_backward_bf16_launch<2>(s, p);
    else if (pairs_width(s) == 32)
        pair_backward_bf16_launch<4>(s, p);
    else
        pair_backward_bf16_launch<8>(s, p);
}
