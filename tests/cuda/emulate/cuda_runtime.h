/* Emulates as much of CUDA on the CPU as the GPU kernels need, to test them where there is no GPU: slowly,
 * but with every kernel, barrier and shuffle. The threads of a block are fibers of one operating-system
 * thread, so `__shared__` is thread-local; the blocks of a kernel run one after the other, or all at once
 * where blocks wait for each other. ThreadSanitizer finds data races among CUDA threads (races.h). */
#ifndef EMULATE_CUDA_RUNTIME_H
#define EMULATE_CUDA_RUNTIME_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <functional>
#include <new>

#define __global__
#define __device__
#define __host__
#define __shared__ static thread_local
#define __launch_bounds__(...)
#define __grid_constant__
#define __restrict__
#define __forceinline__ inline
#define __noinline__
#define __align__(n)   __attribute__((aligned(n)))
#define CUDART_VERSION 13000

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) int4 {
    int x, y, z, w;
};
struct alignas(8) int2 {
    int x, y;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
struct alignas(8) uint2 {
    unsigned x, y;
};
struct alignas(16) double2 {
    double x, y;
};
static inline float4 make_float4(float x, float y, float z, float w) {
    return {x, y, z, w};
}
static inline float2 make_float2(float x, float y) {
    return {x, y};
}
static inline uint2 make_uint2(unsigned x, unsigned y) {
    return {x, y};
}
static inline int2 make_int2(int x, int y) {
    return {x, y};
}
static inline double2 make_double2(double x, double y) {
    return {x, y};
}

extern constinit thread_local dim3 threadIdx, blockIdx, blockDim, gridDim;

template <class T> static inline T min(T a, T b) {
    return a < b ? a : b;
}
template <class T> static inline T max(T a, T b) {
    return a > b ? a : b;
}
template <class T> static inline T __ldg(const T *p) {
    return *p;
}
template <class T> static inline T __ldcg(const T *p) {
    return *p;
}
/* Reads by words of 8 bytes, each atomically. */
template <class T> static inline T __ldcv(const T *p) {
    uint64_t words[sizeof(T) / 8];
    for (size_t i = 0; i < sizeof(T) / 8; i++)
        words[i] = __atomic_load_n((const uint64_t *)p + i, __ATOMIC_SEQ_CST);
    T v;
    memcpy(&v, words, sizeof v);
    return v;
}
template <class T> static inline void __stcg(T *p, T v) {
    *p = v;
}
static inline double rsqrt(double x) {
    return 1 / sqrt(x);
}
static inline double __dmul_rn(double a, double b) {
    return a * b;
}
static inline double __dadd_rn(double a, double b) {
    return a + b;
}
static inline float __int_as_float(int x) {
    float y;
    memcpy(&y, &x, 4);
    return y;
}
static inline int __float_as_int(float x) {
    int y;
    memcpy(&y, &x, 4);
    return y;
}
static inline unsigned __float_as_uint(float x) {
    return (unsigned)__float_as_int(x);
}
static inline float __uint_as_float(unsigned x) {
    return __int_as_float((int)x);
}
static inline long long __double_as_longlong(double x) {
    long long y;
    memcpy(&y, &x, 8);
    return y;
}
static inline double __longlong_as_double(long long x) {
    double y;
    memcpy(&y, &x, 8);
    return y;
}
static inline unsigned __umulhi(unsigned a, unsigned b) {
    return (unsigned)((uint64_t)a * b >> 32);
}

void __syncthreads();
void __syncwarp(unsigned mask = 0xffffffff);
/* Writes to `theirs` what lane `lane` of this warp passes as `mine`. */
void emulated_exchange(const void *mine, void *theirs, size_t bytes, int lane);
/* Writes to `all` what all 32 lanes pass as `mine`. */
void emulated_gather(const void *mine, void *all, size_t bytes);
static inline int emulated_lane() {
    return (int)threadIdx.x & 31;
}
template <class T> static inline T __shfl_xor_sync(unsigned, T v, int with) {
    T got;
    emulated_exchange(&v, &got, sizeof v, emulated_lane() ^ with);
    return got;
}
template <class T> static inline T __shfl_down_sync(unsigned, T v, int by) {
    T got;
    emulated_exchange(&v, &got, sizeof v, emulated_lane() + by < 32 ? emulated_lane() + by : emulated_lane());
    return got;
}
template <class T> static inline T __shfl_sync(unsigned, T v, int from) {
    T got;
    emulated_exchange(&v, &got, sizeof v, from);
    return got;
}
template <class T> static inline T __reduce_max_sync(unsigned, T v) {
    T all[32];
    emulated_gather(&v, all, sizeof v);
    for (T other : all) v = max(v, other);
    return v;
}
template <class T> static inline T __reduce_min_sync(unsigned, T v) {
    T all[32];
    emulated_gather(&v, all, sizeof v);
    for (T other : all) v = min(v, other);
    return v;
}
static inline void __threadfence() {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
static inline unsigned atomicAdd(unsigned *p, unsigned v) {
    return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST);
}
/* As on a GPU, these order no other memory access. */
static inline int atomicMax(int *p, int v) {
    int was = __atomic_load_n(p, __ATOMIC_RELAXED);
    while (was < v && !__atomic_compare_exchange_n(p, &was, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    return was;
}
static inline int atomicMin(int *p, int v) {
    int was = __atomic_load_n(p, __ATOMIC_RELAXED);
    while (was > v && !__atomic_compare_exchange_n(p, &was, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    return was;
}
void __nanosleep(unsigned);
void cudaGridDependencySynchronize();
static inline void cudaTriggerProgrammaticLaunchCompletion() {}
static inline size_t __cvta_generic_to_shared(const void *p) {
    return (size_t)p;
}

/* ---- the runtime ---- */

typedef enum {
    cudaSuccess,
    cudaErrorInvalidValue,
    cudaErrorMemoryAllocation,
    cudaErrorInsufficientDriver,
    cudaErrorCooperativeLaunchTooLarge
} cudaError_t;
typedef struct emulated_stream *cudaStream_t;
typedef struct emulated_event *cudaEvent_t;
typedef struct emulated_graph *cudaGraph_t, *cudaGraphExec_t;
typedef struct {
} cudaGraphExecUpdateResultInfo;
enum { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum { cudaStreamNonBlocking, cudaEventDisableTiming, cudaStreamCaptureModeThreadLocal };
typedef enum {
    cudaDevAttrMultiProcessorCount,
    cudaDevAttrMaxSharedMemoryPerBlockOptin,
    cudaDevAttrCooperativeLaunch
} cudaDeviceAttr;
typedef enum { cudaFuncAttributeMaxDynamicSharedMemorySize } cudaFuncAttribute;
enum { cudaLaunchAttributeProgrammaticStreamSerialization, cudaLaunchAttributeCooperative };
typedef struct {
    int id;
    struct {
        int programmaticStreamSerializationAllowed, cooperative;
    } val;
} cudaLaunchAttribute;
typedef struct {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    int numAttrs;
} cudaLaunchConfig_t;

float4 *emulated_shared();
/* Runs a kernel, or notes it while a graph is being captured. */
cudaError_t emulated_launch(const cudaLaunchConfig_t *config, std::function<void()> kernel);
cudaError_t emulated_do(std::function<void()> what);

/* The limit of a kernel's shared memory. Lowering it fails: a launch of another thread may need it. */
typedef struct {
    size_t sharedSizeBytes;
    int maxDynamicSharedSizeBytes;
} cudaFuncAttributes;
int emulated_limit(const void *kernel);
cudaError_t emulated_raise(const void *kernel, int limit);
template <class K> static inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *a, K *kernel) {
    *a = {0, emulated_limit((const void *)kernel)};
    return cudaSuccess;
}
template <class K> static inline cudaError_t cudaFuncSetAttribute(K *kernel, cudaFuncAttribute, int value) {
    return emulated_raise((const void *)kernel, value);
}
template <class... P, class... A>
static inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(P...),
                                             A... args) {
    if (config->dynamicSmemBytes > (size_t)emulated_limit((const void *)kernel)) return cudaErrorInvalidValue;
    return emulated_launch(config, [=]() { kernel(P(args)...); });
}
template <class K>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, K, int, size_t) {
    *blocks = 1;
    return cudaSuccess;
}

const char *cudaGetErrorString(cudaError_t);
cudaError_t cudaGetLastError();
cudaError_t cudaGetDeviceCount(int *);
cudaError_t cudaSetDevice(int);
cudaError_t cudaGetDevice(int *);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceGetAttribute(int *, cudaDeviceAttr, int);
cudaError_t cudaDeviceGetStreamPriorityRange(int *, int *);
cudaError_t cudaMalloc(void **, size_t);
cudaError_t cudaFree(void *);
cudaError_t cudaMallocHost(void **, size_t);
cudaError_t cudaFreeHost(void *);
cudaError_t cudaMemGetInfo(size_t *, size_t *);
cudaError_t cudaMemset(void *, int, size_t);
cudaError_t cudaMemsetAsync(void *, int, size_t, cudaStream_t);
cudaError_t cudaMemcpy(void *, const void *, size_t, int);
cudaError_t cudaMemcpyAsync(void *, const void *, size_t, int, cudaStream_t);
cudaError_t cudaMemcpy2DAsync(void *, size_t, const void *, size_t, size_t, size_t, int, cudaStream_t);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *, int);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *, int, int);
cudaError_t cudaStreamDestroy(cudaStream_t);
cudaError_t cudaStreamSynchronize(cudaStream_t);
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, int);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *, int);
cudaError_t cudaEventDestroy(cudaEvent_t);
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t);
cudaError_t cudaEventSynchronize(cudaEvent_t);
cudaError_t cudaStreamBeginCapture(cudaStream_t, int);
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *, cudaGraph_t, int);
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t, cudaGraph_t, cudaGraphExecUpdateResultInfo *);
cudaError_t cudaGraphDestroy(cudaGraph_t);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t);
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t);

#endif
