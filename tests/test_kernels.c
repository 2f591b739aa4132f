/* Tests every kernel set that this CPU runs against the plain one, on one table of cases. A kernel's outputs
 * are stored in a record; records are compared as a whole, with the gaps between strided rows and the guard
 * zones around each array, so that a stray write is found. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/rng.h"
#include "engine/kernels/backend.h"
#include "engine/kernels/kernels.h"
#include "unit.h"

enum { GUARD = 64, MOST = 64 };

/* One array with a guard zone on each side. */
typedef struct array {
    const char *name;
    char type; /* 'f' float, 'd' double, 'i' int32_t */
    size_t count;
    void *block;
} array;

typedef struct record {
    rng random;
    int arrays, inputs;
    array array[MOST];
    void *input[MOST];
} record;

static size_t size_of(char type) {
    return type == 'd' ? sizeof(double) : sizeof(float);
}

static void record_open(record *r, uint64_t seed) {
    memset(r, 0, sizeof *r);
    rng_seed(&r->random, seed, 0);
}

static void record_close(record *r) {
    for (int i = 0; i < r->arrays; i++) free(r->array[i].block);
    for (int i = 0; i < r->inputs; i++) free(r->input[i]);
}

/* An output: poisoned with a NaN (as bits) that no kernel makes. */
static void *output(record *r, const char *name, char type, size_t count) {
    array *a = &r->array[r->arrays++];
    assert_true(r->arrays <= MOST);
    *a = (array){name, type, count, aligned_alloc(64, (count + 2 * GUARD) * 8 / 64 * 64 + 64)};
    assert_non_null(a->block);
    memset(a->block, 0xff, (count + 2 * GUARD) * size_of(type));
    return (char *)a->block + GUARD * size_of(type);
}

static float draw(record *r) {
    return (float)(rng_uniform(&r->random) * 2 - 1);
}

/* An output that is added to: starts with random numbers. */
static float *sums(record *r, const char *name, size_t count) {
    float *x = output(r, name, 'f', count);
    for (size_t i = 0; i < count; i++) x[i] = draw(r);
    return x;
}

static double *doubles(record *r, const char *name, size_t count) {
    double *x = output(r, name, 'd', count);
    for (size_t i = 0; i < count; i++) x[i] = (double)draw(r);
    return x;
}

static float *input(record *r, size_t count) {
    float *x = malloc((count + 1) * sizeof *x);
    assert_non_null(x);
    assert_true(r->inputs < MOST);
    r->input[r->inputs++] = x;
    for (size_t i = 0; i < count; i++) x[i] = draw(r);
    return x;
}

static float *signs(record *r, size_t count) {
    float *x = input(r, count);
    for (size_t i = 0; i < count; i++) x[i] = x[i] < 0 ? -1.0f : 1.0f;
    return x;
}

static double value(const array *a, size_t i) {
    const char *p = (const char *)a->block + (i + GUARD) * size_of(a->type);
    double d;
    float f;
    int32_t n;
    if (a->type == 'd') return memcpy(&d, p, sizeof d), d;
    if (a->type == 'f') return memcpy(&f, p, sizeof f), (double)f;
    return memcpy(&n, p, sizeof n), (double)n;
}

static const array *find(const record *r, const char *name) {
    for (int i = 0; i < r->arrays; i++)
        if (strcmp(r->array[i].name, name) == 0) return &r->array[i];
    return NULL;
}

static void close_arrays(const char *what, const array *want, const array *got) {
    size_t guard = GUARD * size_of(got->type);
    const char *end = (const char *)got->block + guard + got->count * size_of(got->type);
    for (size_t i = 0; i < guard; i++)
        if (((const char *)got->block)[i] != (char)0xff || end[i] != (char)0xff)
            fail_msg("%s: wrote outside %s", what, got->name);
    if (got->type == 'i') return; /* judged by close_choice */
    double scale = 0;
    for (size_t i = 0; i < want->count; i++)
        if (fabs(value(want, i)) > scale) scale = fabs(value(want, i));
    for (size_t i = 0; i < want->count; i++) {
        double x = value(want, i), y = value(got, i);
        if (isnan(x) && isnan(y)) continue; /* untouched by both */
        if (!(fabs(x - y) <= 1e-5 * scale))
            fail_msg("%s: %s[%zu] is %.9g, plain gives %.9g (scale %g)", what, got->name, i, y, x, scale);
    }
}

