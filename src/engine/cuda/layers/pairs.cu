/* Computes the forward pass of an encoder block over its pairs of items, on the GPU, after encoder.cu has
 * computed a, c and norm1; and cuts a batch into tiles for it.
 *
 * u = relu(W2 norm1(h) + b2) for tiles of pairs, h = relu(a_i + c_j), where RELATED with what relations add
 * to c_j; the pool over j; sums; the last thread block to finish makes norm2. The product is made on the
 * tensor cores: a warp has 16 pairs and 32 channels, makes norm1(h) in registers in the layout of an mma, and
 * shares the hidden channels with other warps of the same pairs.
 *
 * Each thread block runs the code once, so that fetching instructions counts: loops are not unrolled, and
 * have no divisions. */
#include <algorithm>

#include "engine/cuda/base/mma.cuh"
#include "engine/cuda/layers/pairs.cuh"

enum { PAIR_WARPS = 16, PAIR_GROUP = 16, PAIR_SPLITS = 8, PAIR_CELLS = 256 /* per thread block, at most */ };

struct pair_args : pairs_of_block {
    pair_plan plan;
    const pair_tile *tiles; /* of a batch of several sizes */
    size_t gamma;
    void *u; /* stored<P>, as in encoder_block */
    float *best;
    int *arg;
    double *part; /* [tiles, 2*O] */
    unsigned *counter;
    norm_forward norm2;
};

/* Distance of rows of kc numbers in shared memory: two consecutive rows are in different banks. */
__host__ __device__ static inline int pair_stride(int kc) {
    return kc % 32 ? kc : kc + 16;
}
/* pair_stride for weights in bfloat16. */
__host__ __device__ static inline int pair_stride_weights(int kc) {
    return kc + 8;
}

/* Shared memory: w [channels at a time][kc], g and e of norm1 [kc], a [rows][kc], c [rows of the sets][kc]
 * for kc hidden channels at a time (all of them where they fit), and parts of u [splits][cells][channels +
 * 8]; the sums at the end. */
static size_t pair_shared(const gpu *s, const pair_plan *p, int rows, int groups) {
    int W = pairs_width(s); /* rows: of a and of c; groups: of 16 cells, once per split */
    size_t ld = (size_t)pair_stride(p->kc), all = (size_t)(W + rows) * ld + 2 * (size_t)p->kc,
           u = (size_t)groups * PAIR_GROUP * (W + 8), sums = 4 * 32 * (size_t)p->warps;
    if (precision_of(s) == ONET_BF16) /* floats */
        all = (W * (size_t)pair_stride_weights(p->kc) + rows * ld) / 2;
    return (std::max(all, sums) + u) * sizeof(float);
}

/* All hidden channels at a time, or as many as fit into shared memory. */
static bool pair_channels(const gpu *s, int rows, int groups, pair_plan *p) {
    for (p->kc = s->H;; p->kc = up(p->kc / 2, 16) * 16) {
        p->shared = pair_shared(s, p, rows, groups);
        if (p->shared <= s->shared || p->kc <= 16) return p->shared <= s->shared;
    }
}

/* Returns at most `warps` warps, and about as many as have work (`most`). The threads are a multiple of the
 * channels at a time. */
static int pair_warps(const gpu *s, int warps, int most) {
    int unit = up(pairs_width(s), 32);
    return std::min(warps, up(most, unit) * unit);
}

/* Gives a thread block more warps where the shared memory of a multiprocessor has no room for two of them;
 * not in float32, which keeps the order of its sums. */
static void pair_widen(const gpu *s, int most, pair_plan *p) {
    if (s->base.precision && 2 * p->shared > s->shared) p->warps = pair_warps(s, PAIR_WARPS, most);
}

/* Warps that share the hidden channels of the same cells. */
static int pair_splits(int groups, int warps) {
    int splits = PAIR_SPLITS;
    while (splits > 1 && splits * groups > warps) splits /= 2;
    return splits;
}

/* Tiles of whole sets, or of some rows of one: one per multiprocessor where that fits into a tile; where
 * there are more, thread blocks with fewer warps, of which two share a multiprocessor. */
