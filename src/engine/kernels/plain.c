/* Implements the CPU kernels in portable C: the fallback on every machine, and the reference that the SIMD
 * and GPU kernels are tested against. */
#include <math.h>
#include <string.h>

#include "engine/kernels/kernels.h"

static inline real relu(real x) {
    return x > 0 ? x : 0;
}

static void gemm(int M, int N, int K, const real *A, size_t am, size_t ak, matrix B, real *C, size_t ldc,
                 int add) {
    for (int m = 0; m < M; m++)
        for (int c0 = 0; c0 < N; c0 += PANEL) {
            int width = N - c0 < PANEL ? N - c0 : PANEL;
            const real *b = B.data + (size_t)(c0 / PANEL) * B.panel_stride;
            real *out = C + (size_t)m * ldc + c0, acc[PANEL];
            for (int c = 0; c < width; c++) acc[c] = add ? out[c] : 0;
            for (int k = 0; k < K; k++, b += B.row_stride) {
                real a = A[(size_t)m * am + (size_t)k * ak];
                for (int c = 0; c < width; c++) acc[c] += a * b[c];
            }
            for (int c = 0; c < width; c++) out[c] = acc[c];
        }
}

static void pair_stats(int rows, int n, int H, const real *a, const real *c, size_t ld, double *sum,
                       double *square) {
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < H; k++) {
                double h = (double)relu(a[(size_t)i * ld + k] + c[(size_t)j * ld + k]);
                sum[k] += h;
                square[k] += h * h;
            }
}

static void pair_forward_plain(const pair_forward *f) {
    int n = f->n, H = f->H, O = f->O;
    for (int i = f->i0; i < f->i1; i++) {
        const real *a = f->a + (size_t)i * f->ld;
        real *best = f->best + (size_t)i * O;
        int32_t *arg = f->arg ? f->arg + (size_t)i * O : NULL;
        for (int o = 0; o < O; o++) {
            best[o] = 0;
            if (arg) arg[o] = -1;
        }
        int first = i == 0 ? 1 : 0; /* the first j that is not i */
        for (int j = 0; j < n; j++) {
            const real *c = f->c + (size_t)j * f->ld;
            for (int o = 0; o < O; o++) {
                real u = f->b[o];
                for (int k = 0; k < H; k++) u += relu(a[k] + c[k]) * f->w[(size_t)k * O + o];
                u = relu(u);
                if (f->u) f->u[((size_t)i * n + j) * O + o] = u;
                if (f->sum) {
                    f->sum[o] += (double)u;
                    f->square[o] += (double)u * (double)u;
                }
                if (j == i) continue;
                if (f->summed)
                    best[o] += u;
                else if (j == first || f->sign[o] * u > f->sign[o] * best[o]) {
                    best[o] = u;
                    if (arg) arg[o] = j;
                }
            }
        }
    }
}

static void pair_backward_weights(const pair_backward *b) {
    int n = b->n, H = b->H, O = b->O;
    for (int i = b->i0; i < b->i1; i++)
        for (int j = 0; j < n; j++) {
            const real *a = b->a + (size_t)i * b->ld, *c = b->c + (size_t)j * b->ld;
            const real *gd = b->gd + (size_t)i * O;
            real *u = b->u + ((size_t)i * n + j) * O;
            for (int o = 0; o < O; o++) {
                int hit = b->summed ? i != j : b->arg[(size_t)i * O + o] == j;
                u[o] = u[o] > 0 ? (hit ? gd[o] : 0) - b->k0[o] - b->k1[o] * u[o] : 0;
                b->gb[o] += u[o];
            }
            for (int k = 0; k < H; k++) {
                real h = relu(a[k] + c[k]);
                for (int o = 0; o < O; o++) b->gw[(size_t)o * H + k] += h * u[o];
            }
        }
}

static void pair_backward_inputs(const pair_backward *b) {
    int n = b->n, H = b->H, O = b->O;
    for (int i = b->i0; i < b->i1; i++) memset(b->da + (size_t)i * b->ldd, 0, (size_t)H * sizeof(real));
    for (int j = 0; j < n; j++) memset(b->dc + (size_t)j * b->ldd, 0, (size_t)H * sizeof(real));
    for (int i = b->i0; i < b->i1; i++)
        for (int j = 0; j < n; j++) {
            const real *du = b->u + ((size_t)i * n + j) * O;
            for (int k = 0; k < H; k++) {
                real h = b->a[(size_t)i * b->ld + k] + b->c[(size_t)j * b->ld + k];
                if (!(h > 0)) continue;
                real dh = -b->c0[k] - b->c1[k] * h;
                for (int o = 0; o < O; o++) dh += b->wt[(size_t)o * H + k] * du[o];
                b->da[(size_t)i * b->ldd + k] += dh;
                b->dc[(size_t)j * b->ldd + k] += dh;
            }
        }
}

/* Whether the cell (t, i) sees item i, still unplaced, through this lag. */
static inline int sees(const int32_t *pos, int t, int i, int lag) {
    return t - lag >= 0 && t - lag <= pos[i];
}

