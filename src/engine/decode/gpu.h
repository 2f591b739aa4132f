/* Puts sets in order, or scores given orders, on a GPU through libordernet-cuda.so (cuda/order.h): used by
 * orderer.c. */
#ifndef DECODE_GPU_H
#define DECODE_GPU_H

#include "engine/base/thread_pool.h"
#include "engine/cuda/order.h"
#include "engine/data/constraints.h"
#include "engine/decode/frozen.h"

typedef struct gpu_work {
    freezer *z;
    const onet_sets *sets;
    onet_answer *answers;          /* or NULL: score the sets' own orders */
    const constraint_graph *graph; /* [count], for searches; NULL: no set has constraints */
    double *logprob;               /* [count]: the scores; NULL with answers */
    int beams, top;
    thread_pool *threads;              /* threads that copy sets and answers */
    const onet_order_options *options; /* stop() is called before each part of the sets */
} gpu_work;

/* Opens a GPU for the net; (*d)->close closes it. */
onet_status gpu_open(order_device **d, freezer *z, gpu_choice gpu, onet_error *err);
/* Orders or scores the sets. ONET_MEMORY: the device has too little memory; some sets may be without an
 * answer. */
onet_status gpu_run(order_device *d, const gpu_work *work, onet_error *err);

#endif
