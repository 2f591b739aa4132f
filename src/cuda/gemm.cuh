/* A tile of a float32 matrix product: operands come from functors (so that a gradient or a pooled feature can
 * be made as it is loaded), results stay in registers for the caller's epilogue.
 *
 * BM x BN results a block, TM x TN a thread, 16 of K at a time, the next 16 under way in registers while
 * these are multiplied. A thread's rows and columns come in groups of four, spread over the tile, so that
 * shared memory is read 16 bytes at a time without bank conflicts. */
#ifndef CUDA_GEMM_CUH
#define CUDA_GEMM_CUH

#include "gpu.cuh"

template <int BM_, int BN_, int TM_, int TN_> struct tile {
    static constexpr int BM = BM_, BN = BN_, TM = TM_, TN = TN_, BK = 16;
    static constexpr int THREADS = (BM / TM) * (BN / TN);
    float A[2][BK][BM + 4];
    float B[2][BK][BN + 4];

    __device__ static int row(int i) {
        return i / 4 * (BM / (TM / 4)) + (int)threadIdx.x / (BN / TN) * 4 + i % 4;
    }
    __device__ static int column(int j) {
        return j / 4 * (BN / (TN / 4)) + (int)threadIdx.x % (BN / TN) * 4 + j % 4;
    }
};

/* acc = sum over k0 <= k < k1 of fa(row in tile, k) * fb(column in tile, k). KA, KB: neighbours in memory are
 * neighbours in k (else in the row or column). */
template <bool KA, bool KB, class T, class FA, class FB>
__device__ static inline void product(T &s, int k0, int k1, FA fa, FB fb, float (&acc)[T::TM][T::TN]) {
    constexpr int BK = T::BK, LA = T::BM * BK / T::THREADS, LB = T::BN * BK / T::THREADS;
    static_assert(LA * T::THREADS == T::BM * BK && LB * T::THREADS == T::BN * BK, "tile");
    float ra[LA], rb[LB];
    int tid = threadIdx.x;
    auto fetch = [&](int k) {
#pragma unroll
        for (int r = 0; r < LA; r++) {
            int i = tid + r * T::THREADS, kk = k + (KA ? i % BK : i / T::BM), m = KA ? i / BK : i % T::BM;
            ra[r] = kk < k1 ? fa(m, kk) : 0.0f;
        }
#pragma unroll
        for (int r = 0; r < LB; r++) {
            int i = tid + r * T::THREADS, kk = k + (KB ? i % BK : i / T::BN), m = KB ? i / BK : i % T::BN;
            rb[r] = kk < k1 ? fb(m, kk) : 0.0f;
        }
    };
    auto put = [&](int stage) {
#pragma unroll
        for (int r = 0; r < LA; r++) {
            int i = tid + r * T::THREADS;
            s.A[stage][KA ? i % BK : i / T::BM][KA ? i / BK : i % T::BM] = ra[r];
        }
#pragma unroll
        for (int r = 0; r < LB; r++) {
            int i = tid + r * T::THREADS;
            s.B[stage][KB ? i % BK : i / T::BN][KB ? i / BK : i % T::BN] = rb[r];
        }
    };
#pragma unroll
    for (int i = 0; i < T::TM; i++)
#pragma unroll
        for (int j = 0; j < T::TN; j++) acc[i][j] = 0;
    if (k0 >= k1) return;
    fetch(k0);
    put(0);
    __syncthreads();
    int stage = 0;
    for (int k = k0; k < k1; k += BK) {
        bool more = k + BK < k1;
        if (more) fetch(k + BK);
#pragma unroll
        for (int kk = 0; kk < BK; kk++) {
            float a[T::TM], b[T::TN];
#pragma unroll
            for (int i = 0; i < T::TM; i += 4) *(float4 *)&a[i] = load4(&s.A[stage][kk][T::row(i)]);
#pragma unroll
            for (int j = 0; j < T::TN; j += 4) *(float4 *)&b[j] = load4(&s.B[stage][kk][T::column(j)]);
#pragma unroll
            for (int i = 0; i < T::TM; i++)
#pragma unroll
                for (int j = 0; j < T::TN; j++) acc[i][j] += a[i] * b[j];
        }
        if (more) put(stage ^ 1);
        __syncthreads();
        stage ^= 1;
    }
}

/* The features of a row as an encoder block (or the decoder) sees them. The last `width` of them are the pool
 * of the block before, normed here as they are loaded; whoever has `write` set leaves them in x. */
struct features {
    float *x; /* [R + 1, D padded] */
    int ldx, rows;
    const float *best; /* [R, O] */
    int ldb, first;    /* columns first .. are the pool's */
    norms norm;
    int n, mean;
    const float *start; /* row number `rows` is this vector */
};

__device__ static inline float feature(const features &f, int row, int c, bool write) {
    float *x = f.x + (size_t)row * f.ldx + c;
    if (row >= f.rows) {
        float y = f.start[c];
        if (write) *x = y;
        return y;
    }
    if (c < f.first) return *x;
    int o = c - f.first;
    float g = f.norm.g[o], e = f.norm.e[o], best = f.best[(size_t)row * f.ldb + o], y;
    if (f.mean)
        y = (g * best + (float)(f.n - 1) * e) / (float)f.n;
    else
        y = f.n > 1 ? relu(g * best + e) : 0.0f;
    if (write) *x = y;
    return y;
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
__device__ static void gradient_epilogue(float (&acc)[T::TM][T::TN], int m0, int n0, int R, int N, float *dx,
                                         int ldx, bool add, const float *item_d, const float *head,
                                         const pool_backward &p) {
    __shared__ double sums[2][T::BM / 4][T::BN];
    int group = (int)threadIdx.x / (T::BN / T::TN);
#pragma unroll
    for (int j = 0; j < T::TN; j++) {
        int c = n0 + T::column(j), o = c - p.first;
        bool pooled = p.width && c < N && o >= 0 && o < p.width;
        double dy = 0, dy_xhat = 0;
#pragma unroll
        for (int i = 0; i < T::TM; i++) {
            int row = m0 + T::row(i);
            if (row >= R || c >= N) continue;
            float *to = dx + (size_t)row * ldx + c;
            float d = acc[i][j] + (add ? *to : item_d[row] * head[c]);
            *to = d;
            if (!pooled) continue;
            float mu = p.norm.mean[o], inv = p.norm.inv[o], best = p.best[(size_t)row * p.O + o], dz;
            if (p.mean) {
                dz = d / (float)p.n;
                dy += (double)dz * (p.n - 1);
                dy_xhat += (double)(dz * inv) * (double)(best - (float)(p.n - 1) * mu);
            } else {
                dz = p.x[(size_t)row * p.ldx + c] > 0 ? d : 0.0f;
                dy += (double)dz;
                dy_xhat += (double)dz * (double)((best - mu) * inv);
            }
            p.gd[(size_t)row * p.O + o] = p.norm.g[o] * dz;
        }
        sums[0][group][T::column(j)] = dy;
        sums[1][group][T::column(j)] = dy_xhat;
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
    __shared__ double total[512], scratch[1024];
    column_totals(p.part, (int)gridDim.x, 2 * p.O, total, scratch, 1024);
    for (int o = threadIdx.x; o < p.width; o += T::THREADS) norm_back(p.back, o, total[o], total[p.O + o]);
}

#endif