/* The chosen items: the same, or as good within rounding. `u` holds the values: group g, item j, channel c at
 * (g*n + j)*C + c. */
static void close_choice(const char *what, const record *want, const record *got, int n, int C,
                         const float *sign) {
    const array *a = find(want, "arg"), *b = find(got, "arg"), *u = find(want, "u");
    for (size_t k = 0; a && b && k < a->count; k++) {
        size_t g = k / (size_t)C, c = k % (size_t)C;
        double x = value(a, k), y = value(b, k);
        if (x == y) continue;
        if (y < 0 || y >= n) fail_msg("%s: arg[%zu] is %g, plain gives %g", what, k, y, x);
        double ux = value(u, (g * (size_t)n + (size_t)x) * (size_t)C + c);
        double uy = value(u, (g * (size_t)n + (size_t)y) * (size_t)C + c);
        if ((double)sign[c] * (ux - uy) > 1e-5 * (1 + fabs(ux)))
            fail_msg("%s: arg[%zu] is %g with %g, plain gives %g with %g", what, k, y, uy, x, ux);
    }
}

static void close_records(const char *what, const record *want, const record *got) {
    for (int i = 0; i < got->arrays; i++) {
        const array *w = find(want, got->array[i].name);
        assert_non_null(w);
        close_arrays(what, w, &got->array[i]);
    }
}

/* Runs every case with each kernel set but plain, and with plain, and compares the records. */
typedef const char *run_case(const kernels *k, int number, record *r); /* NULL: no more cases */

static void compare_all(run_case *run, const char *kernel) {
    int sets = 0;
    for (const char *const *name = kernels_available(); *name; name++) {
        const kernels *k = kernels_pick(*name);
        assert_non_null(k);
        assert_string_equal(k->name, *name);
        if (k == &kernels_plain) continue;
        sets++;
        for (int number = 0;; number++) {
            record want, got;
            char what[256];
            record_open(&want, (uint64_t)number);
            record_open(&got, (uint64_t)number);
            const char *label = run(&kernels_plain, number, &want);
            if (label) {
                snprintf(what, sizeof what, "%s %s, case %d (%s)", k->name, kernel, number, label);
                run(k, number, &got);
                close_records(what, &want, &got);
            }
            record_close(&want);
            record_close(&got);
            if (!label) break;
        }
    }
    if (sets == 0) skip_because("this CPU runs the plain kernels alone");
}

static char label[200];

/* ---- gemm ---- */

static const struct gemm_case {
    int M, N, K, packed, transposed, add;
} gemm_cases[] = {
    {1, 16, 1, 0, 0, 0},   {1, 32, 7, 1, 0, 0},     {5, 48, 3, 0, 0, 1},     {13, 16, 50, 0, 1, 0},
    {27, 32, 17, 1, 0, 1}, {29, 16, 31, 0, 0, 0},   {31, 80, 20, 1, 1, 0},   {80, 256, 306, 1, 0, 0},
    {80, 96, 1, 0, 1, 1},  {120, 128, 66, 0, 0, 0}, {256, 112, 80, 0, 1, 1}, {6, 1536, 306, 1, 0, 0},
    {3, 64, 0, 0, 0, 0},   {20, 48, 1300, 0, 1, 1}, {14, 32, 100, 1, 0, 0},  {28, 16, 100, 0, 0, 1},
    {0, 32, 10, 0, 0, 0},
};