bool pair_plan_make(const gpu *s, int B, int n, pair_plan *p) {
    int rows = std::min(up(B * n, s->multiprocessors), PAIR_CELLS / n);
    p->jc = std::min(n, (int)PAIR_CELLS);
    p->S = rows / n;
    p->parts = p->S ? 1 : up(n, std::max(rows, 1));
    p->rows = up(n, p->parts);
    p->tiles = p->S ? up(B, p->S) : B * p->parts;
    p->warps = p->tiles <= s->multiprocessors ? PAIR_WARPS : PAIR_WARPS / 2;
    p->groups = up(p->S ? p->S * n * n : p->rows * p->jc, PAIR_GROUP);
    p->splits = pair_splits(p->groups, p->warps);
    p->warps = pair_warps(s, p->warps, p->splits * p->groups);
    if (!pair_channels(s, p->S ? 2 * p->S * n : p->rows + p->jc, p->splits * p->groups, p)) return false;
    pair_widen(s, p->splits * p->groups, p);
    return true;
}

/* How a run of sets of n items is cut into tiles of up to `most` cells: S sets each or, where S is 0, `each`
 * rows of one set. */
struct pair_cut {
    int S, each;
    pair_cut(int n, int most, int most_rows) {
        S = std::min(most / (n * n), std::max(most_rows / n, 1));
        each = S ? n : up(n, up(n, std::max(most / n, 1)));
    }
};

/* Returns the most cells of a tile: in a small batch, as many as give each multiprocessor one tile. */
static int pair_most(const gpu *s, const set_run *runs, int count, int most_rows) {
    const int least = std::min(up(runs[count].pair0, s->multiprocessors), (int)PAIR_CELLS);
    for (int most = least; most <= PAIR_CELLS; most += up(most, 16)) {
        int tiles = 0;
        for (int k = 0; k < count; k++) {
            const pair_cut cut(runs[k].n, most, most_rows);
            tiles += cut.S ? up(runs[k].sets, cut.S) : runs[k].sets * up(runs[k].n, cut.each);
        }
        if (tiles <= s->multiprocessors) return most;
    }
    return least;
}

/* Makes tiles of whole sets with up to most_rows rows, or of some rows of one set. */
static bool pair_tiles_of(const gpu *s, const set_run *runs, int count, int most_rows, pair_plan *p,
                          pair_tile *out) {
    const set_run &end = runs[count];
    int most = pair_most(s, runs, count, most_rows), rows = 0, groups = 0;
    *p = {};
    p->warps = end.pair0 <= s->multiprocessors * PAIR_CELLS ? PAIR_WARPS : PAIR_WARPS / 2;
    auto add = [&](const set_run &r, int set, int i0, int tile_rows, int whole) {
        pair_tile t = {};
        t.n = r.n;
        t.other0 = r.row0 + set * r.n;
        t.row0 = t.other0 + i0;
        t.rows = tile_rows;
        t.pair0 = r.pair0 + set * r.n * r.n + i0 * r.n;
        t.whole = whole;
        t.groups = up(tile_rows * std::min(r.n, (int)PAIR_CELLS), PAIR_GROUP);
        t.splits = pair_splits(t.groups, p->warps);
        rows = std::max(rows, tile_rows + (whole ? tile_rows : std::min(r.n, (int)PAIR_CELLS)));
        groups = std::max(groups, t.splits * t.groups);
        out[p->tiles++] = t;
    };
    for (int k = 0; k < count; k++) {
        const set_run &r = runs[k];
        const auto [S, each] = pair_cut(r.n, most, most_rows);
        for (int set = 0; set < r.sets; set += std::max(S, 1))
            if (S)
                add(r, set, 0, std::min(S, r.sets - set) * r.n, 1);
            else
                for (int i0 = 0; i0 < r.n; i0 += each) add(r, set, i0, std::min(each, r.n - i0), 0);
    }
    if (!pair_channels(s, rows, groups, p)) return false;
    pair_widen(s, groups, p);
    return true;
}

