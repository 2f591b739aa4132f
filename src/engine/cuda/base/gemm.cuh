/* Multiplies matrices on the tensor cores, one tile of the product per thread block: in float32 precision by
 * three TF32 products (mma.cuh), or in TF32 alone; gemm_bf16.cuh does so in bfloat16.
 *
 * A thread block makes BM x BN results, with DOWN x ACROSS warps; G such groups of warps share K, which
 * shortens products with few results. K is divided into chunks of 32, which are copied to shared memory
 * asynchronously, two chunks ahead. An operand has the same layout there as in global memory: along K, or
 * across it (KA, KB: neighbours in memory are neighbours in k); rows are 4 or 8 numbers more than a
 * multiple of 32 apart, so that a warp reads without bank conflicts. The results end in shared memory too,
 * for the caller. The tensor cores truncate their sums, an error that would grow with K: so each chunk has
 * a sum of its own, and these are added with rounding.
 *
 * Each kernel runs once per step, and fetching its instructions takes longer than most of its loops: so
 * the code is kept short, and only the products are unrolled. */
#ifndef CUDA_BASE_GEMM_CUH
#define CUDA_BASE_GEMM_CUH

#include "engine/cuda/base/mma.cuh"

template <int BM_, int BN_, int DOWN_, int ACROSS_, int G_, bool KA_, bool KB_,
          onet_precision P_ = ONET_FLOAT32>
struct tile {
    static constexpr int BM = BM_, BN = BN_, DOWN = DOWN_, ACROSS = ACROSS_, G = G_, BK = 32, STAGES = 3;
    static constexpr bool KA = KA_, KB = KB_;
    static constexpr onet_precision P = P_;
    static constexpr int GROUP = 32 * DOWN * ACROSS, THREADS = GROUP * G;
    static constexpr int RESIDENT = 512 / THREADS; /* thread blocks per multiprocessor, at least */
    static constexpr int MT = BM / DOWN / 16, NT = BN / ACROSS / 8;
    static constexpr int LDA = KA ? BK + 4 : BM + 8, LDB = KB ? BK + 4 : BN + 8, LD = BN + 8;
    union {
        struct {
            float A[STAGES][(KA ? BM : BK) * LDA];
            float B[STAGES][(KB ? BN : BK) * LDB];
        };
        float out[G][BM * LD]; /* a group's results */
    };

    /* Returns four adjacent results of a row. */
    __device__ float4 results(int row, int column) const {
        float4 v = load4(out[0] + row * LD + column);
#pragma unroll
        for (int g = 1; g < G; g++) {
            float4 w = load4(out[g] + row * LD + column);
            v = make_float4(v.x + w.x, v.y + w.y, v.z + w.z, v.w + w.w);
        }
        return v;
    }
};

/* Calls f(first), f(first + STEP) ... below COUNT, where first < STEP; unrolled U times. The compiler
 * knows the count. */
template <int U, int COUNT, int STEP, class F> __device__ static inline void rolled(int first, F f) {
    if (COUNT % STEP == 0) {
#pragma unroll U
        for (int i = 0; i < COUNT / STEP; i++) f(first + i * STEP);
    } else {
#pragma unroll 1
        for (int i = first; i < COUNT; i += STEP) f(i);
    }
}

/* Starts the copy of a chunk of an operand along K, from `k` on, E numbers at a time; those at `end` and
 * beyond become 0. from(row) returns the address of a row. */
template <class T, int ROWS, int E, class F>
__device__ static inline void fetch_along(float *to, int k, int end, F from) {
    constexpr int EACH = T::BK / E;
    static_assert(T::THREADS % EACH == 0, "tile");
    int kk = (int)threadIdx.x % EACH * E, there = end - k - kk;
    if (there > 0) k += kk;
    rolled<2, ROWS, T::THREADS / EACH>((int)threadIdx.x / EACH, [&](int m) {
        async_copy<E>(to + m * (T::BK + 4) + kk, from(m) + k, there);
    });
}

/* Starts the copy of a chunk of an operand across K. from(k) returns the address of the tile's first column
 * in row k; the tile has `count` columns. */
