/* Computes the decoder's blocks on the CPU, forward and backward. */
#include <string.h>

#include "engine/kernels/cpu.h"

/* The conv of a block, over the channels [x'_i y'_t e v_1 p_1 ...], splits:
 *
 *   x', y'   products of n rows per set, for all blocks and lags at once (q), added where item i is unplaced
 *   p        depends on the step alone: products of n rows per set
 *   e        relations from the item placed last: a plane like those of v, without a norm
 *   v        the only part with n*n rows; the earlier norms are folded into its weights */

static void rows_forward(cpu *s, int block, int chunk) {
    (void)block;
    size_t first = chunk_row(s, chunk);
    cpu_pool_rows(s, s->base.sh->s.encoder_blocks, chunk);
    s->k->gemm(chunk_rows(s, chunk), s->w.Q, s->base.sh->D, s->x + first * s->w.D, (size_t)s->w.D, 1,
               packed(s->w.rows, s->base.sh->D), s->q + first * s->w.Q, (size_t)s->w.Q, 0);
}

void cpu_decoder_rows_forward(net *t) {
    cpu *s = (cpu *)t;
    cpu_run(s, CHUNKS, rows_forward, 0);
    size_t start = batch_rows(s);
    memcpy(s->x + start * s->w.D, s->theta + t->sh->start, (size_t)t->sh->D * sizeof(real));
    s->k->gemm(1, s->w.Q, t->sh->D, s->x + start * s->w.D, (size_t)s->w.D, 1, packed(s->w.rows, t->sh->D),
               s->q + start * s->w.Q, (size_t)s->w.Q, 0);
}

/* Returns the row whose x' is y'_t of set b. */
static inline size_t y_row(const cpu *s, int b, int t) {
    size_t first = s->at[b].row;
    return t ? first + (size_t)s->order[first + t - 1] : batch_rows(s);
}

/* Applies the norm of block m - 1 to its pools, which its forward pass left raw in p. */
static void norm_pools(cpu *s, int m, int chunk) {
    if (m == 0) return;
    const norm *b = &s->dec[m - 1].norm;
    int C = s->w.C, width = s->base.sh->s.decoder_blocks * C;
    for (int set = s->chunk[chunk]; set < s->chunk[chunk + 1]; set++)
        for (int t = 0; t < s->at[set].m; t++) {
            real *p = s->p + step_at(s, set, t) * width + (size_t)(m - 1) * C;
            for (int c = 0; c < C; c++) p[c] = b->g[c] * p[c] + b->e[c];
        }
}

static void block_forward(cpu *s, int m, int chunk) {
    int C = s->w.C, E = s->w.E, width = s->base.sh->s.decoder_blocks * C;
    int first = s->chunk[chunk], last = s->chunk[chunk + 1];
    decoder_state *d = &s->dec[m];
    double *sum = s->sums + (size_t)chunk * s->sums_width;
    memset(sum, 0, 2 * (size_t)C * sizeof *sum);
    if (first == last) return;
    norm_pools(s, m, chunk);
    for (int b = first; b < last; b++)
        for (int t = -2; t < s->at[b].m; t++) {
            int which = t < 0 ? 0 : t; /* the bias of steps 0, 1 and all later ones */
            if (which > 2) which = 2;
            memcpy(s->step + step_at(s, b, t) * C, d->bias + which * C, (size_t)C * sizeof(real));
        }
    size_t row0 = step_at(s, first, 0);
    int rows = (int)(s->at[last].step - row0);
    for (int l = 0; l < 3 && m; l++)
        s->k->gemm(rows, C, m * C, s->p + (row0 - (size_t)l) * width, (size_t)width, 1,
                   row_major(s->w.dec[m].p + (size_t)l * m * C * C, (size_t)C), s->step + row0 * C, (size_t)C,
                   1);
    const real *in[MAX_BLOCKS + 1];
    for (int b = first; b < last; b++) {
        const set_at *at = &s->at[b];
        int n = at->m;
        const real **y = s->y + at->step;
        for (int t = 0; t < n; t++) y[t] = s->q + y_row(s, b, t) * s->w.Q + (size_t)(m * 6 + 3) * C;
        if (E) in[0] = plane_at(s, s->last, b);
        for (int k = 0; k < m; k++) in[E + k] = plane_at(s, s->dec[k].r, b);
        real *out = plane_at(s, d->r, b);
        memset(out - 2 * (size_t)n * C, 0, 2 * (size_t)n * C * sizeof(real));
        s->k->conv_forward(&(conv_forward){.n = n,
                                           .C = C,
                                           .blocks = E + m,
                                           .t0 = 0,
                                           .t1 = n,
                                           .pos = s->pos + at->row,
                                           .x = s->q + at->row * s->w.Q + (size_t)m * 6 * C,
                                           .ldx = (size_t)s->w.Q,
                                           .y = y,
                                           .step = s->step + step_at(s, b, 0) * C,
                                           .ld_step = (size_t)C,
                                           .in = in,
                                           .w = d->wf,
                                           .out = out,
                                           .sign = s->w.dec[m].sign,
                                           .best = s->p + step_at(s, b, 0) * width + (size_t)m * C,
                                           .ld_best = (size_t)width,
                                           .arg = d->arg + at->row * C,
                                           .sum = sum,
                                           .square = sum + C});
    }
}

