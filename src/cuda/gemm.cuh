/* A tile of a matrix product on the tensor cores, results in registers for the caller's epilogue. Float32 in
 * three steps of TF32 (mma.cuh), or TF32 alone.
 *
 * BM x BN results a block, by DOWN x ACROSS warps; G such groups of warps share K among them, and the first
 * adds up: short and wide products then take less time. K is worked through in chunks of 32, which travel to
 * shared memory on their own, two chunks ahead. An operand lies there as it lies in memory: along K, or
 * across it (KA, KB: neighbours in memory are neighbours in k); rows are 4 or 8 numbers apart beyond a
 * multiple of 32, so that a warp reads without bank conflicts. */
#ifndef CUDA_GEMM_CUH
#define CUDA_GEMM_CUH

#include "mma.cuh"

template <int BM_, int BN_, int DOWN_, int ACROSS_, int G_, bool KA_, bool KB_, bool TF32_ = false>
struct tile {
    static constexpr int BM = BM_, BN = BN_, DOWN = DOWN_, ACROSS = ACROSS_, G = G_, BK = 32, STAGES = 3;
    static constexpr bool KA = KA_, KB = KB_, TF32 = TF32_;
    static constexpr int GROUP = 32 * DOWN * ACROSS, THREADS = GROUP * G;
    static constexpr int MT = BM / DOWN / 16, NT = BN / ACROSS / 8, TM = 2 * MT, TN = 2 * NT;
    static constexpr int LDA = KA ? BK + 4 : BM + 8, LDB = KB ? BK + 4 : BN + 8;
    union {
        struct {
            float A[STAGES][(KA ? BM : BK) * LDA];
            float B[STAGES][(KB ? BN : BK) * LDB];
        };
        float others[G > 1 ? (G - 1) * GROUP *TM *TN : 1];
    };

    /* Where a thread's results belong: columns j and j + 1 (j even) are neighbours. */
    __device__ static int lane() { return (int)threadIdx.x % GROUP; }
    __device__ static int row(int i) {
        return lane() / 32 / ACROSS * (BM / DOWN) + i / 2 * 16 + i % 2 * 8 + lane() % 32 / 4;
    }
    __device__ static int column(int j) {
        return lane() / 32 % ACROSS * (BN / ACROSS) + j / 2 * 8 + lane() % 4 * 2 + j % 2;
    }
    /* Which of the BM / TM threads that have a column. */
    __device__ static int slice() { return lane() / 32 / ACROSS * 8 + lane() % 32 / 4; }
    /* Do the results stand in this thread? */
    __device__ static bool owner() { return G == 1 || threadIdx.x < GROUP; }
};

/* A chunk of an operand along K, from `k` on: from(row) is where its row begins. E numbers at a time; what
 * stands at `end` and beyond counts as 0. */
template <int ROWS, int E, class T, class F>
__device__ static inline void fetch_along(T &, float *to, int k, int end, F from) {
    constexpr int EACH = T::BK / E;
#pragma unroll 4
    for (int i = threadIdx.x; i < ROWS * EACH; i += T::THREADS) {
        int m = i / EACH, kk = i % EACH * E, there = end - k - kk;
        async_copy<E>(to + m * (T::BK + 4) + kk, from(m) + (there > 0 ? k + kk : 0), there);
    }
}

/* A chunk of an operand across K: from(k) is where the tile's columns begin, `count` of which are there. */
template <int COLUMNS, int E, class T, class F>
__device__ static inline void fetch_across(T &, float *to, int k, int end, int count, F from) {
    constexpr int EACH = COLUMNS / E;
#pragma unroll 4
    for (int i = threadIdx.x; i < T::BK * EACH; i += T::THREADS) {
        int kk = i / EACH, m = i % EACH * E, there = k + kk < end ? count - m : 0;
        async_copy<E>(to + kk * (COLUMNS + 8) + m, there > 0 ? from(k + kk) + m : from(k), there);
    }
}

struct as_loaded {
    __device__ float operator()(int, float v) const { return v; }
};

/* acc = sum over the chunks of a b. fetch_a(chunk, to) and fetch_b(chunk, to) send for a chunk of an operand;
 * vb(column in tile, number) gives what counts of b. This is where a kernel waits for the one before it:
 * fetch_b must ask for nothing that that one writes. */
