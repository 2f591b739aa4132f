/* Multiplies matrices on the tensor cores: wraps the PTX instructions mma.m16n8k8 (TF32 inputs, float32
 * sums), alone or three times per product for nearly float32 precision, and mma.m16n8k16 (bfloat16 inputs).
 * Also converts numbers to TF32 and bfloat16, and loads them as factors.
 *
 * One instruction computes c [16, 8] += a [16, 8] b [8, 8] by a whole warp. TF32 has 10 bits after the point;
 * the lower 13 bits of a number are ignored. Lane 4*g + t has a(g, t), a(g + 8, t), a(g, t + 4), a(g + 8, t +
 * 4); b(t, g), b(t + 4, g); and c(g, 2t), c(g, 2t + 1), c(g + 8, 2t), c(g + 8, 2t + 1).
 *
 * Float32 products take three steps: a number is split into its TF32 part and what is left, x = big +
 * small, and big*big + big*small + small*big is the product except for small*small and the last bits of
 * small: a relative error below 2^-20, 16 times a float32 rounding and comparable to the error of summing
 * many terms.
 *
 * In bfloat16 two factors that follow each other along the sum share a register, the first in its lower half.
 * One instruction computes c [16, 8] += a [16, 16] b [16, 8]: the lane has a(g, 2t), a(g + 8, 2t), a(g, 2t +
 * 8), a(g + 8, 2t + 8); b(2t, g), b(2t + 8, g), each with the one that follows it; and c as above. */
#ifndef CUDA_BASE_MMA_CUH
#define CUDA_BASE_MMA_CUH

#include "engine/cuda/base/gpu.cuh"

/* Returns x rounded to nearest, as a factor: the lower 13 bits are not cleared. The minimum keeps the GPU's
 * own NaN, 0x7fffffff, to which adding would give -0. */
__device__ static inline unsigned tf32_of(float x) {
    return (unsigned)(min(__float_as_int(x), 0x7fffefff) + 0x1000);
}

/* Returns x rounded to TF32 as a float, to be stored: the lower 13 bits are 0. */
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

#ifndef __CUDACC__
#include "emulated_mma.h" /* tests/cuda/emulate */
#endif

/* A number in bfloat16: the upper half of a float. */
struct bf16 {
    uint16_t bits;
};

/* Returns two numbers, rounded to nearest, in one register. */
__device__ static inline unsigned bf16_pair(float first, float second) {
#ifdef __CUDACC__
    unsigned pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
    return pair;
#else
    return emulated_bf16(first) | (unsigned)emulated_bf16(second) << 16;
#endif
}
__device__ static inline bf16 bf16_of(float x) {
    return {(uint16_t)bf16_pair(x, 0.0f)};
}
__device__ static inline float2 floats_of(unsigned pair) {
    return make_float2(__uint_as_float(pair << 16), __uint_as_float(pair & 0xffff0000u));
}
__device__ static inline float float_of(bf16 x) {
    return __uint_as_float((unsigned)x.bits << 16);
}
__device__ static inline float float_of(float x) {
    return x;
}
/* The type in which numbers that only products read are stored. */
template <onet_precision P> struct stored_of { typedef float type; };
template <> struct stored_of<ONET_BF16> { typedef bf16 type; };
template <onet_precision P> using stored = typename stored_of<P>::type;
/* relu(a + b) of two pairs, rounded once. */
__device__ static inline unsigned bf16_relu_sum(unsigned a, unsigned b) {
#ifdef __CUDACC__
    unsigned sum;
    asm("fma.rn.relu.bf16x2 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(0x3f803f80u), "r"(b));
    return sum;
#else
    float2 x = floats_of(a), y = floats_of(b);
    return bf16_pair(relu(x.x + y.x), relu(x.y + y.y));
#endif
}

/* Load and store four numbers of a row of floats or of bfloat16. */
__device__ static inline float4 four_of(const float *p) {
    return *(const float4 *)p;
}
__device__ static inline float4 four_of(const bf16 *p) {
    uint2 v = *(const uint2 *)p;
    float2 x = floats_of(v.x), y = floats_of(v.y);
    return make_float4(x.x, x.y, y.x, y.y);
}
__device__ static inline void put_four(float *p, float4 v) {
    *(float4 *)p = v;
}
__device__ static inline void put_four(bf16 *p, float4 v) {
    *(uint2 *)p = make_uint2(bf16_pair(v.x, v.y), bf16_pair(v.z, v.w));
}

__device__ static inline void put_one(float *p, float v) {
    *p = v;
}
__device__ static inline void put_one(bf16 *p, float v) {
    *p = bf16_of(v);
}

#ifdef __CUDACC__
/* Load four matrices of 8 x 8 bfloat16 numbers as factors of an mma: lane l passes the address of row l % 8
 * of matrix l / 8, and receives the numbers 2t and 2t + 1 of row g of each matrix or, turned, of column g. */
__device__ static inline void matrices(unsigned (&to)[4], const bf16 *row) {
    unsigned at = (unsigned)__cvta_generic_to_shared(row);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(at)
                 : "memory");
}
__device__ static inline void matrices_turned(unsigned (&to)[4], const bf16 *row) {
    unsigned at = (unsigned)__cvta_generic_to_shared(row);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(at)
                 : "memory");
}
__device__ static inline void mma16(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
                 "{%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
/* mma16 with only 8 terms: a(g, 2t), a(g + 8, 2t) and b(2t, g). */
__device__ static inline void mma8(float (&c)[4], unsigned a0, unsigned a1, unsigned b) {
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a0), "r"(a1), "r"(b));
}
__device__ static inline void mma(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
                 "{%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
#else
template <class Row> static inline void matrices(unsigned (&to)[4], const Row *row) {
    emulated_matrices(to, row, false);
}
template <class Row> static inline void matrices_turned(unsigned (&to)[4], const Row *row) {
    emulated_matrices(to, row, true);
}
#endif

/* Factors of an mma: split in two, or (ROUNDED) only rounded to TF32. set_stored takes a number that, where
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

/* c[n] += a b[n] for N products, in an order in which no mma waits for the one before. */
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

/* c[m][n] += a[m] b[n] for M*N products. */
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
