/* Computes on the GPU the features of items relative to their set: value minus the set's mean, over its
 * deviation (kernels/relative.h). */
#ifndef CUDA_BASE_RELATIVE_CUH
#define CUDA_BASE_RELATIVE_CUH

#include "engine/cuda/base/gpu.cuh"

extern "C" {
#include "engine/kernels/relative.h"
}

/* Computes column d + c of a set's rows x [n, ld] from column c; all lanes of a warp call it. */
__device__ static inline void relative_feature(float *x, int ld, int n, int c, int d) {
    int lane = (int)threadIdx.x % 32;
    double mean = 0, square = 0;
    for (int i = lane; i < n; i += 32) mean += (double)x[(size_t)i * ld + c];
    mean = warp_sum(mean) / n;
    for (int i = lane; i < n; i += 32) {
        double off = (double)x[(size_t)i * ld + c] - mean;
        square += off * off;
    }
    double deviation = sqrt(warp_sum(square) / n);
    bool varies = deviation > RELATIVE_LEAST && deviation < INFINITY;
    for (int i = lane; i < n; i += 32) {
        float *row = x + (size_t)i * ld;
        row[d + c] = varies ? (float)(((double)row[c] - mean) / deviation) : 0.0f;
    }
}

#endif
