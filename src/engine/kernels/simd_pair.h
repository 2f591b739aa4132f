/* Implements the SIMD kernels of an encoder block, forward and backward, over all pairs (i, j) of a set. h =
 * relu(a_i + c_j) is never stored except for VL channels of the few cells being computed. */

/* Computes R cells x V vectors of outputs from o on: u = relu(w^T h + b). h is made VL channels at a time,
 * one round ahead of its use: its loads, additions and stores then run beside the multiply-adds of the round
 * before. */
static ALWAYS_INLINE void pair_tile(const int R, const int V, const pair_forward *f, const real *const *a,
                                    const real *const *c, int o, real *u, size_t ldu) {
    _Alignas(64) real h[2][TILE_ROWS * VL];
    vec acc[TILE_VECTORS];
    const real *w = f->w + o;
    const size_t O = (size_t)f->O;
    REPEAT (r, R)
        REPEAT (v, V) acc[r * V + v] = vload(f->b + o + v * VL);
    REPEAT_SOME (r, R) vstore(h[0] + r * VL, vmax(vadd(vload(a[r]), vload(c[r])), vzero()));
    for (int k = VL, side = 0; k <= f->H; k += VL, side ^= 1) {
        const real *now = h[side];
        if (k < f->H)
            REPEAT_SOME (r, R)
                vstore(h[side ^ 1] + r * VL, vmax(vadd(vload(a[r] + k), vload(c[r] + k)), vzero()));
        for (int x = 0; x < VL; x++, w += O) {
            vec b[2];
            REPEAT (v, V) b[v] = vload(w + v * VL);
            REPEAT (r, R) {
                vec hr = vset1(now[r * VL + x]);
                REPEAT (v, V) acc[r * V + v] = vfma(hr, b[v], acc[r * V + v]);
            }
        }
    }
    REPEAT (r, R)
        REPEAT (v, V) vstore(u + (size_t)r * ldu + v * VL, vmax(acc[r * V + v], vzero()));
}

typedef void pair_tile_fn(const pair_forward *f, const real *const *a, const real *const *c, int o, real *u,
                          size_t ldu);

#define PAIR_TILE(R, V)                                                                                      \
    static void pair_tile_##R##x##V(const pair_forward *f, const real *const *a, const real *const *c,       \
                                    int o, real *u, size_t ldu) {                                            \
        pair_tile(R, V, f, a, c, o, u, ldu);                                                                 \
    }
#define PAIR_TILE_ONE(R)      PAIR_TILE(R, 1)
#define PAIR_TILE_TWO(R)      PAIR_TILE(R, 2)
#define PAIR_TILE_ONE_NAME(R) pair_tile_##R##x1,
#define PAIR_TILE_TWO_NAME(R) pair_tile_##R##x2,
ROWS_ONE(PAIR_TILE_ONE)
ROWS_TWO(PAIR_TILE_TWO)
static pair_tile_fn *const pair_tiles_one[] = {ROWS_ONE(PAIR_TILE_ONE_NAME)}; /* [cells - 1] */
static pair_tile_fn *const pair_tiles_two[] = {ROWS_TWO(PAIR_TILE_TWO_NAME)};

static void pair_forward_simd(const pair_forward *f) {
    enum { CELLS = TILE_ROWS > 2 * TILE_TWO ? TILE_ROWS : 2 * TILE_TWO };
    _Alignas(64) real scratch[CELLS * PANEL];
    /* Where only the pool is wanted, the cells (i, i) are not computed. */
    int without = f->n > 1 && !f->u && !f->arg && !f->sum, n = f->n - without, O = f->O;
    pool_cells pool = {.n = n,
                       .diagonal = !without,
                       .summed = f->summed,
                       .sign = f->sign,
                       .best = f->best,
                       .arg = f->arg,
                       .ld_best = (size_t)O,
                       .ld_arg = (size_t)O,
                       .sum = f->sum,
                       .square = f->square};
    /* Cells are counted q = i*n + j, so that tiles are full however small n is; j leaves i out where its cell
     * is not computed. */
    ptrdiff_t left = (ptrdiff_t)(f->i1 - f->i0) * n, q = (ptrdiff_t)f->i0 * n;
    for (int cells; left > 0; left -= cells, q += cells) {
        cells = share(left, CELLS);
        int i = (int)(q / n), j = (int)(q % n);
        const real *a[CELLS], *c[CELLS];
        for (int x = 0, y = i, z = j; x < cells; x++) {
            a[x] = f->a + (size_t)y * f->ld;
            c[x] = f->c + (size_t)(z + (without && z >= y)) * f->ld;
            if (++z == n) {
                z = 0;
                y++;
            }
        }
        for (int o = 0, width; o < O; o += width) {
            width = least(2 * VL, O - o);
            real *u = f->u ? f->u + q * O + o : scratch;
            size_t ldu = f->u ? (size_t)O : PANEL;
            for (int x = 0, take; x < cells; x += take) {
                take = share(cells - x, width > VL ? TILE_TWO : TILE_ONE);
                pair_tile_fn *const run = width > VL ? pair_tiles_two[take - 1] : pair_tiles_one[take - 1];
                run(f, a + x, c + x, o, u + (size_t)x * ldu, ldu);
            }
            pool_block(&pool, cells, i, j, u, ldu, o, width);
        }
    }
}

