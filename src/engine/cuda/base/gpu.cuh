/* Declares what the CUDA training kernels share: the state of the net on the device (struct gpu), the
 * functions of each layer, launches, norms, pools, dropout, asynchronous copies and sums over a warp or a
 * batch. Defines the notation of the CUDA code: rows, steps, pairs, cells, lags, v, dpre. */
/* clang-format off */
/*   src/engine/kernels/gpu_library.h  what the library offers to the rest of the program
 *   src/engine/cuda/base              what the others share: this file, mma.cuh and gemm.cuh (tensor cores), norms
 *   src/engine/cuda/layers            training, any net and batch: one kernel per layer (layers.cuh)
 *   src/engine/cuda/narrow            training, narrow nets on small sets: the whole step in one kernel (narrow.cuh)
 *   src/engine/cuda/step              a training step from the host's side: the table of operations (net.cu),
 *                                     memory (memory.cu), launches and graphs (step.cu), the optimiser, the
 *                                     vectors of words
 *   src/engine/cuda/order             ordering with a trained model (order.cuh) */
/* clang-format on */
/* step.cu picks the family of a training step: narrow where gpu_narrow takes the net and the batch, else
 * layers. Both leave the parts of the gradient to finish and move (optimise.cu).
 *
 * R rows: the items of all sets, set after set, in each set those that are placed before its context items;
 * row R is the start vector. T steps: those of all sets, set after set. Pairs (i, j) of the encoder, n*n per
 * set, and cells (t, i) of the decoder, m*m per set (m: the items that are placed), are stored set after set
 * too. Where all sets have n items and place all of them, item i of set b is row b*n + i, and its step t is
 * number b*n + t. Widths H, O, C are padded to 16, and the padding is zero. E: relations from an item to
 * another one.
 *
 * As in docs/model.md, x'_i is item i after the encoder and y'_t is x' of the item placed at step t-1, the
 * start vector at step 0. A decoder block's conv sees steps t, t-1, t-2: lags 0, 1, 2. r is its output after
 * the ReLU, v = g*r + e is r normed; dv is the gradient of v, dpre that of the conv's output before the ReLU.
 * q: the products of x' with all decoder weights that multiply x' or y', [6, C] per block: 3 lags of x', then
 * 3 of y'. In the encoder h = relu(a_i + c_j) and u is the output before norm2; du is the gradient before u's
 * ReLU, dac that of a and c.
 *
 * The backward pass of a norm is linear in sums that are known only when the whole batch has been seen. So
 * each pass over cells leaves sums, from which the next kernel makes the gradient:
 *   decoder   dpre = r > 0 ? g*dv - k0 - k1*r : 0, from dv and r
 *   encoder   dac  = sum - c0*count - c1*total, where count and total are of the row's h > 0
 * The gradient at a pair is never in device memory.
 *
 * No sum depends on the order in which blocks run: each block writes its part, and the last one to finish
 * adds the parts up in a fixed order. */
#ifndef CUDA_BASE_GPU_CUH
#define CUDA_BASE_GPU_CUH

#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <stdint.h>

#include "engine/cuda/base/batch.cuh"

extern "C" {
#include "engine/base/error.h"
#include "engine/kernels/backend.h"
#include "engine/kernels/dropout.h"
#include "engine/kernels/gpu_library.h"
#include "engine/words/words.h"
}

enum {
    HEADER = 256,     /* bytes for Adam's numbers, before a step's indices */
    SLOTS = 16,       /* steps that the host may be ahead of the device */
    CHUNK = 1024,     /* parameters per thread block of the optimiser */
    SPLITS = 16,      /* the most parts of a weight gradient */
    BACK_MORE = 2,    /* rows, per row of the batch, of what tiles of pair_backward add up later */
    CONV_SPLITS = 64, /* as SPLITS, where the gradient is a sum over cells or pairs */
    SIDES = 3,        /* streams beside the main one */
    DEEP = 8,         /* the most blocks of encoder and of decoder in the narrow family */
    /* Bytes of shared memory, at most, in arrays of fixed size: */
    LAYERS_STATIC = 16384,
    NARROW_STATIC = 1024
};

/* ---- device memory ---- */

enum { EXCHANGE_MOST = 256 }; /* the most numbers of a sum over thread blocks (exchange.cuh) */
typedef unsigned long long word64;

