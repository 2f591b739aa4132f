/* Ordering on a GPU: the sets go there by size, and their answers come back to their places. */
#ifndef DECODE_GPU_H
#define DECODE_GPU_H

#include "base/pool.h"
#include "cuda/order.h"
#include "decode/frozen.h"

/* Where the scores of the sets' own orders go. */
typedef struct score_out {
    double *logprob; /* [count] */
    double *step;    /* [items]: log-probability of each step, 0 for context items; NULL: not wanted */
    double *choices; /* [n, n] of the only set: probability of each item at each step; NULL: not wanted */
} score_out;

typedef struct gpu_work {
    freezer *z;
    const onet_sets *sets;
    onet_answer *answers; /* or NULL: score the sets' own orders */
    score_out score;
    int beams, top;
    pool *threads; /* they copy sets and answers */
} gpu_work;

/* Opens a GPU for the net. Close it by its own close. */
onet_status gpu_open(order_device **d, freezer *z, gpu_choice gpu, onet_error *err);
/* Whether the GPU can do set s: one without context items and, unless its own order is scored, without
 * constraints. The log-probabilities of steps, in double, come from the CPU. */
bool gpu_takes(const onet_sets *sets, size_t s, bool score, bool steps);
/* Does those sets; *all: there are no others. ONET_MEMORY: the device has not enough; some sets may be
 * without answer. */
onet_status gpu_run(order_device *d, const gpu_work *work, bool *all, onet_error *err);

#endif
