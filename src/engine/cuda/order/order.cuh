/* Declares the CUDA kernels that put sets in order with a trained model, and their state;
 * src/engine/cuda/order.h is the interface.
 *
 * Takes sets of one size and with one number of context items per call, any n that memory allows, decoders of
 * up to 128 channels; each call goes through in transfers, two of them under way at a time (order.cu). Item i
 * of set b of a transfer is row b*n + i; context items come last. The norms are folded into the weights
 * (decode/frozen.h), so nothing waits for sums over sets.
 *
 * kernel (file)                  reads                              writes
 * take_items (encode.cu)         items                              x [., d]
 * relative_items (encode.cu)     x [., d]                           x [., d .. 2d-1], if the net has them
 * take_pairs (encode.cu)         pairs                              e, if the net takes relations
 * encoder block k:
 *   rows_product (encode.cu)     x                                  ac
 *   pair_pool (encode.cu)        ac; e                              pooled columns of x
 * rows_product, item_logits      x                                  q, item_logit
 * lag_sums (encode.cu)           q                                  q_sum
 * search_kernel (search.cu)      q, q_sum, item_logit, e, given, rules     order, logprob, step
 *                                its own columns: planes, ahead, states; the steps taken: trace */
#ifndef CUDA_ORDER_ORDER_CUH
#define CUDA_ORDER_ORDER_CUH

#include "engine/cuda/base/gpu.cuh"

extern "C" {
#include "engine/cuda/order.h"
}

struct orders {
    order_device base;
    order_net net;
    int device, multiprocessors;
    size_t shared; /* bytes of shared memory that a thread block may have */
    char failed[256];
    cudaStream_t stream;
    float *numbers; /* the net's, on the device */
    /* Memory for a transfer: */
    void *memory;
    size_t memory_bytes;
    float *items;          /* [R, width] */
    float *pairs;          /* [B, n, n, E]: as they are given */
    float *e;              /* [B, n, n, 2E]: e_ij and e_ji, standardised */
    int32_t *given;        /* [B, placed] */
    int32_t *rules;        /* [B, rules of the plan] */
    float *x;              /* [R, D] */
    float *ac;             /* [R, 2H] */
    float *q;              /* [R, Q] */
    float *q_sum;          /* [R, N, C]: what x' gives by all lags together */
    float *item_logit;     /* [R] */
    int32_t *order;        /* [B, found, placed] */
    float *step;           /* [B, found, placed] */
    double *logprob;       /* [B, found] */
    float *planes;         /* [thread blocks, ...]: what does not fit into shared memory */
    float *ahead;          /* [thread blocks, ...]: what columns give to later steps */
    unsigned char *states; /* [thread blocks, ...]: beam_states (search.cu) */
    int2 *trace;           /* [thread blocks, S, placed, beams]: item, and the beam before */
    float *trace_p;        /* probability of that step */
    /* Pinned memory of the host: two transfers are under way at a time. */
    struct transfer {
        size_t first;
        int count;
        cudaEvent_t done;
        unsigned char *memory;
        size_t bytes;
        float *items, *pairs, *step;
        int32_t *given, *rules, *order;
        double *logprob;
    } transfers[2];
};

bool gpu_ok(orders *s, cudaError_t e, const char *what);

/* Computes x, e, q, q_sum and item_logit of B sets of n items. */
void order_encode(orders *s, int B, int n);

/* How the search is laid out over the device. A thread block orders S sets at a time, then the next ones. */
struct search_plan {
    int n, placed, rules;                /* as in order_batch */
    int beams, found, S, threads, cells; /* cells that a thread computes at once: 2 or 4 */
    int blocks;
    bool planes_shared, states_shared, ahead_shared;
    size_t planes, ahead, states; /* bytes per thread block */
    size_t shared;
};
/* Returns false where the device failed, or beams times items or channels are too many. */
bool order_search_plan(orders *s, const order_batch *b, search_plan *p);
void order_search(orders *s, const search_plan *p, int B, bool score);
/* Raise the kernels' limits of shared memory; false: the device failed. */
bool order_search_limits(orders *s);
bool order_encode_limits(orders *s);

#endif