struct exchange_args {
    word64 *words;  /* [2, blocks, EXCHANGE_MOST] */
    word64 *answer; /* [2, 2, EXCHANGE_MOST] */
    unsigned *epoch;
};

struct norms { /* y = g*r + e; of one layer or, block after block, of several: [width padded] each */
    float *mean, *inv, *g, *e;
};

struct encoder_block {
    float *w1;   /* [2H, columns]: weights that see x_i, then those that see x_j, as feature_columns says */
    float *ac;   /* [R, 2H]; with bfloat16, as u, in half of the memory */
    float *u;    /* [pairs, O] */
    float *best; /* [R, O] */
    int *arg;    /* [R, O] */
    float *sum;  /* [R, 2H]: sum of w du over the cells with h > 0; all blocks share it */
    float *dac;  /* [R, 2H] */
    norms norm1, norm2;
    float *k0, *k1;     /* [O] */
    float *c0, *c1;     /* [H] */
    float *g;           /* [tiles, H, O]: parts of sum h du */
    float *g_total;     /* [H, O] */
    float *weight_part; /* [splits, 2H, in + 1]: of dac^T x, and of the bias */
    int splits;
};

enum { RESULTS = 2 + NET_LOSSES };

struct adam_numbers { /* one step's, on the device */
    float scale, b1, b2, c1, c2, eps, keep, rate, root;
    float clip;
    int words; /* distinct words of this batch */
    int place; /* among the last losses */
    unsigned dropout_seed;
};

struct chunk { /* of the parameters: all of one tensor */
    unsigned first, count;
    int kind, block;
    unsigned tensor; /* offset of its tensor */
};
enum { GRAD_IN_PLACE, GRAD_WEIGHT1, GRAD_BIAS1, GRAD_WEIGHT2, GRAD_CONV, GRAD_HEAD, GRAD_ZERO };

struct graph { /* of a batch of one size */
    int B, n, all, update, parts;
    float dropout;
    onet_precision precision;
    cudaGraphExec_t exec;
};
/* Parts of a step that are noted and not launched yet. */
enum { FORWARD = 1, BACKWARD = 2, OPTIMISE = 4, PARTS = 8 };

struct slot { /* pinned memory for what one step sends */
    cudaEvent_t sent;
    unsigned char *host;
    unsigned char *tables; /* of a batch of several sizes */
};

struct narrow_memory {               /* of the narrow family (narrow.cuh) */
    int blocks;                      /* the most thread blocks: one per multiprocessor */
    float *w1[DEEP], *w1_back[DEEP]; /* packed: [in, 2H], [2H, in] */
    float *bias1[DEEP];              /* [2H], zeros in its second half */
    float *rows_t, *rows_b;          /* packed: [D, Q], [Q, D] */
    exchange_args exchange;
    float *bias_part;               /* [blocks, N*C] */
    float *conv_total, *pool_total; /* [pairs, 3, C, C] */
    float *start_d;                 /* [blocks, D]: gradient of the start vector by each set */
    const float *start_row;         /* row R of dq where rows_part does not hold its product yet, else NULL */
};

/* The sets that are trained on, on the device. */
struct given_arrays {
    const onet_sets *sets;
    uint64_t *start;
    float *items;
    float *relative; /* [items, width]; NULL: made from the items */
    int32_t *word, *order_all;
    int32_t *target;                                          /* [items]: as in backend.h */
    float *table;                                             /* [words, width] */
    float *vectors, *vectors_m, *vectors_v, *vectors_average; /* only when trained */
    size_t vector_count;
    int train_vectors;
};

/* Parameters, their gradient and Adam's moments; and the weights in the forms that kernels read. */
struct weight_arrays {
    float *theta, *grad, *m, *v, *average;
    float *mean, *scale;    /* [width + E] */
    norms dec;              /* [N, C] */
    float *dec_k0, *dec_k1; /* [N, C] */
    float *rows;            /* [Q, columns]: the decoder's weights that see x' and y' */
    float *conv, *conv_t;   /* [pairs, 3, C in, C out] and [pairs, 3, C out, C in]: those that see v */
    float *pool, *pool_t;   /* in the same layout: those that see the pools */
};

