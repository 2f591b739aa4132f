/* One step of the tensor cores: c [16, 8] += a [16, 8] b [8, 8] by a whole warp, factors rounded to TF32 (10
 * bits after the point), sums in float32. Lane 4*g + t has a(g, t), a(g + 8, t), a(g, t + 4), a(g + 8, t +
 * 4); b(t, g), b(t + 4, g); and c(g, 2t), c(g, 2t + 1), c(g + 8, 2t), c(g + 8, 2t + 1). */
#ifndef CUDA_MMA_CUH
#define CUDA_MMA_CUH

#include "gpu.cuh"

/* Rounded to nearest, as the tensor cores want it. What is no number stays none: the GPU's own NaN, all ones,
 * would go over into -0. */
__device__ static inline unsigned tf32_of(float x) {
    unsigned bits = __float_as_uint(x);
    return (bits + ((bits & 0x7f800000u) == 0x7f800000u ? 0 : 0x1000u)) & 0xffffe000u;
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

#endif