template <class T, int COLUMNS, int E, class F>
__device__ static inline void fetch_across(float *to, int k, int end, int count, F from) {
    constexpr int EACH = COLUMNS / E;
    static_assert(T::THREADS % EACH == 0, "tile");
    int m = (int)threadIdx.x % EACH * E, there = count - m, at = there > 0 ? m : 0;
    rolled<2, T::BK, T::THREADS / EACH>((int)threadIdx.x / EACH, [&](int kk) {
        async_copy<E>(to + kk * (COLUMNS + 8) + m, from(min(k + kk, end - 1)) + at, k + kk < end ? there : 0);
    });
}

struct as_loaded {
    __device__ float operator()(int, float v) const { return v; }
};

/* Leaves the product a b, summed over the chunks, in s.out, which s.results reads. fetch_a(chunk, to) and
 * fetch_b(chunk, to) start the copy of a chunk of an operand; vb(column in tile, number) may replace a number
 * of b. The kernel waits here for the one before it (wait_turn): fetch_b must not read what that one writes.
 */
template <class T, class FA, class FB, class VB = as_loaded>
__device__ static inline void product(T &s, int chunks, FA fetch_a, FB fetch_b, VB vb = VB()) {
    constexpr int STAGES = T::STAGES, LDA = T::LDA, LDB = T::LDB;
    const int warp = (int)threadIdx.x / 32 % (T::GROUP / 32),
              group = T::G > 1 ? (int)threadIdx.x / T::GROUP : 0, g = (int)threadIdx.x % 32 / 4,
              t = (int)threadIdx.x % 4, row0 = warp / T::ACROSS * (T::BM / T::DOWN) + g,
              column0 = warp % T::ACROSS * (T::BN / T::ACROSS);
    float sum[T::MT][T::NT][4] = {};
    int stage = 0, to = 0;
#pragma unroll 1
    for (int q = 1 - STAGES; q < chunks; q++) {
        if (q >= 0) {
            async_wait<STAGES - 2>();
            __syncthreads();
        }
        int next = q + STAGES - 1;
        if (next < chunks) fetch_b(next, s.B[to]);
        if (!next) wait_turn();
        if (next < chunks) fetch_a(next, s.A[to]);
        async_commit();
        to = to + 1 < STAGES ? to + 1 : 0;
        if (q < 0) continue;
        const float *A = s.A[stage], *B = s.B[stage];
        stage = stage + 1 < STAGES ? stage + 1 : 0;
        float c[T::MT][T::NT][4] = {};
#pragma unroll 2
        for (int step = 0; step < T::BK / 8; step += T::G) {
            int k = (step + group) * 8 + t;
            factor<2, T::P == ONET_TF32> b[T::NT];
#pragma unroll
            for (int n = 0; n < T::NT; n++) {
                int x = column0 + n * 8 + g;
                const float *from = T::KB ? B + x * LDB + k : B + k * LDB + x;
                b[n].set(0, vb(x, from[0]));
                b[n].set(1, vb(x, from[T::KB ? 4 : 4 * LDB]));
            }
#pragma unroll
            for (int m = 0; m < T::MT; m++) {
                int y = row0 + m * 16;
                const float *from = T::KA ? A + y * LDA + k : A + k * LDA + y;
                constexpr int down = T::KA ? 8 * LDA : 8, along = T::KA ? 4 : 4 * LDA;
                factor<4, T::P == ONET_TF32> a;
                a.set(0, from[0]);
                a.set(1, from[down]);
                a.set(2, from[along]);
                a.set(3, from[down + along]);
                mma(c[m], a, b);
            }
        }
#pragma unroll
        for (int m = 0; m < T::MT; m++)
#pragma unroll
            for (int n = 0; n < T::NT; n++)
#pragma unroll
                for (int i = 0; i < 4; i++) sum[m][n][i] += c[m][n][i];
    }
    async_wait<0>();
    __syncthreads();
#pragma unroll
    for (int m = 0; m < T::MT; m++)
#pragma unroll
        for (int n = 0; n < T::NT; n++) {
            float *at = s.out[group] + (row0 + m * 16) * T::LD + column0 + n * 8 + 2 * t;
            *(float2 *)at = make_float2(sum[m][n][0], sum[m][n][1]);
            *(float2 *)(at + 8 * T::LD) = make_float2(sum[m][n][2], sum[m][n][3]);
        }
    __syncthreads();
}

#endif
