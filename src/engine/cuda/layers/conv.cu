/* Computes the decoder's blocks over all their cells (step t, item i), forward and backward, on the GPU by
 * one kernel, conv, and cuts a batch into tiles for it; the algebra is that of kernels/cpu_decoder.c, the
 * notation (v, r, dv, dpre, q, lags) that of base/gpu.cuh.
 *
 * conv<., false>, forward pass of a block, over tiles of steps: v and pools of earlier blocks times their
 * weights; ReLU; the pool over the items; sums for the norm. The last thread block to finish makes the
 * norm.
 *
 * conv<., true>, backward pass of a block, the same loop over later blocks: dv from their dpre, and the
 * sums for the backward pass of its own norm.
 *
 * The products run on the tensor cores (mma.cuh). A warp has 32 (or 16) cells, or steps with their pools, and
 * half of the channels; its sums stay in registers over all blocks that it reads.
 *
 * A kernel of the main stream starts while the one before it still runs, but after the one before that has
 * ended. So only the newest plane that it reads must wait (wait_turn); all others are multiplied before.
 * The newest plane is normed as it is loaded, and written normed (v, or dpre) for the kernels that follow;
 * the plane before it may not have been written yet, and is normed once more. */
#include "engine/cuda/base/mma.cuh"
#include <algorithm>

#include "engine/cuda/base/relations.cuh"
#include "engine/cuda/layers/decoder.cuh"

enum {
    MOST_CELLS = 128,       /* of a tile */
    CONV_THREADS = 32 * 10, /* at least */
};

/* conv_piece: cells, or steps, of a warp. conv_pieces_of: pieces of that size per tile; each has two warps,
 * with half of the channels per warp. Wide nets in bfloat16, which have one thread block per multiprocessor,
 * have twice the warps. */
__host__ __device__ static constexpr int conv_piece(int C, onet_precision P) {
    return P == ONET_BF16 && C > 32 ? 16 : 32;
}
static int conv_pieces_of(const gpu *s) {
    return (MOST_CELLS + 32) / conv_piece(s->C, precision_of(s));
}

__device__ static inline int pair_at(int m, int b) {
    return m * (m - 1) / 2 + b;
}

/* Numbers from one row to the next in shared memory, of planes and pools [., C] and, in bfloat16, of weights:
 * rows are in different banks. */
template <int C, onet_precision P> __host__ __device__ static constexpr int conv_row() {
    return C + (P == ONET_BF16 ? 8 : 4);
}

/* Shared memory. A stage holds what is read of one other block; there are two where they fit, so that the
 * next is copied while this one is multiplied: its plane [(steps + 2)*items][C], weights [3][C][C] of its
 * cells and of its pools, and the pools [steps + 2][C], all stored<P>. Then a row of zeros for steps before
 * the first or after the last; what the pools add to each step [steps][C + 4]; and what the epilogue reads: q
 * of the items [sets*items][3C + 8] and of the steps [steps][3C + 8], or r [steps*items][C + 4] and the
 * items that were taken [steps][C]; where there are two stages, in the one that is not used last. The results
 * overwrite the one that is used last, and the sums the first. */
struct conv_room { /* at most: steps of a tile, its cells, rows of its plane, items of its sets */
    int steps, cells, rows, items;
};

static conv_layout conv_layout_make(int C, bool half, int threads, conv_room most, bool back, int stages) {
    conv_layout l = {};
    int at = 0, ld = half ? (C + 8) / 2 : C + 4, weights = half ? 3 * C * ld : 3 * C * C, steps = most.steps;
    int rows = back ? most.cells * (C + 4) : most.items * (3 * C + 8),
        last = back ? steps * C : steps * (3 * C + 8), results = most.cells * (C + 4);
    l.plane = at, at += most.rows * ld;
    l.conv = at, at += weights;
    l.pool = at, at += weights;
    l.step = at, at += (steps + 2) * ld;
    l.last = rows;
    if (stages == 2) at = std::max(at, rows + last);
    l.stage = at = std::max(at, results);
    l.stages = stages;
    at *= stages;
    l.zero = at, at += ld;
    l.added = at, at += steps * (C + 4);
    if (stages == 1) {
        l.rows = at, at += rows;
        l.last = at, at += last;
    }
    int sums = 2 * (5 * threads + 5 * C);
    l.total = at > sums ? at : sums;
    return l;
}

/* Uses two pipeline stages if they fit into `limit` bytes; if not and `alone` is set, one. */
static bool conv_layouts(const gpu *s, conv_room most, size_t limit, bool alone, conv_plan *p) {
    for (int back = 0; back < 2; back++) {
        conv_layout *l = back ? &p->backward : &p->forward;
        for (int stages = 2;; stages--) {
            *l = conv_layout_make(s->C, precision_of(s) == ONET_BF16, 64 * conv_pieces_of(s), most, back,
                                  stages);
            if (l->total * sizeof(float) <= limit) break;
            if (stages == 1 || !alone) return false;
        }
    }
    return true;
}

/* Have the warps room for the tile's cells and for the pools of its steps? */
static bool conv_pieces(const gpu *s, int steps, int ic, int *pieces) {
    const int piece = conv_piece(s->C, precision_of(s));
    *pieces = up(steps * ic, piece);
    return *pieces + up(steps, piece) <= conv_pieces_of(s);
}

