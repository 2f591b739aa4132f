/* One training step of the net, as a small table of block-level operations. The same training loop drives
 * every implementation: cpu.c (any kernel set, any number of threads) and, in a library of its own, CUDA.
 *
 * A step is: take, then step_forward (below), step_backward, optimise. Each operation works on the whole
 * batch and leaves what later ones need inside the net. */
#ifndef KERNELS_NET_H
#define KERNELS_NET_H

#include "kernels/kernels.h"
#include "model/shape.h"

typedef struct net net;

/* Which block of numbers is meant by put and get. Vectors are those of words, [count, width]. */
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

enum { NET_LOSSES = 16 }; /* the most steps whose losses a net keeps, a power of 2 */

typedef struct block_ops {
    const char *name;
    void (*close)(net *t);
    /* Memory for batches up to B sets of n items; called before the first step, never inside one. */
    onet_status (*reserve)(net *t, int B, int n, onet_error *err);
    /* The sets that batches are taken from, and how their features are standardised: (x - mean) * scale. With
     * train_vectors the words' vectors are parameters too. Sets must live as long as the net. */
    onet_status (*data)(net *t, const onet_sets *sets, const float *mean, const float *scale,
                        int train_vectors, onet_error *err);
    onet_status (*put)(net *t, net_block what, const float *from, onet_error *err);
    onet_status (*get)(net *t, net_block what, float *to, onet_error *err);

    /* B sets of n items each, by their index; none (B = 0) where all sets of the batch are with other
     * processes. index must live until the step ends. */
    void (*take)(net *t, const uint32_t *index, int B, int n);
    void (*begin)(net *t); /* weights into the form that the kernels want */
    void (*encoder_forward)(net *t, int block);
    void (*decoder_rows_forward)(net *t); /* x' times the decoder's weights: all that n rows can give */
    void (*decoder_forward)(net *t, int block);
    void (*head)(net *t); /* log-probabilities, loss, and the gradient at the last blocks */
    void (*decoder_backward)(net *t, int block);
    void (*decoder_rows_backward)(net *t);
    void (*encoder_backward)(net *t, int block);
    /* Adds up the gradient over all processes, clips its norm to `clip` (0: no limit) and moves the
     * parameters; the gradient's norm to *norm. */
    void (*optimise)(net *t, const adam_step *step, double clip, double *norm);
    /* Draws the averages of parameters and vectors, which must have been put, towards these:
     * average = decay * average + (1 - decay) * parameter. */
    void (*average)(net *t, double decay);
    /* Losses are means over all places. They wait for the device, and are asked for by all processes. */
    double (*loss)(net *t); /* of the last step */
    /* Of the last `count` steps that `optimise` has ended, oldest first; at most loss_every. */
    void (*losses)(net *t, int count, double *to);
} block_ops;

struct net {
    const block_ops *ops;
    const shape *sh;
    int device;     /* number of the GPU */
    int B, n;       /* this batch: sets here, items a set */
    int all;        /* sets in the batch over all processes */
    int loss_every; /* steps whose losses are kept: a look at them costs a wait where the device is another */
    int tf32;       /* 1: products may round their factors to TF32, where the device has that */
    int update;     /* 1: running statistics move with this batch */
    /* Sums over all processes, in place, the same bits in each; NULL when there is one. They are called by
     * all processes in the same order, with the same counts: all must compute on the same kind of device.
     * Set before `reserve`. */
    void (*sum)(void *context, double *values, size_t count);
    void (*sum_floats)(void *context, real *values, size_t count);
    void *sum_context;
    const uint32_t *place; /* [B]: where each set stands in the whole batch; NULL when it is all here */
};

void step_forward(net *t);
void step_backward(net *t);

/* device and process: as in kernels/device.h; kernel_set and threads: of a CPU. */
onet_status net_open(net **t, const shape *sh, const char *device, int process, const char *kernel_set,
                     int threads, onet_error *err);
onet_status cpu_open(net **t, const shape *sh, const char *kernel_set, int threads, onet_error *err);
/* Of the last batch: log-probability of item i at step t, [B, n, n], step by step; placed items get 0. */
const real *cpu_logprob(const net *t);
/* The kernel set's name, or the device's where it is no CPU. */
const char *net_kernels(const net *t);

#endif
