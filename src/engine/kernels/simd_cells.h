/* Implements the simple SIMD kernels over pairs, cells or parameters: sums for the batch norms, the output
 * layer's dot products, and Adam. */

/* Cells between two roundings of float sums to double. */
enum { SUM_CELLS = 256 };

/* Handles V vectors of channels at once: enough chains of additions to hide their latency. */
static ALWAYS_INLINE void pair_stats_lanes(const int V, int rows, int n, const real *a, const real *c,
                                           size_t ld, double *sum, double *square) {
    vec s[4], q[4], one = vset1(1);
    REPEAT (v, V) s[v] = q[v] = vzero();
    int cells = 0;
    for (int i = 0; i < rows; i++, a += ld)
        for (int j = 0; j < n;) {
            int end = least(n, j + SUM_CELLS - cells);
            cells += end - j;
            for (; j < end; j++)
                REPEAT (v, V) {
                    vec h = vmax(vadd(vload(a + v * VL), vload(c + (size_t)j * ld + v * VL)), vzero());
                    s[v] = vfma(h, one, s[v]); /* s + h: the adders are busy, the multipliers are not */
                    q[v] = vfma(h, h, q[v]);
                }
            if (cells == SUM_CELLS || (i == rows - 1 && j == n)) {
                REPEAT (v, V) {
                    add_sums(sum + v * VL, square + v * VL, s[v], q[v]);
                    s[v] = q[v] = vzero();
                }
                cells = 0;
            }
        }
}

static void pair_stats(int rows, int n, int H, const real *a, const real *c, size_t ld, double *sum,
                       double *square) {
    int k = 0;
    for (; k + 4 * VL <= H; k += 4 * VL) pair_stats_lanes(4, rows, n, a + k, c + k, ld, sum + k, square + k);
    for (; k < H; k += VL) pair_stats_lanes(1, rows, n, a + k, c + k, ld, sum + k, square + k);
}

static void cell_sums(int cells, int C, const real *d, const real *r, double *s0, double *s1) {
    for (int q0 = 0; q0 < cells; q0 += SUM_CELLS)
        for (int c = 0; c < C; c += VL) {
            vec s = vzero(), q = vzero();
            for (int cell = q0; cell < cells && cell < q0 + SUM_CELLS; cell++) {
                vec x = vload(d + (size_t)cell * C + c);
                s = vadd(s, x);
                q = vfma(x, vload(r + (size_t)cell * C + c), q);
            }
            add_sums(s0 + c, s1 + c, s, q);
        }
}

static void cell_dot(int cells, int C, const real *r, const real *w, real *logit) {
    for (int q = 0; q < cells; q++) {
        vec s = vzero();
        for (int c = 0; c < C; c += VL) s = vfma(vload(w + c), vload(r + (size_t)q * C + c), s);
        logit[q] += vsum(s);
    }
}

static void cell_dot_backward(int cells, int C, const real *r, const real *w, const real *dlogit, real *d,
                              real *gw) {
    for (int c = 0; c < C; c += VL) {
        vec wc = vload(w + c), g = vload(gw + c);
        for (int q = 0; q < cells; q++) {
            vec x = vset1(dlogit[q]);
            vstore(d + (size_t)q * C + c, vmul(wc, x));
            g = vfma(x, vload(r + (size_t)q * C + c), g);
        }
        vstore(gw + c, g);
    }
}

static void adam(size_t count, real *theta, const real *grad, real *m, real *v, const adam_step *step) {
    real b1 = (real)step->beta1, b2 = (real)step->beta2, c1 = (real)(1 - step->beta1),
         c2 = (real)(1 - step->beta2);
    real scale = (real)step->scale, eps = (real)step->epsilon, keep = (real)(1 - step->decay);
    real rate = (real)(step->rate / step->correction1), root = (real)(1 / sqrt(step->correction2));
    size_t i = 0;
    for (; i + VL <= count; i += VL) {
        vec g = vmul(vload(grad + i), vset1(scale));
        vec mi = vadd(vmul(vset1(b1), vload(m + i)), vmul(vset1(c1), g));
        vec vi = vadd(vmul(vset1(b2), vload(v + i)), vmul(vmul(vset1(c2), g), g));
        vec low = vadd(vmul(vsqrt(vi), vset1(root)), vset1(eps));
        vec change = vdiv(vmul(vset1(rate), mi), low);
        vstore(m + i, mi);
        vstore(v + i, vi);
        vstore(theta + i, vsub(vmul(vset1(keep), vload(theta + i)), change));
    }
    for (; i < count; i++) {
        real g = grad[i] * scale;
        m[i] = b1 * m[i] + c1 * g;
        v[i] = b2 * v[i] + c2 * g * g;
        theta[i] = keep * theta[i] - rate * m[i] / (sqrtf(v[i]) * root + eps);
    }
}