static bool conv_fits(const gpu *s, int n, conv_plan *p) {
    int sets = p->ic < n ? 1 : up(p->steps - 1, n) + 1;
    conv_room most = {
        .steps = p->steps, .cells = p->steps * p->ic, .rows = (p->steps + 2) * p->ic, .items = sets * p->ic};
    return conv_pieces(s, p->steps, p->ic, &p->pieces) && conv_layouts(s, most, s->shared, true, p);
}

bool conv_plan_make(const gpu *s, int B, int n, conv_plan *p) {
    int most = MOST_CELLS, steps = B * n;
    p->ic = n < most ? n : most;
    p->steps = up(steps, s->multiprocessors);
    if (p->steps * (long)p->ic > most) p->steps = most / p->ic;
    if (p->ic < n) p->steps = 1;
    while (!conv_fits(s, n, p)) {
        if (p->steps > 1)
            p->steps--;
        else if (p->ic > 16)
            p->ic /= 2;
        else
            return false;
    }
    p->tiles = up(steps, p->steps);
    return true;
}

/* Makes tiles of up to `most` cells and `most_steps` steps, each of whole sets of a run or of some steps of
 * one set, and their plan. Returns false where they do not fit into shared memory or, with `shares`, into
 * half of a multiprocessor's with two stages. */
static bool conv_tiles_of(const gpu *s, const set_run *runs, int count, int most, int most_steps, bool shares,
                          conv_plan *p, conv_span *out) {
    conv_room room = {};
    int target = std::min(up(runs[count].cell0, s->multiprocessors), most);
    *p = {};
    for (int k = 0; k < count; k++) {
        const set_run &r = runs[k];
        int m = r.m, ic = std::min(m, most), pieces,
            sets = std::max(std::min({target / (m * m), most_steps / m, r.sets}), 1);
        while (sets > 1 && !conv_pieces(s, sets * m, ic, &pieces)) sets--;
        int steps = sets * m;
        if (sets == 1) {
            steps = ic < m ? 1 : std::min(std::max(target / m, 1), m);
            while (!conv_pieces(s, steps, ic, &pieces)) steps--;
            steps = up(m, up(m, steps));
        }
        for (int set = 0; set < r.sets; set += sets)
            for (int t0 = 0; t0 < (sets == 1 ? m : 1); t0 += steps) {
                conv_span t = {};
                t.m = m;
                t.n = r.n;
                t.s0 = r.step0 + set * m + t0;
                t.steps = sets == 1 ? std::min(steps, m - t0) : std::min(sets, r.sets - set) * m;
                t.t0 = t0;
                t.row0 = r.row0 + set * r.n;
                t.pair0 = r.pair0 + set * r.n * r.n;
                t.cell0 = r.cell0 + (set * m + t0) * m;
                t.ic = ic;
                conv_pieces(s, t.steps, ic, &t.pieces);
                t.by_m = divider_of(m);
                out[p->tiles++] = t;
            }
        room.steps = std::max(room.steps, steps);
        room.cells = std::max(room.cells, steps * ic);
        room.rows = std::max(room.rows, (steps + 2) * ic);
        room.items = std::max(room.items, sets * ic);
    }
    return conv_layouts(s, room, shares ? s->shared_all / 2 - 2048 : s->shared, !shares, p);
}

/* Many small sets need more shared memory per cell than few large ones, so their tiles are made smaller
 * first. In narrow nets tiles are small enough that two thread blocks share a multiprocessor, and in a small
 * batch there are enough tiles for each of these blocks to have one. */
bool conv_tiles_make(const gpu *s, const set_run *runs, int count, conv_plan *p, conv_span *out) {
    const int at_once = 2 * s->multiprocessors, least = up(runs[count].cell0, at_once);
    if (s->C <= 32)
        for (int most = std::max(least, 16); most < MOST_CELLS; most += up(most, 8))
            if (conv_tiles_of(s, runs, count, most, most, true, p, out) && p->tiles <= at_once) return true;
    if (s->C <= 32)
        for (int steps = MOST_CELLS; steps >= 16; steps /= 2)
            if (conv_tiles_of(s, runs, count, MOST_CELLS, steps, true, p, out)) return true;
    for (int most = MOST_CELLS; most >= 16; most /= 2)
        for (int steps = most; steps >= 16; steps /= 2)
            if (conv_tiles_of(s, runs, count, most, steps, false, p, out)) return true;
    return false;
}

/* What a thread block works on: its steps, some of their items, and the steps that it reads: those of the
 * tile and up to two before or after it in the same set. Row 0 in shared memory belongs to step `base`;
 * `low` and `high` count from it. A tile that has not all items of a step has one step. */
struct conv_tile {
    int s0, steps, t0; /* t0: place of s0 in its set */
    int row0, step0;   /* first row and first step of the set that s0 is in */
    int i0, ic;
    int base, low, high;
    /* Where a batch has several sizes: items that its sets place and have, and where cell 0 of step 0 would
     * be if all sets had that size. */
    int m, n, origin, most, pieces;
    int pair0; /* of the set that s0 is in */
    divider by_m;
};
/* Return m and by_m of a tile; in a batch of one size they are arguments of the kernel. */
template <bool MIXED> __device__ static __forceinline__ int placed(const conv_args &p, const conv_tile &c) {
    return MIXED ? c.m : p.n;
}
template <bool MIXED> __device__ static __forceinline__ divider by(const conv_args &p, const conv_tile &c) {
    return MIXED ? c.by_m : p.by_n;
}

