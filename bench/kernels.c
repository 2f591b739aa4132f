/* Measures the speed of each kernel at the sizes of the presets, as a share of the machine's peak at that
 * time.
 *
 *     kernels [KERNEL SET] [PART OF A KERNEL'S NAME] [SETS]
 *
 * Each kernel runs over the sets in turn: 8 sets fit into the second-level cache, 128 (a batch) do not. Each
 * line is the best of many short intervals on one thread, since other programs may share the machine. GFLOP/s
 * counts the multiply-adds that the result needs, 2 each (docs/speed.md). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/rng.h"
#include "engine/kernels/kernels.h"
#include "engine/kernels/peak.h"

enum { BLOCKS = 8 };

static int sets_in_turn = 8;

static rng numbers;

/* Returns `count` numbers in [low, 1); never freed: the program is short. */
static float *fresh(size_t count, double low) {
    float *x = array_new(count + 1, sizeof *x);
    if (!x) exit(1);
    for (size_t i = 0; i < count; i++) x[i] = (float)(low + (1 - low) * rng_uniform(&numbers));
    return x;
}

typedef struct bench_case {
    const char *kernel;
    int n, H, O, blocks; /* gemm: M, N, K; decoder: O is C */
} bench_case;

static const bench_case cases[] = {
    {"gemm", 80, 512, 66, 0},
    {"gemm", 80, 512, 306, 0},
    {"gemm", 80, 96, 306, 0},
    {"gemm", 120, 256, 18, 0},
    {"gemm", 120, 48, 66, 0},
    {"gemm_transposed", 306, 512, 80, 0},
    {"gemm_weights", 16, 320, 640, 0}, /* 16 of the 512 columns of A, the share of one job */
    {"gemm_weights", 16, 80, 2560, 0},
    {"gemm_weights", 64, 320, 640, 0},
    {"gemm_weights", 64, 80, 2560, 0},
    {"pair_stats", 5, 256, 0, 0},
    {"pair_stats", 20, 128, 0, 0},
    {"pair_forward", 5, 256, 32, 0},
    {"pair_forward", 5, 128, 16, 0},
    {"pair_forward", 10, 128, 16, 0},
    {"pair_forward", 20, 128, 16, 0},
    {"pair_forward", 100, 128, 16, 0},
    {"pair_backward_weights", 5, 256, 32, 0},
    {"pair_backward_weights", 5, 128, 16, 0},
    {"pair_backward_weights", 10, 128, 16, 0},
    {"pair_backward_weights", 20, 128, 16, 0},
    {"pair_backward_inputs", 5, 256, 32, 0},
    {"pair_backward_inputs", 5, 128, 16, 0},
    {"pair_backward_inputs", 10, 128, 16, 0},
    {"pair_backward_inputs", 20, 128, 16, 0},
    {"conv_forward", 5, 0, 32, 7},
    {"conv_forward", 5, 0, 32, 3},
    {"conv_forward", 5, 0, 16, 3},
    {"conv_forward", 10, 0, 16, 3},
    {"conv_forward", 20, 0, 16, 3},
    {"conv_forward", 20, 0, 16, 1},
    {"conv_backward", 5, 0, 32, 7},
    {"conv_backward", 5, 0, 32, 3},
    {"conv_backward", 5, 0, 16, 3},
    {"conv_backward", 10, 0, 16, 3},
    {"conv_backward", 20, 0, 16, 3},
    {"conv_backward", 20, 0, 16, 1},
    {"conv_forward", 20, 0, 16, 0},
    {"conv_backward", 20, 0, 16, 0},
    {"cell_sums", 20, 0, 16, 0},
    {"cell_dot", 20, 0, 16, 0},
    {"cell_dot_backward", 20, 0, 16, 0},
    {"adam", 72903, 0, 0, 0},
};

/* The arguments of every kernel for one set. */
typedef struct set {
    pair_forward pf;
    pair_backward pb;
    conv_forward cf;
    conv_backward cb;
    float *a, *d, *r, *w, *logit;
    double *sum, *square;
    const float *in[BLOCKS], **y;
    float *din[BLOCKS], **dy;
} set;

