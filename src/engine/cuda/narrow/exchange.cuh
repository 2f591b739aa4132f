/* Sums numbers over all thread blocks of a running kernel (an all-reduce within the GPU); all its blocks must
 * be resident. Each number is written with a tag, the number of its sum, in one 8-byte word: so a
 * thread block waits for the numbers themselves, and for nothing else. Two sets of words are used in turn: a
 * block that sends for sum k + 2 has received sum k + 1, so all its senders have read sum k.
 *
 * A sum takes as long as a word needs from block to block. So a thread polls all words that it waits for
 * together, until all have arrived.
 *
 * The totals are added up in the same order in every block and every run. */
#ifndef CUDA_NARROW_EXCHANGE_CUH
#define CUDA_NARROW_EXCHANGE_CUH

#include "engine/cuda/base/gpu.cuh"

enum {
    FEW = 32,  /* numbers of a small sum, which every block reads from all others */
    GROUP = 4, /* numbers of a larger sum that one warp adds up */
    ASKED = 8  /* words that a thread polls at once */
};

__device__ static inline void send(word64 *to, float value, unsigned tag) {
    *(volatile word64 *)to = (word64)tag << 32 | __float_as_uint(value);
}

/* Returns the address of a block's words; each block has `each` of them. */
__device__ static inline word64 *words_of(const exchange_args &x, unsigned tag, int block, int each) {
    return x.words + (tag & 1) * gridDim.x * EXCHANGE_MOST + block * each;
}

/* Waits for the numbers at from[k * stride], k = first, first + next, ... < end; returns their sum. */
__device__ static inline double await(const word64 *from, int stride, unsigned tag, int first, int next,
                                      int end) {
    double sum = 0;
#pragma unroll 1
    for (; first < end; first += ASKED * next) {
        word64 v[ASKED] = {};
        bool there;
        do {
            there = true;
#pragma unroll
            for (int u = 0; u < ASKED; u++)
                if (first + u * next < end && (unsigned)(v[u] >> 32) != tag)
                    v[u] = *(const volatile word64 *)(from + (first + u * next) * stride);
#pragma unroll
            for (int u = 0; u < ASKED; u++)
                there = there && (first + u * next >= end || (unsigned)(v[u] >> 32) == tag);
#ifndef __CUDACC__
            if (!there) __nanosleep(0); /* tests/cuda/emulate: the CPU is left to the other blocks */
#endif
        } while (!there);
#pragma unroll
        for (int u = 0; u < ASKED; u++)
            if (first + u * next < end) sum += (double)__uint_as_float((unsigned)v[u]);
    }
    return sum;
}

/* Writes the totals of FEW numbers to `total`, after the block has sent its own. All threads call it, and see
 * the totals when it returns. red: room for FEW numbers per warp. */
__device__ static __noinline__ void receive_few(const word64 *words, unsigned tag, double *total,
                                                double *red) {
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x / 32;
    __syncthreads();
    red[warp * FEW + lane] = await(words + lane, FEW, tag, warp, warps, gridDim.x);
    __syncthreads();
    if (threadIdx.x < FEW) {
        double sum = 0;
#pragma unroll 8
        for (int w = 0; w < warps; w++) sum += red[w * FEW + threadIdx.x];
        total[threadIdx.x] = sum;
    }
    __syncthreads();
}

/* receive_few for up to EXCHANGE_MOST numbers, a multiple of GROUP: each group is added up by one warp of one
 * block, which sends the total to all. */
__device__ static __noinline__ void receive_many(const word64 *words, word64 *answer, unsigned tag, int count,
                                                 double *total) {
    int lane = threadIdx.x & 31, warps = blockDim.x / 32, blocks = gridDim.x;
    __syncthreads();
#pragma unroll 1
    for (int group = blockIdx.x + (threadIdx.x >> 5) * blocks; group < count / GROUP;
         group += warps * blocks) {
        int number = group * GROUP + lane % GROUP;
        double sum = await(words + number, EXCHANGE_MOST, tag, lane / GROUP, 32 / GROUP, blocks);
        for (int k = GROUP; k < 32; k *= 2) sum += __shfl_xor_sync(0xffffffff, sum, k);
        float high = (float)sum;
        if (lane < GROUP) send(answer + number, high, tag);
        if (lane >= 32 - GROUP) send(answer + EXCHANGE_MOST + number, (float)(sum - (double)high), tag);
    }
    __syncthreads();
#pragma unroll 1
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        total[i] = await(answer + i, EXCHANGE_MOST, tag, 0, 1, 2);
    __syncthreads();
}

#endif
