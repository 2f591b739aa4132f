/* Declares the state of a training step on the CPU, which holds the arrays of a batch and its sets in
 * chunks, and the functions of cpu*.c: jobs on threads, sums over the batch, batch norms, memory, the
 * layers, and the optimiser. */
#ifndef KERNELS_CPU_H
#define KERNELS_CPU_H

#include "engine/base/thread_pool.h"
#include "engine/kernels/backend.h"
#include "engine/kernels/relations.h"
#include "engine/kernels/weights.h"

/* Rows: the items of set b are the rows from at[b].row on, those that are placed before the context items;
 * one more row, after all others, stands for the learned start vector. Cells: pairs (i, j) of the encoder,
 * n*n per set, and (t, i) of the decoder, m*m per set. Planes of the decoder hold two steps of zeros before
 * the first step of each set, so that a step can look back without a branch: (m + 2)*m rows per set.
 *
 * Work is split into CHUNKS groups of whole sets, whatever the number of threads; sums over the batch are
 * added up chunk by chunk, in order. So the bits do not depend on the threads. */

enum { CHUNKS = 16 };

/* Where the parts of a set begin in the arrays of the batch. */
typedef struct set_at {
    int n, m;     /* items, and how many of them are placed */
    size_t row;   /* of the items */
    size_t pair;  /* of the n*n pairs */
    size_t step;  /* of the m + 2 steps; the first two are zeros */
    size_t plane; /* of the (m + 2)*m rows of a plane */
    size_t cell;  /* of the m*m logits */
} set_at;

typedef struct encoder_state {
    real *ac;             /* [rows, 2H]: a_i and c_j */
    real *u;              /* [pairs, O]; du once the backward pass has computed it */
    real *best;           /* [rows, O] */
    int32_t *arg;         /* [rows, O] */
    norm norm1, norm2;    /* [H], [O] */
    real *wf, *wf_t, *bf; /* [H, O], [O, H], [O]: folded */
} encoder_state;

typedef struct decoder_state {
    real *r;      /* plane [(m + 2)*m per set, C] */
    real *d;      /* its gradient */
    int32_t *arg; /* [m per set, C], from the set's row on */
    norm norm;    /* [C] */
    real *wf;     /* [E + m, 3, C, C]: folded */
    real *bias;   /* [3, C] */
} decoder_state;

typedef struct cpu {
    net base;
    const kernels *k;
    thread_pool *threads;
    weights w;
    void *fixed_memory, *batch_memory, *vector_memory; /* all arrays below lie in these */
    real *theta, *grad, *m, *v, *average;              /* blocks of net_shape.h */

    const onet_sets *sets;
    real *mean, *scale; /* [width + R] */
    int train_vectors;
    real *vectors, *vectors_m, *vectors_v, *vectors_average; /* [words, width]; only when trained */

    batch_size room;       /* of batch_memory */
    size_t steps;          /* room in the arrays with m + 2 steps per set */
    const uint32_t *index; /* this batch */
    set_at *at;            /* [B + 1]: the last one is the end */
    int chunk[CHUNKS + 1]; /* the first set of each chunk */
    uint64_t *by_word;     /* [rows]: word << 32 | row, sorted */
    double *word;          /* [rows]: the words of the whole batch */
    real *word_d;          /* [rows, width]: gradients of the whole batch's items, where ranks share it */
    int32_t *item;         /* [rows]: index of a row's item within its set */
    int32_t *row_of;       /* [rows]: row, within the set, of each item: the inverse of `item` */
    int32_t *pos;          /* [rows]: step at which an item is placed */
    int32_t *order;        /* [rows]: row, within the set, of the item at each step */
    int32_t *right;        /* [rows]: row, within the set, of the item that should be placed at each step */
    real *x, *dx;          /* [rows + 1, D] */
    real *last;    /* plane [(m + 2)*m per set, C]: relations from the item placed last, where item i is
                    * unplaced */
    real *related; /* [CHUNKS, related_width]: a row's relations, and with them c and its gradient */
    size_t related_width;
    encoder_state enc[MAX_BLOCKS];
    decoder_state dec[MAX_BLOCKS];
    real *q, *dq;   /* [rows + 1, Q] */
    real *p, *dp;   /* [m + 2 per set, N, C]: pools of the steps */
    real *step;     /* [m + 2 per set, C] */
    real *dstep;    /* [2, m + 2 per set, C]: of even and of odd blocks */
    real *dac;      /* [rows, 2H] */
    real *gd;       /* [rows, O] */
    real *logit;    /* [m*m per set]: logits, then log-probabilities */
    real *dlogit;   /* [m*m per set] */
    real *item_d;   /* [rows]: gradient of the logits, summed over steps */
    const real **y; /* [m + 2 per set]: pointers for the kernels */
    real **dy;
    double *sums; /* [CHUNKS, sums_width] */
    size_t sums_width;
    real *gpart; /* [2, CHUNKS, gpart_width]: parts of a small weight gradient, of even and of odd blocks */
    size_t gpart_width;
    real *start_part;        /* [CHUNKS, Q] */
    real *gwide;             /* a weight gradient before it goes to its place in the block */
    double *chunk_loss;      /* [CHUNKS] */
    double *norm_part;       /* [slices] */
    real *k0, *k1, *c0, *c1; /* [max(H, O, C)] */
    double loss;
    struct {
        void (*fn)(struct cpu *s, int block, int job);
        int jobs, block;
    } later; /* jobs that wait for the next phase; none when jobs is 0 */
} cpu;

