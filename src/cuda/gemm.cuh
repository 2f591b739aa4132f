/* A tile of a float32 matrix product: operands come from functors (so that a gradient or a pooled feature can
 * be made as it is loaded), results stay in registers for the caller's epilogue.
 *
 * BM x BN results a block, TM x TN a thread, 16 of K at a time, the next 16 under way in registers while
 * these are multiplied. A thread's rows and columns come in groups of four, spread over the tile, so that
 * shared memory is read 16 bytes at a time without bank conflicts. With G > 1, G groups of threads share K
 * among them and the first adds up: short and wide products are then done in less time. */
#ifndef CUDA_GEMM_CUH
#define CUDA_GEMM_CUH

#include <type_traits>

#include "mma.cuh"

template <int BM_, int BN_, int TM_, int TN_, int G_ = 1, bool TF32_ = false> struct tile {
    static constexpr int BM = BM_, BN = BN_, TM = TM_, TN = TN_, G = G_, BK = 16;
    static constexpr bool TF32 = TF32_; /* on the tensor cores, in one pass with rounded factors */
    static constexpr int GROUP = (BM / TM) * (BN / TN), THREADS = GROUP * G;
    union {
        struct {
            float A[G][2][BK][BM + 4];
            float B[G][2][BK][BN + 4];
        };
        float4 others[G > 1 ? (G - 1) * GROUP *TM *TN / 4 : 1];
    };

    __device__ static int lane() { return (int)threadIdx.x % GROUP; }
    __device__ static int row(int i) { return i / 4 * (BM / (TM / 4)) + lane() / (BN / TN) * 4 + i % 4; }
    __device__ static int column(int j) { return j / 4 * (BN / (TN / 4)) + lane() % (BN / TN) * 4 + j % 4; }
    /* Do the results stand in this thread? */
    __device__ static bool owner() { return G == 1 || threadIdx.x < GROUP; }
};

/* The part of a tile's product that a warp of its group has on the tensor cores: MT times four pieces of 16
 * x 8. */
template <class T> struct pieces {
    static constexpr int ACROSS = T::BN / 32, DOWN = T::GROUP / 32 / ACROSS, MT = T::BM / DOWN / 16;
    static constexpr int HALF = T::BM / (T::TM / 4); /* rows that a thread's first four rows are among */
    float c[MT][4][4];

    __device__ static int g() { return (int)threadIdx.x % 32 / 4; }
    __device__ static int t() { return (int)threadIdx.x % 4; }
    __device__ static int row(int m) { return T::lane() / 32 / ACROSS * (T::BM / DOWN) + m * 16; }
    __device__ static int column(int n) { return T::lane() / 32 % ACROSS * 32 + n * 8; }

    /* 16 of K. */
    __device__ void add(const float (*A)[T::BM + 4], const float (*B)[T::BN + 4]) {
#pragma unroll
        for (int k = 0; k < T::BK; k += 8) {
            unsigned b[4][2];
#pragma unroll
            for (int n = 0; n < 4; n++) {
                b[n][0] = tf32_of(B[k + t()][column(n) + g()]);
                b[n][1] = tf32_of(B[k + t() + 4][column(n) + g()]);
            }
#pragma unroll
            for (int m = 0; m < MT; m++) {
                const float *near = &A[k + t()][row(m) + g()], *far = &A[k + t() + 4][row(m) + g()];
                unsigned a[4] = {tf32_of(near[0]), tf32_of(near[8]), tf32_of(far[0]), tf32_of(far[8])};
#pragma unroll
                for (int n = 0; n < 4; n++) mma(c[m][n], a, b[n]);
            }
        }
    }

    /* To where the epilogues expect the results, through shared memory, HALF rows at a time. */
    __device__ void spread(T &s, int group, float (&acc)[T::TM][T::TN]) const {
        static_assert(sizeof(T) >= sizeof(float) * T::G * HALF * T::BN, "room for results");
        float *stage = (float *)&s + group * HALF * T::BN;
#pragma unroll
        for (int half = 0; half < T::TM / 4; half++) {
#pragma unroll
            for (int m = 0; m < MT; m++) {
                int r = row(m) - half * HALF;
                if (r < 0 || r >= HALF) continue;
#pragma unroll
                for (int n = 0; n < 4; n++) {
                    float *to = stage + (r + g()) * T::BN + column(n) + 2 * t();
                    *(float2 *)to = make_float2(c[m][n][0], c[m][n][1]);
                    *(float2 *)(to + 8 * T::BN) = make_float2(c[m][n][2], c[m][n][3]);
                }
            }
            __syncthreads();
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < T::TN; j += 4)
                    *(float4 *)&acc[half * 4 + i][j] =
                        load4(stage + (T::row(half * 4 + i) - half * HALF) * T::BN + T::column(j));
            __syncthreads();
        }
    }
};
struct no_pieces {};

