/* Declares the kernels, the innermost loops of the net on a CPU, as one table of functions for each
 * instruction set: matrix product, encoder and decoder blocks forward and backward, output layer, sums for
 * batch norms, Adam. plain.c is the reference; avx2.c, avx512.c, neon.c and simd128.c must pass the same
 * tests. Each works on one set, one matrix or one block of parameters, uses one thread and allocates
 * nothing. */
#ifndef KERNELS_KERNELS_H
#define KERNELS_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "engine/kernels/real.h"

/* Names: n items, H hidden, O and C output channels of the encoder's and decoder's blocks, all widths padded
 * to a multiple of LANES with zero weights, so that no loop over channels has a tail. */

enum { LANES = 16, PANEL = 32 };

static inline int pad(int width) {
    return (width + LANES - 1) / LANES * LANES;
}

/* A right-hand matrix [K, N]: element (k, c) at data[c / PANEL * panel_stride + k * row_stride + c % PANEL].
 * A plain row-major matrix has panel_stride = PANEL; packed panels have row_stride = PANEL. */
typedef struct matrix {
    const real *data;
    size_t row_stride, panel_stride;
} matrix;

/* One encoder block on one set. Cell (i, j): h = relu(a_i + c_j) [H], u = relu(w^T h + b) [O]. */
typedef struct pair_forward {
    int n, H, O;
    int i0, i1;        /* rows i to compute */
    const real *a, *c; /* [n, H], rows `ld` apart */
    size_t ld;
    const real *w;        /* [H, O], the first norm folded in */
    const real *b;        /* [O] */
    real *u;              /* [n, n, O]; NULL: not stored */
    int summed;           /* 1: the pool is the sum over j != i; 0: the best */
    const real *sign;     /* [O]: +1 the best is the largest u, -1 the smallest */
    real *best;           /* [n, O]: the best u over j != i, or the sum; 0 when n == 1 */
    int32_t *arg;         /* [n, O]: j of the best, -1 when n == 1; may be NULL */
    double *sum, *square; /* [O]: += over all cells, the diagonal too; may be NULL */
} pair_forward;

/* Backward pass of pair_forward's block. du = u > 0 ? dz*g - k0 - k1*u : 0, where dz*g is gd_i at j = arg_i
 * (best), or gd_i at every j != i (summed). dh = h > 0 ? w'^T du - c0 - c1*h : 0; da_i = sum_j dh, dc_j =
 * sum_i dh. */
typedef struct pair_backward {
    int n, H, O;
    int i0, i1;        /* rows i: all, or some where each row has its own c */
    const real *a, *c; /* [n, H], rows `ld` apart */
    size_t ld;
    real *u; /* [n, n, O]: u in, du out (weights pass); du (inputs pass) */
    int summed;
    const real *gd;      /* [n, O] */
    const int32_t *arg;  /* [n, O] */
    const real *k0, *k1; /* [O] */
    real *gw;            /* [O, H] += du h */
    real *gb;            /* [O] += du */
    const real *wt;      /* [O, H], the first norm folded in */
    const real *c0, *c1; /* [H] */
    real *da, *dc;       /* [n, H], rows `ldd` apart: written */
    size_t ldd;
} pair_backward;

/* One decoder block on one set, steps t0 .. t1-1. Cell (t, i) is row t*n + i of a plane; planes and the
 * per-step arrays are given by their place at step t0, and planes reach back to steps t-1, t-2 (rows of steps
 * before 0 are zero). r = relu(step_t + sum over the lags l that see item i unplaced (0 <= t-l <= pos_i) of
 * x_{i,l} + y_{t-l,l} + sum over earlier blocks and lags of w^T in(t-l, i)). */
