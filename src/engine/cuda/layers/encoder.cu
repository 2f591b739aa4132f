/* Computes the first half of an encoder block's forward pass on the GPU: a, c and norm1; pairs.cu has the
 * second. The algebra is that of kernels/cpu_encoder.c.
 *
 * encoder_rows: a and c and, for tiles of whole sets, the sums of h = relu(a_i + c_j) over their pairs; the
 * last thread block to finish makes norm1.
 *
 * pair_sums: the sums of h, and norm1, where a set is larger than a tile, where there are relations, and
 * (pair_sums_bf16) in bfloat16. */
#include <algorithm>

#include "engine/cuda/base/relations.cuh"
#include "engine/cuda/layers/features.cuh"

template <onet_precision P> using rows_tile = tile<64, 64, 2, 2, 1, true, true, P>;

struct rows_args {
    features f;
    int early, H, hidden, tile_rows, R;
    const int2 *tiles; /* of a batch of several sizes: first row, rows */
    const set_place *places;
    const float *w1, *bias;
    float *ac;
    double *part; /* [groups of 32 channels, tiles, 64] */
    unsigned *counters;
    norm_forward norm;
};

/* Ends a thread block of WARPS warps that has 32 channels, one per lane, and parts of their sums by warp:
 * writes the sums to part [groups of 32 channels, tiles, 64]; the last thread block of a group makes the
 * norm. */
template <int WARPS>
__device__ static void finish_group(double sum, double square, double *part, unsigned *counters,
                                    const norm_forward &norm) {
    __shared__ double sums[WARPS][64], total[64], scratch[64 * WARPS];
    int lane = threadIdx.x & 31, group = threadIdx.x >> 5, c = threadIdx.x, h = (int)blockIdx.y * 32 + c;
    sums[group][lane] = sum;
    sums[group][32 + lane] = square;
    __syncthreads();
    part += (size_t)blockIdx.y * gridDim.x * 64;
    if (c < 64) {
        double own = 0;
#pragma unroll
        for (int w = 0; w < WARPS; w++) own += sums[w][c];
        part[(size_t)blockIdx.x * 64 + c] = own;
    }
    if (!last_block(counters + blockIdx.y, gridDim.x)) return;
    column_totals(part, (int)gridDim.x, 64, total, scratch, 64 * WARPS);
    if (c < 32 && h < norm.width) norm_make(norm, h, total[c], total[32 + c]);
}

template <bool STATS, bool MIXED, class T>
__global__ void __launch_bounds__(T::THREADS, T::RESIDENT) encoder_rows(rows_args p) {
    extern __shared__ float4 memory[];
    T &s = *(T *)memory;
    int row0 = blockIdx.x * p.tile_rows, rows = min(p.tile_rows, p.R - row0), h0 = blockIdx.y * 32;
    if (STATS && MIXED) {
        const int2 tile = p.tiles[blockIdx.x];
        row0 = tile.x;
        rows = tile.y;
    }
    bool write = blockIdx.y == 0;
    features_product<MIXED>(s, p.f, row0, p.R - 1, write ? rows : 0, p.early, [&](int c) {
        return p.w1 + (min(h0 + (c & 31), p.H - 1) + (c >> 5) * p.H) * p.f.columns.width;
    });
    /* Four columns per thread; padding is 0. */
    float *out = s.out[0];
    int c = (int)threadIdx.x % 16 * 4, h = h0 + (c & 31);
    float b[4];
#pragma unroll
    for (int k = 0; k < 4; k++) b[k] = c < 32 && h + k < p.hidden ? load(p.bias + h + k) : 0.0f;
#pragma unroll 2
    for (int m = (int)threadIdx.x / 16; m < rows; m += T::THREADS / 16) {
        float4 v = load4(out + m * T::LD + c);
        v = make_float4(h < p.hidden ? v.x + b[0] : 0.0f, h + 1 < p.hidden ? v.y + b[1] : 0.0f,
                        h + 2 < p.hidden ? v.z + b[2] : 0.0f, h + 3 < p.hidden ? v.w + b[3] : 0.0f);
        if (STATS) store4(out + m * T::LD + c, v);
        if (h < p.H) store4(p.ac + (size_t)(row0 + m) * 2 * p.H + (c >> 5) * p.H + h, v);
    }
    if (!STATS) return;
    __syncthreads();
    int ch = threadIdx.x & 31, group = threadIdx.x >> 5, n = p.f.n;
    /* Of several sizes: lane l knows the set of the group's l-th row, its items and its first row. */
    int items = 0, first = 0;
    if (MIXED && group + 4 * ch < rows) {
        const int2 at = p.f.row_at[row0 + group + 4 * ch];
        items = at.x;
        first = p.places[at.y].row0 - row0;
    }
    double sum = 0, square = 0;
    for (int m = group; m < rows; m += 4) {
        float a = out[m * T::LD + ch], s0 = 0, s1 = 0;
        int set0 = MIXED ? __shfl_sync(0xffffffff, first, m / 4) : m / n * n;
        if (MIXED) n = __shfl_sync(0xffffffff, items, m / 4);
        const float *other = out + set0 * T::LD + 32 + ch;
#pragma unroll 4
        for (int j = 0; j < n; j++) {
            float x = relu(a + other[j * T::LD]);
            s0 += x;
            s1 += x * x;
        }
        sum += (double)s0;
        square += (double)s1;
    }
    finish_group<4>(sum, square, p.part, p.counters, p.norm);
}

