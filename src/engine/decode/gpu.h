/* Ordering on a GPU: the sets go there by size, and their answers come back to their places. */
#ifndef DECODE_GPU_H
#define DECODE_GPU_H

#include "engine/base/pool.h"
#include "engine/cuda/order.h"
#include "engine/data/constraints.h"
#include "engine/decode/frozen.h"

typedef struct gpu_work {
    freezer *z;
    const onet_sets *sets;
    onet_answer *answers;          /* or NULL: score the sets' own orders */
    const constraint_graph *graph; /* [count], where orders are looked for; NULL: no set has constraints */
    double *logprob;               /* [count]: the scores; NULL with answers */
    int beams, top;
    pool *threads; /* they copy sets and answers */
} gpu_work;

/* Opens a GPU for the net. Close it by its own close. */
onet_status gpu_open(order_device **d, freezer *z, gpu_choice gpu, onet_error *err);
/* Does the work. ONET_MEMORY: the device has not enough; some sets may be without answer. */
onet_status gpu_run(order_device *d, const gpu_work *work, onet_error *err);

#endif
