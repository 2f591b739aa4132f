/* Multiplies matrices of bfloat16 on the tensor cores, one tile of the product per thread block; gemm.cuh
 * does the same with matrices of float32.
 *
 * A thread block makes BM x BN results, with DOWN x ACROSS warps. K is divided into chunks of 64, which are
 * copied to shared memory asynchronously, two chunks ahead. An operand has the same layout there as in global
 * memory: along K, or across it (KA, KB: neighbours in memory are neighbours in k); rows are 8 numbers more
 * than a multiple of 16 apart, so that a warp reads without bank conflicts. The results end in shared memory
 * too, as floats, for the caller. */
#ifndef CUDA_BASE_GEMM_BF16_CUH
#define CUDA_BASE_GEMM_BF16_CUH

#include "engine/cuda/base/mma.cuh"

template <int BM_, int BN_, int DOWN_, int ACROSS_, bool KA_, bool KB_> struct tile_bf16 {
    static constexpr int BM = BM_, BN = BN_, DOWN = DOWN_, ACROSS = ACROSS_, G = 1, BK = 64, STAGES = 3;
    static constexpr bool KA = KA_, KB = KB_;
    static constexpr onet_precision P = ONET_BF16;
    static constexpr int THREADS = 32 * DOWN * ACROSS;
    static constexpr int RESIDENT = 512 / THREADS; /* thread blocks per multiprocessor, at least */
    static constexpr int MT = BM / DOWN / 16, NT = BN / ACROSS / 8;
    static constexpr int LDA = (KA ? BK : BM) + 8, LDB = (KB ? BK : BN) + 8, LD = BN + 8;
    static_assert(NT % 2 == 0, "two blocks of 8 columns at a time");
    union {
        struct {
            bf16 A[STAGES][(KA ? BM : BK) * LDA];
            bf16 B[STAGES][(KB ? BN : BK) * LDB];
        };
        float out[1][BM * LD];
    };

    /* Returns four adjacent results of a row. */
    __device__ float4 results(int row, int column) const { return load4(out[0] + row * LD + column); }
};

/* Starts the copy of a chunk of an operand along K, from `k` on; numbers at `end`, a multiple of 8, and
 * beyond become 0. from(row) returns the address of a row. */
template <class T, int ROWS, class F>
__device__ static inline void fetch_along_bf16(bf16 *to, int k, int end, F from) {
    constexpr int EACH = T::BK / 8;
    const int kk = (int)threadIdx.x % EACH * 8;
    const bool there = k + kk < end;
#pragma unroll 2
    for (int m = (int)threadIdx.x / EACH; m < ROWS; m += T::THREADS / EACH)
        async_copy<4>((float *)(to + m * (T::BK + 8) + kk), (const float *)(from(m) + (there ? k + kk : 0)),
                      there ? 4 : 0);
}

/* Starts the copy of a chunk of an operand across K. from(k) returns the address of the tile's first column
 * in row k; the tile has `count` columns, a multiple of 8. */
template <class T, int COLUMNS, class F>
__device__ static inline void fetch_across_bf16(bf16 *to, int k, int end, int count, F from) {
    constexpr int EACH = COLUMNS / 8;
    const int m = (int)threadIdx.x % EACH * 8;
#pragma unroll 2
    for (int kk = (int)threadIdx.x / EACH; kk < T::BK; kk += T::THREADS / EACH) {
        const bool there = m < count && k + kk < end;
        async_copy<4>((float *)(to + kk * (COLUMNS + 8) + m),
                      (const float *)(from(min(k + kk, end - 1)) + (there ? m : 0)), there ? 4 : 0);
    }
}

/* Leaves the product a b, summed over the chunks, in s.out, which s.results reads. fetch_a(chunk, to) and
 * fetch_b(chunk, to) start the copy of a chunk of an operand. The kernel waits here for the one before it
 * (wait_turn): fetch_b must not read what that one writes. */
template <class T, class FA, class FB>
__device__ static inline void product_of_bf16(T &s, int chunks, FA fetch_a, FB fetch_b) {
    constexpr int STAGES = T::STAGES, LDA = T::LDA, LDB = T::LDB;
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32, g = lane / 4, t = lane % 4,
              row0 = warp / T::ACROSS * (T::BM / T::DOWN), column0 = warp % T::ACROSS * (T::BN / T::ACROSS),
              low = lane & 7, middle = lane >> 3 & 1, high = lane >> 4;
    /* The lane's address in a block of 16 x 16 of each operand. */
    const int a_at = T::KA ? (row0 + low + middle * 8) * LDA + high * 8
                           : (low + high * 8) * LDA + row0 + middle * 8,
              b_at = T::KB ? (column0 + low + high * 8) * LDB + middle * 8
                           : (low + middle * 8) * LDB + column0 + high * 8;
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
        const bf16 *A = s.A[stage] + a_at, *B = s.B[stage] + b_at;
        stage = stage + 1 < STAGES ? stage + 1 : 0;
#pragma unroll
        for (int k = 0; k < T::BK; k += 16) {
            unsigned b[T::NT / 2][4];
#pragma unroll
            for (int n = 0; n < T::NT / 2; n++)
                if constexpr (T::KB)
                    matrices(b[n], B + n * 16 * LDB + k);
                else
                    matrices_turned(b[n], B + k * LDB + n * 16);
#pragma unroll
            for (int m = 0; m < T::MT; m++) {
                unsigned a[4];
                if constexpr (T::KA)
                    matrices(a, A + m * 16 * LDA + k);
                else
                    matrices_turned(a, A + k * LDA + m * 16);
#pragma unroll
                for (int n = 0; n < T::NT; n++)
                    mma16(sum[m][n], a, b[n / 2][n % 2 * 2], b[n / 2][n % 2 * 2 + 1]);
            }
        }
    }
    async_wait<0>();
    __syncthreads();
#pragma unroll
    for (int m = 0; m < T::MT; m++)
#pragma unroll
        for (int n = 0; n < T::NT; n++) {
            float *at = s.out[0] + (row0 + m * 16 + g) * T::LD + column0 + n * 8 + 2 * t;
            *(float2 *)at = make_float2(sum[m][n][0], sum[m][n][1]);
            *(float2 *)(at + 8 * T::LD) = make_float2(sum[m][n][2], sum[m][n][3]);
        }
    __syncthreads();
}

#endif