/* The tensors of a step, with memory for batches up to gpu.room. */
struct step_arrays {
    int *pos, *order, *right;             /* [R]; right: as order, of the right item at each step */
    unsigned *dropout_key;                /* [R] (kernels/dropout.h) */
    float *x, *dx;                        /* [R + 1, D padded] */
    float *gd;                            /* [R, O] */
    float *sum_more;                      /* [BACK_MORE * R, H]: as encoder_block.sum (pairs.cuh) */
    float *q, *dq;                        /* [R + 1, Q] */
    float *r, *dv;                        /* [N, cells, C] */
    float *dec_v, *dpre;                  /* v and dpre; written by the next kernel of the main stream, as: */
    float *dec_pool, *dstep;              /* [N, T, C]: pools after the norm, sums of dpre over the items */
    float *praw;                          /* [N, T, C]: pools before the norm */
    int *parg;                            /* [N, T, C] */
    float *step_dv, *step_count, *step_r; /* [N, T, C]: sums over the items with r > 0 */
    float *logit, *dlogit, *item_d;
    float *start_part;                  /* [B, 3*N*C] */
    float *head_part;                   /* [B, N*C + D padded] */
    float *head_total;                  /* [N*C + D padded] */
    float *conv_part, *pool_part;       /* [splits, pairs, 3, C, C] */
    float *rows_part;                   /* [splits, Q, D] */
    const float *conv_from, *pool_from; /* the parts or their totals, which finish reads */
    int conv_splits, pool_splits, rows_splits;
    double *part;      /* sums of tiles */
    float *part_f;     /* [tiles, H + O] */
    double *loss_part; /* [B] */
};

/* Weights of an encoder block for products in bfloat16: W1 [2H, columns], as half_columns says; W2 times
 * norm1's scale, [O, H], the hidden channels of each 16 in the order of an mma, and [H, O]; W2 as [H, O]; and
 * its bias with norm1's shift in it. */
struct bf16_block {
    uint16_t *w1, *w2, *w2_back;
    float *w2_turned, *bias2;
};
struct bf16_arrays {
    bf16_block block[MAX_BLOCKS];
    uint16_t *x;    /* [R + 1, columns]: the features */
    uint16_t *rows; /* [Q, columns]: the decoder's weights that see x' and y' */
};

/* Of nets with relations. */
struct relation_arrays {
    float *value;              /* [n*n per set, E]: as the sets have them, set after set */
    uint64_t *row;             /* [items]: the pair of `value` at which an item's relations begin */
    float *e;                  /* [pairs, 2E]: of the batch, e_ij and e_ji, standardised */
    float *w[MAX_BLOCKS];      /* [2E, H]: the weights of an encoder block that see them */
    float *w_part[MAX_BLOCKS]; /* [w_splits, 2E, H]: of their gradient */
    int w_splits[MAX_BLOCKS];
    float *last;      /* [N, 3, E, C]: the decoder's weights of relations from the item placed last */
    float *last_part; /* [last_splits, last_width]: of their gradient and of the head's */
    int last_splits;
};

/* What the host sends for a step. */
struct step_sending {
    unsigned char *sent; /* on the device: */
    adam_numbers *adam;
    uint32_t *index; /* [B] */
    const uint32_t *index_host;
    int32_t *word_first; /* [words + 1]: where each word's rows begin in word_row */
    int32_t *word_row;   /* [R] */
    int32_t *word_id;    /* [words] */
    size_t send_bytes, batch_bytes;
    slot slots[SLOTS];
    int slot_now;
    bool slot_open; /* slot_now has not been sent yet */
    bool slot_full; /* it holds a whole batch; else Adam's numbers alone */
};

/* Batches of several sizes (layers/mixed.cu). */
struct ragged_arrays {
    mixed_batch *mixed; /* NULL where all sets of the batch have one size, else: */
    mixed_batch mixed_now;
    sorted_sets sorted;
    unsigned char *tables;          /* of mixed_now, on the device; table_room bytes here and in each slot */
    size_t table_room, table_bytes; /* table_bytes: not sent yet */
    int2 *row_at;                   /* [R] */
    int *step_set;                  /* [T] */
};

/* Streams and graphs: the order in which kernels run. */
struct launch_queue {
    cudaStream_t stream, side[SIDES];
    cudaEvent_t fork, join[SIDES];
    int forked[SIDES];
    bool chained; /* the main stream ends with a kernel that `chain` launched */
    bool eager;
    int waiting;
    graph *graphs; /* of batches of one size */
    int graph_count;
    /* Graph of the latest batch of several sizes, indexed by the sum of the parts that it launches. */
    cudaGraphExec_t mixed[PARTS];
};

