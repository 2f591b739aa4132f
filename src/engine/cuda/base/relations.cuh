/* Defines with_relations, the device function that adds relations between items to a layer, in training and
 * ordering; the algebra is that of kernels/relations.h.
 *
 *   encoder   c_j + We [e_ij e_ji]: weights [2E, H]
 *   decoder   e_ki, relations from the item k placed last to item i: weights [E, C] for each block and lag
 *
 * E is the number of relations from one item to another (R in docs/model.md; here R counts rows). In memory
 * the pair (i, j) has [e_ij e_ji], 2E numbers. */
#ifndef CUDA_BASE_RELATIONS_CUH
#define CUDA_BASE_RELATIONS_CUH

#include "engine/cuda/base/gpu.cuh"

/* Returns x plus the `count` relations e times their weights, for one channel or four; w: the weights from
 * that channel on, rows `width` apart. */
__device__ static inline float with_relations(float x, const float *e, const float *w, int count, int width) {
#pragma unroll 2
    for (int r = 0; r < count; r++) x += load(e + r) * load(w + (size_t)r * width);
    return x;
}
__device__ static inline float4 with_relations(float4 x, const float *e, const float *w, int count,
                                               int width) {
#pragma unroll 2
    for (int r = 0; r < count; r++) {
        float v = load(e + r);
        float4 k = load4(w + (size_t)r * width);
        x = make_float4(x.x + v * k.x, x.y + v * k.y, x.z + v * k.z, x.w + v * k.w);
    }
    return x;
}

#endif