/* Turns u into du in place; gb += its sum. */
static void pair_du(const pair_backward *b) {
    int n = b->n, O = b->O;
    for (int o = 0; o < O; o += VL) {
        vec k0 = vload(b->k0 + o), k1 = vload(b->k1 + o), gb = vload(b->gb + o);
        for (int i = b->i0; i < b->i1; i++) {
            vec gd = vload(b->gd + (size_t)i * O + o);
            ivec arg = b->summed ? ivset1(-1) : ivload(b->arg + (size_t)i * O + o);
            real *u = b->u + (size_t)i * n * O + o;
            for (int j = 0; j < n; j++, u += O) {
                vec x = vload(u);
                vmask hit = b->summed ? vmask_if(i != j) : ivequal(arg, ivset1(j));
                vec d = vfnma(k1, x, vsub(vkeep(hit, gd), k0));
                d = vkeep(vpositive(x), d);
                vstore(u, d);
                gb = vadd(gb, d);
            }
        }
        vstore(b->gb + o, gb);
    }
}

/* Adds du^T h to gw [O, H] for the outputs o .. o+R-1 and V vectors of hidden channels from k on: one pass
 * over all cells, h made in registers. */
static ALWAYS_INLINE void pair_weights(const int R, const int V, const pair_backward *b, int o, int k) {
    vec acc[TILE_VECTORS];
    real *gw = b->gw + (size_t)o * b->H + k;
    const real *du = b->u + (size_t)b->i0 * b->n * b->O + o;
    REPEAT (r, R)
        REPEAT (v, V) acc[r * V + v] = vload(gw + (size_t)r * b->H + v * VL);
    for (int i = b->i0; i < b->i1; i++) {
        const real *c = b->c + k;
        vec a[2], h[2];
        REPEAT (v, V) a[v] = vload(b->a + (size_t)i * b->ld + k + v * VL);
        for (int j = 0; j < b->n; j++, c += b->ld, du += b->O) {
            REPEAT (v, V) h[v] = vmax(vadd(a[v], vload(c + v * VL)), vzero());
            REPEAT (r, R) {
                vec d = vset1(du[r]);
                REPEAT (v, V) acc[r * V + v] = vfma(d, h[v], acc[r * V + v]);
            }
        }
    }
    REPEAT (r, R)
        REPEAT (v, V) vstore(gw + (size_t)r * b->H + v * VL, acc[r * V + v]);
}

typedef void pair_weights_fn(const pair_backward *b, int o, int k);

#define PAIR_WEIGHTS(R)                                                                                      \
    static void pair_weights_##R(const pair_backward *b, int o, int k) {                                     \
        pair_weights(R, PAIR_VECTORS, b, o, k);                                                              \
    }
#define PAIR_WEIGHTS_NAME(R) pair_weights_##R,
PAIR_ROWS(PAIR_WEIGHTS)
static pair_weights_fn *const pair_weights_of[] = {PAIR_ROWS(PAIR_WEIGHTS_NAME)};

static void pair_backward_weights(const pair_backward *b) {
    enum { MOST = sizeof pair_weights_of / sizeof *pair_weights_of };
    pair_du(b);
    for (int k = 0; k < b->H; k += PAIR_VECTORS * VL)
        for (int o = 0, take; o < b->O; o += take) {
            take = share(b->O - o, MOST);
            pair_weights_of[take - 1](b, o, k);
        }
}

