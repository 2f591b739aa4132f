/* Multiplies matrices on the tensor cores: wraps the PTX instruction mma.m16n8k8 (TF32 inputs, float32 sums),
 * alone or three times per product for nearly float32 precision.
 *
 * One instruction computes c [16, 8] += a [16, 8] b [8, 8] by a whole warp. TF32 has 10 bits after the point;
 * the lower 13 bits of a number are ignored. Lane 4*g + t has a(g, t), a(g + 8, t), a(g, t + 4), a(g + 8, t +
 * 4); b(t, g), b(t + 4, g); and c(g, 2t), c(g, 2t + 1), c(g + 8, 2t), c(g + 8, 2t + 1).
 *
 * Float32 products take three steps: a number is split into its TF32 part and what is left, x = big +
 * small, and big*big + big*small + small*big is the product except for small*small and the last bits of
 * small: a relative error below 2^-20, 16 times a float32 rounding and comparable to the error of summing
 * many terms. */
#ifndef CUDA_BASE_MMA_CUH
#define CUDA_BASE_MMA_CUH

#include "engine/cuda/base/gpu.cuh"

/* x rounded to nearest, as a factor: the lower 13 bits are left over. The minimum keeps the GPU's own NaN,
 * 0x7fffffff, to which adding would give -0. */
__device__ static inline unsigned tf32_of(float x) {
    return (unsigned)(min(__float_as_int(x), 0x7fffefff) + 0x1000);
}

/* The same as a number, to be stored. */
__device__ static inline float tf32_rounded(float x) {
    return __uint_as_float(tf32_of(x) & 0xffffe000u);
}

__device__ static inline float4 tf32_rounded(float4 x) {
    return make_float4(tf32_rounded(x.x), tf32_rounded(x.y), tf32_rounded(x.z), tf32_rounded(x.w));
}

/* x = big + small, big in TF32. Where x is not finite, small is NaN. */
__device__ static inline void tf32_split(float x, unsigned &big, unsigned &small) {
    big = (__float_as_uint(x) + 0x1000u) & 0xffffe000u;
    small = __float_as_uint(x - __uint_as_float(big));
}

#ifdef __CUDACC__
__device__ static inline void mma(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
                 "{%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
#else
#include "emulated_mma.h" /* tests/cuda/emulate */
#endif

/* Factors of an mma: split in two, or (ROUNDED) only rounded to TF32. set_stored: of a number that, where
 * ROUNDED, was rounded before it was stored. */
template <int K, bool ROUNDED> struct factor {
    unsigned big[K], small[K];
    __device__ void set(int i, float x) { tf32_split(x, big[i], small[i]); }
    __device__ void set_stored(int i, float x) { set(i, x); }
};

template <int K> struct factor<K, true> {
    unsigned big[K];
    __device__ void set(int i, float x) { big[i] = tf32_of(x); }
    __device__ void set_stored(int i, float x) { big[i] = __float_as_uint(x); }
};

/* c += a b, the small parts first. */
template <bool ROUNDED>
__device__ static inline void mma(float (&c)[4], const factor<4, ROUNDED> &a, const factor<2, ROUNDED> &b) {
    if constexpr (!ROUNDED) {
        mma(c, a.small, b.big);
        mma(c, a.big, b.small);
    }
    mma(c, a.big, b.big);
}

/* The same for N products with one a, in an order in which no mma waits for the one before. */
template <int N, bool ROUNDED>
__device__ static inline void mma(float (&c)[N][4], const factor<4, ROUNDED> &a,
                                  const factor<2, ROUNDED> (&b)[N]) {
    if constexpr (!ROUNDED) {
#pragma unroll
        for (int n = 0; n < N; n++) mma(c[n], a.small, b[n].big);
#pragma unroll
        for (int n = 0; n < N; n++) mma(c[n], a.big, b[n].small);
    }
#pragma unroll
    for (int n = 0; n < N; n++) mma(c[n], a.big, b[n].big);
}

/* The same for M*N products. */
template <int M, int N, bool ROUNDED>
__device__ static inline void mma(float (&c)[M][N][4], const factor<4, ROUNDED> (&a)[M],
                                  const factor<2, ROUNDED> (&b)[N]) {
    if constexpr (!ROUNDED) {
#pragma unroll
        for (int x = 0; x < M * N; x++) mma(c[x / N][x % N], a[x / N].small, b[x % N].big);
#pragma unroll
        for (int x = 0; x < M * N; x++) mma(c[x / N][x % N], a[x / N].big, b[x % N].small);
    }
#pragma unroll
    for (int x = 0; x < M * N; x++) mma(c[x / N][x % N], a[x / N].big, b[x % N].big);
}

#endif
