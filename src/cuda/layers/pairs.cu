/* The pairs of an encoder block forward on the GPU (a, c and norm1 are there: encoder.cu).
 *
 * u = relu(W2 norm1(h) + b2) for tiles of pairs, h = relu(a_i + c_j); best over j; sums; the last block makes
 * norm2. The product is made on the tensor cores: a warp has 16 pairs and 32 channels, makes norm1(h) in
 * registers just as the steps want it, and shares the hidden channels with other warps of the same pairs.
 *
 * The code is run once by each block, so fetching it takes its time too: loops are rolled up, and there are
 * no divisions in them. */
#include <algorithm>

#include "cuda/common/mma.cuh"
#include "cuda/layers/pairs.cuh"

enum { PAIR_WARPS = 16, PAIR_GROUP = 16, PAIR_SPLITS = 8, PAIR_CELLS = 256 /* a block, at most */ };

struct pair_args : pairs_of_block {
    pair_plan plan;
    size_t gamma;
    float *u, *best;
    int *arg;
    double *part; /* [tiles, 2*O] */
    unsigned *counter;
    norm_forward norm2;
};

/* From row to row of kc numbers in shared memory: two rows that follow each other are in different banks. */
__host__ __device__ static inline int pair_stride(int kc) {
    return kc % 32 ? kc : kc + 16;
}

/* Shared memory: w [channels at a time][kc], g and e of norm1 [kc], a [rows][kc], c [rows of the sets][kc]
 * for kc hidden channels at a time (all of them where they fit), and parts of u [splits][cells][channels +
 * 8]; sums in the end. */
static size_t pair_shared(const gpu *s, const pair_plan *p, int n) {
    int rows = p->S ? p->S * n : p->rows, others = p->S ? p->S * n : p->jc, W = pairs_width(s);
    size_t ld = (size_t)pair_stride(p->kc), all = (size_t)(W + rows + others) * ld + 2 * (size_t)p->kc,
           u = (size_t)p->splits * p->groups * PAIR_GROUP * (W + 8), sums = 4 * 32 * (size_t)p->warps;
    return (std::max(all, sums) + u) * sizeof(float);
}

/* Tiles of whole sets, or of some rows of one, as many as there are multiprocessors where they are large
 * enough; with many more of them, smaller blocks that share a multiprocessor. */
bool pair_plan_make(const gpu *s, int B, int n, pair_plan *p) {
    int rows = std::min(up(B * n, s->multiprocessors), PAIR_CELLS / n);
    p->jc = std::min(n, (int)PAIR_CELLS);
    p->S = rows / n;
    p->parts = p->S ? 1 : up(n, std::max(rows, 1));
    p->rows = up(n, p->parts);
    p->tiles = p->S ? up(B, p->S) : B * p->parts;
    p->warps = p->tiles <= s->multiprocessors ? PAIR_WARPS : PAIR_WARPS / 2;
    p->groups = up(p->S ? p->S * n * n : p->rows * p->jc, PAIR_GROUP);
    for (p->splits = PAIR_SPLITS; p->splits > 1 && p->splits * p->groups > p->warps;) p->splits /= 2;
    p->warps = std::min(p->warps, p->splits * p->groups);
    for (p->kc = s->H;; p->kc = up(p->kc / 2, 16) * 16) {
        p->shared = pair_shared(s, p, n);
        if (p->shared <= s->shared || p->kc <= 16) return p->shared <= s->shared;
    }
}