/* What comes out of a step: sums over its parts, losses, and what ranks exchange. */
struct step_results {
    unsigned *counters;
    chunk *chunks;
    int chunk_count;
    double *norm_part; /* [chunk_count] */
    double *results;   /* [RESULTS]: loss, norm, losses of the last steps */
    double *results_host;
    unsigned ended; /* steps */
    double *share;  /* [5, widest norm], in the host's memory: sums to be all-reduced */
};

struct gpu {
    net base;
    int device, multiprocessors;
    size_t shared_all; /* bytes of shared memory that a thread block may have */
    size_t shared;     /* the same less LAYERS_STATIC */
    char failed[256];
    int H, O, C, D, Q, M, N; /* padded widths, blocks */
    batch_size here;         /* this rank's sets of the batch; base.whole is the batch over all ranks */
    batch_size room;         /* the largest batch that there is memory for */
    int n;                   /* items per set, all of them placed; 0 where sizes differ */
    void *fixed, *batch, *dataset, *vector_memory;

    given_arrays given;
    weight_arrays weights;
    encoder_block enc[MAX_BLOCKS];
    bf16_arrays half;
    step_arrays step;
    relation_arrays related;
    step_sending send;
    step_results result;
    struct { /* host memory for all-reduces of the gradient and of words; only where ranks share a batch */
        void *memory;
        float *grad;          /* [trained] */
        float *here, *word_d; /* [rows, width]: gradients of this rank's items, and of the whole batch */
        double *word;         /* [rows]: of the whole batch */
    } out;
    launch_queue queue;
    ragged_arrays ragged;
    narrow_memory narrow;
};

/* Layout of a row of weights that multiply features. The weights of the pool of the block before, from
 * column `first` on, begin at a multiple of 4 (hence `gap`), and so does the next row. */
struct feature_columns {
    int in, first, gap, width;
};
static inline feature_columns columns_of(const net_shape *sh, int block) { /* block M: the decoder */
    int M = sh->s.encoder_blocks, in = block < M ? sh->enc[block].in : sh->D;
    feature_columns c = {in, block ? sh->enc[block - 1].in : in, 0, 0};
    c.gap = block ? -c.first & 3 : 0;
    c.width = up(in + c.gap, 4) * 4;
    return c;
}
/* Layout of a row of weights or features in bfloat16: the items' own features, a column of ones and zeros up
 * to a multiple of 8, then the pool of one block after the other, padded. */
struct half_columns {
    int inputs, base, O, out, width;
};
static inline half_columns half_columns_of(const gpu *s, int block) {
    const net_shape *sh = s->base.sh;
    half_columns h = {
        .inputs = sh->inputs, .base = up(sh->inputs + 1, 8) * 8, .O = s->O, .out = sh->s.encoder_out};
    h.width = h.base + block * h.O;
    return h;
}
/* Returns the index of `column` among the columns without padding; -1: it is padding. */
__device__ static inline int own_column(const half_columns &h, int column) {
    if (column < h.base) return column < h.inputs ? column : -1;
    int k = (column - h.base) / h.O, o = column - h.base - k * h.O;
    return column < h.width && o < h.out ? h.inputs + k * h.out + o : -1;
}
/* Returns the numbers in one split of relation_arrays.last_part: [N, 3, E, C] of the decoder, then [E padded
 * to 4] of the head. */
static inline int last_width(const gpu *s) {
    int E = s->base.sh->s.relations;
    return 3 * s->N * E * s->C + up(E, 4) * 4;
}
/* Returns the pairs of decoder blocks of which the later sees the earlier. */
static inline int pairs(int N) {
    return N * (N - 1) / 2;
}

/* Keeps the first error in `failed`. Returns false once any error, now or earlier, was noted; then nothing
 * more is launched. */
bool gpu_note(char failed[256], cudaError_t e, const char *what);
bool gpu_ok(gpu *s, cudaError_t e, const char *what);
/* Returns ONET_OK, or ONET_FAILED with a message that has the error in `failed`. */
onet_status gpu_status(const gpu *s, onet_error *err);
/* gpu_fork: side stream i waits for all work on the main stream; gpu_join: the main stream waits for side
 * stream i. */
void gpu_fork(gpu *s, int i);
void gpu_join(gpu *s, int i);

