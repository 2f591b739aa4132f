/* Computes the encoder's blocks on the CPU, forward and backward, with relations between items and dropout of
 * the pooled features. */
#include <string.h>

#include "engine/kernels/cpu.h"
#include "engine/kernels/cpu_pool.h"
#include "engine/kernels/dropout.h"

/* Forward:
 *
 *   a_i = Wa x_i + b1, c_j = Wb x_j          n rows instead of n*n: the conv over [x_i x_j] splits
 *   h_ij = relu(a_i + c_j)                   never stored; made again where it is needed
 *   h_ij = relu(a_i + c_j + We [e_ij e_ji])  where there are relations: item i then has a c of its own
 *   u_ij = relu(W2 norm1(h_ij) + b2)         norm1 folded into W2 and b2 once its statistics are known
 *   y_i = the pool of norm2(u_ij) over j     cpu_pool.c
 *
 * Backward, with du the gradient at u before its ReLU and G = sum h du: the reductions that norm1 needs
 * follow from G and W2, without another pass over the cells. */

/* Applies dropout to the pooled features of a row, or to their gradient; `col` is the first column. */
static void drop_out(const cpu *s, int b, size_t row, int col, int count, real *x) {
    const net *t = &s->base;
    if (!(t->dropout > 0)) return;
    uint32_t set = t->first_set + s->index[b] * (t->ranks ? t->ranks : 1);
    uint32_t key = dropout_key(t->dropout_seed, set, (uint32_t)s->item[row]);
    uint32_t limit = dropout_limit(t->dropout);
    float scale = 1 / (1 - t->dropout);
    for (int c = 0; c < count; c++) x[c] *= (real)dropout_factor(key, (uint32_t)(col + c), limit, scale);
}

void cpu_pool_rows(cpu *s, int k, int chunk) {
    if (k == 0) return;
    const encoder_state *e = &s->enc[k - 1];
    int O = s->base.sh->s.encoder_out, col = s->base.sh->enc[k - 1].in;
    for (int b = s->chunk[chunk]; b < s->chunk[chunk + 1]; b++)
        for (size_t row = s->at[b].row; row < s->at[b + 1].row; row++) {
            real *y = s->x + row * s->w.D + col;
            cpu_pool_forward(s->base.sh->s.pool, s->at[b].n, O, &e->norm2, e->best + row * s->w.O, y);
            drop_out(s, b, row, col, O, y);
        }
}

/* Returns c_j with what the relations of item i of set b add to it: [n, 2H], of which the second halves are
 * free. */
static real *related_row(cpu *s, int block, int chunk, int b, int i) {
    int H = s->w.H, n = s->at[b].n;
    relations x = cpu_relations(s, b);
    real *e = s->related + (size_t)chunk * s->related_width, *to = e + (size_t)n * 2 * x.pairs->width;
    relations_row(&x, s->k, n, H, i, s->enc[block].ac + s->at[b].row * 2 * H + H, s->w.enc[block].related, e,
                  to);
    return to;
}

static void rows_and_stats(cpu *s, int block, int chunk) {
    const encoder_weights *w = &s->w.enc[block];
    encoder_state *e = &s->enc[block];
    int H = s->w.H, in = s->base.sh->enc[block].in, rows = chunk_rows(s, chunk);
    size_t first = chunk_row(s, chunk);
    cpu_pool_rows(s, block, chunk);
    real *ac = e->ac + first * 2 * H;
    for (int r = 0; r < rows; r++) memcpy(ac + (size_t)r * 2 * H, w->bias1, 2 * (size_t)H * sizeof(real));
    s->k->gemm(rows, 2 * H, in, s->x + first * s->w.D, (size_t)s->w.D, 1, packed(w->first, in), ac,
               2 * (size_t)H, 1);
    double *sum = s->sums + (size_t)chunk * s->sums_width;
    memset(sum, 0, 2 * (size_t)H * sizeof *sum);
    for (int b = s->chunk[chunk]; b < s->chunk[chunk + 1]; b++, ac += (size_t)s->at[b - 1].n * 2 * H) {
        int n = s->at[b].n;
        if (!s->w.E) s->k->pair_stats(n, n, H, ac, ac + H, 2 * (size_t)H, sum, sum + H);
        for (int i = 0; s->w.E && i < n; i++)
            s->k->pair_stats(1, n, H, ac + (size_t)i * 2 * H, related_row(s, block, chunk, b, i),
                             2 * (size_t)H, sum, sum + H);
    }
}