/* Computes da and dc for the cells (i .. i+I-1, j .. j+J-1) and V vectors of hidden channels from k on. */
static ALWAYS_INLINE void pair_inputs(const int I, const int J, const int V, const pair_backward *b, int i,
                                      int j, int k) {
    vec acc[TILE_VECTORS];
    const size_t O = (size_t)b->O, O3 = 3 * O;
    const real *du[2 * (TILE_TWO / 5 + 1)], *w = b->wt + k; /* one pointer for five cells, as in tile() */
    enum { GROUPS = TILE_TWO / 5 + 1 };
    REPEAT (y, I)
        REPEAT (g, (J + 4) / 5) du[y * GROUPS + g] = b->u + ((size_t)(i + y) * b->n + j + g * 5) * O;
    REPEAT (x, I * J)
        REPEAT (v, V) acc[x * V + v] = vsub(vzero(), vload(b->c0 + k + v * VL));
    for (int o = 0; o < b->O; o++, w += b->H) {
        vec wo[2];
        REPEAT (v, V) wo[v] = vload(w + v * VL);
        REPEAT (y, I)
            REPEAT (x, J) {
                vec d = vset1(du[y * GROUPS + x / 5][x % 5 == 3 ? O3 : (size_t)(x % 5) * O]);
                REPEAT (v, V) acc[(y * J + x) * V + v] = vfma(wo[v], d, acc[(y * J + x) * V + v]);
            }
        REPEAT (y, I)
            REPEAT (g, (J + 4) / 5) du[y * GROUPS + g]++;
    }
    REPEAT (v, V) {
        vec c1 = vload(b->c1 + k + v * VL);
        REPEAT (y, I) {
            real *da = b->da + (size_t)(i + y) * b->ldd + k + v * VL;
            vec a = vload(b->a + (size_t)(i + y) * b->ld + k + v * VL), sum = j ? vload(da) : vzero();
            REPEAT (x, J) {
                vec h = vadd(a, vload(b->c + (size_t)(j + x) * b->ld + k + v * VL));
                vec d = vkeep(vpositive(h), vfnma(c1, h, acc[(y * J + x) * V + v]));
                sum = vadd(sum, d);
                acc[(y * J + x) * V + v] = d;
            }
            vstore(da, sum);
        }
        REPEAT (x, J) {
            real *dc = b->dc + (size_t)(j + x) * b->ldd + k + v * VL;
            vec sum = i > b->i0 ? vload(dc) : vzero();
            REPEAT (y, I) sum = vadd(sum, acc[(y * J + x) * V + v]);
            vstore(dc, sum);
        }
    }
}

typedef void pair_inputs_fn(const pair_backward *b, int i, int j, int k);

#define PAIR_INPUTS(I, J, V)                                                                                 \
    static void pair_inputs_##I##x##J##x##V(const pair_backward *b, int i, int j, int k) {                   \
        pair_inputs(I, J, V, b, i, j, k);                                                                    \
    }
#define PAIR_INPUTS_A(J)      PAIR_INPUTS(2, J, 2)
#define PAIR_INPUTS_B(J)      PAIR_INPUTS(1, J, 2)
#define PAIR_INPUTS_C(J)      PAIR_INPUTS(1, J, 1)
#define PAIR_INPUTS_A_NAME(J) pair_inputs_2x##J##x2,
#define PAIR_INPUTS_B_NAME(J) pair_inputs_1x##J##x2,
#define PAIR_INPUTS_C_NAME(J) pair_inputs_1x##J##x1,
ROWS_FOUR(PAIR_INPUTS_A)
ROWS_TWO(PAIR_INPUTS_B)
ROWS_TWO(PAIR_INPUTS_C)
/* [J - 1]: two items at once halve the stores to dc */
static pair_inputs_fn *const pair_inputs_two[] = {ROWS_FOUR(PAIR_INPUTS_A_NAME)};
static pair_inputs_fn *const pair_inputs_one[] = {ROWS_TWO(PAIR_INPUTS_B_NAME)};
static pair_inputs_fn *const pair_inputs_narrow[] = {ROWS_TWO(PAIR_INPUTS_C_NAME)};

/* Prefetches the rows of the next tile: of c and dc while the first items run, of a, da and du once per block
 * of items. */
static void pair_inputs_ahead(const pair_backward *b, int i, int j, int rows, int cells) {
    int n = b->n, lines = b->H / LANES;
    if (i == b->i0)
        for (int x = j + cells; x < least(n, j + 2 * cells); x++) {
            prefetch(b->c + (size_t)x * b->ld, lines, LANES);
            prefetch(b->dc + (size_t)x * b->ldd, lines, LANES);
        }
    if (j > 0) return;
    for (int y = i + rows; y < least(b->i1, i + 2 * rows); y++) {
        prefetch(b->a + (size_t)y * b->ld, lines, LANES);
        prefetch(b->da + (size_t)y * b->ldd, lines, LANES);
        prefetch(b->u + (size_t)y * n * b->O, n * b->O / LANES, LANES);
    }
}

static void pair_backward_inputs(const pair_backward *b) {
    int n = b->n, H = b->H;
    for (int i = b->i0, rows; i < b->i1; i += rows) {
        rows = least(2, b->i1 - i);
        int most = rows == 2 ? TILE_FOUR : TILE_TWO;
        for (int j = 0, take; j < n; j += take) {
            int k = 0;
            take = share(n - j, most);
            pair_inputs_fn *wide = rows == 2 ? pair_inputs_two[take - 1] : pair_inputs_one[take - 1];
            pair_inputs_ahead(b, i, j, rows, take);
            for (; k + 2 * VL <= H; k += 2 * VL) wide(b, i, j, k);
            for (; k < H; k += VL)
                for (int y = 0; y < rows; y++) pair_inputs_narrow[take - 1](b, i + y, j, k);
        }
    }
}