template <int NT> __global__ void __launch_bounds__(PAIR_WARPS * 32) pair_forward_kernel(pair_args p) {
    constexpr int W = 8 * NT, ldu = W + 8; /* channels at a time */
    extern __shared__ float4 memory[];
    const int n = p.n, H = p.H, O = p.O, KC = p.plan.kc, ld = pair_stride(KC), T = (int)blockDim.x,
              tid = (int)threadIdx.x, warp = tid >> 5, lane = tid & 31, warps = T >> 5;
    const int splits = p.plan.splits, part = p.plan.groups * PAIR_GROUP * ldu;
    float *us = (float *)memory, *ws = us + splits * part, *gs = ws + W * ld, *es = gs + KC, *as = es + KC;
    int row0, rows, set0;
    if (p.plan.S) {
        set0 = (int)blockIdx.x * p.plan.S;
        row0 = set0 * n;
        rows = min(p.plan.S, p.B - set0) * n;
    } else {
        set0 = (int)blockIdx.x / p.plan.parts;
        int i0 = (int)blockIdx.x % p.plan.parts * p.plan.rows;
        row0 = set0 * n + i0;
        rows = min(p.plan.rows, n - i0);
    }
    const int other = p.plan.S ? row0 : set0 * n, g = lane >> 2, t = lane & 3;
    const int c_own = tid % W, r_own = tid / W, r_step = T / W; /* in the search for the best */
    const bool aligned = (p.weight | (size_t)p.hidden) % 4 == 0;
    auto weights = [&](int o0, int k0) {
#pragma unroll 1
        for (int c = warp; c < W; c += warps) {
            const float *from = p.theta + p.weight + (size_t)(o0 + c) * p.hidden + k0;
            float *to = ws + c * ld;
            int most = o0 + c < p.out ? p.hidden - k0 : 0;
#pragma unroll 1
            for (int k = lane * 4; k < KC; k += 128)
                if (aligned)
                    async_copy<4>(to + k, from + k, most - k);
                else
#pragma unroll 1
                    for (int q = k; q < k + 4; q++) async_copy<1>(to + q, from + q, most - q);
        }
    };
#pragma unroll 1
    for (int o0 = 0; o0 < O; o0 += W) {
        const int o_own = o0 + c_own;
        double sum = 0, square = 0;
        float bias = 0, sign = 1;
#pragma unroll 1
        for (int j0 = 0; j0 < n; j0 += p.plan.jc) {
            const int jc = min(p.plan.jc, n - j0), cells = rows * jc;
            const int others = p.plan.S ? rows : jc, other0 = other + j0;
            const int inverse = ((1 << 20) + jc - 1) / jc; /* q / jc is q * inverse >> 20 */
#pragma unroll 1
            for (int k0 = 0; k0 < H; k0 += KC) {
                const int kn = min(KC, H - k0);
                __syncthreads();
                if (KC < H || !j0) weights(o0, k0); /* these are older than the kernel before this one */
                if (!j0 && !k0 && o_own < p.out) {
                    bias = __ldg(p.theta + p.bias + o_own);
                    sign = __ldg(p.theta + p.gamma + o_own) < 0 ? -1.0f : 1.0f;
                }
                if (!o0 && !j0 && !k0) wait_turn();
#pragma unroll 1
                for (int r = warp - 2; r < rows + others; r += warps) { /* g, e, a, c follow each other */
                    const float *from = r < 0      ? (r < -1 ? p.norm1.g : p.norm1.e)
                                        : r < rows ? p.ac + (size_t)(row0 + r) * 2 * H
                                                   : p.ac + (size_t)(other0 + r - rows) * 2 * H + H;
                    float *to = r < 0 ? gs + (r + 2) * KC : as + r * ld;
#pragma unroll 1
                    for (int k = lane * 4; k < kn; k += 128) async_copy(to + k, from + k0 + k);
                }
                async_commit();
                async_wait<0>();
                __syncthreads();
#pragma unroll 1
                for (int first = warp / splits * 16; first < cells; first += warps / splits * 16) {
                    const float *a_at[2], *c_at[2];
#pragma unroll
                    for (int x = 0; x < 2; x++) {
                        int q = min(first + x * 8 + g, cells - 1), i = q * inverse >> 20, j = q - i * jc;
                        a_at[x] = as + i * ld + t * 4;
                        c_at[x] = as + (rows + (p.plan.S ? (i * inverse >> 20) * n + j : j)) * ld + t * 4;
                    }
                    float acc[NT][4] = {};
#pragma unroll 1
                    for (int k = warp % splits * 16; k < kn; k += splits * 16) {
                        /* a lane has four k that follow each other: the order is all the same to a sum */
                        float4 vg = load4(gs + k + t * 4), ve = load4(es + k + t * 4), w[NT];
                        float y[2][4], fresh[NT][4] = {};
#pragma unroll
                        for (int c = 0; c < NT; c++) w[c] = load4(ws + (c * 8 + g) * ld + k + t * 4);
#pragma unroll
                        for (int x = 0; x < 2; x++) {
                            float4 va = load4(a_at[x] + k), vc = load4(c_at[x] + k);
                            y[x][0] = fmaf(relu(va.x + vc.x), vg.x, ve.x);
                            y[x][1] = fmaf(relu(va.y + vc.y), vg.y, ve.y);
                            y[x][2] = fmaf(relu(va.z + vc.z), vg.z, ve.z);
                            y[x][3] = fmaf(relu(va.w + vc.w), vg.w, ve.w);
                        }
#pragma unroll
                        for (int half = 0; half < 4; half += 2) {
                            factor<4, false> a;
                            factor<2, false> b[NT];
                            a.set(0, y[0][half]);
                            a.set(1, y[1][half]);
                            a.set(2, y[0][half + 1]);
                            a.set(3, y[1][half + 1]);
#pragma unroll
                            for (int c = 0; c < NT; c++) {
                                b[c].set(0, half ? w[c].z : w[c].x);
                                b[c].set(1, half ? w[c].w : w[c].y);
                            }
                            mma(fresh, a, b);
                        }
#pragma unroll
                        for (int c = 0; c < NT; c++)
#pragma unroll
                            for (int q = 0; q < 4; q++) acc[c][q] += fresh[c][q];
                    }
                    float *to = us + warp % splits * part + (first + g) * ldu + t * 2;
#pragma unroll
                    for (int c = 0; c < NT; c++)
#pragma unroll
                        for (int x = 0; x < 2; x++) {
                            float2 *at = (float2 *)(to + x * 8 * ldu + c * 8),
                                   old = k0 ? *at : make_float2(0, 0);
                            *at = make_float2(old.x + acc[c][2 * x], old.y + acc[c][2 * x + 1]);
                        }
                }
            }
            __syncthreads();
#pragma unroll 1
            for (int q = tid / W; q < cells; q += r_step) {
                float *at = us + q * ldu + c_own, u = *at;
#pragma unroll 2
                for (int z = 1; z < splits; z++) u += at[z * part];
                *at = u = relu(u + bias);
                if (o_own < O) p.u[((size_t)row0 * n + j0 + q) * O + o_own] = u; /* jc < n: a single row */
            }
            __syncthreads();
            if (o_own < O)
#pragma unroll 1
                for (int r = r_own; r < rows; r += r_step) {
                    size_t at = (size_t)(row0 + r) * O + o_own;
                    int own = row0 + r - other - j0, arg = -1;
                    if (p.plan.S) own = r - (r * inverse >> 20) * n;
                    float best = 0, s0 = 0, s1 = 0;
                    if (j0) {
                        best = p.best[at];
                        arg = p.arg[at];
                    }
                    const float *from = us + r * jc * ldu + c_own;
#pragma unroll 2
                    for (int j = 0; j < jc; j++) {
                        float u = from[j * ldu];
                        s0 += u;
                        s1 += u * u;
                        if (j == own) continue;
                        if (p.mean)
                            best += u;
                        else if (arg < 0 || sign * u > sign * best) {
                            best = u;
                            arg = j0 + j;
                        }
                    }
                    p.best[at] = best;
                    p.arg[at] = arg;
                    sum += (double)s0;
                    square += (double)s1;
                }
        }
        double *sums = (double *)ws; /* [2, T] */
        sums[tid] = sum;
        sums[T + tid] = square;
        __syncthreads();
        if (tid < 2 * W && o0 + tid % W < O) {
            double add = 0;
#pragma unroll 4
            for (int k = tid % W; k < T; k += W) add += sums[tid / W * T + k];
            p.part[(size_t)blockIdx.x * 2 * O + tid / W * O + o0 + tid % W] = add;
        }
    }
    if (!last_block(p.counter, gridDim.x)) return;
    double *total = (double *)memory;
    column_totals(p.part, (int)gridDim.x, 2 * O, total, total + 2 * O,
                  (int)(p.plan.shared / sizeof(double)) - 2 * O);
    if (tid < p.out) norm_make(p.norm2, tid, total[tid], total[O + tid]);
}

void gpu_encoder_pairs(gpu *s, int block) {
    encoder_block *e = &s->enc[block];
    pair_args p = {pairs_of(s, block)};
    if (!pair_plan_make(s, p.B, p.n, &p.plan)) return;
    p.gamma = s->base.sh->enc[block].norm2.gamma;
    p.u = e->u;
    p.best = e->best;
    p.arg = e->arg;
    p.part = s->part;
    p.counter = s->counters;
    p.norm2 = norms_second(s, block);
    int threads = p.plan.warps * 32;
    if (pairs_width(s) == 16)
        CHAIN(s, p.plan.tiles, threads, p.plan.shared, pair_forward_kernel<2>, p);
    else
        CHAIN(s, p.plan.tiles, threads, p.plan.shared, pair_forward_kernel<4>, p);
}