static void cells_forward(cpu *s, int block, int chunk) {
    encoder_state *e = &s->enc[block];
    int H = s->w.H, O = s->w.O;
    double *sum = s->sums + (size_t)chunk * s->sums_width;
    memset(sum, 0, 2 * (size_t)O * sizeof *sum);
    for (int b = s->chunk[chunk]; b < s->chunk[chunk + 1]; b++) {
        int n = s->at[b].n;
        size_t row = s->at[b].row;
        const real *ac = e->ac + row * 2 * H;
        pair_forward f = {.n = n,
                          .H = H,
                          .O = O,
                          .i0 = 0,
                          .i1 = n,
                          .a = ac,
                          .c = ac + H,
                          .ld = 2 * (size_t)H,
                          .w = e->wf,
                          .b = e->bf,
                          .u = e->u + s->at[b].pair * O,
                          .summed = cpu_pool_sums(s->base.sh->s.pool),
                          .sign = s->w.enc[block].sign,
                          .best = e->best + row * O,
                          .arg = e->arg + row * O,
                          .sum = sum,
                          .square = sum + O};
        if (!s->w.E) s->k->pair_forward(&f);
        for (f.i0 = 0; s->w.E && f.i0 < n; f.i0++) {
            f.i1 = f.i0 + 1;
            f.c = related_row(s, block, chunk, b, f.i0);
            s->k->pair_forward(&f);
        }
    }
}

void cpu_encoder_forward(net *t, int block) {
    cpu *s = (cpu *)t;
    encoder_state *e = &s->enc[block];
    const encoder_at *at = &t->sh->enc[block];
    int H = s->w.H, O = s->w.O;
    double cells = (double)t->whole.pairs;
    double *total = s->sums + CHUNKS * s->sums_width;
    cpu_run(s, CHUNKS, rows_and_stats, block);
    cpu_total(s, 2 * (size_t)H, total);
    cpu_norm(s, &e->norm1, at->norm1, t->sh->s.hidden, total, H, cells);
    fold_second(&s->w.enc[block], &e->norm1, H, O, e->wf, e->bf, e->wf_t);
    cpu_run(s, CHUNKS, cells_forward, block);
    cpu_total(s, 2 * (size_t)O, total);
    cpu_norm(s, &e->norm2, at->norm2, t->sh->s.encoder_out, total, O, cells);
}

void cpu_pool_rows_backward(cpu *s, int k, int chunk) {
    if (k == 0) return;
    const encoder_state *e = &s->enc[k - 1];
    int O = s->base.sh->s.encoder_out, col = s->base.sh->enc[k - 1].in;
    double *sum = s->sums + (size_t)chunk * s->sums_width;
    memset(sum, 0, 2 * (size_t)s->w.O * sizeof *sum);
    for (int b = s->chunk[chunk]; b < s->chunk[chunk + 1]; b++)
        for (size_t row = s->at[b].row; row < s->at[b + 1].row; row++) {
            size_t at = row * s->w.D + col, cell = row * s->w.O;
            drop_out(s, b, row, col, O, s->dx + at);
            cpu_pool_backward(s->base.sh->s.pool, s->at[b].n, O, &e->norm2, e->best + cell, s->dx + at,
                              s->gd + cell, sum, sum + s->w.O);
        }
}

static pair_backward set_backward(cpu *s, int block, int b) {
    encoder_state *e = &s->enc[block];
    int n = s->at[b].n, H = s->w.H, O = s->w.O;
    size_t row = s->at[b].row;
    const real *ac = e->ac + row * 2 * H;
    return (pair_backward){.n = n,
                           .H = H,
                           .O = O,
                           .i1 = n,
                           .a = ac,
                           .c = ac + H,
                           .ld = 2 * (size_t)H,
                           .u = e->u + s->at[b].pair * O,
                           .summed = cpu_pool_sums(s->base.sh->s.pool),
                           .gd = s->gd + row * O,
                           .arg = e->arg + row * O,
                           .k0 = s->k0,
                           .k1 = s->k1,
                           .wt = e->wf_t,
                           .c0 = s->c0,
                           .c1 = s->c1,
                           .da = s->dac + row * 2 * H,
                           .dc = s->dac + row * 2 * H + H,
                           .ldd = 2 * (size_t)H};
}