struct as_loaded {
    __device__ float operator()(int, int, float v) const { return v; }
};
struct no_keep {
    __device__ void operator()(int, int, float) const {}
};

/* acc = sum over k0 <= k < k1 of a(row in tile, k) * b(column in tile, k). Each operand is loaded by one
 * functor, as it stands in memory and without a branch, and made into a number by another once all loads of a
 * round are under way: fa(row, k) and va(row, k, loaded), fb(column, k) and vb(column, k, loaded). Rows,
 * columns and k may be asked for beyond the end: fa and fb must stay within memory, va and vb give what is to
 * count there. KA, KB: neighbours in memory are neighbours in k (else in the row or column). keep(row, k,
 * value) sees each number of a once. */
template <bool KA, bool KB, class T, class FA, class VA, class FB, class VB, class KEEP = no_keep>
__device__ static inline void product(T &s, int k0, int k1, FA fa, VA va, FB fb, VB vb,
                                      float (&acc)[T::TM][T::TN], KEEP keep = KEEP()) {
    constexpr int BK = T::BK, LA = T::BM * BK / T::GROUP, LB = T::BN * BK / T::GROUP;
    static_assert(LA * T::GROUP == T::BM * BK && LB * T::GROUP == T::BN * BK, "tile");
    decltype(fa(0, 0)) ra[LA];
    decltype(fb(0, 0)) rb[LB];
    int tid = T::lane(), g = T::G > 1 ? (int)threadIdx.x / T::GROUP : 0, end = k1 - 1;
    int rounds = (k1 - k0 + BK * T::G - 1) / (BK * T::G);
    if (T::G > 1) {
        k0 += g * rounds * BK;
        k1 = min(k1, k0 + rounds * BK);
    }
    auto fetch = [&](int k) {
#pragma unroll
        for (int r = 0; r < LA; r++) {
            int i = tid + r * T::GROUP, kk = k + (KA ? i % BK : i / T::BM), m = KA ? i / BK : i % T::BM;
            ra[r] = fa(m, min(kk, end));
        }
#pragma unroll
        for (int r = 0; r < LB; r++) {
            int i = tid + r * T::GROUP, kk = k + (KB ? i % BK : i / T::BN), m = KB ? i / BK : i % T::BN;
            rb[r] = fb(m, min(kk, end));
        }
    };
    auto put = [&](int stage, int k) {
#pragma unroll
        for (int r = 0; r < LA; r++) {
            int i = tid + r * T::GROUP, kk = KA ? i % BK : i / T::BM, m = KA ? i / BK : i % T::BM;
            float v = k + kk < k1 ? va(m, k + kk, ra[r]) : 0.0f;
            s.A[g][stage][kk][m] = v;
            if (k + kk < k1) keep(m, k + kk, v);
        }
#pragma unroll
        for (int r = 0; r < LB; r++) {
            int i = tid + r * T::GROUP, kk = KB ? i % BK : i / T::BN, m = KB ? i / BK : i % T::BN;
            s.B[g][stage][kk][m] = k + kk < k1 ? vb(m, k + kk, rb[r]) : 0.0f;
        }
    };
#pragma unroll
    for (int i = 0; i < T::TM; i++)
#pragma unroll
        for (int j = 0; j < T::TN; j++) acc[i][j] = 0;
    if (rounds <= 0) return;
    std::conditional_t<T::TF32, pieces<T>, no_pieces> part = {};
    fetch(k0);
    put(0, k0);
    __syncthreads();
    for (int round = 0; round < rounds; round++) {
        int stage = round & 1, next = k0 + (round + 1) * BK;
        bool more = round + 1 < rounds;
        if (more) fetch(next);
        if constexpr (T::TF32)
            part.add(s.A[g][stage], s.B[g][stage]);
        else
#pragma unroll
            for (int kk = 0; kk < BK; kk++) {
                float a[T::TM], b[T::TN];
#pragma unroll
                for (int i = 0; i < T::TM; i += 4) *(float4 *)&a[i] = load4(&s.A[g][stage][kk][T::row(i)]);
#pragma unroll
                for (int j = 0; j < T::TN; j += 4) *(float4 *)&b[j] = load4(&s.B[g][stage][kk][T::column(j)]);
#pragma unroll
                for (int i = 0; i < T::TM; i++)
#pragma unroll
                    for (int j = 0; j < T::TN; j++) acc[i][j] += a[i] * b[j];
            }
        if (more) put(stage ^ 1, next);
        __syncthreads();
    }
    if constexpr (T::TF32) part.spread(s, g, acc);
    if (T::G == 1) return;
    constexpr int EACH = T::TM * T::TN / 4;
    if (g)
#pragma unroll
        for (int e = 0; e < EACH; e++)
            s.others[((g - 1) * EACH + e) * T::GROUP + tid] = *(float4 *)&acc[e * 4 / T::TN][e * 4 % T::TN];
    __syncthreads();
    if (!g)
        for (int z = 0; z < T::G - 1; z++)
#pragma unroll
            for (int e = 0; e < EACH; e++) {
                float4 v = s.others[(z * EACH + e) * T::GROUP + tid];
                float *to = &acc[e * 4 / T::TN][e * 4 % T::TN];
                to[0] += v.x;
                to[1] += v.y;
                to[2] += v.z;
                to[3] += v.w;
            }
}