/* Returns the relations of set b, with its items in the order of rows. */
static inline relations cpu_relations(const cpu *s, int b) {
    int d = s->base.sh->s.width;
    return (relations){.pairs = s->base.sh->s.relations ? s->sets->pairs : NULL,
                       .first = s->sets->start[s->index[b]],
                       .item = s->item + s->at[b].row,
                       .mean = s->mean + d,
                       .scale = s->scale + d};
}

/* Return the first row of a chunk, and how many rows it has. */
static inline size_t chunk_row(const cpu *s, int chunk) {
    return s->at[s->chunk[chunk]].row;
}
static inline int chunk_rows(const cpu *s, int chunk) {
    return (int)(chunk_row(s, chunk + 1) - chunk_row(s, chunk));
}
/* Returns the number of rows of this rank's sets; the start vector has the row after them. */
static inline size_t batch_rows(const cpu *s) {
    return s->at[s->base.B].row;
}

/* Returns where a chunk writes its part of the weight gradients of a block. Blocks alternate between two
 * places: cpu_later may still have to add up those of the block before. */
static inline real *gpart_of(const cpu *s, int block, int chunk) {
    return s->gpart + ((size_t)(block % 2) * CHUNKS + (size_t)chunk) * s->gpart_width;
}

/* Runs a phase of the step: fn for every job, on all threads; returns when all are done. */
typedef void cpu_job(cpu *s, int block, int job);
void cpu_run(cpu *s, int jobs, cpu_job *fn, int block);
/* Leaves jobs to the next phase, which must not depend on them: they fill its end, where a thread would wait
 * for the others. */
void cpu_later(cpu *s, int jobs, cpu_job *fn, int block);

/* Add up the first `count` sums of all chunks into total: cpu_total_here those of this rank, cpu_total those
 * of all ranks. */
void cpu_total_here(cpu *s, size_t count, double *total);
void cpu_total(cpu *s, size_t count, double *total);
/* Makes a norm from the sums and squares of `cells` numbers per channel, and updates the running statistics.
 */
void cpu_norm(cpu *s, norm *b, norm_at at, int width, const double *total, int padded, double cells);
/* Backward pass of a norm: gradients of gamma and beta into the block, and k0, k1 such that the gradient
 * before the norm is g*dy - k0 - k1*x. dy, dy_xhat: this rank's sums of dy and of dy*x-hat. */
void cpu_norm_backward(cpu *s, const norm *b, norm_at at, int width, const double *dy, const double *dy_xhat,
                       double cells, real *k0, real *k1);

/* Memory of the net, of its batches and of the vectors of words (cpu_memory.c). */
bool cpu_memory_open(cpu *s);
void cpu_memory_close(cpu *s);
onet_status cpu_memory_reserve(net *t, batch_size size, onet_error *err);
onet_status cpu_memory_data(net *t, const onet_sets *sets, const float *mean, const float *scale,
                            int train_vectors, onet_error *err);
size_t cpu_vector_numbers(const cpu *s); /* 0: the vectors are not trained */
onet_status cpu_put(net *t, net_block what, const float *from, onet_error *err);
onet_status cpu_get(net *t, net_block what, float *to, onet_error *err);

/* Adam and the EMA (cpu_optimise.c). */
enum { WEIGHT_ROWS = 16 }; /* rows of a weight's gradient per job */
enum { SLICE = 4096 };     /* parameters per job of the optimiser */
void cpu_optimise(net *t, const adam_step *step, double clip, double *norm);
void cpu_average(net *t, double decay);

/* The net itself (cpu_encoder.c, cpu_decoder.c, cpu_head.c). */
void cpu_encoder_forward(net *t, int block);
void cpu_encoder_backward(net *t, int block);
/* Writes the last step of encoder block k - 1, the norm of the pool, into x, for one chunk; does nothing when
 * k is 0. */
void cpu_pool_rows(cpu *s, int k, int chunk);
/* The backward pass of cpu_pool_rows, once dx is complete: writes gd, and this chunk's sums for the norm. */
void cpu_pool_rows_backward(cpu *s, int k, int chunk);
void cpu_decoder_rows_forward(net *t);
void cpu_decoder_rows_backward(net *t);
void cpu_decoder_forward(net *t, int block);
void cpu_decoder_backward(net *t, int block);
/* Once the gradients at block m's output are complete for set b: adds to `sum` [2C] the sums that its norm
 * needs. */
void cpu_decoder_gather(cpu *s, int m, int b, double *sum);
void cpu_head(net *t);

/* Return the place of step t of set b in arrays with two zero steps before each set, and that of set b in a
 * plane. */
static inline size_t step_at(const cpu *s, int b, int t) {
    return s->at[b].step + 2 + (size_t)t;
}
static inline real *plane_at(const cpu *s, real *plane, int b) {
    return plane + (s->at[b].plane + 2 * (size_t)s->at[b].m) * s->w.C;
}

#endif