static void cells_backward_weights(cpu *s, int block, int chunk) {
    real *part = gpart_of(s, block, chunk);
    memset(part, 0, (size_t)(s->w.H + 1) * s->w.O * sizeof *part);
    for (int b = s->chunk[chunk]; b < s->chunk[chunk + 1]; b++) {
        pair_backward back = set_backward(s, block, b);
        back.gw = part;
        back.gb = part + (size_t)s->w.H * s->w.O;
        if (!s->w.E) s->k->pair_backward_weights(&back);
        for (back.i0 = 0; s->w.E && back.i0 < back.n; back.i0++) {
            back.i1 = back.i0 + 1;
            back.c = related_row(s, block, chunk, b, back.i0);
            s->k->pair_backward_weights(&back);
        }
    }
}

/* Returns a chunk's part of the gradient of the relations' weights, [2R, H]: behind those of W2 and b2. */
static real *related_part(const cpu *s, int block, int chunk) {
    return gpart_of(s, block, chunk) + (size_t)(s->w.H + 1) * s->w.O;
}

/* The inputs pass of a set with relations, item by item. With one row i the kernel's dc_j is dh_ij, which the
 * weights of e_ij and e_ji need too. */
static void related_backward(cpu *s, int block, int chunk, int b) {
    int H = s->w.H, n = s->at[b].n, R = s->base.sh->s.relations;
    const real *e = s->related + (size_t)chunk * s->related_width;
    real *dc = s->dac + s->at[b].row * 2 * H + H;
    for (int j = 0; j < n; j++) memset(dc + (size_t)j * 2 * H, 0, (size_t)H * sizeof *dc);
    for (int i = 0; i < n; i++) {
        pair_backward back = set_backward(s, block, b);
        real *c = related_row(s, block, chunk, b, i), *dh = c + H;
        back.i0 = i;
        back.i1 = i + 1;
        back.c = c;
        back.dc = dh;
        s->k->pair_backward_inputs(&back);
        for (int j = 0; j < n; j++)
            for (int h = 0; h < H; h++) dc[(size_t)j * 2 * H + h] += dh[(size_t)j * 2 * H + h];
        s->k->gemm(2 * R, H, n, e, 1, 2 * (size_t)R, row_major(dh, 2 * (size_t)H),
                   related_part(s, block, chunk), (size_t)H, 1);
    }
}

static void cells_backward_inputs(cpu *s, int block, int chunk) {
    int H = s->w.H, in = s->base.sh->enc[block].in;
    size_t first = chunk_row(s, chunk);
    if (s->w.E)
        memset(related_part(s, block, chunk), 0, 2 * (size_t)(s->base.sh->s.relations * H) * sizeof(real));
    for (int b = s->chunk[chunk]; b < s->chunk[chunk + 1]; b++) {
        pair_backward back = set_backward(s, block, b);
        if (s->w.E)
            related_backward(s, block, chunk, b);
        else
            s->k->pair_backward_inputs(&back);
    }
    if (block > 0 || s->train_vectors)
        s->k->gemm(chunk_rows(s, chunk), pad(in), 2 * H, s->dac + first * 2 * H, 2 * (size_t)H, 1,
                   packed(s->w.enc[block].first_t, 2 * H), s->dx + first * s->w.D, (size_t)s->w.D, 1);
    cpu_pool_rows_backward(s, block, chunk); /* of the block before this one */
}

/* Computes rows of dac^T x, WEIGHT_ROWS of 2H per job, the gradient of W1; the sum of dac is that of its
 * bias. Also adds up that of the relations' weights. */