/* Folds the norms of the earlier blocks into the weights of block m. */
static void fold_block(cpu *s, int m) {
    norm earlier[MAX_BLOCKS];
    for (int k = 0; k < m; k++) earlier[k] = s->dec[k].norm;
    fold_conv(&s->w.dec[m], earlier, s->w.E, m, s->w.C, s->dec[m].wf, s->dec[m].bias);
}

void cpu_decoder_forward(net *t, int block) {
    cpu *s = (cpu *)t;
    int C = s->w.C;
    double *total = s->sums + CHUNKS * s->sums_width;
    fold_block(s, block);
    cpu_run(s, CHUNKS, block_forward, block);
    cpu_total(s, 2 * (size_t)C, total);
    cpu_norm(s, &s->dec[block].norm, t->sh->dec[block].norm, t->sh->s.decoder_out, total, C,
             (double)t->whole.step_cells);
}

void cpu_decoder_gather(cpu *s, int m, int b, double *sum) {
    int n = s->at[b].m, C = s->w.C, N = s->base.sh->s.decoder_blocks;
    decoder_state *d = &s->dec[m];
    real *dv = plane_at(s, d->d, b);
    const int32_t *at = d->arg + s->at[b].row * C;
    /* The pool's gradient goes to the cell that it was taken from; nothing sees the last block's pool. */
    for (int t = 0; t < n && m + 1 < N; t++) {
        const real *dp = s->dp + (step_at(s, b, t) * N + (size_t)m) * C;
        for (int c = 0; c < C; c++) dv[((size_t)t * n + (size_t)at[t * C + c]) * C + c] += dp[c];
    }
    s->k->cell_sums(n * n, C, dv, plane_at(s, d->r, b), sum, sum + C);
}

/* Returns the place of step t of set b in dstep, which has room for the blocks of two phases. */
static inline real *dstep_at(const cpu *s, int m, int b, int t) {
    return s->dstep + ((size_t)(m % 2) * s->steps + step_at(s, b, t)) * s->w.C;
}

