/* The encoder's block on all pairs (i, j) of a set. Cells are counted q = i*n + j and taken in blocks; a
 * block's h = relu(a_i + c_j) lives in the first-level cache only. */

enum {
    PAIR_CELLS = TILE_ONE > 24 ? TILE_ONE : 24, /* cells a block */
    PAIR_WIDTH = 256,                           /* hidden channels a block */
    PAIR_STRIDE = PAIR_WIDTH + LANES            /* rows of h start in different cache sets */
};

/* h [cells, width] for the cells from q on, hidden channels from k0 on. */
static void pair_hidden(int n, int q, int cells, const real *a, const real *c, size_t ld, int k0, int width,
                        real *h) {
    int i = q / n, j = q % n;
    for (int cell = 0; cell < cells; cell++, h += PAIR_STRIDE) {
        const real *ai = a + (size_t)i * ld + k0, *cj = c + (size_t)j * ld + k0;
        for (int k = 0; k < width; k += VL) vstore(h + k, vmax(vadd(vload(ai + k), vload(cj + k)), vzero()));
        if (++j == n) {
            j = 0;
            i++;
        }
    }
}

static inline int least(int x, int y) {
    return x < y ? x : y;
}

static void pair_forward_simd(const pair_forward *f) {
    _Alignas(64) real h[PAIR_CELLS * PAIR_STRIDE], scratch[PAIR_CELLS * PANEL];
    const real *A = h;
    int n = f->n, H = f->H, O = f->O;
    pool_cells pool = {.n = n,
                       .diagonal = 1,
                       .mean = f->mean,
                       .sign = f->sign,
                       .best = f->best,
                       .arg = f->arg,
                       .ld_best = (size_t)O,
                       .ld_arg = (size_t)O,
                       .sum = f->sum,
                       .square = f->square};
    int left = (f->i1 - f->i0) * n, q = f->i0 * n;
    for (int blocks = (left + PAIR_CELLS - 1) / PAIR_CELLS; blocks > 0; blocks--) {
        int cells = (left + blocks - 1) / blocks;
        for (int o = 0; o < O; o += PANEL) {
            int width = least(PANEL, O - o);
            product p = {.parts = 1, .A = &A, .am = PAIR_STRIDE, .ak = 1, .add = 1};
            p.C = f->u ? f->u + (size_t)q * O + o : scratch;
            p.ldc = f->u ? (size_t)O : PANEL;
            for (int cell = 0; cell < cells; cell++)
                for (int c = 0; c < width; c += VL)
                    vstore(p.C + (size_t)cell * p.ldc + c, vload(f->b + o + c));
            for (int k = 0; k < H; k += PAIR_WIDTH) {
                p.K = least(PAIR_WIDTH, H - k);
                p.B = (matrix){f->w + (size_t)k * O + o, (size_t)O, PANEL};
                if (o == 0 || H > PAIR_WIDTH) pair_hidden(n, q, cells, f->a, f->c, f->ld, k, p.K, h);
                multiply(&p, 0, cells, width);
            }
            finish_cells(&pool, cells, q / n, q % n, p.C, p.ldc, o, width);
        }
        q += cells;
        left -= cells;
    }
}

/* u -> du in place, gb += its sum. */
static void pair_du(const pair_backward *b) {
    int n = b->n, O = b->O;
    for (int o = 0; o < O; o += VL) {
        vec k0 = vload(b->k0 + o), k1 = vload(b->k1 + o), gb = vload(b->gb + o);
        for (int i = 0; i < n; i++) {
            vec gd = vload(b->gd + (size_t)i * O + o);
            ivec arg = b->mean ? ivset1(-1) : ivload(b->arg + (size_t)i * O + o);
            real *u = b->u + (size_t)i * n * O + o;
            for (int j = 0; j < n; j++, u += O) {
                vec x = vload(u);
                vmask hit = b->mean ? vmask_if(i != j) : ivequal(arg, ivset1(j));
                vec d = vfnma(k1, x, vsub(vkeep(hit, gd), k0));
                d = vkeep(vgreater(x, vzero()), d);
                vstore(u, d);
                gb = vadd(gb, d);
            }
        }
        vstore(b->gb + o, gb);
    }
}

static void pair_backward_weights(const pair_backward *b) {
    _Alignas(64) real h[PAIR_CELLS * PAIR_STRIDE];
    const real *A = h;
    int n = b->n, H = b->H, O = b->O, left = n * n, q = 0;
    pair_du(b);
    for (int blocks = (left + PAIR_CELLS - 1) / PAIR_CELLS; blocks > 0; blocks--) {
        int cells = (left + blocks - 1) / blocks;
        for (int k = 0; k < H; k += PAIR_WIDTH) {
            int width = least(PAIR_WIDTH, H - k);
            pair_hidden(n, q, cells, b->a, b->c, b->ld, k, width, h);
            product p = {.parts = 1, .K = cells, .A = &A, .am = 1, .ak = PAIR_STRIDE, .add = 1};
            p.B = (matrix){b->u + (size_t)q * O, (size_t)O, PANEL};
            p.C = b->gw + (size_t)k * O;
            p.ldc = (size_t)O;
            multiply(&p, 0, width, O);
        }
        q += cells;
        left -= cells;
    }
}

static void pair_backward_inputs(const pair_backward *b) {
    _Alignas(64) real dh[PAIR_CELLS * PANEL];
    int n = b->n, H = b->H, O = b->O;
    for (int i = 0; i < n; i++) {
        memset(b->da + (size_t)i * b->ldd, 0, (size_t)H * sizeof(real));
        memset(b->dc + (size_t)i * b->ldd, 0, (size_t)H * sizeof(real));
    }
    for (int k = 0; k < H; k += PANEL)
        for (int i = 0; i < n; i++)
            for (int j0 = 0; j0 < n; j0 += PAIR_CELLS) {
                int width = least(PANEL, H - k), cells = least(PAIR_CELLS, n - j0);
                const real *A = b->u + ((size_t)i * n + j0) * O;
                product p = {.parts = 1, .K = O, .A = &A, .am = (size_t)O, .ak = 1, .C = dh, .ldc = PANEL};
                p.B = (matrix){b->wt + k, (size_t)H, PANEL};
                multiply(&p, 0, cells, width);
                for (int v = 0; v < width; v += VL) {
                    vec a = vload(b->a + (size_t)i * b->ld + k + v), c0 = vload(b->c0 + k + v);
                    vec c1 = vload(b->c1 + k + v), da = vload(b->da + (size_t)i * b->ldd + k + v);
                    for (int j = 0; j < cells; j++) {
                        real *dc = b->dc + (size_t)(j0 + j) * b->ldd + k + v;
                        vec h = vadd(a, vload(b->c + (size_t)(j0 + j) * b->ld + k + v));
                        vec d = vfnma(c1, h, vsub(vload(dh + j * PANEL + v), c0));
                        d = vkeep(vgreater(h, vzero()), d);
                        da = vadd(da, d);
                        vstore(dc, vadd(vload(dc), d));
                    }
                    vstore(b->da + (size_t)i * b->ldd + k + v, da);
                }
            }
}
