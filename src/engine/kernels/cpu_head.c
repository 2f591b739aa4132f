/* Computes the output layer on the CPU: logits, softmax over the items still unplaced, the loss, and the
 * backward pass. The terms of the logit that come from y', the pools and the bias are the same for every item
 * of a step: they cancel in the softmax, and their gradient is zero. */
#include <math.h>
#include <string.h>

#include "engine/kernels/cpu.h"

static void sets_head(cpu *s, int block, int chunk) {
    (void)block;
    int C = s->w.C, N = s->base.sh->s.decoder_blocks, D = s->w.D;
    int R = s->base.sh->s.relations;
    real *gw = gpart_of(s, 0, chunk), *gx = gw + (size_t)N * C, *ge = gx + D; /* [N, C], [D], [R] */
    real each = (real)(1.0 / (double)s->base.whole.steps);
    double loss = 0, *sum = s->sums + (size_t)chunk * s->sums_width;
    memset(sum, 0, 2 * (size_t)C * sizeof *sum);
    memset(gw, 0, ((size_t)N * C + D + R) * sizeof(real));
    for (int b = s->chunk[chunk]; b < s->chunk[chunk + 1]; b++) {
        const set_at *at = &s->at[b];
        int n = at->m, cells = n * n;
        const int32_t *pos = s->pos + at->row, *right = s->right + at->row;
        real *logit = s->logit + at->cell, *dlogit = s->dlogit + at->cell, *item_d = s->item_d + at->row;
        for (int i = 0; i < n; i++) {
            const real *x = s->x + (at->row + i) * D;
            real l = 0;
            for (int c = 0; c < s->base.sh->D; c++) l += s->w.head_x[c] * x[c];
            logit[i] = l;
            item_d[i] = 0;
        }
        for (int t = 1; t < n; t++) memcpy(logit + (size_t)t * n, logit, (size_t)n * sizeof(real));
        if (R) s->k->cell_dot(cells, C, plane_at(s, s->last, b), s->w.head_e, logit);
        for (int m = 0; m < N; m++) {
            /* v = g r + e; e gives every item the same and cancels. wg: w g. */
            real *wg = s->start_part + (size_t)chunk * s->w.Q; /* free until the backward pass */
            for (int c = 0; c < C; c++) wg[c] = s->w.head_v[(size_t)m * C + c] * s->dec[m].norm.g[c];
            s->k->cell_dot(cells, C, plane_at(s, s->dec[m].r, b), wg, logit);
        }
        for (int t = 0; t < n; t++) {
            real *l = logit + (size_t)t * n, *d = dlogit + (size_t)t * n;
            real top = l[right[t]];
            for (int i = 0; i < n; i++)
                if (pos[i] >= t && l[i] > top) top = l[i];
            double exps = 0;
            for (int i = 0; i < n; i++) {
                d[i] = 0;
                if (pos[i] < t) continue;
                double e = exp((double)(l[i] - top));
                exps += e;
                d[i] = (real)e;
            }
            real shift = top + (real)log(exps), share = each / (real)exps;
            for (int i = 0; i < n; i++) {
                l[i] = pos[i] < t ? 0 : l[i] - shift;
                d[i] = d[i] * share - (i == right[t] ? each : 0);
                item_d[i] += d[i];
            }
            loss -= (double)l[right[t]];
        }
        for (int i = 0; i < n; i++) {
            const real *x = s->x + (at->row + i) * D;
            real *dx = s->dx + (at->row + i) * D;
            for (int c = 0; c < D; c++) {
                dx[c] = s->w.head_x[c] * item_d[i];
                gx[c] += x[c] * item_d[i];
            }
        }
        for (int q = 0; q < cells && R; q++)
            for (int r = 0; r < R; r++) ge[r] += dlogit[q] * plane_at(s, s->last, b)[(size_t)q * C + r];
        memset(s->dx + (at->row + n) * D, 0, (size_t)(at->n - n) * D * sizeof(real)); /* context items */
        for (int m = 0; m < N; m++)
            s->k->cell_dot_backward(cells, C, plane_at(s, s->dec[m].r, b), s->w.head_v + (size_t)m * C,
                                    dlogit, plane_at(s, s->dec[m].d, b), gw + (size_t)m * C);
        memset(s->dp + at->step * N * C, 0, (size_t)(n + 2) * N * C * sizeof(real));
        if (N) cpu_decoder_gather(s, N - 1, b, sum);
    }
    s->chunk_loss[chunk] = loss;
}

void cpu_head(net *t) {
    cpu *s = (cpu *)t;
    int N = t->sh->s.decoder_blocks, C = t->sh->s.decoder_out, D = t->sh->D;
    cpu_run(s, CHUNKS, sets_head, 0);
    double loss = 0;
    for (int chunk = 0; chunk < CHUNKS; chunk++) loss += s->chunk_loss[chunk];
    if (t->sum) t->sum(t->sum_context, &loss, 1);
    s->loss = loss / (double)t->whole.steps;
    size_t before = (size_t)N * s->w.C + s->w.D, count = before + (size_t)t->sh->s.relations;
    memcpy(s->gwide, gpart_of(s, 0, 0), count * sizeof(real));
    for (int chunk = 1; chunk < CHUNKS; chunk++)
        for (size_t c = 0; c < count; c++) s->gwide[c] += gpart_of(s, 0, chunk)[c];
    real *head = s->grad + t->sh->head_weight;
    memset(head, 0, (size_t)t->sh->head_in * sizeof(real));
    memcpy(head, s->gwide + (size_t)N * s->w.C, (size_t)D * sizeof(real));
    for (int m = 0; m < N; m++)
        for (int c = 0; c < C; c++)
            head[t->sh->base + 2 * C * m + c] = s->dec[m].norm.g[c] * s->gwide[(size_t)m * s->w.C + c];
    memcpy(head + 2 * D, s->gwide + before, (size_t)t->sh->s.relations * sizeof(real));
    s->grad[t->sh->head_bias] = 0;
}