template <class T, class FA, class FB, class VB = as_loaded>
__device__ static inline void product(T &s, int chunks, FA fetch_a, FB fetch_b, float (&acc)[T::TM][T::TN],
                                      VB vb = VB()) {
    constexpr int STAGES = T::STAGES, LDA = T::LDA, LDB = T::LDB;
    const int group = T::G > 1 ? (int)threadIdx.x / T::GROUP : 0, g = (int)threadIdx.x % 32 / 4,
              t = (int)threadIdx.x % 4, row0 = T::row(0) - g, column0 = T::column(0) - 2 * t;
    float c[T::MT][T::NT][4] = {};
#pragma unroll
    for (int q = 0; q < STAGES - 1; q++)
        if (q < chunks) fetch_b(q, s.B[q]);
    wait_turn();
#pragma unroll
    for (int q = 0; q < STAGES - 1; q++) {
        if (q < chunks) fetch_a(q, s.A[q]);
        async_commit();
    }
    for (int q = 0; q < chunks; q++) {
        async_wait<STAGES - 2>();
        __syncthreads();
        int next = q + STAGES - 1;
        if (next < chunks) {
            fetch_b(next, s.B[next % STAGES]);
            fetch_a(next, s.A[next % STAGES]);
        }
        async_commit();
        const float *A = s.A[q % STAGES], *B = s.B[q % STAGES];
#pragma unroll
        for (int step = 0; step < T::BK / 8; step += T::G) {
            int k = (step + group) * 8 + t;
            factor<2, T::TF32> b[T::NT];
#pragma unroll
            for (int n = 0; n < T::NT; n++) {
                int x = column0 + n * 8 + g;
                const float *from = T::KB ? B + x * LDB + k : B + k * LDB + x;
                b[n].set(0, vb(x, from[0]));
                b[n].set(1, vb(x, from[T::KB ? 4 : 4 * LDB]));
            }
#pragma unroll
            for (int m = 0; m < T::MT; m++) {
                int y = row0 + m * 16 + g;
                const float *from = T::KA ? A + y * LDA + k : A + k * LDA + y;
                constexpr int down = T::KA ? 8 * LDA : 8, along = T::KA ? 4 : 4 * LDA;
                factor<4, T::TF32> a;
                a.set(0, from[0]);
                a.set(1, from[down]);
                a.set(2, from[along]);
                a.set(3, from[down + along]);
                mma(c[m], a, b);
            }
        }
    }
    async_wait<0>();
    __syncthreads();
#pragma unroll
    for (int i = 0; i < T::TM; i++)
#pragma unroll
        for (int j = 0; j < T::TN; j++) acc[i][j] = c[i / 2][j / 2][i % 2 * 2 + j % 2];
    if (T::G == 1) return;
    constexpr int EACH = T::TM * T::TN;
    if (group)
#pragma unroll
        for (int e = 0; e < EACH; e++)
            s.others[((group - 1) * EACH + e) * T::GROUP + T::lane()] = acc[e / T::TN][e % T::TN];
    __syncthreads();
    if (!group)
        for (int z = 0; z < T::G - 1; z++)
#pragma unroll
            for (int e = 0; e < EACH; e++)
                acc[e / T::TN][e % T::TN] += s.others[(z * EACH + e) * T::GROUP + T::lane()];
    __syncthreads();
}

/* The features of a row as an encoder block (or the decoder) sees them. The last of them, from column `first`
 * on, are the pool of the block before, normed here as they are loaded. */
struct features {
    float *x; /* [R + 1, D padded] */
    int ldx, rows;
    const float *best; /* [R, O] */
    int ldb, first;    /* columns first .. are the pool's */
    norms norm;
    int n, mean;
    const float *start; /* row number `rows` is this vector */
};

__device__ static inline float pooled_feature(const features &f, float best, float g, float e) {
    if (f.mean) return (g * best + (float)(f.n - 1) * e) / (float)f.n;
    return f.n > 1 ? relu(g * best + e) : 0.0f;
}

/* Features of the rows from row0 on (row `last` is the last one there is), times weights: weights(column in
 * tile) is where those of the features lie. Chunks of the pooled columns come first, the others stand in x
 * already. Of the tile's rows, the first `keep` leave their pooled features in x. */
template <int E, class T, class W>
__device__ static inline void features_product(T &s, const features &f, int in, int row0, int last, int keep,
                                               W weights, float (&acc)[T::TM][T::TN]) {
    constexpr int BK = T::BK;
    const int pooled = (in - f.first + BK - 1) / BK, chunks = pooled + (f.first + BK - 1) / BK;
    static_assert(T::THREADS % BK == 0 && T::BM * BK % T::THREADS == 0, "tile");
    product(
        s, chunks,
        [&](int q, float *to) {
            if (q >= pooled) {
                fetch_along<T::BM, 4>(s, to, (q - pooled) * BK, f.first,
                                      [&](int m) { return f.x + (size_t)min(row0 + m, last) * f.ldx; });
                return;
            }
            constexpr int EACH = T::BM * BK / T::THREADS;
            int kk = threadIdx.x % BK, o = q * BK + kk, c = f.first + o;
            bool there = c < in;
            float g = there ? get(f.norm.g + o) : 0.0f, e = there ? get(f.norm.e + o) : 0.0f, v[EACH];
#pragma unroll
            for (int i = 0; i < EACH; i++) {
                int row = min(row0 + (int)(threadIdx.x / BK + i * (T::THREADS / BK)), last);
                v[i] = !there         ? 0.0f
                       : row < f.rows ? get(f.best + (size_t)row * f.ldb + o)
                                      : get(f.start + c);
            }
#pragma unroll
            for (int i = 0; i < EACH; i++) {
                int m = threadIdx.x / BK + i * (T::THREADS / BK);
                if (row0 + m < f.rows) v[i] = there ? pooled_feature(f, v[i], g, e) : 0.0f;
                to[m * T::LDA + kk] = v[i];
                if (there && m < keep) f.x[(size_t)(row0 + m) * f.ldx + c] = v[i];
            }
        },
        [&](int q, float *to) {
            if (q < pooled)
                fetch_along<T::BN, 1>(s, to, f.first + q * BK, in, weights);
            else
                fetch_along<T::BN, E>(s, to, (q - pooled) * BK, f.first, weights);
        },
        acc);
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
            sums[0][T::slice()][T::column(j)] = dy;
            sums[1][T::slice()][T::column(j)] = dy_xhat;
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