void gpu_take(gpu *s);
void gpu_relate(gpu *s); /* gathers the batch's relations and packs the weights that see them */
void gpu_pack(gpu *s);
/* An operation ends where the sums of a norm are complete; step.cu then calls norms_total. */
void gpu_encoder_rows(gpu *s, int block);
void gpu_encoder_pairs(gpu *s, int block);
void gpu_encoder_pairs_backward(gpu *s, int block);
void gpu_encoder_rows_backward(gpu *s, int block);
void gpu_decoder_rows_forward(gpu *s);
void gpu_decoder_forward(gpu *s, int block);
void gpu_head(gpu *s);
void gpu_decoder_backward(gpu *s, int block);
void gpu_decoder_rows_backward(gpu *s);

/* Launch the step, or one operation of it, by the narrow family. Return false, with nothing done, where it
 * does not take the net or the batch. */
typedef enum {
    NARROW_TAKE,
    NARROW_BEGIN,
    NARROW_ENCODER,
    NARROW_ROWS,
    NARROW_CONV,
    NARROW_HEAD,
    NARROW_CONV_BACK,
    NARROW_ROWS_BACK,
    NARROW_ENCODER_BACK
} narrow_operation;
bool gpu_narrow_net(const gpu *s); /* does the narrow family take this net, with some batch? */
bool gpu_narrow(gpu *s, int parts);
bool gpu_narrow_operation(gpu *s, narrow_operation what, int block);

void gpu_finish(gpu *s); /* the gradient, from its parts */
void gpu_share_gradient(gpu *s);
void gpu_adam(gpu *s);
void gpu_average(gpu *s, double decay);

/* Writes the number of the requested GPU to *device; the error says what is missing. */
onet_status gpu_find(gpu_choice gpu, int *device, onet_error *err);

/* Places arrays one after the other; with base NULL it only counts. */
struct arena {
    unsigned char *base;
    size_t used;
    template <class T> void place(T *&p, size_t count) {
        p = base ? (T *)(base + used) : nullptr;
        used += (count * sizeof(T) + 255) / 256 * 256;
    }
    void place(norms &b, size_t width) {
        place(b.mean, width);
        place(b.inv, width);
        place(b.g, width);
        place(b.e, width);
    }
};

static inline bool allocate(void **p, size_t bytes) {
    *p = nullptr;
    if (cudaMalloc(p, bytes ? bytes : 256) == cudaSuccess) return true;
    *p = nullptr;
    cudaGetLastError(); /* clears the error: it is reported as a lack of memory */
    return false;
}

static inline void drop(void **p) {
    cudaFree(*p);
    *p = nullptr;
}

/* Make the plans and tables of batch.cuh. Return false where a set does not fit into the shared memory of a
 * thread block. `out` needs room for one pair_tile per row, one conv_span per step and back_tiles_most
 * back_tiles. */
bool pair_tiles_make(const gpu *s, const set_run *runs, int count, pair_plan *p, pair_tile *out);
bool back_tiles_make(const gpu *s, const set_run *runs, int count, set_place *places, back_plan *p,
                     back_tile *out);
int back_tiles_most(const gpu *s, int sets);
bool conv_tiles_make(const gpu *s, const set_run *runs, int count, conv_plan *p, conv_span *out);
void weight_tiles_make(const set_run *runs, int count, bool pools, weight_tiles *w, weight_tile *out);
bool pair_plan_make(const gpu *s, int B, int n, pair_plan *p);
bool conv_plan_make(const gpu *s, int B, int n, conv_plan *p);
bool back_plan_make(const gpu *s, int B, int n, back_plan *p);

/* A kernel may use more than SHARED_PLAIN bytes of shared memory only after its limit has been raised. All
 * nets of the process share the limit, and other threads launch with other sizes meanwhile: so it is raised
 * once, to all that the device has, and never lowered. */
enum { SHARED_PLAIN = 48 * 1024 };
template <class... P> static cudaError_t allow_shared(void (*kernel)(P...), size_t shared) {
    if (shared <= SHARED_PLAIN) return cudaSuccess;
    cudaFuncAttributes now = {};
    int device = 0, most = 0;
    cudaError_t error = cudaFuncGetAttributes(&now, kernel);
    if (error != cudaSuccess || shared <= (size_t)now.maxDynamicSharedSizeBytes) return error;
    if ((error = cudaGetDevice(&device)) != cudaSuccess) return error;
    error = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (error != cudaSuccess) return error;
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                most - (int)now.sharedSizeBytes);
}

