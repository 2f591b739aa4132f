/* Computes the gradients of the decoder's weights between blocks, for every pair of blocks the sum of v dpre
 * (cells) and of pools times dstep (steps; dstep is dpre summed over the items), in parts and on side
 * streams; cuts a batch into tiles for it. base/gpu.cuh defines v and dpre. */
#include "engine/cuda/base/mma.cuh"
#include <algorithm>

#include "engine/cuda/layers/decoder.cuh"

enum {
    WEIGHT_THREADS = 256,
    WEIGHT_CELLS = 128, /* of a tile, about */
    WEIGHT_ITEMS = 48   /* of a tile, at most */
};

struct conv_weights_args {
    const float *v, *d;       /* [N, T, items, C]: v and dpre, or pools and dstep with one item; stored<P> */
    size_t plane;             /* T*items*C, or C times the cells of all sets */
    const weight_tile *table; /* where the batch has several sizes */
    int C, n, T, items;
    divider by_n, by_items;
    int ic, steps, chunks, tiles;   /* a tile: some steps, and all their items, or some of one step's */
    int v_at, d_at, lags_at, stage; /* offsets in shared memory, in floats */
    float *part;                    /* [splits, pairs, 3, C, C] */
};

/* Returns the thread block's k-th tile. */
template <bool MIXED>
__device__ static __forceinline__ weight_tile weight_tile_at(const conv_weights_args &a, int k) {
    if constexpr (MIXED) return a.table[(int)blockIdx.x + k * (int)gridDim.x];
    weight_tile w;
    int s0 = ((int)blockIdx.x + k / a.chunks * (int)gridDim.x) * a.steps, i0 = k % a.chunks * a.ic;
    w.t0 = s0 % a.n;
    w.steps = min(a.steps, a.T - s0);
    w.ic = min(a.ic, a.items - i0);
    w.items = a.items;
    w.cell0 = (s0 - 2) * a.items + i0;
    w.by_m = a.by_n;
    w.by_items = a.by_items;
    return w;
}

template <int NT> __device__ static __forceinline__ void add(float (&to)[NT][4], const float (&from)[NT][4]) {
#pragma unroll
    for (int i = 0; i < 4 * NT; i++) to[i / 4][i % 4] += from[i / 4][i % 4];
}

/* acc += v dpre of a tile's cells in bfloat16, 16 of them at a time, from `first` on: 16 channels of v from
 * e0 on. A lane has the rows of two cells: of v, with eight channels, and of dpre. */
template <int MT, int NT>
__device__ static __forceinline__ void weights_bf16(float (&acc)[3][NT][4], const bf16 *vs, const bf16 *ds,
                                                    const bf16 *zero, const int *lags, int cells, int ic,
                                                    int e0, int first, int step) {
    constexpr int LD = 8 * NT + 8;
    const int lane = threadIdx.x % 32, right = lane >> 4, own_v = (lane & 7) + right * 8, own_d = lane & 15,
              column = e0 + (lane >> 3 & 1) * 8;
#pragma unroll 1
    for (int q = first; q < cells; q += step) {
        const int there_v = q + own_v < cells ? lags[q + own_v] : 0;
        const bf16 *from = (q + own_d < cells ? ds + (q + own_d) * LD : zero) + right * 8;
        unsigned d[NT / 2][4];
#pragma unroll
        for (int j = 0; j < NT / 2; j++) matrices_turned(d[j], from + j * 16);
#pragma unroll
        for (int l = 0; l < 3; l++) {
            unsigned v[4];
            matrices_turned(v, (l < there_v ? vs + (q + own_v + (2 - l) * ic) * LD : zero) + column);
#pragma unroll
            for (int j = 0; j < NT; j++) mma16(acc[l][j], v, d[j / 2][j % 2 * 2], d[j / 2][j % 2 * 2 + 1]);
        }
    }
}

/* part = sum over cells of v_b(t - l, i) dpre_m(t, i) for the lags l, CB x CB channels per thread block. A
 * warp has 16 channels of v, all of dpre, and some of the cells. Shared memory: a row of zeros, for cells
 * before the first step; two stages, each of v [(steps + 2)*items][CB + 8], dpre [steps*items][CB + 8],
 * and how many lags each cell has. The tensor cores truncate their sums: so each mma starts from 0 and is
 * added with rounding; where ROUNDED, the few of a tile, which has up to 32 cells per warp. */