static const char *run_gemm(const kernels *k, int number, record *r) {
    if ((size_t)number >= sizeof gemm_cases / sizeof *gemm_cases) return NULL;
    struct gemm_case c = gemm_cases[number];
    snprintf(label, sizeof label, "M %d N %d K %d packed %d transposed %d add %d", c.M, c.N, c.K, c.packed,
             c.transposed, c.add);
    size_t lda = (size_t)(c.transposed ? c.M : c.K) + 3, ldc = (size_t)c.N + 16;
    size_t panels = (size_t)(c.N + PANEL - 1) / PANEL;
    float *A = input(r, lda * (size_t)(c.transposed ? c.K : c.M)),
          *b = input(r, panels * PANEL * (size_t)c.K);
    matrix B = {b, PANEL, (size_t)c.K * PANEL};
    if (!c.packed) B = (matrix){b, panels * PANEL, PANEL};
    float *C = c.add ? sums(r, "C", (size_t)c.M * ldc) : output(r, "C", 'f', (size_t)c.M * ldc);
    k->gemm(c.M, c.N, c.K, A, c.transposed ? 1 : lda, c.transposed ? lda : 1, B, C, ldc, c.add);
    return label;
}

/* Rows may be cut anywhere: the same bits. */
static void test_gemm_rows(void **state) {
    enum { M = 61, N = 112, K = 45 };
    for (const char *const *name = kernels_available(); *name; name++) {
        const kernels *k = kernels_pick(*name);
        record r;
        record_open(&r, 1);
        float *A = input(&r, M * K), *b = input(&r, K * 128), *whole = input(&r, M * N),
              *cut = input(&r, M * N);
        matrix B = {b, 128, PANEL};
        k->gemm(M, N, K, A, K, 1, B, whole, N, 0);
        for (int step = 1; step <= M; step++) {
            for (int m = 0; m < M; m += step)
                k->gemm(M - m < step ? M - m : step, N, K, A + m * K, K, 1, B, cut + m * N, N, 0);
            assert_memory_equal(whole, cut, M * N * sizeof *whole);
        }
        record_close(&r);
    }
}

/* ---- the encoder's block ---- */

static const struct pair_case {
    int n, H, O, summed, arg, u, sums;
} pair_cases[] = {
    {1, 16, 16, 0, 1, 1, 1},   {1, 32, 32, 1, 0, 0, 1},   {2, 16, 16, 0, 1, 1, 1},
    {3, 128, 16, 0, 1, 0, 0},  {3, 128, 48, 1, 0, 1, 1},  {5, 256, 32, 1, 0, 1, 1},
    {5, 128, 16, 0, 1, 1, 1},  {5, 32, 48, 0, 1, 0, 1},   {7, 16, 32, 0, 0, 1, 1},
    {7, 272, 16, 0, 1, 0, 0},  {10, 128, 16, 0, 1, 1, 1}, {10, 528, 48, 0, 1, 0, 1},
    {20, 128, 16, 0, 1, 1, 1}, {20, 128, 32, 0, 1, 0, 0}, {20, 48, 16, 1, 0, 1, 1},
    {33, 32, 48, 0, 1, 1, 1},  {33, 128, 16, 0, 1, 0, 1}, {33, 144, 32, 1, 0, 0, 0},
    {1, 16, 32, 0, 0, 0, 0},   {1, 16, 48, 1, 0, 0, 0},   {2, 32, 16, 0, 0, 0, 0},
    {2, 32, 48, 1, 0, 0, 0},   {5, 512, 64, 1, 0, 0, 0},  {6, 128, 16, 0, 0, 0, 0},
    {20, 48, 48, 0, 0, 0, 0},
};

static const struct pair_case *pair_case_at(int number) {
    if ((size_t)number >= sizeof pair_cases / sizeof *pair_cases) return NULL;
    const struct pair_case *c = &pair_cases[number];
    snprintf(label, sizeof label, "n %d H %d O %d summed %d arg %d u %d sums %d", c->n, c->H, c->O, c->summed,
             c->arg, c->u, c->sums);
    return c;
}

static const char *run_pair_stats(const kernels *k, int number, record *r) {
    const struct pair_case *c = pair_case_at(number);
    if (!c) return NULL;
    size_t ld = (size_t)c->H * 2;
    float *a = input(r, (size_t)c->n * ld);
    k->pair_stats(c->n, c->n, c->H, a, a + c->H, ld, doubles(r, "sum", (size_t)c->H),
                  doubles(r, "square", (size_t)c->H));
    k->pair_stats(1, c->n, c->H, a, a + c->H, ld, doubles(r, "sum of a row", (size_t)c->H),
                  doubles(r, "square of a row", (size_t)c->H));
    return label;
}