/* Launches on a stream unless something failed before. */
template <class... P, class... A>
static void launch_on(char failed[256], cudaStream_t where, cudaLaunchAttribute *attribute, const char *name,
                      dim3 grid, int block, size_t shared, void (*kernel)(P...), A... args) {
    if (failed[0]) return;
    if (!gpu_note(failed, allow_shared(kernel, shared), "shared memory")) return;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = dim3(block);
    config.dynamicSmemBytes = shared;
    config.stream = where;
    config.attrs = attribute;
    config.numAttrs = attribute ? 1 : 0;
    gpu_note(failed, cudaLaunchKernelEx(&config, kernel, P(args)...), name);
}
#define LAUNCH(s, where, grid, block, shared, kernel, ...)                                                   \
    launch_on((s)->failed, where, nullptr, #kernel, grid, block, shared, kernel, __VA_ARGS__)

/* May a kernel start while the one before it still runs (programmatic dependent launch)? Only code built
 * for capability 9.0 or later has the instruction that waits for it. */
#ifndef __CUDA_ARCH_LIST__
#define __CUDA_ARCH_LIST__ 900 /* no nvcc: tests/cuda/emulate */
#endif
static constexpr bool overlapping() {
    for (int built_for : {__CUDA_ARCH_LIST__})
        if (built_for < 900) return false;
    return true;
}

/* Launches the next kernel on the main stream; it may start while the one before it still runs. */
template <class... P, class... A>
static void chain(gpu *s, const char *name, dim3 grid, int block, size_t shared, void (*kernel)(P...),
                  A... args) {
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    launch_on(s->failed, s->queue.stream, s->queue.chained ? &attribute : nullptr, name, grid, block, shared,
              kernel, args...);
    s->queue.chained = overlapping();
}
/* The precision of products: where there are relations, TF32 instead of bfloat16. */
static inline onet_precision precision_of(const gpu *s) {
    onet_precision p = s->base.precision;
    return p == ONET_BF16 && s->base.sh->s.relations ? ONET_TF32 : p;
}
/* Calls f<P>(), where P is the precision of products. */
template <class F> static void with_precision(const gpu *s, F f) {
    onet_precision p = precision_of(s);
    if (p == ONET_BF16)
        f.template operator()<ONET_BF16>();
    else if (p == ONET_TF32)
        f.template operator()<ONET_TF32>();
    else
        f.template operator()<ONET_FLOAT32>();
}

#define CHAIN(s, grid, block, shared, kernel, ...) chain(s, #kernel, grid, block, shared, kernel, __VA_ARGS__)

/* ---- parts of kernels ---- */

/* A kernel that `chain` launched may start while the one before it still runs. Here it waits until that one
 * has ended, and lets the next one start. */
__device__ static inline void wait_turn() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/* Returns true in the one block that finishes last, to which all that the others wrote is visible. */
__device__ static inline bool last_block(unsigned *counter, unsigned total) {
    __shared__ unsigned ticket;
    __syncthreads();
    if (threadIdx.x == 0) {
        /* Releases the writes of all threads of the block: the barrier above orders them before this. */
#ifdef __CUDACC__
        asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], 1;" : "=r"(ticket) : "l"(counter) : "memory");
#else
        ticket = atomicAdd(counter, 1u);                     /* tests/cuda/emulate */
#endif
        if (ticket == total - 1) *counter = 0;
    }
    __syncthreads();
    return ticket == total - 1;
}

struct four {
    double v[4];
};
__device__ static inline void add_wide(four &a, const double *p) {
    double2 x = __ldcg((const double2 *)p);
    a.v[0] += x.x;
    a.v[1] += x.y;
}
__device__ static inline void add_wide(four &a, const float *p) {
    float4 x = __ldcg((const float4 *)p);
    a.v[0] += (double)x.x;
    a.v[1] += (double)x.y;
    a.v[2] += (double)x.z;
    a.v[3] += (double)x.w;
}

/* total [width] = sum over the rows of part [rows, width], always in the same order. width is a multiple of
 * 4; scratch has room for `room` doubles, at least width. When it returns, all threads see total. */