/* The same where what is loaded is the number itself. */
template <bool KA, bool KB, class T, class FA, class FB>
__device__ static inline void product(T &s, int k0, int k1, FA fa, FB fb, float (&acc)[T::TM][T::TN]) {
    product<KA, KB>(s, k0, k1, fa, as_loaded(), fb, as_loaded(), acc);
}

/* The features of a row as an encoder block (or the decoder) sees them. The last `width` of them are the pool
 * of the block before, normed here as they are loaded. */
struct features {
    float *x; /* [R + 1, D padded] */
    int ldx, rows;
    const float *best; /* [R, O] */
    int ldb, first;    /* columns first .. are the pool's */
    norms norm;
    int n, mean;
    const float *start; /* row number `rows` is this vector */
};

struct raw_feature {
    float v, g, e;
};

__device__ static inline raw_feature feature_load(const features &f, int row, int c) {
    int o = max(c - f.first, 0), r = min(row, f.rows - 1);
    const float *from = c < f.first ? f.x + (size_t)r * f.ldx + c : f.best + (size_t)r * f.ldb + o;
    if (row >= f.rows) from = f.start + c;
    return {get(from), get(f.norm.g + o), get(f.norm.e + o)};
}

__device__ static inline float feature_value(const features &f, int row, int c, raw_feature x) {
    if (row >= f.rows || c < f.first) return x.v;
    if (f.mean) return (x.g * x.v + (float)(f.n - 1) * x.e) / (float)f.n;
    return f.n > 1 ? relu(x.g * x.v + x.e) : 0.0f;
}

/* Leaves a feature in x where it was not there before. */
__device__ static inline void keep_feature(const features &f, int row, int c, float y) {
    if (row >= f.rows || c >= f.first) f.x[(size_t)row * f.ldx + c] = y;
}

/* What follows the gradient of the features: the way back through the pool of the block before, whose columns
 * are the last ones. */
struct pool_backward {
    int first, width; /* columns; width 0: there is no such block */
    int O, n, mean;
    const float *x;
    int ldx;
    const float *best;
    norms norm;
    float *gd;
    double *part; /* [row tiles, 2*O] */
    unsigned *counter;
    norm_backward back;
};