template <bool BACK, bool MIXED>
__device__ static __forceinline__ conv_tile conv_tile_at(const conv_args &p) {
    conv_tile c = {};
    if constexpr (MIXED) {
        const conv_span t = p.tiles[blockIdx.x];
        c.s0 = t.s0;
        c.steps = t.steps;
        c.t0 = t.t0;
        c.row0 = t.row0;
        c.pair0 = t.pair0;
        c.step0 = t.s0 - t.t0;
        c.m = t.m;
        c.n = t.n;
        c.origin = t.cell0 - t.s0 * t.m;
        c.most = t.ic;
        c.pieces = t.pieces;
        c.by_m = t.by_m;
    } else {
        c.s0 = blockIdx.x * p.plan.steps;
        c.steps = min(p.plan.steps, p.T - c.s0);
        c.row0 = c.step0 = c.s0 / p.n * p.n;
        c.t0 = c.s0 - c.step0;
        c.most = p.plan.ic;
        c.pieces = p.plan.pieces;
    }
    c.i0 = 0;
    c.ic = c.most;
    c.base = BACK ? c.s0 : c.s0 - 2;
    c.low = BACK ? 0 : 2 - min(c.t0, 2);
    c.high = c.steps + (BACK ? min(placed<MIXED>(p, c) - 1 - (c.t0 + c.steps - 1) % by<MIXED>(p, c), 2) : 2);
    return c;
}

/* Returns the place in a plane of row `row` of the tile, counted from step `base`. */
template <bool MIXED>
__device__ static __forceinline__ int cell_at(const conv_args &p, const conv_tile &c, int base, int row) {
    const int n = placed<MIXED>(p, c);
    return (MIXED ? c.origin : 0) + base * n + c.i0 + row + ((row >= c.ic) + (row >= 2 * c.ic)) * (n - c.ic);
}

/* Columns of the weights are swizzled from row to row, so that the 32 lanes of an mma read from 32 banks. */
template <int C> __device__ static inline int weight_turn(int k) {
    return C % 32 ? (k / 2 & 1) * 8 : (k & 3) * 8;
}

/* Starts the copy of the weights between blocks m and b, and of block b's plane and pools if they are in
 * memory normed (`kept`). */
template <int C, bool BACK, onet_precision P, bool MIXED>
__device__ static inline void conv_fetch(const conv_args &p, const conv_layout &l, const conv_tile &c,
                                         float *to, int b, bool kept) {
    typedef stored<P> E;
    constexpr int LD = conv_row<C, P>(), EACH = 16 / sizeof(E), Q = C / EACH;
    const int tid = threadIdx.x;
    auto copy = [&](int where, int at, const E *from) {
        async_copy((float *)((E *)(to + where) + at), (const float *)from);
    };
    const size_t pair = (size_t)(BACK ? pair_at(b, p.m) : pair_at(p.m, b)) * 3 * C * C;
    const E *conv_w = (const E *)p.conv + pair, *pool_w = (const E *)p.pool + pair;
#pragma unroll 1
    for (int i = tid; i < 3 * C * Q; i += (int)blockDim.x) {
        int k = i / Q, column = i % Q * EACH,
            at = P == ONET_BF16 ? k * LD + column : k * C + (column ^ weight_turn<C>(k));
        copy(l.conv, at, conv_w + i * EACH);
        copy(l.pool, at, pool_w + i * EACH);
    }
    if (!kept) return;
    const E *plane = (const E *)(BACK ? p.dpre : p.v) + b * p.plane,
            *step = (const E *)(BACK ? p.dstep : p.pv) + ((size_t)b * p.T + c.base) * C;
#pragma unroll 1
    for (int i = c.low * c.ic * Q + tid; i < c.high * c.ic * Q; i += (int)blockDim.x)
        copy(l.plane, i / Q * LD + i % Q * EACH,
             plane + cell_at<MIXED>(p, c, c.base, i / Q) * C + i % Q * EACH);
#pragma unroll 1
    for (int i = c.low * Q + tid; i < c.high * Q; i += (int)blockDim.x)
        copy(l.step, i / Q * LD + i % Q * EACH, step + i * EACH);
}

__device__ static inline float4 far4(const float *p) { /* not through L1, which may hold older values */
    return __ldcg((const float4 *)p);
}