static void make_pair(set *s, const bench_case *c) {
    size_t n = (size_t)c->n, H = (size_t)c->H, O = (size_t)c->O;
    int32_t *arg = array_new(n * O + 1, sizeof *arg);
    for (size_t i = 0; i < n * O; i++) arg[i] = (int32_t)rng_below(&numbers, n);
    s->a = fresh(2 * n * H, -1);
    s->pf =
        (pair_forward){.n = c->n, .H = c->H, .O = c->O, .i1 = c->n, .a = s->a, .c = s->a + H, .ld = 2 * H};
    s->pf.w = s->w;
    s->pf.b = fresh(O, -1);
    s->pf.u = fresh(n * n * O, -1);
    s->pf.sign = fresh(O, 1);
    s->pf.best = fresh(n * O, -1);
    s->pf.arg = arg;
    s->pf.sum = s->sum;
    s->pf.square = s->square;
    if (n > 50) { /* as in ordering: nothing is kept for a backward pass */
        s->pf.u = NULL;
        s->pf.arg = NULL;
        s->pf.sum = s->pf.square = NULL;
    }
    s->pb =
        (pair_backward){.n = c->n, .i1 = c->n, .H = c->H, .O = c->O, .a = s->a, .c = s->a + H, .ld = 2 * H};
    s->pb.u = fresh(n * n * O, -1);
    s->pb.gd = fresh(n * O, -1);
    s->pb.arg = arg;
    s->pb.k0 = s->pb.k1 = fresh(O, -1);
    s->pb.gw = s->d;
    s->pb.gb = fresh(O, -1);
    s->pb.wt = s->w;
    s->pb.c0 = s->pb.c1 = fresh(H, -1);
    s->pb.da = fresh(2 * n * H, -1);
    s->pb.dc = s->pb.da + H;
    s->pb.ldd = 2 * H;
}

static void make_conv(set *s, const bench_case *c) {
    size_t n = (size_t)c->n, C = (size_t)c->O, cells = n * n;
    int32_t *pos = array_new(n, sizeof *pos);
    for (size_t i = 0; i < n; i++) {
        size_t j = rng_below(&numbers, i + 1);
        pos[i] = pos[j];
        pos[j] = (int32_t)i;
    }
    s->y = array_new(n, sizeof *s->y);
    s->dy = array_new(n, sizeof *s->dy);
    for (size_t i = 0; i < n; i++) {
        s->y[i] = fresh(3 * C, -1);
        s->dy[i] = fresh(3 * C, -1);
    }
    for (int b = 0; b < c->blocks; b++) {
        s->in[b] = fresh(cells * C + 2 * n * C, -1) + 2 * n * C;
        s->din[b] = fresh(cells * C, -1);
    }
    s->cf = (conv_forward){.n = c->n, .C = c->O, .blocks = c->blocks, .t1 = c->n, .pos = pos, .ldx = 3 * C};
    s->cf.x = fresh(n * 3 * C, -1);
    s->cf.y = s->y;
    s->cf.step = fresh(n * C, -1);
    s->cf.ld_step = s->cf.ld_best = C;
    s->cf.in = s->in;
    s->cf.w = s->w;
    s->cf.out = fresh(cells * C, -1);
    s->cf.sign = fresh(C, 1);
    s->cf.best = fresh(n * C, -1);
    s->cf.arg = array_new(n * C, sizeof(int32_t));
    s->cf.sum = s->sum;
    s->cf.square = s->square;
    s->cb =
        (conv_backward){.n = c->n, .C = c->O, .blocks = c->blocks, .pos = pos, .ldx = 3 * C, .ld_step = C};
    s->cb.r = fresh(cells * C, -1);
    s->cb.d = fresh(cells * C, -1);
    s->cb.g = s->cb.k0 = s->cb.k1 = fresh(C, 0);
    s->cb.dx = fresh(n * 3 * C, -1);
    s->cb.dy = s->dy;
    s->cb.dstep = fresh(n * C, -1);
    s->cb.in = s->in;
    s->cb.din = s->din;
    s->cb.wt = s->w;
    s->cb.gw = s->d;
    s->r = fresh(cells * C, -1);
    s->logit = fresh(cells, -1);
}

static int is(const bench_case *c, const char *name) {
    return strcmp(c->kernel, name) == 0;
}