static void block_backward(cpu *s, int m, int chunk) {
    int C = s->w.C, Q = s->w.Q, E = s->w.E, width = s->base.sh->s.decoder_blocks * C;
    int first = s->chunk[chunk], last = s->chunk[chunk + 1];
    decoder_state *d = &s->dec[m];
    real *part = gpart_of(s, m, chunk), *late = part + 3 * (size_t)(E + m) * C * C; /* [3, C] */
    double *sum = s->sums + (size_t)chunk * s->sums_width; /* for the norm of the block before this one */
    memset(sum, 0, 2 * (size_t)C * sizeof *sum);
    memset(part, 0, (3 * (size_t)(E + m) * C * C + 3 * (size_t)C) * sizeof *part);
    real *start = s->start_part + (size_t)chunk * Q + (size_t)(m * 6 + 3) * C;
    memset(start, 0, 3 * (size_t)C * sizeof(real));
    if (first == last) return;
    const real *in[MAX_BLOCKS + 1];
    real *din[MAX_BLOCKS + 1] = {NULL}; /* none for relations */
    for (int b = first; b < last; b++) {
        int n = s->at[b].m;
        size_t row = s->at[b].row;
        real **dy = s->dy + s->at[b].step;
        /* y'_0 is the start vector for every set: its part goes through the row of the item placed last,
         * which is never a y', and that row is then cleared. */
        real *spare = s->dq + (row + (size_t)s->order[row + n - 1]) * Q + (size_t)(m * 6 + 3) * C;
        dy[0] = spare;
        for (int t = 1; t < n; t++) dy[t] = s->dq + y_row(s, b, t) * Q + (size_t)(m * 6 + 3) * C;
        for (int k = 0; k < m; k++) {
            in[E + k] = plane_at(s, s->dec[k].r, b);
            din[E + k] = plane_at(s, s->dec[k].d, b);
        }
        if (E) in[0] = plane_at(s, s->last, b);
        real *dstep = dstep_at(s, m, b, 0);
        memset(dstep - 2 * (size_t)C, 0, 2 * (size_t)C * sizeof(real));
        s->k->conv_backward(&(conv_backward){.n = n,
                                             .C = C,
                                             .blocks = E + m,
                                             .pos = s->pos + row,
                                             .r = plane_at(s, d->r, b),
                                             .d = plane_at(s, d->d, b),
                                             .g = d->norm.g,
                                             .k0 = s->k0,
                                             .k1 = s->k1,
                                             .dx = s->dq + row * Q + (size_t)m * 6 * C,
                                             .ldx = (size_t)Q,
                                             .dy = dy,
                                             .dstep = dstep,
                                             .ld_step = (size_t)C,
                                             .in = in,
                                             .din = din,
                                             .wt = s->w.dec[m].v_t,
                                             .gw = part});
        for (int c = 0; c < 3 * C; c++) {
            start[c] += spare[c];
            spare[c] = 0;
        }
        /* Sums of dstep over the steps that lag l can look back from: t >= l. */
        for (int t = 0; t < n; t++)
            for (int l = 0; l <= (t < 2 ? t : 2); l++)
                for (int c = 0; c < C; c++) late[l * C + c] += dstep[(size_t)t * C + c];
        if (!m) continue;
        /* Steps after a set's last do not count. */
        for (int l = 0; l < 3 && l < n; l++)
            s->k->gemm(n - l, m * C, C, dstep + (size_t)l * C, (size_t)C, 1,
                       row_major(s->w.dec[m].p_t + (size_t)l * m * C * C, (size_t)m * C),
                       s->dp + step_at(s, b, 0) * width, (size_t)width, 1);
        cpu_decoder_gather(s, m - 1, b, sum);
    }
}

/* Computes the gradients of the weights by which block m sees relations, or v and p of an earlier block k, by
 * lag l, and of its bias. p: p^T dstep over all steps. v = g r + e where a step is there, zero before the
 * first: so its gradient is g G + e times the sum of dpre over the steps that look back so far; G and that
 * sum lie in parts, one per chunk. */
static void earlier_weights(cpu *s, int m, int job) {
    int P = s->w.C, C = s->base.sh->s.decoder_out, D = s->base.sh->D;
    int l = job % 3, k = job / 3 - s->w.E, width = s->base.sh->s.decoder_blocks * P;
    int rows = s->base.B ? (int)s->at[s->base.B].step - 2 : 0;
    const decoder_at *at = &s->base.sh->dec[m];
    size_t square = (size_t)P * P, late_at = 3 * (size_t)(s->w.E + m) * square;
    for (int c = 0; c < C && job == 0; c++) {
        real bias = 0;
        for (int chunk = 0; chunk < CHUNKS; chunk++) bias += gpart_of(s, m, chunk)[late_at + (size_t)c];
        s->grad[at->bias + c] = bias;
    }
    if (s->w.E + m == 0) return;
    real *gp = s->gwide + 2 * square * (size_t)job, *G = gp + square; /* [C in, C out] */
    if (k >= 0)
        s->k->gemm(P, P, rows, s->p + (size_t)(2 - l) * width + (size_t)k * P, 1, (size_t)width,
                   row_major(dstep_at(s, m, 0, 0), (size_t)P), gp, (size_t)P, 0);
    memcpy(G, gpart_of(s, m, 0) + (size_t)job * square, square * sizeof(real));
    for (int chunk = 1; chunk < CHUNKS; chunk++) {
        const real *part = gpart_of(s, m, chunk) + (size_t)job * square;
        for (size_t i = 0; i < square; i++) G[i] += part[i];
    }
    for (int c = 0; c < C && k < 0; c++)
        for (int e = 0; e < s->base.sh->s.relations; e++)
            s->grad[at->weight + ((size_t)c * at->in + 2 * D + e) * 3 + (2 - l)] = G[(size_t)e * P + c];
    if (k < 0) return;
    const norm *b = &s->dec[k].norm;
    for (int c = 0; c < C; c++) {
        real late = 0;
        for (int chunk = 0; chunk < CHUNKS; chunk++)
            late += gpart_of(s, m, chunk)[late_at + (size_t)(l * P + c)];
        real *to = s->grad + at->weight + ((size_t)c * at->in + s->base.sh->base + 2 * C * k) * 3 + (2 - l);
        for (int e = 0; e < C; e++, to += 3) {
            to[0] = b->g[e] * G[(size_t)e * P + c] + b->e[e] * late;
            to[(size_t)3 * C] = gp[(size_t)e * P + c];
        }
    }
}

