/* Putting sets in order on a CUDA device: what the encoder (order_encode.cu), the search (order_search.cu)
 * and the host side (order.cu) share. All sets of a part have n items; item i of set b is row b*n + i. */
#ifndef CUDA_ORDER_CUH
#define CUDA_ORDER_CUH

#include "gpu.cuh"

extern "C" {
#include "cuda/order.h"
}

struct orders {
    order_device base;
    order_net net;
    int device, multiprocessors;
    size_t shared; /* bytes of shared memory that a block may have */
    char failed[256];
    cudaStream_t stream;
    float *numbers; /* the net's, on the device */
    /* Memory for a part: */
    void *memory;
    size_t memory_bytes;
    float *items;       /* [R, width] */
    int32_t *given;     /* [R] */
    float *x;           /* [R, D] */
    float *ac;          /* [R, 2H] */
    float *q;           /* [R, Q] */
    float *item_logit;  /* [R] */
    int32_t *order;     /* [B, found, n] */
    float *step;        /* [B, found, n] */
    double *logprob;    /* [B, found] */
    float *planes;      /* [blocks of threads, ...]: what does not fit into shared memory */
    unsigned char *few; /* likewise */
    int2 *trace;        /* [blocks of threads, S, n, beams]: item, and the beam before */
    float *trace_p;     /* probability of that step */
    /* Pinned memory of the host: two parts are under way at a time. */
    struct part {
        size_t first;
        int count;
        cudaEvent_t done;
        unsigned char *memory;
        size_t bytes;
        float *items, *step;
        int32_t *given, *order;
        double *logprob;
    } parts[2];
};

bool gpu_ok(orders *s, cudaError_t e, const char *what);

/* Features to x, q and item_logit, for B sets of n items. */
void order_encode(orders *s, int B, int n);

/* How the search is laid out over the device. A block of threads orders S sets at a time, and then the next
 * ones. */
struct search_plan {
    int n, beams, found, S, threads, cells; /* cells a thread computes at once: 2 or 4 */
    int blocks;
    bool planes_shared, few_shared;
    size_t planes, few; /* bytes a block */
    size_t shared;
};
bool order_search_plan(orders *s, const order_batch *b, search_plan *p);
void order_search(orders *s, const search_plan *p, int B, bool score);
bool order_search_limits(orders *s);
bool order_encode_limits(orders *s);

#endif