/* Returns the signs, for close_choice. Rows in two calls when n > 2, as threads do. */
static const float *pair_run(const kernels *k, const struct pair_case *c, record *r, int whole) {
    size_t n = (size_t)c->n, H = (size_t)c->H, O = (size_t)c->O, ld = 2 * H;
    pair_forward f = {.n = c->n, .H = c->H, .O = c->O, .i1 = c->n, .ld = ld, .summed = c->summed};
    f.a = input(r, n * ld);
    f.c = f.a + H;
    f.w = input(r, H * O);
    f.b = input(r, O);
    f.sign = signs(r, O);
    if (c->sums) {
        f.sum = doubles(r, "sum", O);
        f.square = doubles(r, "square", O);
    }
    if (c->u || whole) f.u = output(r, "u", 'f', n * n * O);
    if (c->arg || whole) f.arg = output(r, "arg", 'i', n * O);
    f.best = output(r, "best", 'f', n * O);
    f.i1 = c->n > 2 ? c->n / 2 : c->n;
    k->pair_forward(&f);
    f.i0 = f.i1;
    f.i1 = c->n;
    k->pair_forward(&f);
    return f.sign;
}

static const char *run_pair_forward(const kernels *k, int number, record *r) {
    const struct pair_case *c = pair_case_at(number);
    if (c) pair_run(k, c, r, k == &kernels_plain);
    return c ? label : NULL;
}

static void test_pair_choice(void **state) {
    const struct pair_case *c;
    for (const char *const *name = kernels_available(); *name; name++)
        for (int number = 0; (c = pair_case_at(number)); number++) {
            if (c->summed || !c->arg) continue;
            record want, got;
            record_open(&want, (uint64_t)number);
            record_open(&got, (uint64_t)number);
            pair_run(&kernels_plain, c, &want, 1);
            const float *sign = pair_run(kernels_pick(*name), c, &got, 0);
            close_choice(label, &want, &got, c->n, c->O, sign);
            record_close(&want);
            record_close(&got);
        }
}

/* The pool alone has the same bits as beside all else: the diagonal, which is then left out, is not in it. */
static void test_pair_pool_alone(void **state) {
    const struct pair_case *c;
    for (const char *const *name = kernels_available(); *name; name++)
        for (int number = 0; (c = pair_case_at(number)); number++) {
            struct pair_case all = *c, alone = *c;
            all.u = all.sums = 1;
            alone.u = alone.sums = alone.arg = 0;
            record a, b;
            record_open(&a, (uint64_t)number);
            record_open(&b, (uint64_t)number);
            pair_run(kernels_pick(*name), &all, &a, 0);
            pair_run(kernels_pick(*name), &alone, &b, 0);
            const array *with = find(&a, "best"), *without = find(&b, "best");
            for (size_t i = 0; i < with->count; i++)
                if (value(with, i) != value(without, i))
                    fail_msg("%s %s: best[%zu] is %.9g alone, else %.9g", *name, label, i, value(without, i),
                             value(with, i));
            record_close(&a);
            record_close(&b);
        }
}

static const char *run_pair_backward(const kernels *k, int number, record *r) {
    const struct pair_case *c = pair_case_at(number);
    if (!c) return NULL;
    size_t n = (size_t)c->n, H = (size_t)c->H, O = (size_t)c->O, ld = 2 * H;
    pair_backward b = {.n = c->n, .H = c->H, .O = c->O, .ld = ld, .ldd = ld + 16, .summed = c->summed};
    int32_t *arg = output(r, "arg", 'i', n * O);
    b.a = input(r, n * ld);
    b.c = b.a + H;
    b.u = sums(r, "u", n * n * O);
    for (size_t i = 0; i < n * n * O; i++)
        if (b.u[i] < 0) b.u[i] = 0;
    b.gd = input(r, n * O);
    for (size_t i = 0; i < n * O; i++) arg[i] = c->n == 1 ? -1 : (int32_t)(rng_uniform(&r->random) * c->n);
    b.arg = c->summed ? NULL : arg;
    b.k0 = input(r, O);
    b.k1 = input(r, O);
    b.gw = sums(r, "gw", H * O);
    b.gb = sums(r, "gb", O);
    b.wt = input(r, H * O);
    b.c0 = input(r, H);
    b.c1 = input(r, H);
    b.da = output(r, "da", 'f', n * b.ldd);
    b.dc = output(r, "dc", 'f', n * b.ldd);
    b.i1 = c->n > 2 ? c->n / 2 : c->n; /* rows in two calls, as where each has its own c */
    k->pair_backward_weights(&b);
    b.i0 = b.i1;
    b.i1 = c->n;
    k->pair_backward_weights(&b);
    b.i0 = 0;
    k->pair_backward_inputs(&b);
    b.i0 = c->n - 1;
    b.da = output(r, "da of a row", 'f', n * b.ldd);
    b.dc = output(r, "dc of a row", 'f', n * b.ldd);
    k->pair_backward_inputs(&b);
    return label;
}