template <int CB, onet_precision P, bool MIXED>
__global__ void __launch_bounds__(WEIGHT_THREADS, 2)
    conv_weights(const __grid_constant__ conv_weights_args a) {
    extern __shared__ float4 memory[];
    typedef stored<P> E;
    constexpr bool ROUNDED = P == ONET_TF32;
    constexpr int EACH = 16 / sizeof(E), Q = CB / EACH, LD = CB + 8, MT = CB / 16, NT = CB / 8,
                  SLICES = WEIGHT_THREADS / 32 / MT;
    const int C = a.C, tid = threadIdx.x, warp = tid / 32, g = tid % 32 / 4, t = tid % 4;
    int pair = blockIdx.y, m = 1;
    while (m * (m + 1) / 2 <= pair) m++;
    int b = pair - m * (m - 1) / 2, e0 = (int)blockIdx.z % (C / CB) * CB,
        c0 = (int)blockIdx.z / (C / CB) * CB;
    const E *v_from = (const E *)a.v + b * a.plane + e0, *d_from = (const E *)a.d + m * a.plane + c0;
    float *shared = (float *)memory, *zero = shared;
    for (int i = tid; i < LD; i += WEIGHT_THREADS) zero[i] = 0;
    const int e = warp % MT * 16 + g, slice = warp / MT;
    const int count = up(a.tiles - (int)blockIdx.x, gridDim.x) * a.chunks;
    float acc[3][NT][4] = {};
    /* The next tile is copied while this one is multiplied. */
#pragma unroll 1
    for (int k = 0; k <= count; k++) {
        if (k < count) {
            float *to = shared + a.v_at + k % 2 * a.stage;
            const weight_tile w = weight_tile_at<MIXED>(a, k);
            const int ic = w.ic, cells = w.steps * ic,
                      low = (2 - min(w.t0, 2)) * ic; /* of the steps before, only those of the same set */
#pragma unroll 1
            for (int i = low * Q + tid; i < (cells + 2 * ic) * Q; i += WEIGHT_THREADS) {
                int row = i / Q, at = i % Q * EACH,
                    cell = (w.cell0 + row + ((row >= ic) + (row >= 2 * ic)) * (w.items - ic)) * C + at;
                async_copy((float *)((E *)to + row * LD + at), (const float *)(v_from + cell));
                row -= 2 * ic;
                if (row >= 0)
                    async_copy((float *)((E *)(to + a.d_at) + row * LD + at), (const float *)(d_from + cell));
            }
            if (tid < up(cells, 8) * 8)
                ((int *)to)[a.lags_at + tid] =
                    tid < cells ? min((w.t0 + tid / w.by_items) % w.by_m + 1, 3) : 0;
        }
        async_commit();
        if (!k) continue;
        async_wait<1>();
        __syncthreads();
        const float *vs = shared + a.v_at + (k - 1) % 2 * a.stage, *ds = vs + a.d_at;
        const int *lags = (const int *)vs + a.lags_at;
        const weight_tile w = weight_tile_at<MIXED>(a, k - 1);
        const int ic = w.ic, cells = w.steps * ic;
        if constexpr (P == ONET_BF16) {
            weights_bf16<MT, NT>(acc, (const bf16 *)vs, (const bf16 *)ds, (const bf16 *)zero, lags, cells, ic,
                                 warp % MT * 16, slice * 16, SLICES * 16);
            __syncthreads();
            continue;
        }
        float fresh[3][NT][4] = {}; /* sums of the tile, where ROUNDED */
#pragma unroll 1
        for (int q = slice * 8 + t; q - t < cells; q += SLICES * 8) {
            int there[2] = {lags[q], lags[q + 4]};
            factor<2, ROUNDED> d[NT];
#pragma unroll
            for (int i = 0; i < 2; i++) {
                const float *from = (there[i] ? ds + (q + i * 4) * LD : zero) + g;
#pragma unroll
                for (int j = 0; j < NT; j++) d[j].set_stored(i, from[j * 8]);
            }
#pragma unroll
            for (int l = 0; l < 3; l++) {
                factor<4, ROUNDED> v;
#pragma unroll
                for (int i = 0; i < 2; i++) {
                    const float *from = l < there[i] ? vs + (q + i * 4 + (2 - l) * ic) * LD + e : zero;
                    v.set_stored(i * 2, from[0]);
                    v.set_stored(i * 2 + 1, from[8]);
                }
                if constexpr (ROUNDED)
                    mma(fresh[l], v, d);
                else {
                    float sum[NT][4] = {};
                    mma(sum, v, d);
                    add<NT>(acc[l], sum);
                }
            }
        }
        if (ROUNDED)
#pragma unroll
            for (int l = 0; l < 3; l++) add<NT>(acc[l], fresh[l]);
        __syncthreads();
    }
    /* Add up the slices. */
    float *red = shared; /* [SLICES][3][CB][CB] */
#pragma unroll
    for (int l = 0; l < 3; l++)
#pragma unroll
        for (int j = 0; j < NT; j++)
#pragma unroll
            for (int i = 0; i < 2; i++)
                *(float2 *)(red + ((slice * 3 + l) * CB + e + i * 8) * CB + j * 8 + 2 * t) =
                    make_float2(acc[l][j][i * 2], acc[l][j][i * 2 + 1]);
    __syncthreads();
    float *part = a.part + ((size_t)blockIdx.x * gridDim.y + pair) * 3 * C * C;
    for (int i = tid; i < 3 * CB * CB; i += WEIGHT_THREADS) {
        float add = 0;
        for (int z = 0; z < SLICES; z++) add += red[z * 3 * CB * CB + i];
        part[((size_t)(i / (CB * CB)) * C + e0 + i / CB % CB) * C + c0 + i % CB] = add;
    }
}