struct sums_args {
    int n, H, B;
    const set_place *places;  /* where the batch has several sizes */
    const void *ac;           /* of floats or of bfloat16 */
    const float *e, *related; /* [pairs, both], [both, H]: relations, where there are some */
    int both;                 /* 2E */
    double *part;             /* [groups of 32 channels, B, 64] */
    unsigned *counters;
    norm_forward norm;
};

/* Some sets and 32 channels per thread block. A thread has SUM_ROWS rows i at a time, so that an item j is
 * loaded once for all of them. */
enum { SUM_WARPS = 8, SUM_ROWS = 4 };

template <bool RELATED> __global__ void __launch_bounds__(SUM_WARPS * 32) pair_sums(sums_args p) {
    wait_turn();
    int ch = threadIdx.x & 31, group = threadIdx.x >> 5, h = blockIdx.y * 32 + ch;
    const size_t ld = 2 * (size_t)p.H;
    double sum = 0, square = 0;
    for (int b = blockIdx.x; h < p.H && b < p.B; b += gridDim.x) {
        const set_place at = place_of(p.places, p.n, b);
        const int n = at.n;
        const float *own = (const float *)p.ac + (size_t)at.row0 * ld + h, *other = own + p.H;
        for (int i0 = group; i0 < n; i0 += SUM_WARPS * SUM_ROWS) {
            float a[SUM_ROWS], s0[SUM_ROWS] = {}, s1[SUM_ROWS] = {};
#pragma unroll
            for (int r = 0; r < SUM_ROWS; r++) { /* there is no h beyond the last row */
                int i = i0 + r * SUM_WARPS;
                a[r] = i < n ? own[i * ld] : -INFINITY;
            }
#pragma unroll(RELATED ? 2 : 8)
            for (int j = 0; j < n; j++) {
                const float c = other[j * ld];
#pragma unroll
                for (int r = 0; r < SUM_ROWS; r++) {
                    float seen = c;
                    if constexpr (RELATED) {
                        const int i = min(i0 + r * SUM_WARPS, n - 1);
                        seen = with_relations(c, p.e + ((size_t)at.pair0 + (size_t)i * n + j) * p.both,
                                              p.related + h, p.both, p.H);
                    }
                    float x = relu(a[r] + seen);
                    s0[r] += x;
                    s1[r] += x * x;
                }
            }
#pragma unroll
            for (int r = 0; r < SUM_ROWS; r++) {
                sum += (double)s0[r];
                square += (double)s1[r];
            }
        }
    }
    finish_group<SUM_WARPS>(sum, square, p.part, p.counters, p.norm);
}