/* ---- the decoder's block ---- */

static const struct conv_case {
    int n, C, blocks, t0, t1, arg, sums; /* t0 > 0: a piece of the steps, as in decoding */
} conv_cases[] = {
    {1, 16, 0, 0, 1, 1, 1},    {1, 32, 2, 0, 1, 1, 1},   {2, 16, 1, 0, 2, 1, 1},   {3, 16, 3, 0, 3, 1, 1},
    {3, 48, 2, 0, 3, 0, 1},    {5, 32, 7, 0, 5, 1, 1},   {5, 32, 0, 0, 5, 1, 1},   {5, 16, 3, 0, 5, 1, 0},
    {7, 48, 1, 0, 7, 1, 1},    {10, 16, 2, 0, 10, 1, 1}, {20, 16, 3, 0, 20, 1, 1}, {20, 16, 0, 0, 20, 1, 1},
    {33, 32, 1, 0, 33, 1, 1},  {33, 16, 3, 0, 33, 0, 0}, {5, 32, 7, 1, 2, 0, 0},   {5, 32, 3, 2, 3, 0, 0},
    {20, 16, 3, 0, 1, 0, 0},   {20, 16, 3, 1, 2, 0, 0},  {20, 16, 3, 7, 8, 0, 0},  {33, 16, 2, 5, 9, 1, 1},
    {33, 48, 2, 31, 33, 1, 1},
};

static const struct conv_case *conv_case_at(int number) {
    if ((size_t)number >= sizeof conv_cases / sizeof *conv_cases) return NULL;
    const struct conv_case *c = &conv_cases[number];
    snprintf(label, sizeof label, "n %d C %d blocks %d steps %d..%d arg %d sums %d", c->n, c->C, c->blocks,
             c->t0, c->t1, c->arg, c->sums);
    return c;
}

/* A random order: pos[i] = the step of item i. Steps from `known` on are not chosen yet. */
static int32_t *positions(record *r, int n, int known) {
    int32_t *pos = (int32_t *)input(r, (size_t)n);
    for (int i = 0; i < n; i++) pos[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int j = (int)(rng_uniform(&r->random) * (i + 1));
        int32_t p = pos[i];
        pos[i] = pos[j];
        pos[j] = p;
    }
    for (int i = 0; i < n; i++)
        if (pos[i] >= known) pos[i] = n + 5;
    return pos;
}

/* A plane [n, n, C] of activations with two steps of zeros before it. */
static float *plane(record *r, int n, int C) {
    size_t before = 2 * (size_t)n * (size_t)C, count = (size_t)n * (size_t)n * (size_t)C;
    float *p = input(r, before + count);
    for (size_t i = 0; i < before + count; i++)
        if (i < before || p[i] < 0) p[i] = 0;
    return p + before;
}