/* With few small sets per tile, shared memory has room for all hidden channels of every tile. */
bool pair_tiles_make(const gpu *s, const set_run *runs, int count, pair_plan *p, pair_tile *out) {
    enum { MOST_ROWS = 48 }; /* this leaves room for a second thread block in narrow nets */
    for (int rows = MOST_ROWS; rows >= MOST_ROWS / 3; rows -= MOST_ROWS / 6)
        if (pair_tiles_of(s, runs, count, rows, p, out) && p->kc == s->H) return true;
    return pair_tiles_of(s, runs, count, MOST_ROWS, p, out);
}

/* What a thread block works on. */
template <bool MIXED> __device__ static __forceinline__ pair_tile pair_tile_at(const pair_args &p) {
    if constexpr (MIXED) return p.tiles[blockIdx.x];
    pair_tile c = {};
    c.n = p.n;
    c.splits = p.plan.splits;
    c.groups = p.plan.groups;
    c.whole = p.plan.S;
    if (p.plan.S) {
        int set0 = (int)blockIdx.x * p.plan.S;
        c.row0 = c.other0 = set0 * p.n;
        c.rows = min(p.plan.S, p.B - set0) * p.n;
    } else {
        int set0 = (int)blockIdx.x / p.plan.parts, i0 = (int)blockIdx.x % p.plan.parts * p.plan.rows;
        c.other0 = set0 * p.n;
        c.row0 = c.other0 + i0;
        c.rows = min(p.plan.rows, p.n - i0);
    }
    return c;
}

/* Some items j of a tile, at a time. */
struct pair_items {
    int j0, jc, cells; /* cells: rows * jc */
    int inverse;       /* q / jc is q * inverse >> 20 */
};