typedef struct conv_forward {
    int n, C, blocks; /* blocks: how many earlier blocks there are */
    int t0, t1;
    const int32_t *pos; /* [n]: step at which item i is placed; at least t1 when it is not */
    const real *x;      /* item i, lag l: x + i*ldx + l*C, [C] */
    size_t ldx;
    const real *const *y; /* y[t-t0-l] + l*C, [C], for t-l >= 0; so y[-1], y[-2] too when t0 > 0 */
    const real *step;     /* step t: step + (t-t0)*ld_step, [C] */
    size_t ld_step;
    const real *const *in; /* [blocks]: planes at step t0, [steps, n, C] */
    const real *w;         /* [blocks, 3 lags, C in, C out], the earlier norms folded in */
    real *out;             /* plane at step t0 */
    const real *sign;      /* [C] */
    real *best;            /* step t: best + (t-t0)*ld_best: the best r over all items */
    size_t ld_best;
    int32_t *arg;         /* [t1-t0, C]: the item of the best; may be NULL */
    double *sum, *square; /* [C]: += over all cells; may be NULL */
} conv_forward;

/* Backward pass of conv_forward's block, over all steps 0 .. n-1 of one set. */
typedef struct conv_backward {
    int n, C, blocks;
    const int32_t *pos;      /* [n] */
    const real *r;           /* this block's plane */
    real *d;                 /* its gradient: dv in, dpre out: dpre = r > 0 ? g*dv - k0 - k1*r : 0 */
    const real *g, *k0, *k1; /* [C] */
    real *dx; /* item i, lag l: dx + i*ldx + l*C = sum of dpre over the cells that saw x_i by lag l */
    size_t ldx;
    real *const *dy; /* [n]: dy[s] + l*C = sum of dpre over the cells that saw y_s by lag l */
    real *dstep;     /* step t: dstep + t*ld_step = sum of dpre over all items */
    size_t ld_step;
    const real *const *in; /* [blocks] planes */
    real *const *din;      /* [blocks] their gradients: +=; NULL for a plane that needs none */
    const real *wt;        /* [blocks, 3, C out, C in], nothing folded in */
    real *gw;              /* [blocks, 3, C in, C out] += in dpre */
} conv_backward;

/* One Adam step on a block; the gradient is multiplied by `scale` first. */
typedef struct adam_step {
    double scale, rate, beta1, beta2, epsilon;
    double correction1, correction2; /* 1 - beta^step */
    double decay;                    /* theta is first multiplied by 1 - decay */
} adam_step;

typedef struct kernels {
    const char *name;
    /* C[M, N] = (add ? C : 0) + A B; A's element (m, k) at A[m*am + k*ak]; N a multiple of LANES. */
    void (*gemm)(int M, int N, int K, const real *A, size_t am, size_t ak, matrix B, real *C, size_t ldc,
                 int add);
    /* sum, square [H] += of h over the cells of the first `rows` items of a set: all, or 1 where each has its
     * own c. */
    void (*pair_stats)(int rows, int n, int H, const real *a, const real *c, size_t ld, double *sum,
                       double *square);
    void (*pair_forward)(const pair_forward *f);
    void (*pair_backward_weights)(const pair_backward *b); /* u -> du, gw, gb */
    void (*pair_backward_inputs)(const pair_backward *b);  /* du -> da, dc */
    void (*conv_forward)(const conv_forward *f);
    /* s0, s1 [C] += sums of d and of d*r over `cells` rows. */
    void (*cell_sums)(int cells, int C, const real *d, const real *r, double *s0, double *s1);
    void (*conv_backward)(const conv_backward *b);
    /* logit[cell] += sum_c w[c] r[cell, c] */
    void (*cell_dot)(int cells, int C, const real *r, const real *w, real *logit);
    /* d[cell, c] = w[c] dlogit[cell]; gw[c] += dlogit[cell] r[cell, c] */
    void (*cell_dot_backward)(int cells, int C, const real *r, const real *w, const real *dlogit, real *d,
                              real *gw);
    void (*adam)(size_t count, real *theta, const real *grad, real *m, real *v, const adam_step *step);
} kernels;

extern const kernels kernels_plain;
extern const kernels kernels_avx2, kernels_avx512; /* on x86-64 alone */
extern const kernels kernels_neon;                 /* on 64-bit ARM alone */
extern const kernels kernels_simd128;              /* in WebAssembly alone */

/* Returns the kernels of that name; "auto" or NULL: the fastest that this CPU runs. NULL when the name is
 * unknown or this CPU does not run them. */
const kernels *kernels_pick(const char *name);
/* Returns the names of the kernel sets that this CPU can run, fastest first; NULL ends the list. */
const char *const *kernels_available(void);

#endif