static const float *conv_run(const kernels *k, const struct conv_case *c, record *r, int whole) {
    int n = c->n, C = c->C, steps = c->t1 - c->t0;
    size_t ld = (size_t)C * 3 + 16;
    conv_forward f = {.n = n, .C = C, .blocks = c->blocks, .t0 = c->t0, .t1 = c->t1};
    f.pos = positions(r, n, c->t1 < n ? c->t1 : n);
    f.ldx = f.ld_step = f.ld_best = ld;
    f.x = input(r, (size_t)n * ld);
    const float *step = input(r, (size_t)n * ld), *y = input(r, (size_t)n * ld),
                **rows = malloc(512 * sizeof *rows);
    const float *planes[8];
    assert_non_null(rows);
    for (int s = 0; s < n; s++) rows[s] = y + (size_t)(n - 1 - s) * ld; /* rows may be in any order */
    for (int b = 0; b < c->blocks; b++) planes[b] = plane(r, n, C) + (size_t)c->t0 * (size_t)n * (size_t)C;
    f.y = rows + c->t0;
    f.step = step + (size_t)c->t0 * ld;
    f.in = planes;
    f.w = input(r, (size_t)c->blocks * 3 * (size_t)C * (size_t)C);
    f.sign = signs(r, (size_t)C);
    f.out = output(r, "u", 'f', (size_t)steps * (size_t)n * (size_t)C);
    f.best = output(r, "best", 'f', (size_t)steps * ld);
    if (c->arg || whole) f.arg = output(r, "arg", 'i', (size_t)steps * (size_t)C);
    if (c->sums) {
        f.sum = doubles(r, "sum", (size_t)C);
        f.square = doubles(r, "square", (size_t)C);
    }
    k->conv_forward(&f);
    free(rows);
    return f.sign;
}

static const char *run_conv_forward(const kernels *k, int number, record *r) {
    const struct conv_case *c = conv_case_at(number);
    if (c) conv_run(k, c, r, k == &kernels_plain);
    return c ? label : NULL;
}

static void test_conv_choice(void **state) {
    const struct conv_case *c;
    for (const char *const *name = kernels_available(); *name; name++)
        for (int number = 0; (c = conv_case_at(number)); number++) {
            record want, got;
            record_open(&want, (uint64_t)number);
            record_open(&got, (uint64_t)number);
            conv_run(&kernels_plain, c, &want, 1);
            const float *sign = conv_run(kernels_pick(*name), c, &got, 0);
            close_choice(label, &want, &got, c->n, c->C, sign);
            record_close(&want);
            record_close(&got);
        }
}

static const char *run_conv_backward(const kernels *k, int number, record *r) {
    const struct conv_case *c = conv_case_at(number);
    if (!c) return NULL;
    int n = c->n, C = c->C;
    size_t cells = (size_t)n * (size_t)n, ld = (size_t)C * 3 + 16,
           weights = (size_t)c->blocks * 3 * (size_t)C * (size_t)C;
    static const char *const names[8] = {"din0", "din1", "din2", "din3", "din4", "din5", "din6", "din7"};
    conv_backward b = {.n = n, .C = C, .blocks = c->blocks, .ldx = ld, .ld_step = ld};
    b.pos = positions(r, n, n);
    b.r = plane(r, n, C);
    b.d = sums(r, "d", cells * (size_t)C);
    b.g = input(r, (size_t)C);
    b.k0 = input(r, (size_t)C);
    b.k1 = input(r, (size_t)C);
    b.dx = output(r, "dx", 'f', (size_t)n * ld);
    b.dstep = output(r, "dstep", 'f', (size_t)n * ld);
    float *dy = output(r, "dy", 'f', (size_t)n * ld), *rows[64], *din[8];
    const float *in[8];
    for (int s = 0; s < n; s++) rows[s] = dy + (size_t)(n - 1 - s) * ld;
    for (int i = 0; i < c->blocks; i++) {
        in[i] = plane(r, n, C);
        din[i] = sums(r, names[i], cells * (size_t)C);
    }
    b.dy = rows;
    b.in = in;
    b.din = din;
    b.wt = input(r, weights);
    b.gw = sums(r, "gw", weights);
    k->conv_backward(&b);
    return label;
}

/* ---- cells and parameters ---- */

static const int cell_cases[][2] = {{1, 16}, {2, 48}, {25, 32}, {100, 16}, {400, 16}, {1089, 32}, {0, 16}};