/* Norms the plane and the pools of block b as they are loaded; `keep` writes those of the tile to memory. */
template <int C, bool BACK, onet_precision P, bool MIXED>
__device__ static inline void conv_norm(const conv_args &p, const conv_layout &l, const conv_tile &c,
                                        float *to, int b, bool keep) {
    typedef stored<P> E;
    constexpr int LD = conv_row<C, P>(), Q = C / 4, U = BACK || C <= 32 ? 3 : 6;
    const int DOWN = (int)blockDim.x / Q;
    struct loaded {
        float4 r, d, n; /* of a cell: r and dv; of a step: the pool, or its sums */
        int row, from;
    };
    const int k = threadIdx.x % Q * 4, first = threadIdx.x / Q, many = (c.high - c.low) * c.ic,
              all = first < DOWN ? many + c.high - c.low : 0;
    const size_t plane = b * p.plane, step = (size_t)b * p.T * C;
    const float4 g = far4(p.norm.g + b * C + k), e = far4((BACK ? p.k0 : p.norm.e) + b * C + k),
                 f = far4((BACK ? p.k1 : p.norm.g) + b * C + k);
#pragma unroll 1
    for (int i0 = first; i0 < all; i0 += U * DOWN) {
        loaded x[U];
#pragma unroll
        for (int u = 0; u < U; u++) {
            int i = i0 + u * DOWN;
            bool cell = i < many;
            x[u].row = cell ? i + c.low * c.ic : i - many + c.low;
            x[u].from = (cell ? cell_at<MIXED>(p, c, c.base, x[u].row) : c.base + x[u].row) * C + k;
            if (i >= all) continue;
            x[u].r = far4((cell ? p.r + plane : (BACK ? p.step_r : p.praw) + step) + x[u].from);
            if (!BACK) continue;
            x[u].d = far4((cell ? p.dv + plane : p.step_dv + step) + x[u].from);
            if (!cell) x[u].n = far4(p.step_count + step + x[u].from);
        }
#pragma unroll
        for (int u = 0; u < U; u++) {
            int i = i0 + u * DOWN, unit = i < many ? c.ic : 1, own = x[u].row - (BACK ? 0 : 2 * unit);
            if (i >= all) continue;
            float4 r = x[u].r, d = x[u].d, n = x[u].n, v;
            if (BACK) {
                if (i < many) { /* r is not less than 0 */
                    n = make_float4(r.x > 0 ? 1.0f : 0.0f, r.y > 0 ? 1.0f : 0.0f, r.z > 0 ? 1.0f : 0.0f,
                                    r.w > 0 ? 1.0f : 0.0f);
                    d = make_float4(d.x * n.x, d.y * n.y, d.z * n.z, d.w * n.w);
                }
                v = make_float4(g.x * d.x - e.x * n.x - f.x * r.x, g.y * d.y - e.y * n.y - f.y * r.y,
                                g.z * d.z - e.z * n.z - f.z * r.z, g.w * d.w - e.w * n.w - f.w * r.w);
            } else
                v = make_float4(g.x * r.x + e.x, g.y * r.y + e.y, g.z * r.z + e.z, g.w * r.w + e.w);
            if (P == ONET_TF32) v = tf32_rounded(v); /* once, since v is a factor in several products */
            put_four((E *)(to + (i < many ? l.plane : l.step)) + x[u].row * LD + k, v);
            if (keep && own >= 0 && own < c.steps * unit)
                put_four((E *)(i < many ? (BACK ? p.dpre : p.v)
                               : BACK   ? p.dstep
                                        : p.pv) +
                             (i < many ? plane : step) + x[u].from,
                         v);
        }
    }
}

/* Starts the copy of what the epilogue reads to extra + l.rows and extra + l.last. */
template <int C, bool BACK, bool MIXED>
__device__ static inline void conv_fetch_last(const conv_args &p, const conv_layout &l, const conv_tile &c,
                                              float *extra) {
    constexpr int LD = C + 4, Q = C / 4, LQ = 3 * C + 8;
    const int tid = threadIdx.x;
    if (BACK) {
        const float *r = p.r + p.m * p.plane, *taken = (const float *)p.parg + ((size_t)p.m * p.T + c.s0) * C;
#pragma unroll 1
        for (int i = tid; i < c.steps * c.ic * Q; i += (int)blockDim.x)
            async_copy(extra + l.rows + i / Q * LD + i % Q * 4,
                       r + cell_at<MIXED>(p, c, c.s0, i / Q) * C + i % Q * 4);
#pragma unroll 1
        for (int i = tid; i < c.steps * Q; i += (int)blockDim.x)
            async_copy(extra + l.last + i * 4, taken + i * 4);
        return;
    }
    /* q of the items of all its sets, or of some items where the tile is a part of one step; then of its
     * steps. */
    const int m = placed<MIXED>(p, c), items = ((c.t0 + c.steps - 1) / by<MIXED>(p, c) + 1) * c.ic;
    const float *q = p.q + p.m * 6 * C;
#pragma unroll 1
    for (int i = tid; i < (items + c.steps) * 3 * Q; i += (int)blockDim.x) {
        int row = i / (3 * Q), k = i % (3 * Q) * 4, from = c.row0 + c.i0 + row;
        if (MIXED) from += row / by<MIXED>(p, c) * (c.n - m);
        float *to = extra + l.rows + row * LQ + k;
        if (row >= items) {
            int at = c.t0 + row - items, set = at / by<MIXED>(p, c), t = at - set * m - k / C;
            if (t < 0) continue;
            from = t ? c.row0 + set * (MIXED ? c.n : m) + __ldg(p.order + c.step0 + set * m + t - 1) : p.R;
            to = extra + l.last + (row - items) * LQ + k;
            k += 3 * C;
        }
        async_copy(to, q + (size_t)from * p.Q + k);
    }
}

/* acc += a piece's rows times weights, for all lags. Lane 4*g + t has rows g, g + 8, g + 16, g + 24 of the
 * piece, the first of them at `at`; a row's lags, up to three, are two bits of `lags`, and each is `down`
 * further. The tensor cores truncate their sums: so each mma starts from 0 and is added with rounding; where
 * ROUNDED, up to four of them, 32 channels. */
