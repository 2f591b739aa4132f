/* The net on a CPU: what a training step keeps between its operations.
 *
 * Rows: item i of set b is row b*n + i; one more row, number B*n, stands for the learned start vector. Cells:
 * (i, j) of the encoder and (t, i) of the decoder, n*n a set. Planes of the decoder hold two steps of zeros
 * before each set's first, so that a step can look back without asking: (n + 2)*n rows a set.
 *
 * Work is split into CHUNKS groups of whole sets, however many threads there are; sums over the batch are
 * added up chunk by chunk, in order. So the bits do not depend on the threads. */
#ifndef KERNELS_CPU_H
#define KERNELS_CPU_H

#include "base/pool.h"
#include "kernels/net.h"
#include "kernels/weights.h"

enum { CHUNKS = 16 };

typedef struct encoder_state {
    real *ac;             /* [rows, 2H]: a_i and c_j */
    real *u;              /* [cells, O], after the way back du */
    real *best;           /* [rows, O] */
    int32_t *arg;         /* [rows, O] */
    norm norm1, norm2;    /* [H], [O] */
    real *wf, *wf_t, *bf; /* [H, O], [O, H], [O]: folded */
} encoder_state;

typedef struct decoder_state {
    real *r;      /* plane [B, n + 2, n, C] */
    real *d;      /* its gradient */
    int32_t *arg; /* [B, n, C] */
    norm norm;    /* [C] */
    real *wf;     /* [m, 3, C, C]: folded */
    real *bias;   /* [3, C] */
} decoder_state;

typedef struct cpu {
    net base;
    const kernels *k;
    pool *pool;
    weights w;
    real *theta, *grad, *m, *v, *average; /* blocks of shape.h; the average only when put */

    const onet_sets *sets;
    real *mean, *scale; /* [width] */
    int train_vectors;
    real *vectors, *vectors_m, *vectors_v, *vectors_average; /* [words, width]; only when trained */

    size_t rows, cells, steps; /* memory is there for so many */
    int sets_max, n_max;
    uint64_t *by_word;     /* [rows]: word << 32 | row, sorted */
    double *word;          /* [rows]: of the whole batch */
    real *word_d;          /* [rows, width]: gradients of the whole batch's items, where processes share it */
    const uint32_t *index; /* this batch */
    int32_t *pos;          /* [rows]: step at which an item is placed */
    int32_t *order;        /* [rows] */
    real *x, *dx;          /* [rows + 1, D] */
    encoder_state enc[MAX_BLOCKS];
    decoder_state dec[MAX_BLOCKS];
    real *q, *dq;   /* [rows + 1, Q] */
    real *p, *dp;   /* [B, n + 2, N, C]: pools of the steps; two zero steps before each set */
    real *step;     /* [B, n + 2, C] */
    real *dstep;    /* [2, B, n + 2, C]: of even and of odd blocks */
    real *dac;      /* [rows, 2H] */
    real *gd;       /* [rows, O] */
    real *logit;    /* [B, n, n]: logits, then log-probabilities */
    real *dlogit;   /* [B, n, n] */
    real *item_d;   /* [rows]: gradient of the logits, summed over steps */
    const real **y; /* [rows + B]: pointers for the kernels, one chunk after the other */
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
        void (*fn)(struct cpu *s, int block, int task);
        int tasks, block;
    } later; /* tasks that wait for the next phase; none when tasks is 0 */
} cpu;

static inline int chunk_begin(const cpu *s, int chunk) {
    return (int)((long)s->base.B * chunk / CHUNKS);
}

/* Where a chunk writes its part of the weight gradients of a block; those of the block before it, which
 * cpu_later may still have to add up, stay. */
static inline real *gpart_of(const cpu *s, int block, int chunk) {
    return s->gpart + ((size_t)(block % 2) * CHUNKS + (size_t)chunk) * s->gpart_width;
}

/* A phase of the step: fn for every task, on all threads; returns when all are done. */
typedef void cpu_task(cpu *s, int block, int task);
void cpu_run(cpu *s, int tasks, cpu_task *fn, int block);
/* Tasks that nothing in the next phase depends on: they run beside it, and fill the end where a thread would
 * wait for the others. */
void cpu_later(cpu *s, int tasks, cpu_task *fn, int block);

/* Adds up the first `count` sums of all chunks into total: of this process, of all. */
void cpu_total_here(cpu *s, size_t count, double *total);
void cpu_total(cpu *s, size_t count, double *total);
/* A norm from the sums and squares of `cells` numbers a channel; moves the running statistics. */
void cpu_norm(cpu *s, norm *b, norm_at at, int width, const double *total, int padded, double cells);
/* The norm's part of the way back: gradients of gamma and beta into the block, and k0, k1 such that the
 * gradient before the norm is g*dy - k0 - k1*x. local: this process's sums of dy and of dy*x-hat. */
void cpu_norm_backward(cpu *s, const norm *b, norm_at at, int width, const double *dy, const double *dy_xhat,
                       double cells, real *k0, real *k1);

void cpu_encoder_forward(net *t, int block);
void cpu_encoder_backward(net *t, int block);
/* Writes the pooled output of encoder block k - 1 into x, for one chunk; nothing when k is 0. */
void cpu_pool_rows(cpu *s, int k, int chunk);
/* The way back of the same, once dx is complete: gd, and this chunk's sums for the norm. */
void cpu_pool_rows_backward(cpu *s, int k, int chunk);
void cpu_decoder_rows_forward(net *t);
void cpu_decoder_rows_backward(net *t);
void cpu_decoder_forward(net *t, int block);
void cpu_decoder_backward(net *t, int block);
/* Once the gradients at block m's output are complete for set b: adds to `sum` [2C] what its norm needs. */
void cpu_decoder_gather(cpu *s, int m, int b, double *sum);
void cpu_head(net *t);

#endif
