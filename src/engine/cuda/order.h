/* Declares the part of libordernet-cuda.so that puts sets in order with a trained model: weights, constraints
 * and answers as they are passed. src/engine/decode/gpu.c calls it. */
#ifndef CUDA_ORDER_H
#define CUDA_ORDER_H

#include "engine/kernels/gpu_library.h"

#define CUDA_ORDER CUDA_SYMBOL(CUDA_VERSIONED(ordernet_cuda_order))

/* The folded weights (decode/frozen.h) as plain row-major arrays in one block of numbers; each is given by
 * its place in the block, a multiple of 4. Widths H, O, C are padded to 16 with zeros; E is
 * settings.relations. */
typedef struct order_net {
    onet_settings settings; /* of the model, without the padding */
    int width, D;           /* features per item: of the data, and after the encoder */
    int M, H, O;
    int N, C, Q;
    size_t mean, scale; /* [width + E] */
    struct {
        int in;
        size_t first, bias; /* [in, 2H], [2H] */
        size_t related;     /* [2E, H]: what relations e_ij and e_ji give */
        size_t w, b;        /* [H, O], [O] */
        size_t g, e, sign;  /* [O] */
    } enc[MAX_BLOCKS];
    size_t rows;    /* [D, Q] */
    size_t start_q; /* [Q] */
    size_t conv;    /* block m from order_net_conv(m, C) on: [m, 3, C in, C out] */
    size_t pool;    /* block m from order_net_conv(m, C) on: [3, m*C in, C out], the pools' norms folded in */
    size_t last;    /* [N, 3, E, C]: what relations from the item placed last give */
    size_t bias;    /* [N, 3, C]: at step 0, 1, and from 2 on; the shifts of v and of the pools folded in */
    size_t sign;    /* [N, C] */
    size_t head_x;  /* [D] */
    size_t head_v;  /* [N, C] */
    size_t head_e;  /* [E] */
    const float *numbers;
    size_t count;
} order_net;

#ifdef __CUDACC__
#define CUDA_BOTH __host__ __device__
#else
#define CUDA_BOTH
#endif
/* Returns the number of weights of the blocks before block m. */
CUDA_BOTH static inline size_t order_net_conv(int m, int C) {
    return (size_t)m * (size_t)(m - (m > 0)) / 2 * 3 * (size_t)C * (size_t)C;
}

/* The constraints of a set of n items to place, as numbers in one array. */
typedef struct order_rules {
    int32_t *last;         /* [2]: the first item of the chain that must be last, -1: any may; its length */
    int32_t *fixed;        /* [n]: the item of each place; -1: any */
    int32_t *next;         /* [n]: the item that must come directly after an item; -1: any may */
    int32_t *before_start; /* [n + 1] */
    int32_t *before; /* [before_start[n]]: items that must come before item i, from before_start[i] on */
} order_rules;
CUDA_BOTH static inline size_t order_rules_size(int n, size_t pairs) {
    return 3 * (size_t)n + 3 + pairs;
}
CUDA_BOTH static inline order_rules order_rules_at(int32_t *numbers, int n) {
    order_rules r;
    r.last = numbers;
    r.fixed = numbers + 2;
    r.next = r.fixed + n;
    r.before_start = r.next + n;
    r.before = r.before_start + n + 1;
    return r;
}

/* Sets of one size, of which the first `placed` items are put in order and the others are context. The device
 * works on a part of the sets at a time, first .. first + count - 1 of this batch, and calls take when it has
 * room: take returns false to stop, or fills items [count, n, width]; where the net takes relations, pairs
 * [count, n, n, E]; when orders are to be scored, given [count, placed]; and where the sets have constraints,
 * rules [count, rules], see order_rules. give receives what was found, for each set `found` orders, best
 * first: order and step (the probability of each choice) [count, found, placed], logprob [count, found],
 * -INFINITY where constraints allow fewer orders. */
typedef struct order_batch {
    int n, placed;
    int beams, found; /* found <= beams <= placed! */
    bool score;       /* follow the given orders; beams and found are 1 */
    int rules;        /* order_rules_size of the most pairs that a set has; 0: no constraints */
    size_t sets;
    void *context;
    bool (*take)(void *context, size_t first, int count, float *items, float *pairs, int32_t *given,
                 int32_t *rules);
    void (*give)(void *context, size_t first, int count, const int32_t *order, const double *logprob,
                 const float *step);
} order_batch;

typedef struct order_device order_device;
struct order_device {
    void (*close)(order_device *d);
    /* ONET_MEMORY: the device has not enough memory for a single set; ONET_INTERRUPTED: take stopped it. */
    onet_status (*run)(order_device *d, const order_batch *batch, onet_error *err);
    /* Replaces the values of the weights; the layout stays. */
    onet_status (*weights)(order_device *d, const float *numbers, onet_error *err);
    int n;       /* for the caller: the size of sets that the weights are for */
    bool poison; /* for the tests: all memory is filled with NaN before it is used */
};
typedef onet_status cuda_order_fn(order_device **d, const order_net *net, gpu_choice gpu, onet_error *err);

#endif