template <int NT, bool ROUNDED>
__device__ static inline void conv_product(float (&acc)[2][NT][4], const float *at, int lags, int down,
                                           const float *zero, const float *weights, int half) {
    constexpr int C = 16 * NT, STEPS = !ROUNDED ? 1 : (C <= 32 ? C : C / 2) / 8; /* of a sum */
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    const float *w[NT];
#pragma unroll
    for (int j = 0; j < NT; j++) w[j] = weights + t * C + ((half + j * 8) ^ weight_turn<C>(t)) + g;
#pragma unroll 1
    for (int lag = 0; lag < 3; lag++) {
        const float *a[4];
#pragma unroll
        for (int x = 0; x < 4; x++)
            a[x] = (lag < (lags >> 2 * x & 3) ? at + x * 8 * (C + 4) + lag * down : zero) + t;
#pragma unroll(4 / STEPS)
        for (int k0 = 0; k0 < C; k0 += 8 * STEPS) {
            float sum[2][NT][4] = {};
#pragma unroll
            for (int k = k0; k < k0 + 8 * STEPS; k += 8) {
                factor<4, ROUNDED> v[2];
                factor<2, ROUNDED> f[NT];
#pragma unroll
                for (int x = 0; x < 4; x++) {
                    v[x / 2].set_stored(x % 2, a[x][k]);
                    v[x / 2].set_stored(x % 2 + 2, a[x][k + 4]);
                }
#pragma unroll
                for (int j = 0; j < NT; j++) {
                    f[j].set_stored(0, w[j][k * C]);
                    f[j].set_stored(1, w[j][(k + 4) * C]);
                }
                mma(sum, v, f);
            }
#pragma unroll
            for (int x = 0; x < 8 * NT; x++)
                acc[x / 4 / NT][x / 4 % NT][x % 4] += sum[x / 4 / NT][x / 4 % NT][x % 4];
        }
#pragma unroll
        for (int j = 0; j < NT; j++) w[j] += C * C;
    }
}

/* conv_product in bfloat16. For the copy of rows, lane l has row l % 16 of the piece, at `at`, and the one 16
 * rows further where X is 2, and eight of its channels; `lags` has two bits for each of its rows. */
template <int X, int NT>
__device__ static inline void conv_product_bf16(float (&acc)[X][NT][4], const bf16 *at, int lags, int down,
                                                const bf16 *zero, const bf16 *weights, int half) {
    constexpr int C = 16 * NT, LD = conv_row<C, ONET_BF16>();
    const int lane = threadIdx.x % 32, right = lane >> 4;
    const bf16 *w = weights + (lane & 15) * LD + half;
#pragma unroll 1
    for (int lag = 0; lag < 3; lag++) {
        const bf16 *a[X];
#pragma unroll
        for (int x = 0; x < X; x++)
            a[x] = (lag < (lags >> 2 * x & 3) ? at + x * 16 * LD + lag * down : zero) + right * 8;
#pragma unroll
        for (int k = 0; k < C; k += 16) {
            unsigned v[X][4], f[4];
#pragma unroll
            for (int x = 0; x < X; x++) matrices(v[x], a[x] + k);
#pragma unroll
            for (int j = 0; j < NT; j += 2) {
                const bool two = j + 1 < NT;
                matrices_turned(f, w + k * LD + (j + (two ? right : 0)) * 8);
#pragma unroll
                for (int x = 0; x < X; x++) {
                    mma16(acc[x][j], v[x], f[0], f[1]);
                    if (two) mma16(acc[x][two ? j + 1 : j], v[x], f[2], f[3]);
                }
            }
        }
        w += C * LD;
    }
}

