/* Declares the half of libordernet-cuda.so that trains, its symbol names, function types and hooks for tests,
 * and the version of the library's ABI. src/engine/cuda/order.h has the half that orders. kernels/device.c
 * loads the library at run time. */
#ifndef KERNELS_GPU_LIBRARY_H
#define KERNELS_GPU_LIBRARY_H

#include "engine/kernels/backend.h"
#include "engine/kernels/device.h"

/* ABI version, part of the symbol names; defined only here. Raise it when anything that both sides see
 * changes, so that an older library is not loaded: this header, src/engine/cuda/order.h, backend.h,
 * onet_settings, onet_error, or what a value of a setting means (a new pool). */
#define CUDA_VERSIONED(name) name##_17
#define CUDA_TEXT(name)      #name
#define CUDA_SYMBOL(name)    CUDA_TEXT(name)
#define CUDA_LIBRARY         "libordernet-cuda.so"
#define CUDA_OPEN            CUDA_SYMBOL(CUDA_VERSIONED(ordernet_cuda_open))
#define CUDA_PEEK            "ordernet_cuda_peek"
#define CUDA_STAGES          "ordernet_cuda_stages"

typedef onet_status cuda_open_fn(net **t, const net_shape *sh, gpu_choice gpu, onet_error *err);

/* For the tests: copies one of the arrays of a step from the device, in the device's layout; returns how
 * many numbers, 0 on failure. */
typedef enum cuda_array {
    CUDA_X,       /* [B*n + 1, D padded] */
    CUDA_AC,      /* [B*n, 2H] */
    CUDA_U,       /* [B, n, n, O] */
    CUDA_BEST,    /* [B*n, O] */
    CUDA_Q,       /* [B*n + 1, Q] */
    CUDA_R,       /* [B, n, n, C] */
    CUDA_LOGPROB, /* [B, n, n] */
    CUDA_DQ,      /* [B*n + 1, Q] */
    CUDA_DX,      /* [B*n + 1, D padded] */
    CUDA_DAC      /* [B*n, 2H] */
} cuda_array;
typedef size_t cuda_peek_fn(net *t, cuda_array what, int block, float *to, size_t room);
/* For the tests: the stages of a step one by one. From now on start_step() and each stage launch their
 * kernels at once, over memory that start_step() fills with NaN; without this call a step is one graph. */
typedef const net_stages *cuda_stages_fn(net *t);

#endif