static void first_weights(cpu *s, int block, int job) {
    const encoder_at *at = &s->base.sh->enc[block];
    int R = (int)batch_rows(s), P = s->w.H, H = s->base.sh->s.hidden, in = at->in, width = pad(in);
    int row0 = job * WEIGHT_ROWS;
    real *wide = s->gwide + (size_t)row0 * width;
    s->k->gemm(WEIGHT_ROWS, width, R, s->dac + row0, 1, 2 * (size_t)P, row_major(s->x, (size_t)s->w.D), wide,
               (size_t)width, 0);
    real bias[WEIGHT_ROWS] = {0};
    if (row0 < P)
        for (int r = 0; r < R; r++)
            for (int c = 0; c < WEIGHT_ROWS; c++) bias[c] += s->dac[(size_t)r * 2 * P + row0 + c];
    for (int c = 0; c < WEIGHT_ROWS; c++) {
        int side = (row0 + c) / P, h = (row0 + c) % P;
        if (h >= H) continue;
        real *grad = s->grad + at->weight1 + (size_t)h * at->columns;
        memcpy(grad + side * in, wide + (size_t)c * width, (size_t)in * sizeof(real));
        if (side) continue;
        s->grad[at->bias1 + h] = bias[c];
        for (int r = 0; r < 2 * s->base.sh->s.relations; r++) {
            real sum = 0;
            for (int chunk = 0; chunk < CHUNKS; chunk++)
                sum += related_part(s, block, chunk)[(size_t)r * P + h];
            grad[2 * in + r] = sum;
        }
    }
}

/* From G [O, H] = sum du h and gb = sum du, which lie in parts, one per chunk: the gradients of W2 and b2,
 * and the sums that the backward pass of norm1 needs, for a few hidden channels. */
enum { HIDDEN = 32 };

static void second_weights(cpu *s, int block, int job) {
    const encoder_at *at = &s->base.sh->enc[block];
    const encoder_state *e = &s->enc[block];
    int H = s->base.sh->s.hidden, O = s->base.sh->s.encoder_out, h0 = job * HIDDEN;
    int count = H - h0 < HIDDEN ? H - h0 : HIDDEN;
    const real *theta = s->theta + h0, *mu = e->norm1.mean + h0, *inv = e->norm1.inv + h0;
    double sum[HIDDEN] = {0}, sum_xhat[HIDDEN] = {0};
    for (int o = 0; o < O; o++) {
        real G[HIDDEN] = {0}, b = 0;
        for (int chunk = 0; chunk < CHUNKS; chunk++) {
            const real *part = gpart_of(s, block, chunk);
            for (int h = 0; h < count; h++) G[h] += part[(size_t)o * s->w.H + h0 + h];
            b += part[(size_t)s->w.H * s->w.O + o];
        }
        const real *w = theta + at->weight2 + (size_t)o * H;
        real *grad = s->grad + at->weight2 + (size_t)o * H + h0;
        for (int h = 0; h < count; h++) {
            double centred = ((double)G[h] - (double)b * (double)mu[h]) * (double)inv[h];
            grad[h] = (real)((double)theta[at->norm1.gamma + h] * centred +
                             (double)theta[at->norm1.beta + h] * (double)b);
            sum[h] += (double)w[h] * (double)b;
            sum_xhat[h] += (double)w[h] * centred;
        }
        if (job == 0) s->grad[at->bias2 + o] = b;
    }
    memcpy(s->sums + h0, sum, (size_t)count * sizeof *sum);
    memcpy(s->sums + s->w.H + h0, sum_xhat, (size_t)count * sizeof *sum_xhat);
}

void cpu_encoder_backward(net *t, int block) {
    cpu *s = (cpu *)t;
    const encoder_at *at = &t->sh->enc[block];
    encoder_state *e = &s->enc[block];
    int H = t->sh->s.hidden, O = s->w.O;
    double *total = s->sums + CHUNKS * s->sums_width, cells = (double)t->whole.pairs;
    cpu_total_here(s, 2 * (size_t)O, total);
    cpu_norm_backward(s, &e->norm2, at->norm2, t->sh->s.encoder_out, total, total + O, cells, s->k0, s->k1);
    cpu_run(s, CHUNKS, cells_backward_weights, block);
    cpu_run(s, (H + HIDDEN - 1) / HIDDEN, second_weights, block);
    cpu_norm_backward(s, &e->norm1, at->norm1, H, s->sums, s->sums + s->w.H, cells, s->c0, s->c1);
    cpu_run(s, CHUNKS, cells_backward_inputs, block);
    (block ? cpu_later : cpu_run)(s, 2 * s->w.H / WEIGHT_ROWS, first_weights, block);
}