static void conv_forward_plain(const conv_forward *f) {
    int n = f->n, C = f->C;
    for (int t = f->t0; t < f->t1; t++) {
        real *best = f->best + (size_t)(t - f->t0) * f->ld_best;
        int32_t *arg = f->arg ? f->arg + (size_t)(t - f->t0) * C : NULL;
        for (int i = 0; i < n; i++) {
            ptrdiff_t row = (ptrdiff_t)(t - f->t0) * n + i;
            for (int c = 0; c < C; c++) {
                real r = f->step[(size_t)(t - f->t0) * f->ld_step + c];
                for (int l = 0; l < 3; l++)
                    if (sees(f->pos, t, i, l))
                        r += f->x[(size_t)i * f->ldx + (size_t)l * C + c] + f->y[t - f->t0 - l][l * C + c];
                for (int b = 0; b < f->blocks; b++)
                    for (int l = 0; l < 3; l++) {
                        const real *in = f->in[b] + (row - (ptrdiff_t)l * n) * C;
                        const real *w = f->w + ((size_t)b * 3 + l) * C * C + c;
                        for (int k = 0; k < C; k++) r += in[k] * w[(size_t)k * C];
                    }
                r = relu(r);
                f->out[row * C + c] = r;
                if (f->sum) {
                    f->sum[c] += (double)r;
                    f->square[c] += (double)r * (double)r;
                }
                if (i == 0 || f->sign[c] * r > f->sign[c] * best[c]) {
                    best[c] = r;
                    if (arg) arg[c] = i;
                }
            }
        }
    }
}

static void cell_sums(int cells, int C, const real *d, const real *r, double *s0, double *s1) {
    for (int q = 0; q < cells; q++)
        for (int c = 0; c < C; c++) {
            s0[c] += (double)d[(size_t)q * C + c];
            s1[c] += (double)d[(size_t)q * C + c] * (double)r[(size_t)q * C + c];
        }
}

static void conv_backward_plain(const conv_backward *b) {
    int n = b->n, C = b->C;
    for (int i = 0; i < n; i++) memset(b->dx + (size_t)i * b->ldx, 0, 3 * (size_t)C * sizeof(real));
    for (int s = 0; s < n; s++) memset(b->dy[s], 0, 3 * (size_t)C * sizeof(real));
    for (int t = 0; t < n; t++) {
        real *dstep = b->dstep + (size_t)t * b->ld_step;
        memset(dstep, 0, (size_t)C * sizeof(real));
        for (int i = 0; i < n; i++) {
            const real *r = b->r + ((size_t)t * n + i) * C;
            real *d = b->d + ((size_t)t * n + i) * C;
            for (int c = 0; c < C; c++) {
                d[c] = r[c] > 0 ? b->g[c] * d[c] - b->k0[c] - b->k1[c] * r[c] : 0;
                dstep[c] += d[c];
            }
            for (int l = 0; l < 3; l++)
                if (sees(b->pos, t, i, l))
                    for (int c = 0; c < C; c++) {
                        b->dx[(size_t)i * b->ldx + (size_t)l * C + c] += d[c];
                        b->dy[t - l][l * C + c] += d[c];
                    }
        }
    }
    for (int k = 0; k < b->blocks; k++)
        for (int l = 0; l < 3; l++) {
            const real *wt = b->wt + ((size_t)k * 3 + l) * C * C;
            real *gw = b->gw + ((size_t)k * 3 + l) * C * C;
            for (int q = l * n; q < n * n; q++) {
                const real *d = b->d + (size_t)q * C, *in = b->in[k] + (size_t)(q - l * n) * C;
                real *din = b->din[k] ? b->din[k] + (size_t)(q - l * n) * C : NULL;
                for (int c = 0; c < C; c++)
                    for (int e = 0; e < C; e++) {
                        if (din) din[e] += d[c] * wt[(size_t)c * C + e];
                        gw[(size_t)e * C + c] += in[e] * d[c];
                    }
            }
        }
}

static void cell_dot(int cells, int C, const real *r, const real *w, real *logit) {
    for (int q = 0; q < cells; q++)
        for (int c = 0; c < C; c++) logit[q] += w[c] * r[(size_t)q * C + c];
}

static void cell_dot_backward(int cells, int C, const real *r, const real *w, const real *dlogit, real *d,
                              real *gw) {
    for (int q = 0; q < cells; q++)
        for (int c = 0; c < C; c++) {
            d[(size_t)q * C + c] = w[c] * dlogit[q];
            gw[c] += dlogit[q] * r[(size_t)q * C + c];
        }
}

static void adam(size_t count, real *theta, const real *grad, real *m, real *v, const adam_step *step) {
    real b1 = (real)step->beta1, b2 = (real)step->beta2, c1 = (real)(1 - step->beta1),
         c2 = (real)(1 - step->beta2);
    real scale = (real)step->scale, eps = (real)step->epsilon, keep = (real)(1 - step->decay);
    real rate = (real)(step->rate / step->correction1), root = (real)(1 / sqrt(step->correction2));
    for (size_t i = 0; i < count; i++) {
        real g = grad[i] * scale;
        m[i] = b1 * m[i] + c1 * g;
        v[i] = b2 * v[i] + c2 * g * g;
        theta[i] = keep * theta[i] - rate * m[i] / ((real)sqrt((double)v[i]) * root + eps);
    }
}

const kernels kernels_plain = {
    .name = "plain",
    .gemm = gemm,
    .pair_stats = pair_stats,
    .pair_forward = pair_forward_plain,
    .pair_backward_weights = pair_backward_weights,
    .pair_backward_inputs = pair_backward_inputs,
    .conv_forward = conv_forward_plain,
    .cell_sums = cell_sums,
    .conv_backward = conv_backward_plain,
    .cell_dot = cell_dot,
    .cell_dot_backward = cell_dot_backward,
    .adam = adam,
};
