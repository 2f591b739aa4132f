/* Implements the SIMD kernels of a decoder block, forward and backward, over all cells (t, i) of a set. Cell
 * (t, i) is row t*n + i of a plane: a lag is a shift by n rows. */

enum { CONV_CELLS = TILE_ONE > 24 ? TILE_ONE : 24, CONV_BLOCKS = 65 };

/* Starts the sums of `cells` cells from (t, i) on: out = step_t + what the cell sees of its item and of the
 * order so far, at least `low`. A cell that is e = t - pos_i steps past its item's place sees the lags from e
 * on. */
static void conv_start(const conv_forward *f, int t, int i, int cells, real low, real *out) {
    int n = f->n, C = f->C;
    for (; cells > 0; t++, i = 0) {
        int end = least(n, i + cells), lags = least(t, 2) + 1;
        for (int c = 0; c < C; c += VL) {
            const real *x = f->x + (size_t)i * f->ldx + c;
            real *o = out + c;
            vec seen[4]; /* by e: step_t and the sum of y over the lags that are seen */
            seen[3] = vload(f->step + (size_t)(t - f->t0) * f->ld_step + c);
            for (int l = 2; l >= 0; l--)
                seen[l] = l < lags ? vadd(seen[l + 1], vload(f->y[t - f->t0 - l] + l * C + c)) : seen[l + 1];
            for (int k = i; k < end; k++, x += f->ldx, o += C) {
                int e = t - f->pos[k];
                vec s = seen[e < 0 ? 0 : least(e, 3)];
                REPEAT (l, 3)
                    if (l < lags) s = vadd(s, vkeep(vmask_if(e <= l), vload(x + (size_t)l * C)));
                vstore(o, vmax(s, vset1(low)));
            }
        }
        out += (size_t)(end - i) * C;
        cells -= end - i;
    }
}

static void conv_forward_simd(const conv_forward *f) {
    int n = f->n, C = f->C;
    const real *A[CONV_BLOCKS * 3];
    product p = {.parts = f->blocks * 3,
                 .K = C,
                 .A = A,
                 .am = (size_t)C,
                 .ak = 1,
                 .C = f->out,
                 .ldc = (size_t)C,
                 .add = 1,
                 .relu = 1,
                 .B = {f->w, (size_t)C, PANEL}};
    pool_cells pool = {.n = n,
                       .sign = f->sign,
                       .best = f->best,
                       .arg = f->arg,
                       .ld_best = f->ld_best,
                       .ld_arg = (size_t)C,
                       .sum = f->sum,
                       .square = f->square};
    for (int t = f->t0, end; t < f->t1; t = end) {
        end = t < 2 ? t + 1 : f->t1; /* the first two steps have fewer steps before them */
        for (int b = 0; b < f->blocks; b++)
            for (int l = 0; l < 3; l++) A[b * 3 + l] = l <= t ? f->in[b] - (ptrdiff_t)l * n * C : NULL;
        ptrdiff_t q = (ptrdiff_t)(t - f->t0) * n, left = (ptrdiff_t)(end - t) * n;
        for (int cells; left > 0; left -= cells, q += cells) {
            cells = share(left, CONV_CELLS);
            int group = (int)(q / n), item = (int)(q % n);
            real *out = f->out + q * C;
            int lines = (int)(left - cells < CONV_CELLS ? left - cells : CONV_CELLS) * (C / LANES);
            for (int b = 0; b < f->blocks; b++) prefetch(f->in[b] + (q + cells) * C, lines, LANES);
            conv_start(f, f->t0 + group, item, cells, f->blocks ? -INFINITY : 0, out);
            if (f->blocks) multiply(&p, q, cells, C);
            pool_block(&pool, cells, group, item, out, (size_t)C, 0, C);
        }
    }
}

/* Turns d from dv to dpre in place; writes dstep and dy. */
static void conv_dpre(const conv_backward *b) {
    int n = b->n, C = b->C;
    for (int s = 0; s < n; s++) memset(b->dy[s], 0, 3 * (size_t)C * sizeof(real));
    for (int t = 0; t < n; t++)
        for (int c = 0; c < C; c += VL) {
            const real *r = b->r + (size_t)t * n * C + c;
            real *d = b->d + (size_t)t * n * C + c;
            vec g = vload(b->g + c), k0 = vload(b->k0 + c), k1 = vload(b->k1 + c);
            vec all = vzero(), seen[3] = {vzero(), vzero(), vzero()};
            for (int i = 0; i < n; i++, r += C, d += C) {
                vec x = vload(r), y = vfnma(k1, x, vsub(vmul(g, vload(d)), k0));
                int e = t - b->pos[i];
                y = vkeep(vpositive(x), y);
                vstore(d, y);
                all = vadd(all, y);
                REPEAT (l, 3) seen[l] = vadd(seen[l], vkeep(vmask_if(e <= l), y));
            }
            vstore(b->dstep + (size_t)t * b->ld_step + c, all);
            REPEAT (l, 3)
                if (t >= l) vstore(b->dy[t - l] + l * C + c, seen[l]);
        }
}

/* Writes dx of item i by lag l: the sum of dpre over the steps l .. pos_i + l. */
static void conv_dx(const conv_backward *b) {
    int n = b->n, C = b->C;
    for (int i = 0; i < n; i++)
        for (int c = 0; c < C; c += VL)
            for (int l = 0; l < 3; l++) {
                vec s = vzero();
                int end = least(n - 1, b->pos[i] + l);
                for (int t = l; t <= end; t++) s = vadd(s, vload(b->d + ((size_t)t * n + i) * C + c));
                vstore(b->dx + (size_t)i * b->ldx + (size_t)l * C + c, s);
            }
}

static void conv_backward_simd(const conv_backward *b) {
    int n = b->n, C = b->C;
    conv_dpre(b);
    conv_dx(b);
    for (int k = 0; k < b->blocks; k++)
        for (int l = 0; l < least(3, n); l++) {
            const real *in = b->in[k];
            product p = {.parts = 1, .K = n * n - l * n, .A = &in, .am = 1, .ak = (size_t)C, .add = 1};
            p.B = (matrix){b->d + (size_t)l * n * C, (size_t)C, PANEL};
            p.C = b->gw + ((size_t)k * 3 + l) * C * C;
            p.ldc = (size_t)C;
            multiply(&p, 0, C, C);
        }
    const real *later[3] = {b->d, b->d + (size_t)n * C, b->d + 2 * (size_t)n * C};
    for (int k = 0; k < b->blocks; k++) {
        if (!b->din[k]) continue;
        product p = {.K = C, .A = later, .am = (size_t)C, .ak = 1, .ldc = (size_t)C, .add = 1};
        p.B = (matrix){b->wt + (size_t)k * 3 * C * C, (size_t)C, PANEL};
        p.C = b->din[k];
        /* The last two steps have fewer steps after them. */
        for (int t = 0, end; t < n; t = end) {
            end = t < n - 2 ? n - 2 : t + 1;
            p.parts = least(3, n - t);
            multiply(&p, (ptrdiff_t)t * n, (end - t) * n, C);
        }
    }
}