/* The tiles of a batch of one size. */
static void one_size(const gpu *s, bool pools, conv_weights_args &a) {
    a.n = s->n;
    a.items = pools ? 1 : s->n;
    a.ic = a.items < WEIGHT_ITEMS ? a.items : WEIGHT_ITEMS;
    a.steps = a.ic < a.items ? 1 : WEIGHT_CELLS / a.ic;
    a.by_n = divider_of(a.n);
    a.by_items = divider_of(a.items);
    if (a.steps > a.T) a.steps = a.T;
    a.chunks = up(a.items, a.ic);
    a.tiles = up(a.T, a.steps);
}

void weight_tiles_make(const set_run *runs, int count, bool pools, weight_tiles *w, weight_tile *out) {
    *w = {};
    for (int k = 0; k < count; k++) {
        const set_run &r = runs[k];
        int items = pools ? 1 : r.m, ic = std::min(items, (int)WEIGHT_ITEMS), all = r.sets * r.m,
            steps = std::min(ic < items ? 1 : WEIGHT_CELLS / ic, all);
        w->rows = std::max(w->rows, (steps + 2) * ic);
        w->cells = std::max(w->cells, steps * ic);
        for (int s0 = 0; s0 < all; s0 += steps)
            for (int i0 = 0; i0 < items; i0 += ic)
                out[w->count++] = {.t0 = s0 % r.m,
                                   .steps = std::min(steps, all - s0),
                                   .ic = std::min(ic, items - i0),
                                   .items = items,
                                   .cell0 = (pools ? r.step0 : r.cell0) + (s0 - 2) * items + i0,
                                   .by_m = divider_of(r.m),
                                   .by_items = divider_of(items)};
    }
}

template <onet_precision P, bool MIXED>
static void weights_launch(gpu *s, cudaStream_t where, dim3 grid, int CB, size_t shared,
                           const conv_weights_args &a) {
    if (CB == 16)
        LAUNCH(s, where, grid, WEIGHT_THREADS, shared, (conv_weights<16, P, MIXED>), a);
    else
        LAUNCH(s, where, grid, WEIGHT_THREADS, shared, (conv_weights<32, P, MIXED>), a);
}

int gpu_conv_weights(gpu *s, cudaStream_t where, bool pools, float *part) {
    conv_weights_args a = {};
    int CB = s->C % 32 ? 16 : 32, z = (s->C / CB) * (s->C / CB), count = pairs(s->N),
        ld = precision_of(s) == ONET_BF16 ? (CB + 8) / 2 : CB + 8; /* floats */
    int rows, cells; /* of a tile in shared memory: of v, and of dpre */
    a.v = pools ? s->step.dec_pool : s->step.dec_v;
    a.d = pools ? s->step.dstep : s->step.dpre;
    a.C = s->C;
    a.T = (int)s->here.steps;
    a.plane = (pools ? s->here.steps : s->here.step_cells) * s->C;
    if (s->ragged.mixed) {
        const weight_tiles &w = s->ragged.mixed->weights[pools];
        a.table = w.tiles;
        a.tiles = w.count;
        a.chunks = 1;
        rows = w.rows;
        cells = w.cells;
    } else {
        one_size(s, pools, a);
        rows = (a.steps + 2) * a.ic;
        cells = a.steps * a.ic;
    }
    a.v_at = ld;
    a.d_at = rows * ld;
    a.lags_at = a.d_at + cells * ld;
    a.stage = a.lags_at + up(cells, 8) * 8;
    a.part = part;
    /* As many thread blocks as run at once. */
    int splits = 2 * s->multiprocessors / (count * z);
    if (splits > a.tiles) splits = a.tiles;
    if (splits > CONV_SPLITS) splits = CONV_SPLITS;
    if (splits < 1) splits = 1;
    size_t floats = (size_t)a.v_at + 2 * a.stage, red = (size_t)WEIGHT_THREADS / 32 * 16 * 3 * CB;
    size_t shared = (floats > red ? floats : red) * sizeof(float);
    dim3 grid(splits, count, z);
    with_precision(s, [&]<onet_precision P>() {
        s->ragged.mixed ? weights_launch<P, true>(s, where, grid, CB, shared, a)
                        : weights_launch<P, false>(s, where, grid, CB, shared, a);
    });
    return splits;
}