template <class T>
__device__ static void column_totals(const T *part, int rows, int width, double *total, double *scratch,
                                     int room) {
    constexpr int V = 16 / sizeof(T);
    int wide = width / V, slices = blockDim.x / wide;
    if (slices * width > room) slices = room / width;
    if (slices < 1) slices = 1;
#pragma unroll 1
    for (int c = threadIdx.x; c < wide * slices; c += blockDim.x) {
        int slice = c / wide, column = c - slice * wide;
        four sum = {};
#pragma unroll 8 /* one thread block adds up what hundreds have left: it waits for the memory */
        for (int r = slice; r < rows; r += slices) add_wide(sum, part + (size_t)r * width + column * V);
#pragma unroll
        for (int v = 0; v < V; v++) scratch[slice * width + column * V + v] = sum.v[v];
    }
    __syncthreads();
#pragma unroll 1
    for (int c = threadIdx.x; c < width; c += blockDim.x) {
        double sum = 0;
#pragma unroll 2
        for (int k = 0; k < slices; k++) sum += scratch[k * width + c];
        total[c] = sum;
    }
    __syncthreads();
}

/* What norm_make needs to compute a norm from the sums over its cells. Where ranks share a batch, the
 * functions below only write the sums to `share`; norms.cu calls them again with the sums of all ranks. */
struct norm_forward {
    norms b;
    float *theta;
    norm_at at;
    int width, update;
    double each, sample; /* 1/cells, and cells/(cells - 1): the running variance is unbiased */
    double *share;       /* [2, width]; NULL in a single rank */
};

__device__ static inline void norm_make(const norm_forward &p, int c, double sum, double square) {
    if (p.share) {
        p.share[c] = sum;
        p.share[p.width + c] = square;
        return;
    }
    float gamma = p.theta[p.at.gamma + c], beta = p.theta[p.at.beta + c];
    float *rm = p.theta + p.at.mean + c, *rv = p.theta + p.at.var + c;
    float old_mean = p.update ? *rm : 0.0f, old_var = p.update ? *rv : 0.0f;
    double each = p.each, mean = sum * each, var = square * each - mean * mean;
    if (var < 0) var = 0;
    double inv = rsqrt(var + NORM_EPSILON), g = (double)gamma * inv;
    p.b.mean[c] = (float)mean;
    p.b.inv[c] = (float)inv;
    p.b.g[c] = (float)g;
    p.b.e[c] = (float)((double)beta - mean * g);
    if (!p.update) return;
    *rm = (float)((1 - NORM_MOMENTUM) * (double)old_mean + NORM_MOMENTUM * mean);
    *rv = (float)((1 - NORM_MOMENTUM) * (double)old_var + NORM_MOMENTUM * (var * p.sample));
}

/* What the backward pass of a norm needs: it computes the gradients of gamma and beta and the coefficients
 * k0, k1; in the decoder also the gradient of the bias before the norm. The gradients are those of this
 * rank's sets, k0 and k1 those of the whole batch. */
struct norm_backward {
    norms b;
    float *grad;
    norm_at at;
    int width;
    double each; /* 1/cells */
    float *k0, *k1;
    size_t bias;
    int biased;    /* 1: there is such a bias */
    double *share; /* [5, width]: dy and dy_xhat, then what norm_bias is given; NULL in a single rank */
};

__device__ static inline void norm_back_total(const norm_backward &p, int c, double dy, double dy_xhat) {
    double g = (double)p.b.g[c], inv = (double)p.b.inv[c], m1 = dy * p.each, m2 = dy_xhat * p.each;
    p.k0[c] = (float)(g * (m1 - m2 * inv * (double)p.b.mean[c]));
    p.k1[c] = (float)(g * inv * m2);
}

__device__ static inline void norm_gradients(const norm_backward &p, int c, double dy, double dy_xhat) {
    p.grad[p.at.beta + c] = (float)dy;
    p.grad[p.at.gamma + c] = (float)dy_xhat;
}

__device__ static inline void norm_back(const norm_backward &p, int c, double dy, double dy_xhat) {
    norm_gradients(p, c, dy, dy_xhat);
    if (p.share) {
        p.share[c] = dy;
        p.share[p.width + c] = dy_xhat;
    } else
        norm_back_total(p, c, dy, dy_xhat);
}

/* Writes the gradient of the bias, after norm_back, from the sums over the cells with r > 0 of dv, 1 and r.
 */
__device__ static inline void norm_bias(const norm_backward &p, int c, double dv, double count, double r) {
    if (p.share) {
        p.share[2 * p.width + c] = dv;
        p.share[3 * p.width + c] = count;
        p.share[4 * p.width + c] = r;
    } else
        p.grad[p.bias + c] = (float)((double)p.b.g[c] * dv - (double)p.k0[c] * count - (double)p.k1[c] * r);
}