static const char *run_cells(const kernels *k, int number, record *r) {
    if ((size_t)number >= sizeof cell_cases / sizeof *cell_cases) return NULL;
    int cells = cell_cases[number][0], C = cell_cases[number][1];
    size_t c = (size_t)C, count = (size_t)cells * c;
    snprintf(label, sizeof label, "cells %d C %d", cells, C);
    float *d = input(r, count), *x = input(r, count), *w = input(r, c), *dlogit = input(r, (size_t)cells);
    k->cell_sums(cells, C, d, x, doubles(r, "s0", c), doubles(r, "s1", c));
    k->cell_dot(cells, C, x, w, sums(r, "logit", (size_t)cells));
    k->cell_dot_backward(cells, C, x, w, dlogit, output(r, "d", 'f', count), sums(r, "gw", c));
    return label;
}

static const size_t adam_cases[] = {0, 1, 7, 16, 100, 1003};

static const char *run_adam(const kernels *k, int number, record *r) {
    if ((size_t)number >= sizeof adam_cases / sizeof *adam_cases) return NULL;
    size_t count = adam_cases[number];
    adam_step step = {
        .scale = 0.5, .rate = 1e-3, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .decay = 1e-5};
    snprintf(label, sizeof label, "count %zu", count);
    float *theta = sums(r, "theta", count), *m = sums(r, "m", count), *v = sums(r, "v", count);
    for (size_t i = 0; i < count; i++) m[i] = v[i] = 0;
    for (int t = 1; t <= 3; t++) {
        step.correction1 = 1 - pow(step.beta1, t);
        step.correction2 = 1 - pow(step.beta2, t);
        k->adam(count, theta, input(r, count), m, v, &step);
    }
    return label;
}

static void test_gemm(void **state) {
    compare_all(run_gemm, "gemm");
}
static void test_pair_stats(void **state) {
    compare_all(run_pair_stats, "pair_stats");
}
static void test_pair_forward(void **state) {
    compare_all(run_pair_forward, "pair_forward");
}
static void test_pair_backward(void **state) {
    compare_all(run_pair_backward, "pair_backward");
}
static void test_conv_forward(void **state) {
    compare_all(run_conv_forward, "conv_forward");
}
static void test_conv_backward(void **state) {
    compare_all(run_conv_backward, "conv_backward");
}
static void test_cells(void **state) {
    compare_all(run_cells, "cells");
}
static void test_adam(void **state) {
    compare_all(run_adam, "adam");
}

static void test_pick(void **state) {
    const char *const *names = kernels_available();
    assert_ptr_equal(kernels_pick(NULL), kernels_pick(names[0]));
    assert_ptr_equal(kernels_pick("auto"), kernels_pick(names[0]));
    assert_ptr_equal(kernels_pick("plain"), &kernels_plain);
    assert_null(kernels_pick("none such"));
    int count = 0;
    while (names[count]) count++;
    assert_string_equal(names[count - 1], "plain");
}

/* Memory is used again only where every part of a batch has room. */
static void fits_in_every_part(void **state) {
    const batch_size room = {
        .sets = 4, .items = 20, .pairs = 100, .steps = 20, .step_cells = 100, .largest = 5};
    assert_true(batch_size_fits(room, room));
#define larger(part)                                                                                         \
    do {                                                                                                     \
        batch_size size = room;                                                                              \
        size.part++;                                                                                         \
        assert_false(batch_size_fits(size, room));                                                           \
        assert_true(batch_size_fits(room, size));                                                            \
        assert_true(batch_size_most(size, room).part == size.part);                                          \
    } while (0)
    larger(sets);
    larger(items);
    larger(pairs);
    larger(steps);
    larger(step_cells);
    larger(largest);
#undef larger
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pick),
        cmocka_unit_test(test_gemm),
        cmocka_unit_test(test_gemm_rows),
        cmocka_unit_test(test_pair_stats),
        cmocka_unit_test(test_pair_forward),
        cmocka_unit_test(test_pair_choice),
        cmocka_unit_test(test_pair_pool_alone),
        cmocka_unit_test(test_pair_backward),
        cmocka_unit_test(test_conv_forward),
        cmocka_unit_test(test_conv_choice),
        cmocka_unit_test(test_conv_backward),
        cmocka_unit_test(fits_in_every_part),
        cmocka_unit_test(test_cells),
        cmocka_unit_test(test_adam),
    };
    return cmocka_run_group_tests_name("kernels", tests, NULL, NULL);
}
