/* Encodes sets on the GPU before their search: standardises items and relations, adds relative features, runs
 * the encoder blocks (rows_product, then pair_pool over all pairs of a set, pooled as they are computed),
 * then computes the products of single items that the search starts from: q, q_sum and item_logit
 * (order.cuh). */
#include <algorithm>

#include "engine/cuda/base/gemm.cuh"
#include "engine/cuda/base/relations.cuh"
#include "engine/cuda/base/relative.cuh"
#include "engine/cuda/order/order.cuh"

__global__ static void take_items(const float *items, const float *mean, const float *scale, float *x, int R,
                                  int width, int D) {
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (size_t)R * width) return;
    size_t row = at / width;
    int c = (int)(at - row * width);
    x[row * D + c] = (items[at] - mean[c]) * scale[c];
}

/* A thread per relation from row i to row j: writes it as e_ij of the pair (i, j) and as e_ji of the pair (j,
 * i). */
__global__ static void take_pairs(const float *pairs, const float *mean, const float *scale, float *e, int B,
                                  int n, int E) {
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x, pair = at / E;
    if (pair >= (size_t)B * n * n) return;
    int r = (int)(at - pair * E), j = (int)(pair % n), i = (int)(pair / n % n);
    size_t set = pair / n / n;
    float v = i == j ? 0.0f : (pairs[at] - mean[r]) * scale[r];
    e[pair * 2 * E + r] = v;
    e[((set * n + j) * n + i) * 2 * E + E + r] = v;
}

/* One warp per feature of a set. */
__global__ static void relative_items(float *x, int B, int n, int width, int D) {
    size_t job = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (job >= (size_t)B * width) return;
    relative_feature(x + job / width * n * D, D, n, (int)(job % width), width);
}

/* out [R, N] = bias + x [R, K] w [K, N]; rows of x are ldx apart, N is a multiple of 16. */
typedef tile<64, 64, 2, 2, 1, true, false> product_tile;

__global__ static void __launch_bounds__(product_tile::THREADS)
    rows_product(const float *x, int ldx, int R, int K, const float *w, int N, const float *bias,
                 float *out) {
    typedef product_tile T;
    extern __shared__ float4 memory[];
    T &s = *(T *)memory;
    int row0 = blockIdx.x * T::BM, column0 = blockIdx.y * T::BN;
    product(
        s, (K + T::BK - 1) / T::BK,
        [&](int q, float *to) {
            fetch_along<T, T::BM, 1>(to, q * T::BK, K,
                                     [&](int m) { return x + (size_t)min(row0 + m, R - 1) * ldx; });
        },
        [&](int q, float *to) {
            fetch_across<T, T::BN, 4>(to, q * T::BK, K, N - column0,
                                      [&](int k) { return w + (size_t)k * N + column0; });
        });
    int c = (int)threadIdx.x % (T::BN / 4) * 4, column = column0 + c;
    if (column >= N) return;
    float4 b = bias ? load4(bias + column) : make_float4(0, 0, 0, 0);
#pragma unroll 2
    for (int m = (int)threadIdx.x / (T::BN / 4); m < min(T::BM, R - row0); m += T::THREADS / (T::BN / 4)) {
        float4 v = s.results(m, c);
        store4(out + (size_t)(row0 + m) * N + column,
               make_float4(v.x + b.x, v.y + b.y, v.z + b.z, v.w + b.w));
    }
}

/* q_sum [R, N, C] = the sum of q [R, N, 6, C] over the three lags of x'. */
__global__ static void lag_sums(const float *q, float *q_sum, size_t blocks, int C) {
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x, block = at / C;
    if (block >= blocks) return;
    const float *from = q + block * 6 * C + (at - block * C);
    q_sum[at] = from[0] + from[C] + from[2 * C];
}

/* Writes the part of an item's logit that x' gives, one warp per row. */
__global__ static void item_logits(const float *x, const float *head, float *logit, int R, int D) {
    int row = (int)((blockIdx.x * blockDim.x + threadIdx.x) / 32), lane = threadIdx.x % 32;
    if (row >= R) return;
    float sum = 0;
    for (int c = lane; c < D; c += 32) sum += head[c] * x[(size_t)row * D + c];
    for (int far = 16; far; far /= 2) sum += __shfl_xor_sync(~0u, sum, far);
    if (lane == 0) logit[row] = sum;
}

