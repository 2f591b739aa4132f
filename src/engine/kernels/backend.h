/* Defines the interface of a backend, which computes training steps: its table of functions, the net that it
 * opens, the size of a batch, and, for tests, the stages of a step. There are two: cpu.c, with any kernel
 * set and number of threads, and CUDA, in a library of its own. The training loop uses backends through this
 * table alone. */
#ifndef KERNELS_BACKEND_H
#define KERNELS_BACKEND_H

#include "engine/kernels/kernels.h"
#include "engine/model/net_shape.h"

/* A step is: start_step (with a batch), forward, backward, optimise. Each backend walks through
 * the blocks of the net in its own way. */

typedef struct net net;

/* The size of a batch. Its sets may differ in size: n items, m of them placed. */
typedef struct batch_size {
    int sets;
    size_t items;      /* sum of n */
    size_t pairs;      /* sum of n*n: cells of an encoder block */
    size_t steps;      /* sum of m */
    size_t step_cells; /* sum of m*m: cells of a decoder block */
    int largest;       /* n of the largest set */
} batch_size;

void batch_size_add(batch_size *size, int n, int m);
/* Returns the size of B sets of n items, all of them placed. */
batch_size batch_of_one_size(int B, int n);
/* Returns the larger of the two, member by member: memory for it is enough for both. */
batch_size batch_size_most(batch_size a, batch_size b);
/* Whether memory for `room` is enough for `size`. */
bool batch_size_fits(batch_size size, batch_size room);

/* The arrays that put and get copy. Vectors are those of words, [count, width]. */
typedef enum net_block {
    NET_THETA,
    NET_GRAD,
    NET_M,
    NET_V,
    NET_AVERAGE,
    NET_VECTORS,
    NET_VECTORS_M,
    NET_VECTORS_V,
    NET_VECTORS_AVERAGE
} net_block;

enum { NET_LOSSES = 16 }; /* the most steps whose losses a backend keeps, a power of 2 */

typedef struct backend {
    const char *name;
    int is_gpu;
    void (*close)(net *t);
    /* Sets the sets that batches are taken from, and how their features are standardised: (x - mean) * scale.
     * With train_vectors the vectors of the words are parameters too. The sets must live as long as the net.
     */
    onet_status (*data)(net *t, const onet_sets *sets, const float *mean, const float *scale,
                        int train_vectors, onet_error *err);
    /* Allocates memory for batches up to this size. Called between steps; it never shrinks. */
    onet_status (*reserve)(net *t, batch_size size, onet_error *err);
    onet_status (*put)(net *t, net_block what, const float *from, onet_error *err);
    onet_status (*get)(net *t, net_block what, float *to, onet_error *err);

    /* Starts a step with B sets, given by their indices. B is 0 where other ranks have all sets of the batch.
     * index must live until the step ends. */
    void (*start_step)(net *t, const uint32_t *index, int B);
    void (*forward)(net *t);  /* log-probabilities and loss */
    void (*backward)(net *t); /* the gradient of the loss, of this rank's sets */
    /* All-reduces the gradient, clips its norm to `clip` (0: no limit) and updates the parameters; writes the
     * norm before clipping to *norm, unless that is NULL. */
    void (*optimise)(net *t, const adam_step *step, double clip, double *norm);
    /* One update of the EMA of parameters and vectors: average = decay * average + (1 - decay) * parameter.
     * The averages must have been put. */
    void (*average)(net *t, double decay);
    /* Losses are means over all steps of all orders of the batch. Reading them synchronises with the GPU; all
     * ranks must call together. */
    double (*loss)(net *t); /* of the last batch */
    /* Writes the losses of the last `count` batches that `optimise` has ended, oldest first; at most
     * losses_kept. */
    void (*losses)(net *t, int count, double *to);
} backend;

struct net {
    const backend *ops;
    const net_shape *sh;
    int device; /* number of the GPU */
    int B;      /* sets of this batch in this rank */
    batch_size
        whole; /* the batch over all ranks; the caller sets it before start_step where ranks share a batch */
    int losses_kept;          /* batches whose losses can be read afterwards */
    onet_precision precision; /* of the operands of matrix products; a device that cannot round them ignores
                               * it */
    int update;               /* 1: this batch updates the running statistics */
    /* All-reduce (sum) over the ranks, in place, with the same bits in each rank; NULL in a single rank. All
     * ranks call in the same order, with the same counts. Set before `reserve`. */
    void (*sum)(void *context, double *values, size_t count);
    void (*sum_floats)(void *context, real *values, size_t count);
    void *sum_context;
    /* [items of the sets, width]: their features relative to sets that they are a part of; NULL: relative
     * to the sets themselves (kernels/relative.h). Set before `data`; must live as long as the sets. */
    const float *relative;
    /* [items of the sets]: for each place of the sets' order, the item that should be placed there, where the
     * order has the one that is; NULL: they are the same. Set before `data`; must live as long as the sets.
     */
    const int32_t *target;
    /* Share of the encoder's pooled features that are 0 in a step, the others scaled up (kernels/dropout.h),
     * and the seed of the step: set before each start_step. Set i of this rank is number first_set + i *
     * ranks of all sets; 0 ranks count as 1. */
    float dropout;
    uint32_t dropout_seed, first_set, ranks;
    const uint32_t
        *row; /* [B]: where the items of each set begin in the whole batch; NULL in a single rank */
};

/* The parts of a step, one by one: for tests that compare backends layer by layer. A step is begin, encoder
 * blocks from 0 on, decoder_rows, decoder blocks from 0 on, head; then all but begin and head in reverse. */
typedef struct net_stages {
    void (*begin)(net *t); /* prepares the weights for the kernels */
    void (*encoder_forward)(net *t, int block);
    void (*decoder_rows_forward)(net *t); /* x' times the decoder's weights, once per item */
    void (*decoder_forward)(net *t, int block);
    void (*head)(net *t); /* log-probabilities, loss, and the gradient at the last blocks */
    void (*decoder_backward)(net *t, int block);
    void (*decoder_rows_backward)(net *t);
    void (*encoder_backward)(net *t, int block);
} net_stages;
extern const net_stages cpu_stages;

/* net_open opens a net on the device, cpu_open on the CPU. device: as in kernels/device.h; local_rank: this
 * rank among those of the same machine; kernel_set and threads: of the CPU. */
onet_status net_open(net **t, const net_shape *sh, const char *device, int local_rank, const char *kernel_set,
                     int threads, onet_error *err);
onet_status cpu_open(net **t, const net_shape *sh, const char *kernel_set, int threads, onet_error *err);
/* Returns the log-probabilities of the last batch: of item i at step t, [m, m] for set after set; 0 for
 * placed items. */
const real *cpu_logprob(const net *t);
/* Returns the name of the kernel set, or of the backend if that is not the CPU. */
const char *net_kernels(const net *t);

#endif