/* pair_sums in bfloat16: two channels per thread, and half of the rows. */
__global__ void __launch_bounds__(128) pair_sums_bf16(sums_args p) {
    wait_turn();
    const int lane = threadIdx.x & 31, group = threadIdx.x >> 4, h = blockIdx.y * 32 + (lane & 15) * 2;
    const size_t ld = 2 * (size_t)p.H;
    double sum[2] = {}, square[2] = {};
    for (int b = blockIdx.x; h < p.H && b < p.B; b += gridDim.x) {
        const set_place at = place_of(p.places, p.n, b);
        const bf16 *own = (const bf16 *)p.ac + (size_t)at.row0 * ld + h, *other = own + p.H;
        for (int i0 = group; i0 < at.n; i0 += 8 * SUM_ROWS) {
            unsigned a[SUM_ROWS];
            float2 s0[SUM_ROWS] = {}, s1[SUM_ROWS] = {};
#pragma unroll
            for (int r = 0; r < SUM_ROWS; r++) {
                const int i = i0 + r * 8;
                a[r] = i < at.n ? *(const unsigned *)(own + i * ld) : 0xff80ff80u; /* -INFINITY twice */
            }
#pragma unroll 8
            for (int j = 0; j < at.n; j++) {
                const unsigned c = *(const unsigned *)(other + j * ld);
#pragma unroll
                for (int r = 0; r < SUM_ROWS; r++) {
                    const float2 x = floats_of(bf16_relu_sum(a[r], c));
                    s0[r] = make_float2(s0[r].x + x.x, s0[r].y + x.y);
                    s1[r] = make_float2(s1[r].x + x.x * x.x, s1[r].y + x.y * x.y);
                }
            }
#pragma unroll
            for (int r = 0; r < SUM_ROWS; r++) {
                sum[0] += (double)s0[r].x;
                sum[1] += (double)s0[r].y;
                square[0] += (double)s1[r].x;
                square[1] += (double)s1[r].y;
            }
        }
    }
    /* Of channels 2l and 2l + 1, by lanes l and l + 16, to lanes 2l and 2l + 1. */
    double own[2] = {};
#pragma unroll
    for (int k = 0; k < 2; k++) {
        double s = sum[k] + __shfl_xor_sync(0xffffffff, sum[k], 16),
               q = square[k] + __shfl_xor_sync(0xffffffff, square[k], 16);
        s = __shfl_sync(0xffffffff, s, lane / 2);
        q = __shfl_sync(0xffffffff, q, lane / 2);
        if (lane % 2 == k) {
            own[0] = s;
            own[1] = q;
        }
    }
    finish_group<4>(own[0], own[1], p.part, p.counters, p.norm);
}

/* ---- launches ---- */

void gpu_encoder_rows(gpu *s, int block) {
    const net_shape *sh = s->base.sh;
    const encoder_at *at = &sh->enc[block];
    encoder_block *e = &s->enc[block];
    int n = s->n, B = s->base.B, R = (int)s->here.items;
    norm_forward norm1 = norms_first(s, block);
    rows_args rows = {.f = gpu_features(s, block),
                      .early = block > 0, /* else the kernel before packs the weights */
                      .H = s->H,
                      .hidden = sh->s.hidden,
                      .tile_rows = n && n <= 64 ? 64 / n * n : 64,
                      .R = R,
                      .w1 = e->w1,
                      .bias = s->weights.theta + at->bias1,
                      .ac = e->ac,
                      .part = s->step.part,
                      .counters = s->result.counters,
                      .norm = norm1};
    dim3 grid(up(R, rows.tile_rows), up(s->H, 32));
    sums_args sums = {.n = n,
                      .H = s->H,
                      .B = B,
                      .places = s->ragged.mixed ? s->ragged.mixed->places : nullptr,
                      .ac = e->ac,
                      .e = s->related.e,
                      .related = s->related.w[block],
                      .both = 2 * sh->s.relations,
                      .part = s->step.part,
                      .counters = s->result.counters,
                      .norm = norm1};
    /* Not one thread block per set: each ends with an atomic operation and a part of the sums. */
    int groups = up(s->H, 32);
    dim3 sums_grid(std::min(B, up(16 * s->multiprocessors, groups)), groups);
    if (precision_of(s) == ONET_BF16) {
        rows_bf16(s, block);
        CHAIN(s, sums_grid, 128, 0, pair_sums_bf16, sums);
        return;
    }
    bool stats = s->ragged.mixed ? s->ragged.mixed->row_tile_count > 0 : n <= 64;
    if (s->ragged.mixed) {
        rows.tiles = s->ragged.mixed->row_tiles;
        rows.places = s->ragged.mixed->places;
        if (stats) grid.x = s->ragged.mixed->row_tile_count;
    }
    auto launch = [&]<onet_precision P>() {
        typedef rows_tile<P> T;
        if (s->ragged.mixed && stats)
            CHAIN(s, grid, 128, sizeof(T), (encoder_rows<true, true, T>), rows);
        else if (s->ragged.mixed)
            CHAIN(s, grid, 128, sizeof(T), (encoder_rows<false, true, T>), rows);
        else if (stats)
            CHAIN(s, grid, 128, sizeof(T), (encoder_rows<true, false, T>), rows);
        else
            CHAIN(s, grid, 128, sizeof(T), (encoder_rows<false, false, T>), rows);
        if (sums.both)
            CHAIN(s, sums_grid, 32 * SUM_WARPS, 0, pair_sums<true>, sums);
        else if (!stats)
            CHAIN(s, sums_grid, 32 * SUM_WARPS, 0, pair_sums<false>, sums);
    };
    precision_of(s) == ONET_TF32 ? launch.template operator()<ONET_TF32>()
                                 : launch.template operator()<ONET_FLOAT32>();
}