/* One encoder block: u_ij = relu(b + w relu(a_i + c_j)), pooled over j != i, normed, into x; where RELATED
 * with what relations add to c_j. A warp works on two items i at a time; its lanes are 8 channels each, times
 * several j. The c_j of some sets, or of a tile of one large set, are in shared memory. */
struct pair_args {
    const float *ac;                   /* [R, 2H] */
    const float *w, *b, *g, *e, *sign; /* [H, O], [O] */
    float *x;                          /* [R, D], written from column `in` on */
    int D, in, out, B, n, H, O;        /* out: channels before padding */
    onet_pool over_items;
    int sets, rows, row_tiles; /* a thread block takes whole sets, or rows i of a set of row_tiles blocks */
    int tile, tiles;           /* items j per tile */
};
/* Relations, where RELATED. Not a part of pair_args, whose members would then no longer be in registers. */
struct relation_args {
    const float *e, *w; /* [B, n, n, both], [both, H] */
    int both;           /* 2E */
};
enum { PAIR_WARPS = 8 };

template <int TJ, bool RELATED>
__global__ static void __launch_bounds__(PAIR_WARPS * 32) pair_pool(pair_args p, relation_args q) {
    constexpr int OWN = RELATED ? 2 : 1; /* relations give each of two items i a c_j of its own */
    extern __shared__ float4 memory[];
    float *c_rows = (float *)memory;
    int n = p.n, H = p.H, O = p.O, ld = H + 4, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int set0 = blockIdx.x / p.row_tiles * p.sets, i_first = blockIdx.x % p.row_tiles * p.rows;
    int sets = min(p.sets, p.B - set0), i_count = min(p.rows, n - i_first);
    int twos = (i_count + 1) / 2, jobs = sets * twos;
    int groups = O > 16 ? 4 : 2, lanes = 32 / groups, og = lane % groups, jl = lane / groups;
    const float *ac = p.ac + (size_t)set0 * n * 2 * H;
    bool there = false;
    for (int first = 0; first < jobs; first += PAIR_WARPS) {
        int job = first + warp, set = job / twos, i0 = i_first + job % twos * 2, i1 = min(i0 + 1, n - 1);
        for (int o0 = 0; o0 < O; o0 += 8 * groups) {
            int o = o0 + og * 8;
            bool work = job < jobs && o < O;
            float best[2][8], low[8];
#pragma unroll
            for (int c = 0; c < 8; c++) {
                low[c] = work ? p.sign[o + c] : 1.0f;
                best[0][c] = best[1][c] = pool_sums(p.over_items) || low[c] > 0 ? 0.0f : INFINITY;
            }
            for (int k = 0; k < p.tiles; k++) {
                int j_first = k * p.tile, j_end = min(n, j_first + p.tile);
                if (p.tiles > 1 || !there) {
                    int rows = p.tiles > 1 ? j_end - j_first : sets * n;
                    __syncthreads();
                    for (int at = threadIdx.x; at < rows * (H / 4); at += blockDim.x) {
                        int r = at / (H / 4), h = at % (H / 4) * 4;
                        store4(c_rows + (size_t)r * ld + h,
                               load4(ac + (size_t)(j_first + r) * 2 * H + H + h));
                    }
                    __syncthreads();
                    there = true;
                }
                if (!work) continue;
                const float *a0 = ac + (size_t)(set * n + i0) * 2 * H,
                            *a1 = ac + (size_t)(set * n + i1) * 2 * H;
                const float *c_set = c_rows + (p.tiles > 1 ? 0 : (size_t)set * n * ld);
                for (int j0 = j_first; j0 < j_end; j0 += lanes * TJ) {
                    float acc[2][TJ][8];
                    const float *c_at[TJ];
                    [[maybe_unused]] const float *e_at[2][TJ];
#pragma unroll
                    for (int jj = 0; jj < TJ; jj++) {
                        c_at[jj] = c_set + (size_t)(min(j0 + jl + jj * lanes, j_end - 1) - j_first) * ld;
                        if constexpr (RELATED) {
                            for (int ii = 0; ii < 2; ii++)
                                e_at[ii][jj] = q.e + (((size_t)(set0 + set) * n + (ii ? i1 : i0)) * n +
                                                      min(j0 + jl + jj * lanes, j_end - 1)) *
                                                         q.both;
                        }
#pragma unroll
                        for (int c = 0; c < 8; c++) acc[0][jj][c] = acc[1][jj][c] = p.b[o + c];
                    }
                    for (int h = 0; h < H; h += 4) {
                        float a[2][4], c[OWN][TJ][4];
                        *(float4 *)a[0] = load4(a0 + h);
                        *(float4 *)a[1] = load4(a1 + h);
#pragma unroll
                        for (int jj = 0; jj < TJ; jj++) *(float4 *)c[0][jj] = load4(c_at[jj] + h);
                        if constexpr (RELATED) {
#pragma unroll
                            for (int jj = 0; jj < TJ; jj++) {
                                const float4 v = *(float4 *)c[0][jj];
                                for (int ii = 0; ii < 2; ii++)
                                    *(float4 *)c[ii][jj] =
                                        with_relations(v, e_at[ii][jj], q.w + h, q.both, H);
                            }
                        }
#pragma unroll
                        for (int k4 = 0; k4 < 4; k4++) {
                            float w[8];
                            *(float4 *)w = __ldg((const float4 *)(p.w + (size_t)(h + k4) * O + o));
                            *(float4 *)(w + 4) = __ldg((const float4 *)(p.w + (size_t)(h + k4) * O + o + 4));
#pragma unroll
                            for (int ii = 0; ii < 2; ii++)
#pragma unroll
                                for (int jj = 0; jj < TJ; jj++) {
                                    float z = relu(a[ii][k4] + c[ii % OWN][jj][k4]);
#pragma unroll
                                    for (int oo = 0; oo < 8; oo++) acc[ii][jj][oo] += z * w[oo];
                                }
                        }
                    }
#pragma unroll
                    for (int jj = 0; jj < TJ; jj++) {
                        int j = j0 + jl + jj * lanes;
#pragma unroll
                        for (int ii = 0; ii < 2; ii++) {
                            if (j >= j_end || j == (ii ? i1 : i0)) continue;
#pragma unroll
                            for (int c = 0; c < 8; c++) {
                                float u = relu(acc[ii][jj][c]), was = best[ii][c];
                                best[ii][c] = pool_sums(p.over_items) ? was + u
                                              : low[c] > 0            ? fmaxf(was, u)
                                                                      : fminf(was, u);
                            }
                        }
                    }
                }
            }
#pragma unroll
            for (int ii = 0; ii < 2; ii++)
#pragma unroll
                for (int c = 0; c < 8; c++)
                    for (int far = groups; far < 32; far *= 2) {
                        float u = __shfl_xor_sync(~0u, best[ii][c], far), was = best[ii][c];
                        best[ii][c] = pool_sums(p.over_items) ? was + u
                                      : low[c] > 0            ? fmaxf(was, u)
                                                              : fminf(was, u);
                    }
            if (!work || jl) continue;
            for (int ii = 0; ii < 2 && i0 + ii < i_first + i_count; ii++) {
                float *x = p.x + (size_t)((set0 + set) * n + i0 + ii) * p.D + p.in;
#pragma unroll
                for (int c = 0; c < 8; c++) {
                    if (o + c >= p.out) continue;
                    x[o + c] = pooled(p.g[o + c], p.e[o + c], p.over_items, n)(ii ? best[1][c] : best[0][c]);
                }
            }
        }
    }
}

