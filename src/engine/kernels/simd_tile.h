/* Multiplies small matrices in registers, the core of most SIMD kernels: C[rows, N] (+)= A[rows, K] B[K, N].
 * A tile of rows x (1 or 2 vectors) of C stays in registers while K runs; one element of A is broadcast for
 * each row. Every element of C is the same chain of fused multiply-adds whatever tile it falls into, so a
 * result does not depend on how rows are divided into tiles or over threads. */

/* A in `parts` pieces of K columns each, which follow one another in the sum (and in B's rows). */
typedef struct product {
    int parts, K;
    const real *const *A; /* [parts]: element (m, k) at A[part][m*am + k*ak]; NULL: a part of zeros */
    size_t am, ak;
    matrix B; /* [parts * K, N] */
    real *C;
    size_t ldc;
    int add;           /* 1: the product is added to C */
    const real *start; /* [N]: else the sums start from this row, or from 0 when it is NULL */
    int relu;          /* 1: what is stored is max(C, 0) */
} product;

enum {
    TILE_VECTORS = TILE_ONE > 2 * TILE_TWO ? TILE_ONE : 2 * TILE_TWO,
    TILE_ROWS = TILE_ONE > TILE_TWO ? TILE_ONE : TILE_TWO
};

/* Prefetches `rows` lines of memory, `ld` apart: a tile touches all of its rows at once, and would wait for
 * them. */
static inline void prefetch(const real *p, int rows, size_t ld) {
    for (int r = 0; r < rows; r++, p += ld) __builtin_prefetch(p);
}

/* x > 0, compared as integers: on Zen 4 a comparison of floats takes the place of a multiply-add, one of
 * integers does not. */
static ALWAYS_INLINE vmask vpositive(vec x) {
    return ivgreater(ivbits(x), ivset1(0));
}

static ALWAYS_INLINE void tile(const int R, const int V, const product *p, ptrdiff_t first, int column) {
    vec acc[TILE_VECTORS];
    const real *A[TILE_ROWS / 5 + 1];
    const real *B = p->B.data + (size_t)(column / PANEL) * p->B.panel_stride + column % PANEL;
    real *C = p->C + (size_t)first * p->ldc + column;
    const size_t am = p->am, am3 = 3 * am, ak = p->ak, ldb = p->B.row_stride, ldc = p->ldc;
    if (p->add)
        REPEAT (r, R)
            REPEAT (v, V) acc[r * V + v] = vload(C + (size_t)r * ldc + v * VL);
    else
        REPEAT (r, R)
            REPEAT (v, V) acc[r * V + v] = p->start ? vload(p->start + column + v * VL) : vzero();
    for (int part = 0; part < p->parts; part++) {
        if (!p->A[part]) {
            B += (size_t)p->K * ldb;
            continue;
        }
        /* One pointer for five rows: the strides 1, 2, 3, 4 are then a register (am or 3 am) and a scale. */
        REPEAT (g, (R + 4) / 5) A[g] = p->A[part] + (first + g * 5) * (ptrdiff_t)am;
        for (int k = 0; k < p->K; k++) {
            vec b[2];
            REPEAT (v, V) b[v] = vload(B + v * VL);
            REPEAT (r, R) {
                vec a = vset1(A[r / 5][r % 5 == 3 ? am3 : (size_t)(r % 5) * am]);
                REPEAT (v, V) acc[r * V + v] = vfma(a, b[v], acc[r * V + v]);
            }
            REPEAT (g, (R + 4) / 5) A[g] += ak;
            B += ldb;
        }
    }
    if (p->relu)
        REPEAT (r, R * V) acc[r] = vmax(acc[r], vzero());
    REPEAT (r, R)
        REPEAT (v, V) vstore(C + (size_t)r * ldc + v * VL, acc[r * V + v]);
}

typedef void tile_fn(const product *p, ptrdiff_t first, int column);

#define TILE_OF(R, V)                                                                                        \
    static void tile_##R##x##V(const product *p, ptrdiff_t first, int column) {                              \
        tile(R, V, p, first, column);                                                                        \
    }
#define TILE_ONE_OF(R)   TILE_OF(R, 1)
#define TILE_TWO_OF(R)   TILE_OF(R, 2)
#define TILE_ONE_NAME(R) tile_##R##x1,
#define TILE_TWO_NAME(R) tile_##R##x2,
ROWS_ONE(TILE_ONE_OF)
ROWS_TWO(TILE_TWO_OF)
static tile_fn *const tiles_one[] = {ROWS_ONE(TILE_ONE_NAME)}; /* [rows - 1] */
static tile_fn *const tiles_two[] = {ROWS_TWO(TILE_TWO_NAME)};

/* Computes rows x N of C, from row `first` of A and C. */
static void multiply(const product *p, ptrdiff_t first, int rows, int N) {
    for (int column = 0; column < N;) {
        int wide = N - column >= 2 * VL;
        ptrdiff_t row = first;
        for (int left = rows, take; left > 0; left -= take, row += take) {
            take = share(left, wide ? TILE_TWO : TILE_ONE);
            if (p->add && left > take)
                prefetch(p->C + (row + take) * (ptrdiff_t)p->ldc + column, take, p->ldc);
            tile_fn *const run = wide ? tiles_two[take - 1] : tiles_one[take - 1];
            run(p, row, column);
        }
        column += wide ? 2 * VL : VL;
    }
}

/* K is cut so that a piece of B's panel stays in the first-level cache for all rows; the sums are kept in C
 * meanwhile. */
static void gemm(int M, int N, int K, const real *A, size_t am, size_t ak, matrix B, real *C, size_t ldc,
                 int add) {
    enum { CUT = 512 };
    for (int n = 0; n < N; n += PANEL) {
        for (int k = 0; k == 0 || k < K; k += CUT) {
            const real *a = A + (size_t)k * ak;
            product p = {.parts = 1, .K = least(CUT, K - k), .A = &a, .am = am, .ak = ak, .ldc = ldc};
            p.B = (matrix){B.data + (size_t)(n / PANEL) * B.panel_stride + (size_t)k * B.row_stride,
                           B.row_stride, B.panel_stride};
            p.C = C + n;
            p.add = add || k > 0;
            multiply(&p, 0, M, least(PANEL, N - n));
        }
    }
}