__device__ static inline float4 add4(float4 a, float4 b) {
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

/* Returns how many lags each of the lane's rows has, two bits each: rows first + g, + 8, + 16, + 24 of `mine`
 * cells, or steps with their pools; in bfloat16 rows first + l, + 16 in lanes l and l + 16. */
template <int C, bool BACK, onet_precision P, bool MIXED>
__device__ static __forceinline__ int conv_lags(const conv_args &p, const conv_tile &c, bool pools, int first,
                                                int mine) {
    constexpr int DOWN = P == ONET_BF16 ? 16 : 8;
    const divider by_n = by<MIXED>(p, c);
    const int own = P == ONET_BF16 ? (int)threadIdx.x % 16 : (int)threadIdx.x % 32 / 4;
    int lags = 0;
#pragma unroll
    for (int x = 0; x < conv_piece(C, P) / DOWN; x++) {
        int q = first + x * DOWN + own, t = (c.t0 + (pools ? q : q / by_n)) % by_n;
        if (q < mine) lags |= min(BACK ? placed<MIXED>(p, c) - t : t + 1, 3) << 2 * x;
    }
    return lags;
}

/* Writes the warp's results to shared memory: those of cells over a plane that is no longer needed, those of
 * steps to `added`. */
template <int X, int NT>
__device__ static __forceinline__ void conv_leave(const float (&acc)[X][NT][4], int first, int half, int mine,
                                                  float *to) {
    constexpr int LD = 16 * NT + 4;
    const int g = (int)threadIdx.x % 32 / 4, t = (int)threadIdx.x % 4;
#pragma unroll
    for (int x = 0; x < 2 * X; x++)
#pragma unroll
        for (int j = 0; j < NT; j++)
            if (first + x * 8 + g < mine)
                *(float2 *)(to + (first + x * 8 + g) * LD + half + j * 8 + 2 * t) =
                    make_float2(acc[x / 2][j][x % 2 * 2], acc[x / 2][j][x % 2 * 2 + 1]);
}

/* Finishes each cell and writes it to shared memory and to the plane. Forward: r, the ReLU of the cell's sum
 * plus the pools' part of its step, the bias, q of the item and of the steps that it sees and, where RELATED,
 * what the relations from the item placed last add. Backward: dv, the sum plus the gradient by the logit and,
 * where the pool took this item, by the pool. */
template <int C, bool BACK, bool MIXED, bool RELATED>
__device__ static __forceinline__ void conv_cells(const conv_args &p, const conv_layout &l,
                                                  const conv_tile &c, float *out, const float *added,
                                                  const float *extra) {
    constexpr int LD = C + 4, LQ = 3 * C + 8, Q = C / 4;
    const int n = placed<MIXED>(p, c), ic = c.ic;
    float *plane = (BACK ? p.dv : p.r) + p.m * p.plane;
    const float *own = BACK ? p.head : p.theta + p.bias;
#pragma unroll 1
    for (int i = threadIdx.x; i < c.steps * ic * Q; i += (int)blockDim.x) {
        int q = i / Q, k = i % Q * 4, sl = q / by<MIXED>(p, c), item = q - sl * ic,
            cell = cell_at<MIXED>(p, c, c.s0, q);
        float4 v = load4(out + q * LD + k), add = load4(added + sl * LD + k),
               w = make_float4(k < p.out ? __ldg(own + k) : 0.0f, k + 1 < p.out ? __ldg(own + k + 1) : 0.0f,
                               k + 2 < p.out ? __ldg(own + k + 2) : 0.0f,
                               k + 3 < p.out ? __ldg(own + k + 3) : 0.0f);
        if (BACK) {
            const int4 taken = *(const int4 *)(extra + l.last + sl * C + k);
            float d = __ldcg(p.dlogit + cell);
            item += c.i0;
            v.x += w.x * d + (taken.x == item ? add.x : 0.0f);
            v.y += w.y * d + (taken.y == item ? add.y : 0.0f);
            v.z += w.z * d + (taken.z == item ? add.z : 0.0f);
            v.w += w.w * d + (taken.w == item ? add.w : 0.0f);
        } else {
            int set = (c.t0 + sl) / by<MIXED>(p, c), t = c.t0 + sl - set * n,
                pos = __ldg(p.pos + c.row0 + set * (MIXED ? c.n : n) + c.i0 + item);
            const float *qx = extra + l.rows + (set * ic + item) * LQ + k, *qy = extra + l.last + sl * LQ + k;
            v = add4(add4(v, add), w);
#pragma unroll
            for (int lag = 0; lag < 3; lag++)
                if (t >= lag && t - lag <= pos) {
                    v = add4(v, add4(load4(qx + lag * C), load4(qy + lag * C)));
                    if (RELATED && t > lag) {
                        int placed_last = load(p.order + c.step0 + set * n + t - lag - 1);
                        size_t pair = (size_t)c.pair0 + (size_t)(set * c.n + placed_last) * c.n + c.i0 + item;
                        v = with_relations(v, p.e + pair * 2 * p.relations,
                                           p.last + lag * p.relations * C + k, p.relations, C);
                    }
                }
            v = make_float4(relu(v.x), relu(v.y), relu(v.z), relu(v.w));
        }
        store4(out + q * LD + k, v);
        store4(plane + cell * C + k, v);
    }
}

/* Forward, channel k of one step: writes the pool over the items and adds to the sums for the norm. */
__device__ static __forceinline__ void conv_pool(const conv_args &p, const conv_tile &c, const float *here,
                                                 int ld, int k, size_t to, double (&sum)[2]) {
    float sign = k < p.out && __ldg(p.theta + p.gamma + k) < 0 ? -1.0f : 1.0f;
    float best = c.i0 ? p.praw[to] : here[0], s1 = 0, s2 = 0;
    int arg = c.i0 ? p.parg[to] : 0;
#pragma unroll 4
    for (int i = 0; i < c.ic; i++) {
        float v = here[i * ld];
        s1 += v;
        s2 += v * v;
        if (sign * v > sign * best) {
            best = v;
            arg = c.i0 + i;
        }
    }
    sum[0] += (double)s1;
    sum[1] += (double)s2;
    p.praw[to] = best;
    p.parg[to] = arg;
}

/* Backward, one channel of one step: writes the sums from which dstep is computed and adds to those for the
 * norm and the bias. */
__device__ static __forceinline__ void conv_step_sums(const conv_args &p, const conv_tile &c,
                                                      const float *here, const float *r, int ld, size_t to,
                                                      double (&sum)[5]) {
    float dy = 0, dy_r = 0, dv = 0, some = 0, all = 0;
#pragma unroll 4
    for (int i = 0; i < c.ic; i++) {
        float d = here[i * ld], v = r[i * ld];
        dy += d;
        dy_r += d * v;
        all += v;
        dv += v > 0 ? d : 0.0f;
        some += v > 0 ? 1.0f : 0.0f;
    }
    sum[0] += (double)dy;
    sum[1] += (double)dy_r;
    sum[2] += (double)dv;
    sum[3] += (double)some;
    sum[4] += (double)all;
    if (c.i0) {
        dv += p.step_dv[to];
        some += p.step_count[to];
        all += p.step_r[to];
    }
    p.step_dv[to] = dv;
    p.step_count[to] = some;
    p.step_r[to] = all;
}

/* By the last thread block to finish: the norm, or its backward pass, from the sums of all blocks. */
template <int C, bool BACK>
__device__ static __forceinline__ void conv_finish(const conv_args &p, double *sums, double *total) {
    constexpr int K = BACK ? 5 : 2;
    const int c = threadIdx.x;
    column_totals(p.part, (int)gridDim.x, K * C, total, sums, 5 * (int)blockDim.x);
    if (c >= p.out) return;
    if (!BACK) {
        norm_make(p.forward, c, total[c], total[C + c]);
        return;
    }
    int own = p.m * C + c;
    double dy = total[c], mean = (double)p.norm.mean[own], inv = (double)p.norm.inv[own];
    norm_back(p.backward, c, dy, (total[C + c] - dy * mean) * inv);
    norm_bias(p.backward, c, total[(K - 3) * C + c], total[(K - 2) * C + c], total[(K - 1) * C + c]);
}

template <int NT, bool BACK, onet_precision P, bool MIXED, bool RELATED>
__global__ void __launch_bounds__(CONV_THREADS * 32 / conv_piece(16 * NT, P), NT <= 2 ? 2 : 1)
    conv(const __grid_constant__ conv_args p) {
    extern __shared__ float4 memory[];
    typedef stored<P> E;
    constexpr int C = 16 * NT, LD = C + 4, K = BACK ? 5 : 2, ROW = conv_row<C, P>();
    constexpr int PIECE = conv_piece(C, P), THREADS = CONV_THREADS * 32 / PIECE;
    constexpr int DOWN =
        THREADS / C; /* threads per channel in the last pass; each takes every DOWN-th step */
    const conv_layout &l = BACK ? p.plan.backward : p.plan.forward;
    const int tid = threadIdx.x;
    float *shared = (float *)memory;
    double *sums = (double *)memory, *total = sums + 5 * THREADS; /* [K][DOWN][C], [K][C] */
    conv_tile c = conv_tile_at<BACK, MIXED>(p);
    const int steps = c.steps, n = placed<MIXED>(p, c);
    /* This warp's part. */
    const int half = tid / 32 % 2 * 8 * NT, piece = tid / 64;
    const bool pools = piece >= c.pieces;
    const int first = (pools ? piece - c.pieces : piece) * PIECE;
    /* How many blocks this one reads; the newest comes last. */
    const int count = BACK ? p.N - 1 - p.m : p.m, ahead = l.stages - 1;
    /* The stage that is used last has the results, the other one what the epilogue reads. */
    const int used = ahead ? (count + 1) % 2 : 0;
    float *out = shared + used * l.stage, *extra = shared + (ahead ? 1 - used : 0) * l.stage;
    bool waited = false;
    double total_here = 0; /* of channel and sum tid */
    for (int i = tid; i < ROW * (int)sizeof(E) / 4; i += (int)blockDim.x) shared[l.zero + i] = 0;
#pragma unroll 1
    for (; c.i0 < n; c.i0 += c.most) {
        c.ic = min(c.most, n - c.i0);
        const int unit = pools ? 1 : c.ic, mine = !pools ? steps * c.ic : c.i0 ? 0 : steps;
        /* The first of this lane's rows of a plane, or of the pools. */
        const int row = first + (P == ONET_BF16 ? tid % 16 : tid % 32 / 4) + (BACK ? 0 : 2 * unit);
        const int lags = conv_lags<C, BACK, P, MIXED>(p, c, pools, first, mine);
        float acc[PIECE / 16][NT][4] = {};
        if (!count && !waited) { /* nothing to compute before; forward, the kernel before makes q */
            wait_turn();
            waited = true;
        }
        if (!ahead) conv_fetch_last<C, BACK, MIXED>(p, l, c, extra);
#pragma unroll 1
        for (int i = 0; i < count + ahead; i++) {
            int b = BACK ? p.N - 1 - i : i, j = i - ahead;
            if (i < count)
                conv_fetch<C, BACK, P, MIXED>(p, l, c, shared + (i & ahead) * l.stage, b, i < count - 2);
            else
                conv_fetch_last<C, BACK, MIXED>(p, l, c, extra);
            async_commit();
            if (j < 0) continue;
            float *here = shared + (j & ahead) * l.stage;
            if (j == count - 1 && !waited) {
                wait_turn();
                waited = true;
            }
            if (j >= count - 2)
                conv_norm<C, BACK, P, MIXED>(p, l, c, here, BACK ? b + ahead : b - ahead, j == count - 1);
            if (ahead)
                async_wait<1>();
            else
                async_wait<0>();
            __syncthreads();
            if (first < mine) {
                const E *at = (const E *)(here + (pools ? l.step : l.plane)) + row * ROW,
                        *zero = (const E *)(shared + l.zero),
                        *weights = (const E *)(here + (pools ? l.pool : l.conv));
                const int down = (BACK ? unit : -unit) * ROW;
                if constexpr (P == ONET_BF16)
                    conv_product_bf16(acc, at, lags, down, zero, weights, half);
                else
                    conv_product<NT, P == ONET_TF32>(acc, at, lags, down, zero, weights, half);
            }
            __syncthreads();
        }
        async_commit(); /* where there was no block to read */
        async_wait<0>();
        conv_leave(acc, first, half, mine, pools ? shared + l.added : out);
        __syncthreads();
        conv_cells<C, BACK, MIXED, RELATED>(p, l, c, out, shared + l.added, extra);
        __syncthreads();
        double sum[K] = {};
        if (tid < DOWN * C)
#pragma unroll 1
            for (int sl = tid / C; sl < steps; sl += DOWN) {
                const int k = tid % C;
                size_t to = ((size_t)p.m * p.T + c.s0 + sl) * C + k;
                const float *here = out + sl * c.ic * LD + k;
                if constexpr (BACK)
                    conv_step_sums(p, c, here, extra + l.rows + sl * c.ic * LD + k, LD, to, sum);
                else
                    conv_pool(p, c, here, LD, k, to, sum);
            }
        __syncthreads();
        if (tid < DOWN * C)
#pragma unroll
            for (int k = 0; k < K; k++) sums[k * DOWN * C + tid] = sum[k];
        __syncthreads();
        if (tid < K * C)
#pragma unroll
            for (int z = 0; z < DOWN; z++) total_here += sums[(tid / C * DOWN + z) * C + tid % C];
        __syncthreads();
    }
    if (tid < K * C) p.part[(size_t)blockIdx.x * K * C + tid] = total_here;
    if (last_block(p.counter, gridDim.x)) conv_finish<C, BACK>(p, sums, total);
}

conv_args gpu_conv_args(gpu *s, int m, bool back) {
    const net_shape *sh = s->base.sh;
    conv_args p = {};
    int n = s->n, B = s->base.B;
    p.R = (int)s->here.items;
    p.T = (int)s->here.steps;
    if (s->ragged.mixed) {
        p.plan = s->ragged.mixed->conv;
        p.tiles = s->ragged.mixed->conv_tiles;
        p.places = s->ragged.mixed->places;
        p.row_at = s->ragged.mixed->row_at;
        p.step_set = s->ragged.mixed->step_set;
    } else {
        conv_plan_make(s, B, n, &p.plan);
        p.n = n;
        p.by_n = divider_of(n);
    }
    p.B = B;
    p.C = s->C;
    p.out = sh->s.decoder_out;
    p.N = s->N;
    p.m = m;
    p.Q = s->Q;
    p.r = s->step.r;
    p.dv = s->step.dv;
    p.plane = s->here.step_cells * s->C;
    p.v = s->step.dec_v;
    p.dpre = s->step.dpre;
    p.pv = s->step.dec_pool;
    p.dstep = s->step.dstep;
    p.norm = s->weights.dec;
    p.k0 = s->weights.dec_k0;
    p.k1 = s->weights.dec_k1;
    p.conv = back ? s->weights.conv_t : s->weights.conv;
    p.pool = back ? s->weights.pool_t : s->weights.pool;
    p.q = s->step.q;
    p.pos = s->step.pos;
    p.order = s->step.order;
    p.praw = s->step.praw;
    p.parg = s->step.parg;
    p.step_dv = s->step.step_dv;
    p.step_count = s->step.step_count;
    p.step_r = s->step.step_r;
    p.dlogit = s->step.dlogit;
    p.theta = s->weights.theta;
    p.part = s->step.part;
    p.counter = s->result.counters;
    p.e = s->related.e;
    p.relations = sh->s.relations;
    if (m < 0) return p;
    p.head = s->weights.theta + sh->head_weight + sh->base + 2 * p.out * m;
    p.last = s->related.last + (size_t)m * 3 * p.relations * p.C;
    p.bias = sh->dec[m].bias;
    p.gamma = sh->dec[m].norm.gamma;
    p.forward = norms_decoder(s, m);
    p.backward = norms_decoder_back(s, m);
    return p;
}

template <int NT, bool BACK, onet_precision P> static void conv_launch(gpu *s, int m) {
    conv_args p = gpu_conv_args(s, m, BACK);
    int tiles = p.plan.tiles, threads = 64 * conv_pieces_of(s);
    size_t shared = (size_t)(BACK ? p.plan.backward : p.plan.forward).total * sizeof(float);
    if (!BACK && p.relations) { /* always with tables of several sizes, never in bfloat16 */
        if constexpr (!BACK && P != ONET_BF16)
            CHAIN(s, tiles, threads, shared, (conv<NT, BACK, P, true, true>), p);
    } else if (s->ragged.mixed)
        CHAIN(s, tiles, threads, shared, (conv<NT, BACK, P, true, false>), p);
    else
        CHAIN(s, tiles, threads, shared, (conv<NT, BACK, P, false, false>), p);
}

template <bool BACK> static void conv_any(gpu *s, int m) {
    with_precision(s, [&]<onet_precision P>() {
        if (s->C == 16)
            conv_launch<1, BACK, P>(s, m);
        else if (s->C == 32)
            conv_launch<2, BACK, P>(s, m);
        else if (s->C == 48)
            conv_launch<3, BACK, P>(s, m);
        else
            conv_launch<4, BACK, P>(s, m);
    });
}

/* Relations have no gradient of their own: the backward kernel is the same with and without them. */
void gpu_decoder_forward(gpu *s, int block) {
    conv_any<false>(s, block);
}
void gpu_decoder_backward(gpu *s, int block) {
    conv_any<true>(s, block);
}