/* dx [R, N] = (add ? dx : item_d * head) + acc, and the pool's way back where its columns are. */
template <class T>
__device__ static void gradient_epilogue(T &s, float (&acc)[T::TM][T::TN], int m0, int n0, int R, int N,
                                         float *dx, int ldx, bool add, const float *item_d, const float *head,
                                         const pool_backward &p) {
    /* The operands' place is free now. */
    typedef double groups[T::BM / T::TM][T::BN];
    static_assert(sizeof(T) >= 2 * sizeof(groups) && sizeof(T) >= 768 * sizeof(double), "room for sums");
    groups *sums = (groups *)&s;
    __syncthreads();
    int group = T::lane() / (T::BN / T::TN);
    if (T::owner()) {
        /* All loads first, then the stores. */
        float d[T::TM][T::TN];
#pragma unroll
        for (int i = 0; i < T::TM; i++)
#pragma unroll
            for (int j = 0; j < T::TN; j++) {
                int row = m0 + T::row(i), c = n0 + T::column(j);
                bool there = row < R && c < N;
                d[i][j] = acc[i][j];
                if (there) d[i][j] += add ? dx[(size_t)row * ldx + c] : get(item_d + row) * get(head + c);
            }
#pragma unroll
        for (int j = 0; j < T::TN; j++) {
            int c = n0 + T::column(j), o = c - p.first;
            bool pooled = p.width && c < N && o >= 0 && o < p.width;
            double dy = 0, dy_xhat = 0;
            if (pooled) {
                float mu = get(p.norm.mean + o), inv = get(p.norm.inv + o), g = get(p.norm.g + o),
                      best[T::TM], x[T::TM];
#pragma unroll
                for (int i = 0; i < T::TM; i++) {
                    int row = min(m0 + T::row(i), R - 1);
                    best[i] = get(p.best + (size_t)row * p.O + o);
                    x[i] = get(p.x + (size_t)row * p.ldx + c);
                }
#pragma unroll
                for (int i = 0; i < T::TM; i++) {
                    int row = m0 + T::row(i);
                    if (row >= R) continue;
                    float dz;
                    if (p.mean) {
                        dz = d[i][j] / (float)p.n;
                        dy += (double)dz * (p.n - 1);
                        dy_xhat += (double)(dz * inv) * (double)(best[i] - (float)(p.n - 1) * mu);
                    } else {
                        dz = x[i] > 0 ? d[i][j] : 0.0f;
                        dy += (double)dz;
                        dy_xhat += (double)dz * (double)((best[i] - mu) * inv);
                    }
                    p.gd[(size_t)row * p.O + o] = g * dz;
                }
            }
            sums[0][group][T::column(j)] = dy;
            sums[1][group][T::column(j)] = dy_xhat;
        }
#pragma unroll
        for (int i = 0; i < T::TM; i++)
#pragma unroll
            for (int j = 0; j < T::TN; j++) {
                int row = m0 + T::row(i), c = n0 + T::column(j);
                if (row < R && c < N) dx[(size_t)row * ldx + c] = d[i][j];
            }
    }
    if (!p.width) return;
    __syncthreads();
    int last = p.first + p.width;
    for (int c = threadIdx.x; c < T::BN; c += T::THREADS) {
        int o = n0 + c - p.first;
        if (n0 + c >= last || o < 0) continue;
        double dy = 0, dy_xhat = 0;
        for (int k = 0; k < T::BM / T::TM; k++) {
            dy += sums[0][k][c];
            dy_xhat += sums[1][k][c];
        }
        p.part[(size_t)blockIdx.x * 2 * p.O + o] = dy;
        p.part[(size_t)blockIdx.x * 2 * p.O + p.O + o] = dy_xhat;
    }
    if (!last_block(p.counter, gridDim.x * gridDim.y)) return;
    double *total = (double *)&s, *scratch = total + 256;
    column_totals(p.part, (int)gridDim.x, 2 * p.O, total, scratch, 512);
    for (int o = threadIdx.x; o < p.width; o += T::THREADS) norm_back(p.back, o, total[o], total[p.O + o]);
}

#endif