/* The pools of an encoder block (kernels/cpu_pool.c has the formulas). pool_sums: whether the pool is
 * computed from the sum over the other items, not from the best of them; pool_divisor: what the sum is
 * divided by. */
__device__ static inline bool pool_sums(onet_pool pool) {
    return pool == ONET_POOL_MEAN;
}
__device__ static inline float pool_divisor(onet_pool pool, int n) {
    return pool == ONET_POOL_MEAN ? (float)n : 1.0f;
}

/* The feature that a pool gives to an item of a set of n: norm2 of the best of the other items, at least 0;
 * or the sum of norm2 over them, divided. */
struct pooled {
    float g, e, low;
    __device__ pooled(float norm_g, float norm_e, onet_pool pool, int n) {
        bool sums = pool_sums(pool);
        float share = sums ? 1.0f / pool_divisor(pool, n) : n > 1 ? 1.0f : 0.0f;
        g = share * norm_g;
        e = share * norm_e * (sums ? (float)(n - 1) : 1.0f);
        low = sums ? -INFINITY : 0.0f;
    }
    __device__ float operator()(float best) const { return fmaxf(g * best + e, low); }
};

/* What dropout multiplies the pooled features by (kernels/dropout.h). */
struct dropout {
    const unsigned *key; /* [R]; NULL: all of them are kept as they are */
    unsigned limit;
    float scale;
    __device__ float factor(int row, int column) const {
        return key ? dropout_factor(key[row], column, limit, scale) : 1.0f;
    }
};
static inline dropout dropout_of(const gpu *s) {
    float share = s->base.dropout;
    if (!(share > 0)) return {};
    return {s->step.dropout_key, dropout_limit(share), 1 / (1 - share)};
}

/* Starts a copy of 16 bytes from global to shared memory; async_wait<N> waits for all but the last N
 * committed groups. */
__device__ static inline void async_copy(float *to, const float *from) {
    __pipeline_memcpy_async(to, from, 16);
}
/* Starts a copy of E numbers (4 or 1), of which all but the first `there` become 0. */
template <int E> __device__ static inline void async_copy(float *to, const float *from, int there) {
    int bytes = max(0, min(there, E)) * 4;
#ifdef __CUDACC__
    unsigned at = (unsigned)__cvta_generic_to_shared(to);
    if (E == 4)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(bytes)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at), "l"(from), "r"(bytes)
                     : "memory");
#else
    __pipeline_memcpy_async(to, from, E * 4, E * 4 - bytes); /* tests/cuda/emulate */
#endif
}
__device__ static inline void async_commit() {
    __pipeline_commit();
}
template <int N> __device__ static inline void async_wait() {
    __pipeline_wait_prior(N);
}

__device__ static inline float relu(float x) {
    return fmaxf(x, 0.0f);
}

/* Returns the sum over the lanes of a warp, the same bits in each lane. */
template <class T> __device__ static inline T warp_sum(T v) {
    for (int k = 16; k; k /= 2) v += __shfl_xor_sync(0xffffffff, v, k);
    return v;
}

/* Loads from global memory, not through the read-only cache: the kernel before may still write when this one
 * starts. */
template <class T> __device__ static inline T load(const T *p) {
    return *p;
}
__device__ static inline float4 load4(const float *p) {
    return *(const float4 *)p;
}
__device__ static inline void store4(float *p, float4 v) {
    *(float4 *)p = v;
}

/* ---- the norms of the net (norms.cu) ---- */

/* Return the arguments of norm1 (hidden channels) and norm2 (output) of an encoder block and of the norm of a
 * decoder block, forward and backward. */
norm_forward norms_first(const gpu *s, int block);
norm_forward norms_second(const gpu *s, int block);
norm_forward norms_decoder(const gpu *s, int block);
norm_backward norms_first_back(const gpu *s, int block);
norm_backward norms_second_back(const gpu *s, int block);
norm_backward norms_decoder_back(const gpu *s, int block);

/* All-reduces the sums of a norm and computes it from the totals; does nothing with a single rank. Call it
 * after the kernel that adds up the sums and before any that uses the norm. */
void norms_total(gpu *s, norm_forward p);
void norms_total(gpu *s, norm_backward p);

#endif