static void run_once(const kernels *k, const bench_case *c, const set *s) {
    static const adam_step step = {.scale = 1,
                                   .rate = 1e-3,
                                   .beta1 = 0.9,
                                   .beta2 = 0.999,
                                   .epsilon = 1e-8,
                                   .correction1 = 0.1,
                                   .correction2 = 1e-3};
    size_t N = (size_t)c->H, K = (size_t)c->O, M = (size_t)c->n;
    int cells = c->n * c->n, C = c->O;
    matrix B = {s->w, PANEL, K * PANEL};
    if (is(c, "gemm"))
        k->gemm(c->n, c->H, c->O, s->a, K, 1, B, s->d, N, 0);
    else if (is(c, "gemm_transposed"))
        k->gemm(c->n, c->H, c->O, s->a, 1, M, (matrix){s->w, N, PANEL}, s->d, N, 1);
    else if (is(c, "gemm_weights"))
        k->gemm(c->n, c->H, c->O, s->a, 1, 512, (matrix){s->w, N, PANEL}, s->d, N, 0);
    else if (is(c, "pair_stats"))
        k->pair_stats(c->n, c->n, c->H, s->pf.a, s->pf.c, s->pf.ld, s->sum, s->square);
    else if (is(c, "pair_forward"))
        k->pair_forward(&s->pf);
    else if (is(c, "pair_backward_weights"))
        k->pair_backward_weights(&s->pb);
    else if (is(c, "pair_backward_inputs"))
        k->pair_backward_inputs(&s->pb);
    else if (is(c, "conv_forward"))
        k->conv_forward(&s->cf);
    else if (is(c, "conv_backward"))
        k->conv_backward(&s->cb);
    else if (is(c, "cell_sums"))
        k->cell_sums(cells, C, s->cb.d, s->r, s->sum, s->square);
    else if (is(c, "cell_dot"))
        k->cell_dot(cells, C, s->r, s->w, s->logit);
    else if (is(c, "cell_dot_backward"))
        k->cell_dot_backward(cells, C, s->r, s->w, s->logit, s->cb.d, s->d);
    else
        k->adam(M, s->a, s->d, s->r, s->logit, &step);
}

/* Returns the operations of one call, 2 per multiply-add. */
static double flops(const bench_case *c) {
    double n = c->n, H = c->H, O = c->O;
    double taps = c->blocks * (n + (n - 1) + (n - 2)) * n * O * O;
    if (strncmp(c->kernel, "gemm", 4) == 0) return 2 * n * H * O;
    if (is(c, "conv_forward")) return 2 * taps;
    if (is(c, "conv_backward")) return 4 * taps;
    if (is(c, "pair_stats")) return 2 * 2 * n * n * H;
    if (strncmp(c->kernel, "pair", 4) == 0) return 2 * n * n * H * O;
    if (is(c, "adam")) return 2 * 6 * n;
    return 2 * (is(c, "cell_dot") ? 1 : 2) * n * n * O;
}

/* Returns the shortest time of one call, in seconds. */
static double measure(const kernels *k, const bench_case *c) {
    static set *sets;
    if (!sets) sets = array_new((size_t)sets_in_turn, sizeof *sets);
    size_t small = 512 * 512, large = 512 * 2560;
    float *weights = fresh(large, -1), *gradient = fresh(large, 0), *columns = fresh(large, -1);
    for (int i = 0; i < sets_in_turn; i++) {
        set *s = &sets[i];
        memset(s, 0, sizeof *s);
        s->sum = array_new(1024, sizeof(double));
        s->square = array_new(1024, sizeof(double));
        s->w = weights;
        s->d = gradient;
        if (c->blocks > 0 || (c->H == 0 && c->O > 0))
            make_conv(s, c);
        else if (strncmp(c->kernel, "pair", 4) == 0)
            make_pair(s, c);
        else {
            s->a = is(c, "gemm_weights") ? columns + (size_t)(i * c->n % 512) : fresh(small, -1);
            s->r = fresh(small, 0);
            s->logit = fresh(small, 0);
        }
    }
    double best = 1e30, start = clock_seconds();
    for (int calls = 1, next = 0; clock_seconds() - start < 0.25;) {
        double before = clock_seconds();
        for (int i = 0; i < calls; i++) run_once(k, c, &sets[next++ % sets_in_turn]);
        double time = clock_seconds() - before;
        if (time / calls < best) best = time / calls;
        if (time < 2e-4) calls *= 2; /* long against the clock's grain, short against a time slice */
    }
    return best;
}

int main(int argc, char **argv) {
    const kernels *k = kernels_pick(argc > 1 ? argv[1] : NULL);
    const char *part = argc > 2 ? argv[2] : "";
    if (argc > 3 && atoi(argv[3]) > 0) sets_in_turn = atoi(argv[3]);
    if (!k) return fprintf(stderr, "bench/kernels: no kernel set %s here\n", argv[1]), 2;
    double peak = peak_gflops(1, 0.3);
    printf("kernel set %s, one thread; peak %.1f GFLOP/s\n", k->name, peak);
    printf("%-22s %6s %5s %4s %6s %10s %9s %6s\n", "kernel", "n|M", "H|N", "O|K", "blocks", "us", "GFLOP/s",
           "share");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const bench_case *c = &cases[i];
        if (!strstr(c->kernel, part)) continue;
        rng_seed(&numbers, 1, 0);
        double time = measure(k, c), again = peak_gflops(1, 0.02), rate = flops(c) / time / 1e9;
        if (again > peak) peak = again;
        printf("%-22s %6d %5d %4d %6d %10.2f %9.1f %5.1f%%\n", c->kernel, c->n, c->H, c->O, c->blocks,
               1e6 * time, rate, 100 * rate / peak);
    }
    return 0;
}
