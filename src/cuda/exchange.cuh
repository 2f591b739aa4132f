/* Sums over all blocks of a kernel that are all at work at once, each block getting the same totals. Each
 * number travels with a tag that says which sum it belongs to, in one 8-byte word, so that nobody needs to
 * wait for anything but the numbers themselves. Two sets of words are used in turn: who sends for sum k + 2
 * has all numbers of sum k + 1, whose senders were done with sum k.
 *
 * The totals are added up in the same order in every block and every run. */
#ifndef CUDA_EXCHANGE_CUH
#define CUDA_EXCHANGE_CUH

#include "gpu.cuh"

__device__ static inline void send(word64 *to, float value, unsigned tag) {
    *(volatile word64 *)to = (word64)tag << 32 | __float_as_uint(value);
}

__device__ static inline word64 look(const word64 *from) {
    return *(const volatile word64 *)from;
}

/* 32 numbers: everybody reads everybody's. Ends with all threads seeing total. All threads call both. */
__device__ static inline void send_few(const exchange_args &x, unsigned tag, const double *mine) {
    word64 *words = x.words + (size_t)(tag & 1) * gridDim.x * EXCHANGE_MOST;
    if (threadIdx.x < 32) send(words + blockIdx.x * 32 + threadIdx.x, (float)mine[threadIdx.x], tag);
}

__device__ static inline void receive_few(const exchange_args &x, unsigned tag, double *total, double *red) {
    const word64 *words = x.words + (size_t)(tag & 1) * gridDim.x * EXCHANGE_MOST;
    int slices = blockDim.x / 16, pair = threadIdx.x & 15, slice = threadIdx.x >> 4, blocks = gridDim.x;
    double a = 0, b = 0;
    __syncthreads();
#pragma unroll 1
    for (int k0 = slice; k0 < blocks; k0 += 4 * slices) {
        word64 v[4][2]; /* asked for together, then waited for one by one */
#pragma unroll
        for (int u = 0; u < 8; u++)
            v[u / 2][u % 2] = look(words + min(k0 + u / 2 * slices, blocks - 1) * 32 + pair * 2 + u % 2);
#pragma unroll
        for (int u = 0; u < 4; u++) {
            int k = k0 + u * slices;
            if (k >= blocks) break;
            const word64 *from = words + k * 32 + pair * 2;
            while ((unsigned)(v[u][0] >> 32) != tag) v[u][0] = look(from);
            while ((unsigned)(v[u][1] >> 32) != tag) v[u][1] = look(from + 1);
            a += (double)__uint_as_float((unsigned)v[u][0]);
            b += (double)__uint_as_float((unsigned)v[u][1]);
        }
    }
    a += __shfl_xor_sync(0xffffffff, a, 16);
    b += __shfl_xor_sync(0xffffffff, b, 16);
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    red[warp * 32 + pair * 2 + (lane >> 4)] = lane < 16 ? a : b;
    __syncthreads();
    if (threadIdx.x < 32) {
        double sum = 0;
        for (int w = 0; w < (int)blockDim.x / 32; w++) sum += red[w * 32 + threadIdx.x];
        total[threadIdx.x] = sum;
    }
    __syncthreads();
}

/* Up to EXCHANGE_MOST numbers: each block adds up a few of them and tells all. */
__device__ static inline void send_many(const exchange_args &x, unsigned tag, const double *mine, int count) {
    word64 *words = x.words + (size_t)(tag & 1) * gridDim.x * EXCHANGE_MOST;
#pragma unroll 1
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        send(words + i * gridDim.x + blockIdx.x, (float)mine[i], tag);
}

__device__ static inline void receive_many(const exchange_args &x, unsigned tag, double *total, int count) {
    const word64 *words = x.words + (size_t)(tag & 1) * gridDim.x * EXCHANGE_MOST;
    word64 *answer = x.answer + (tag & 1) * EXCHANGE_MOST * 2;
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x / 32, blocks = gridDim.x;
    __syncthreads();
#pragma unroll 1
    for (int i = blockIdx.x + warp * blocks; i < count; i += warps * blocks) {
        double sum = 0;
#pragma unroll 1
        for (int k0 = lane; k0 < blocks; k0 += 5 * 32) {
            word64 v[5];
#pragma unroll
            for (int u = 0; u < 5; u++)
                v[u] = look(words + (size_t)i * blocks + min(k0 + u * 32, blocks - 1));
#pragma unroll
            for (int u = 0; u < 5; u++) {
                int k = k0 + u * 32;
                if (k >= blocks) break;
                while ((unsigned)(v[u] >> 32) != tag) v[u] = look(words + (size_t)i * blocks + k);
                sum += (double)__uint_as_float((unsigned)v[u]);
            }
        }
        for (int k = 16; k; k /= 2) sum += __shfl_xor_sync(0xffffffff, sum, k);
        float high = (float)sum;
        if (lane == 0) send(answer + 2 * i, high, tag);
        if (lane == 1) send(answer + 2 * i + 1, (float)(sum - (double)high), tag);
    }
    __syncthreads();
#pragma unroll 1
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        word64 high, low;
        do high = look(answer + 2 * i);
        while ((unsigned)(high >> 32) != tag);
        do low = look(answer + 2 * i + 1);
        while ((unsigned)(low >> 32) != tag);
        total[i] = (double)__uint_as_float((unsigned)high) + (double)__uint_as_float((unsigned)low);
    }
    __syncthreads();
}

#endif