bool order_encode_limits(orders *s) {
    void (*const all[])(pair_args, relation_args) = {pair_pool<1, false>, pair_pool<2, false>,
                                                     pair_pool<1, true>, pair_pool<2, true>};
    for (auto *k : all) gpu_ok(s, allow_shared(k, s->shared), "limit");
    return !s->failed[0];
}

static void product_launch(orders *s, const float *x, int R, int K, size_t w, int N, const float *bias,
                           float *out) {
    dim3 grid(up(R, product_tile::BM), up(N, product_tile::BN));
    LAUNCH(s, s->stream, grid, product_tile::THREADS, sizeof(product_tile), rows_product, x, s->net.D, R, K,
           s->numbers + w, N, bias, out);
}

void order_encode(orders *s, int B, int n) {
    const order_net *f = &s->net;
    int R = B * n;
    size_t numbers = (size_t)R * f->width;
    if (numbers)
        LAUNCH(s, s->stream, (unsigned)((numbers + 255) / 256), 256, 0, take_items, s->items,
               s->numbers + f->mean, s->numbers + f->scale, s->x, R, f->width, f->D);
    int relations = f->settings.relations;
    if (relations)
        LAUNCH(s, s->stream, (unsigned)(((size_t)R * n * relations + 255) / 256), 256, 0, take_pairs,
               s->pairs, s->numbers + f->mean + f->width, s->numbers + f->scale + f->width, s->e, B, n,
               relations);
    if (f->settings.relative)
        LAUNCH(s, s->stream, (unsigned)(((size_t)B * f->width + 7) / 8), 256, 0, relative_items, s->x, B, n,
               f->width, f->D);
    /* c_j of about 64 KB at a time: small sets share a thread block, large ones are cut into tiles. */
    int H = f->H, room = (int)(65536 / ((H + 4) * sizeof(float)));
    if (room < 1) room = 1;
    pair_args p = {};
    p.ac = s->ac;
    p.x = s->x;
    p.D = f->D;
    p.B = B;
    p.n = n;
    p.H = H;
    p.O = f->O;
    p.over_items = f->settings.pool;
    relation_args q = {.e = s->e, .both = 2 * relations};
    p.sets = n <= room ? std::max(1, std::min(room, 64) / n) : 1;
    p.rows = p.sets > 1 ? n : std::min(n, 64);
    p.row_tiles = up(n, p.rows);
    p.tile = std::min(n, room);
    p.tiles = up(n, p.tile);
    size_t shared = (size_t)(p.tiles > 1 ? p.tile : p.sets * n) * (H + 4) * sizeof(float);
    bool wide = n > (f->O > 16 ? 8 : 16);
    for (int k = 0; k < f->M; k++) {
        product_launch(s, s->x, R, f->enc[k].in, f->enc[k].first, 2 * H, s->numbers + f->enc[k].bias, s->ac);
        p.w = s->numbers + f->enc[k].w;
        p.b = s->numbers + f->enc[k].b;
        p.g = s->numbers + f->enc[k].g;
        p.e = s->numbers + f->enc[k].e;
        p.sign = s->numbers + f->enc[k].sign;
        q.w = s->numbers + f->enc[k].related;
        p.in = f->enc[k].in;
        p.out = (k + 1 < f->M ? f->enc[k + 1].in : f->D) - p.in;
        unsigned grid = (unsigned)(up(B, p.sets) * p.row_tiles);
        if (wide)
            LAUNCH(s, s->stream, grid, PAIR_WARPS * 32, shared,
                   (relations ? pair_pool<2, true> : pair_pool<2, false>), p, q);
        else
            LAUNCH(s, s->stream, grid, PAIR_WARPS * 32, shared,
                   (relations ? pair_pool<1, true> : pair_pool<1, false>), p, q);
    }
    if (f->Q) {
        product_launch(s, s->x, R, f->D, f->rows, f->Q, nullptr, s->q);
        const size_t blocks = (size_t)R * f->N;
        LAUNCH(s, s->stream, (unsigned)((blocks * f->C + 255) / 256), 256, 0, lag_sums, s->q, s->q_sum,
               blocks, f->C);
    }
    LAUNCH(s, s->stream, (unsigned)up(R, 8), 256, 0, item_logits, s->x, s->numbers + f->head_x, s->item_logit,
           R, f->D);
}