void cpu_decoder_backward(net *t, int block) {
    cpu *s = (cpu *)t;
    int C = s->w.C;
    double *total = s->sums + CHUNKS * s->sums_width;
    decoder_state *d = &s->dec[block];
    cpu_total_here(s, 2 * (size_t)C, total);
    for (int c = 0; c < C; c++)
        total[C + c] = (total[C + c] - total[c] * (double)d->norm.mean[c]) * (double)d->norm.inv[c];
    cpu_norm_backward(s, &d->norm, t->sh->dec[block].norm, t->sh->s.decoder_out, total, total + C,
                      (double)t->whole.step_cells, s->k0, s->k1);
    cpu_run(s, CHUNKS, block_backward, block);
    int planes = s->w.E + block;
    cpu_later(s, planes ? 3 * planes : 1, earlier_weights, block);
}

static void rows_backward(cpu *s, int block, int chunk) {
    (void)block;
    size_t first = chunk_row(s, chunk);
    /* The decoder does not see context items. */
    for (int b = s->chunk[chunk]; b < s->chunk[chunk + 1]; b++)
        memset(s->dq + (s->at[b].row + s->at[b].m) * s->w.Q, 0,
               (size_t)(s->at[b].n - s->at[b].m) * s->w.Q * sizeof(real));
    s->k->gemm(chunk_rows(s, chunk), s->w.D, s->w.Q, s->dq + first * s->w.Q, (size_t)s->w.Q, 1,
               packed(s->w.rows_t, s->w.Q), s->dx + first * s->w.D, (size_t)s->w.D, 1);
    cpu_pool_rows_backward(s, s->base.sh->s.encoder_blocks, chunk);
}

static void rows_weights(cpu *s, int block, int job) {
    (void)block;
    int R = (int)batch_rows(s) + 1, P = s->w.C, C = s->base.sh->s.decoder_out, D = s->base.sh->D;
    int row0 = job * WEIGHT_ROWS;
    real *wide = s->gwide + (size_t)row0 * s->w.D;
    s->k->gemm(WEIGHT_ROWS, s->w.D, R, s->dq + row0, 1, (size_t)s->w.Q, row_major(s->x, (size_t)s->w.D), wide,
               (size_t)s->w.D, 0);
    for (int r = 0; r < WEIGHT_ROWS; r++) {
        int c = (row0 + r) % P, l = (row0 + r) / P % 3, side = (row0 + r) / (3 * P) % 2,
            m = (row0 + r) / (6 * P);
        if (c >= C) continue;
        const decoder_at *at = &s->base.sh->dec[m];
        real *to = s->grad + at->weight + ((size_t)c * at->in + (size_t)side * D) * 3 + (2 - l);
        for (int x = 0; x < D; x++) to[(size_t)x * 3] = wide[(size_t)r * s->w.D + x];
    }
}

void cpu_decoder_rows_backward(net *t) {
    cpu *s = (cpu *)t;
    size_t start = batch_rows(s);
    for (int c = 0; c < s->w.Q; c++) {
        real sum = 0;
        if (c / (3 * s->w.C) % 2)
            for (int chunk = 0; chunk < CHUNKS; chunk++) sum += s->start_part[(size_t)chunk * s->w.Q + c];
        s->dq[start * s->w.Q + c] = sum;
    }
    cpu_run(s, CHUNKS, rows_backward, 0);
    memset(s->dx + start * s->w.D, 0, (size_t)s->w.D * sizeof(real));
    s->k->gemm(1, s->w.D, s->w.Q, s->dq + start * s->w.Q, (size_t)s->w.Q, 1, packed(s->w.rows_t, s->w.Q),
               s->dx + start * s->w.D, (size_t)s->w.D, 0);
    memcpy(s->grad + t->sh->start, s->dx + start * s->w.D, (size_t)t->sh->D * sizeof(real));
    (t->sh->s.encoder_blocks ? cpu_later : cpu_run)(s, s->w.Q / WEIGHT_ROWS, rows_weights, 0);
}