/* Starts the copy of W2 [W, kc] from channel o0 and hidden channel k0 on. */
template <int W>
__device__ static __forceinline__ void pair_fetch_weights(const pair_args &p, float *ws, int o0, int k0) {
    const int KC = p.plan.kc, ld = pair_stride(KC), warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    const bool aligned = (p.weight | (size_t)p.hidden) % 4 == 0;
#pragma unroll 1
    for (int c = warp; c < W; c += (int)blockDim.x >> 5) {
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
}

/* pair_fetch_weights in bfloat16: W2 times norm1's scale, which the kernel before this one makes. */
template <int W>
__device__ static __forceinline__ void pair_fetch_weights_bf16(const pair_args &p, bf16 *ws, int o0, int k0,
                                                               int kn) {
    const int ld = pair_stride_weights(p.plan.kc), warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
#pragma unroll 1
    for (int c = warp; c < W; c += (int)blockDim.x >> 5)
#pragma unroll 1
        for (int k = lane * 8; k < kn; k += 256)
            async_copy<4>((float *)(ws + c * ld + k),
                          (const float *)(p.w2 + (size_t)min(o0 + c, p.O - 1) * p.H + k0 + k),
                          o0 + c < p.O ? 4 : 0);
}
/* pair_fetch_rows in bfloat16: a and c alone, since norm1 is in the weights. */
__device__ static __forceinline__ void pair_fetch_rows_bf16(const pair_args &p, const pair_tile &c,
                                                            int others, int other0, int k0, int kn,
                                                            bf16 *as) {
    const int H = p.H, ld = pair_stride(p.plan.kc), lane = threadIdx.x & 31;
#pragma unroll 1
    for (int r = (int)threadIdx.x >> 5; r < c.rows + others; r += (int)blockDim.x >> 5) {
        const bf16 *from = (const bf16 *)p.ac + (r < c.rows ? (size_t)(c.row0 + r) * 2 * H
                                                            : (size_t)(other0 + r - c.rows) * 2 * H + H);
#pragma unroll 1
        for (int k = lane * 8; k < kn; k += 256)
            async_copy((float *)(as + r * ld + k), (const float *)(from + k0 + k));
    }
}

/* Starts the copy of g and e of norm1, a of the tile's rows and c of the items, which follow each other in
 * shared memory: kn hidden channels from k0 on. */
__device__ static __forceinline__ void pair_fetch_rows(const pair_args &p, const pair_tile &c, int others,
                                                       int other0, int k0, int kn, float *gs, float *as) {
    const int H = p.H, KC = p.plan.kc, ld = pair_stride(KC), lane = threadIdx.x & 31;
#pragma unroll 1
    for (int r = ((int)threadIdx.x >> 5) - 2; r < c.rows + others; r += (int)blockDim.x >> 5) {
        const float *from = r < 0        ? (r < -1 ? p.norm1.g : p.norm1.e)
                            : r < c.rows ? p.ac + (size_t)(c.row0 + r) * 2 * H
                                         : p.ac + (size_t)(other0 + r - c.rows) * 2 * H + H;
        float *to = r < 0 ? gs + (r + 2) * KC : as + r * ld;
#pragma unroll 1
        for (int k = lane * 4; k < kn; k += 128) async_copy(to + k, from + k0 + k);
    }
}

/* What pair_product adds to c_j where RELATED: relations from the first cell on, and their weights from the
 * first hidden channel on. */
struct pair_relations {
    const float *e, *w; /* [cells, both], [both, H] */
    int both, H;
};

/* us (+)= W2 norm1(h) for the warp's groups of 16 cells, over its share of kn hidden channels; `more`: us has
 * the sums over other channels already. */
template <int NT, bool ROUNDED, bool RELATED>
__device__ static __forceinline__ void pair_product(const pair_tile &c, const pair_items &j, int KC, int kn,
                                                    bool more, float *us, const float *ws, const float *gs,
                                                    const float *as, const pair_relations &related) {
    constexpr int ldu = 8 * NT + 8;
    const int ld = pair_stride(KC), lane = threadIdx.x & 31, warp = threadIdx.x >> 5, g = lane >> 2,
              t = lane & 3, splits = c.splits, part = c.groups * PAIR_GROUP * ldu;
    const float *es = gs + KC;
#pragma unroll 1
    for (int first = warp / splits * 16; first < j.cells; first += ((int)blockDim.x >> 5) / splits * 16) {
        const float *a_at[2], *c_at[2];
        [[maybe_unused]] const float *e_at[2];
#pragma unroll
        for (int x = 0; x < 2; x++) {
            int q = min(first + x * 8 + g, j.cells - 1), row = q * j.inverse >> 20, item = q - row * j.jc;
            a_at[x] = as + row * ld + t * 4;
            c_at[x] = as + (c.rows + (c.whole ? (row * j.inverse >> 20) * c.n + item : item)) * ld + t * 4;
            if constexpr (RELATED) e_at[x] = related.e + (size_t)q * related.both;
        }
        float acc[NT][4] = {};
#pragma unroll 1
        for (int k = warp % splits * 16; k < kn; k += splits * 16) {
            /* A lane has four k that follow each other: a sum may take its terms in any order. */
            float4 vg = load4(gs + k + t * 4), ve = load4(es + k + t * 4), w[NT];
            float y[2][4], fresh[NT][4] = {};
#pragma unroll
            for (int o = 0; o < NT; o++) w[o] = load4(ws + (o * 8 + g) * ld + k + t * 4);
#pragma unroll
            for (int x = 0; x < 2; x++) {
                float4 va = load4(a_at[x] + k), vc = load4(c_at[x] + k);
                if constexpr (RELATED)
                    vc = with_relations(vc, e_at[x], related.w + k + t * 4, related.both, related.H);
                y[x][0] = fmaf(relu(va.x + vc.x), vg.x, ve.x);
                y[x][1] = fmaf(relu(va.y + vc.y), vg.y, ve.y);
                y[x][2] = fmaf(relu(va.z + vc.z), vg.z, ve.z);
                y[x][3] = fmaf(relu(va.w + vc.w), vg.w, ve.w);
            }
#pragma unroll
            for (int half = 0; half < 4; half += 2) {
                factor<4, ROUNDED> a;
                factor<2, ROUNDED> b[NT];
                a.set(0, y[0][half]);
                a.set(1, y[1][half]);
                a.set(2, y[0][half + 1]);
                a.set(3, y[1][half + 1]);
#pragma unroll
                for (int o = 0; o < NT; o++) {
                    b[o].set(0, half ? w[o].z : w[o].x);
                    b[o].set(1, half ? w[o].w : w[o].y);
                }
                mma(fresh, a, b);
            }
#pragma unroll
            for (int o = 0; o < NT; o++)
#pragma unroll
                for (int q = 0; q < 4; q++) acc[o][q] += fresh[o][q];
        }
        float *to = us + warp % splits * part + (first + g) * ldu + t * 2;
#pragma unroll
        for (int o = 0; o < NT; o++)
#pragma unroll
            for (int x = 0; x < 2; x++) {
                float2 *at = (float2 *)(to + x * 8 * ldu + o * 8), old = more ? *at : make_float2(0, 0);
                *at = make_float2(old.x + acc[o][2 * x], old.y + acc[o][2 * x + 1]);
            }
    }
}

/* pair_product in bfloat16: norm1 is in the weights, so that a factor is h itself. */
template <int NT>
__device__ static __forceinline__ void pair_product_bf16(const pair_tile &c, const pair_items &j, int KC,
                                                         int kn, bool more, float *us, const bf16 *ws,
                                                         const bf16 *as) {
    constexpr int ldu = 8 * NT + 8;
    const int ld = pair_stride(KC), ldw = pair_stride_weights(KC), lane = threadIdx.x & 31,
              warp = threadIdx.x >> 5, g = lane >> 2, t = lane & 3, splits = c.splits,
              part = c.groups * PAIR_GROUP * ldu;
    /* Of each 8 x 16 weights, those of two blocks of 8 channels at a time. */
    const bf16 *w_at = ws + ((lane >> 4) * 8 + (lane & 7)) * ldw + (lane >> 3 & 1) * 8;
#pragma unroll 1
    for (int first = warp / splits * 16; first < j.cells; first += ((int)blockDim.x >> 5) / splits * 16) {
        const bf16 *a_at[2], *c_at[2];
#pragma unroll
        for (int x = 0; x < 2; x++) {
            int q = min(first + x * 8 + g, j.cells - 1), row = q * j.inverse >> 20, item = q - row * j.jc;
            a_at[x] = as + row * ld + t * 4;
            c_at[x] = as + (c.rows + (c.whole ? (row * j.inverse >> 20) * c.n + item : item)) * ld + t * 4;
        }
        float acc[NT][4] = {};
#pragma unroll 2
        for (int k = warp % splits * 16; k < kn; k += splits * 16) {
            unsigned h[4];
#pragma unroll
            for (int x = 0; x < 2; x++) {
                uint2 va = *(const uint2 *)(a_at[x] + k), vc = *(const uint2 *)(c_at[x] + k);
                h[x] = bf16_relu_sum(va.x, vc.x);
                h[x + 2] = bf16_relu_sum(va.y, vc.y);
            }
#pragma unroll
            for (int o = 0; o < NT; o += 2) {
                unsigned w[4];
                matrices(w, w_at + o * 8 * ldw + k);
                mma16(acc[o], h, w[0], w[1]);
                mma16(acc[o + 1], h, w[2], w[3]);
            }
        }
        float *to = us + warp % splits * part + (first + g) * ldu + t * 2;
#pragma unroll
        for (int o = 0; o < NT; o++)
#pragma unroll
            for (int x = 0; x < 2; x++) {
                float2 *at = (float2 *)(to + x * 8 * ldu + o * 8), old = more ? *at : make_float2(0, 0);
                *at = make_float2(old.x + acc[o][2 * x], old.y + acc[o][2 * x + 1]);
            }
    }
}

/* u = relu(sum of its parts + bias), in shared memory and in device memory; from: the tile's first cell. */
template <int W, onet_precision P>
__device__ static __forceinline__ void pair_finish_cells(const pair_args &p, const pair_tile &c,
                                                         const pair_items &j, size_t from, int o, float bias,
                                                         float *us) {
    constexpr int ldu = W + 8;
    const int part = c.groups * PAIR_GROUP * ldu;
#pragma unroll 1
    for (int q = (int)threadIdx.x / W; q < j.cells; q += (int)blockDim.x / W) {
        float *at = us + q * ldu + (int)threadIdx.x % W, u = *at;
#pragma unroll 2
        for (int z = 1; z < c.splits; z++) u += at[z * part];
        *at = u = relu(u + bias);
        if (o < p.O) put_one((stored<P> *)p.u + (from + j.j0 + q) * p.O + o, u); /* jc < n: a single row */
    }
}

/* Writes the pool of channel o over the items j and adds to the sums of u and of u*u. */
template <int W>
__device__ static __forceinline__ void pair_pool(const pair_args &p, const pair_tile &c, const pair_items &j,
                                                 int o, float sign, const float *us, double &sum,
                                                 double &square) {
    constexpr int ldu = W + 8;
#pragma unroll 1
    for (int r = (int)threadIdx.x / W; r < c.rows; r += (int)blockDim.x / W) {
        size_t at = (size_t)(c.row0 + r) * p.O + o;
        int own = c.row0 + r - c.other0 - j.j0, arg = -1;
        if (c.whole) own = r - (r * j.inverse >> 20) * c.n;
        float best = 0, s0 = 0, s1 = 0;
        if (j.j0) {
            best = p.best[at];
            arg = p.arg[at];
        }
        const float *from = us + r * j.jc * ldu + (int)threadIdx.x % W;
#pragma unroll 2
        for (int i = 0; i < j.jc; i++) {
            float u = from[i * ldu];
            s0 += u;
            s1 += u * u;
            if (i == own) continue;
            if (pool_sums(p.pool))
                best += u;
            else if (arg < 0 || sign * u > sign * best) {
                best = u;
                arg = j.j0 + i;
            }
        }
        p.best[at] = best;
        p.arg[at] = arg;
        sum += (double)s0;
        square += (double)s1;
    }
}

/* Writes the thread block's sums of W channels from o0 on to its part of p.part. */
template <int W>
__device__ static __forceinline__ void pair_leave_sums(const pair_args &p, int o0, double sum, double square,
                                                       double *sums /* [2, threads] */) {
    const int T = (int)blockDim.x, tid = (int)threadIdx.x;
    sums[tid] = sum;
    sums[T + tid] = square;
    __syncthreads();
    if (tid >= 2 * W || o0 + tid % W >= p.O) return;
    double add = 0;
#pragma unroll 4
    for (int k = tid % W; k < T; k += W) add += sums[tid / W * T + k];
    p.part[(size_t)blockIdx.x * 2 * p.O + tid / W * p.O + o0 + tid % W] = add;
}

template <int NT, onet_precision P, bool MIXED, bool RELATED>
__global__ void __launch_bounds__(PAIR_WARPS * 32, 1) pair_forward_kernel(pair_args p) {
    constexpr int W = 8 * NT; /* channels at a time */
    constexpr bool BF16 = P == ONET_BF16;
    extern __shared__ float4 memory[];
    const pair_tile c = pair_tile_at<MIXED>(p);
    const int n = c.n, H = p.H, O = p.O, KC = p.plan.kc, tid = (int)threadIdx.x;
    const size_t from = MIXED ? (size_t)c.pair0 : (size_t)c.row0 * n;
    const int JC = MIXED ? min(n, (int)PAIR_CELLS) : p.plan.jc;
    float *us = (float *)memory, *ws = us + c.splits * c.groups * PAIR_GROUP * (W + 8),
          *gs = ws + W * pair_stride(KC), *as = gs + 2 * KC;
    bf16 *ws_half = (bf16 *)ws, *as_half = ws_half + W * pair_stride_weights(KC);
    /* Do g, e, a and c stay in shared memory for all channels? pair_leave_sums overwrites what follows us. */
    const bool kept = KC >= H && JC >= n &&
                      (BF16 ? W * pair_stride_weights(KC) / 2 : W * pair_stride(KC)) >= 4 * (int)blockDim.x;
#pragma unroll 1
    for (int o0 = 0; o0 < O; o0 += W) {
        const int o_own = o0 + tid % W; /* in the passes over u */
        double sum = 0, square = 0;
        float bias = 0, sign = 1;
#pragma unroll 1
        for (int j0 = 0; j0 < n; j0 += JC) {
            const int jc = min(JC, n - j0);
            const pair_items j = {j0, jc, c.rows * jc, ((1 << 20) + jc - 1) / jc};
#pragma unroll 1
            for (int k0 = 0; k0 < H; k0 += KC) {
                const int kn = min(KC, H - k0);
                __syncthreads();
                if (!BF16 && (KC < H || !j0))
                    pair_fetch_weights<W>(
                        p, ws, o0,
                        k0); /* not written by the previous kernel, so there is no need to wait for it */
                if (!j0 && !k0 && o_own < p.out) {
                    if (!BF16) bias = __ldg(p.theta + p.bias + o_own);
                    sign = __ldg(p.theta + p.gamma + o_own) < 0 ? -1.0f : 1.0f;
                }
                if (!o0 && !j0 && !k0) wait_turn();
                const int others = c.whole ? c.rows : jc;
                if constexpr (BF16) {
                    if (!j0 && !k0) bias = load(p.bias2 + min(o_own, O - 1));
                    if (KC < H || !j0) pair_fetch_weights_bf16<W>(p, ws_half, o0, k0, kn);
                    if (!o0 || !kept) pair_fetch_rows_bf16(p, c, others, c.other0 + j0, k0, kn, as_half);
                } else if (!o0 || !kept)
                    pair_fetch_rows(p, c, others, c.other0 + j0, k0, kn, gs, as);
                async_commit();
                async_wait<0>();
                __syncthreads();
                if constexpr (BF16)
                    pair_product_bf16<NT>(c, j, KC, kn, k0 > 0, us, ws_half, as_half);
                else {
                    pair_relations related = {};
                    if constexpr (RELATED) related = {p.e + (from + j0) * p.both, p.related + k0, p.both, H};
                    pair_product<NT, P == ONET_TF32, RELATED>(c, j, KC, kn, k0 > 0, us, ws, gs, as, related);
                }
            }
            __syncthreads();
            pair_finish_cells<W, P>(p, c, j, from, o_own, bias, us);
            __syncthreads();
            if (o_own < O) pair_pool<W>(p, c, j, o_own, sign, us, sum, square);
        }
        pair_leave_sums<W>(p, o0, sum, square, (double *)ws);
    }
    if (!last_block(p.counter, gridDim.x)) return;
    double *total = (double *)memory;
    column_totals(p.part, (int)gridDim.x, 2 * O, total, total + 2 * O,
                  (int)(p.plan.shared / sizeof(double)) - 2 * O);
    if (tid < p.out) norm_make(p.norm2, tid, total[tid], total[O + tid]);
}

template <int NT, onet_precision P> static void pair_forward_launch(gpu *s, const pair_args &p) {
    int threads = p.plan.warps * 32;
    if (p.both) { /* always with tables of several sizes, never in bfloat16 */
        if constexpr (P != ONET_BF16)
            CHAIN(s, p.plan.tiles, threads, p.plan.shared, (pair_forward_kernel<NT, P, true, true>), p);
    } else if (s->ragged.mixed)
        CHAIN(s, p.plan.tiles, threads, p.plan.shared, (pair_forward_kernel<NT, P, true, false>), p);
    else
        CHAIN(s, p.plan.tiles, threads, p.plan.shared, (pair_forward_kernel<NT, P, false, false>), p);
}

void gpu_encoder_pairs(gpu *s, int block) {
    encoder_block *e = &s->enc[block];
    pair_args p = {pairs_of(s, block)};
    if (s->ragged.mixed) {
        p.plan = s->ragged.mixed->pair;
        p.tiles = s->ragged.mixed->pair_tiles;
    } else if (!pair_plan_make(s, p.B, p.n, &p.plan))
        return;
    p.gamma = s->base.sh->enc[block].norm2.gamma;
    p.u = e->u;
    p.best = e->best;
    p.arg = e->arg;
    p.part = s->step.part;
    p.counter = s->result.counters;
    p.norm2 = norms_second(s, block);
    if (precision_of(s) == ONET_BF16) pairs_pack(s, block);
    with_precision(s, [&]<onet_precision P>() {
        if (pairs_width(s) == 16)
            pair_forward_launch<2, P>(s, p);
        else if (pairs_width(s) == 32)
            pair_forward_launch<4, P>(s, p);
        else if constexpr (P == ONET_BF16)
            pair_forward_launch<8, P>(s, p);
    });
}
