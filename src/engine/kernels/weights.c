/* Transposes, splits, pads and packs the parameters for the CPU kernels; folds norms into weights. */
#include "engine/kernels/weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

bool weights_new(weights *w, const shape *sh, bool backward) {
    memset(w, 0, sizeof *w);
    int M = sh->s.encoder_blocks, N = sh->s.decoder_blocks;
    w->sh = sh;
    w->H = pad(sh->s.hidden);
    w->O = pad(sh->s.encoder_out);
    w->C = pad(sh->s.decoder_out);
    w->D = pad(sh->D);
    w->Q = 6 * w->C * N;
    w->E = sh->s.relations > 0;
    w->tasks = M + N + 1;
    for (int k = 0; k < M; k++) {
        encoder_weights *e = &w->enc[k];
        int in = sh->enc[k].in;
        if (!real_new(&e->first, packed_size(in, 2 * w->H)) || !real_new(&e->bias1, 2 * (size_t)w->H) ||
            !real_new(&e->second, (size_t)w->H * w->O) || !real_new(&e->bias2, (size_t)w->O) ||
            !real_new(&e->sign, (size_t)w->O) ||
            (w->E && !real_new(&e->related, 2 * (size_t)sh->s.relations * w->H)) ||
            (backward && !real_new(&e->first_t, packed_size(2 * w->H, pad(in)))))
            return false;
    }
    for (int m = 0; m < N; m++) {
        decoder_weights *d = &w->dec[m];
        size_t square = 3 * (size_t)m * w->C * w->C, planes = square + 3 * (size_t)(w->E * w->C * w->C);
        if (!real_new(&d->v, planes) || !real_new(&d->p, square) ||
            (backward && (!real_new(&d->p_t, square) || !real_new(&d->v_t, planes))) ||
            !real_new(&d->bias, (size_t)w->C) || !real_new(&d->sign, (size_t)w->C))
            return false;
    }
    return real_new(&w->rows, packed_size(sh->D, w->Q)) &&
           (!backward || real_new(&w->rows_t, packed_size(w->Q, w->D))) &&
           real_new(&w->head_x, (size_t)w->D) && real_new(&w->head_v, (size_t)N * w->C) &&
           real_new(&w->head_e, (size_t)w->C);
}

void weights_free(weights *w) {
    for (int k = 0; k < MAX_BLOCKS; k++) {
        encoder_weights *e = &w->enc[k];
        decoder_weights *d = &w->dec[k];
        real *all[] = {e->first, e->first_t, e->related, e->bias1, e->second, e->bias2, e->sign,
                       d->v,     d->v_t,     d->p,       d->p_t,   d->bias,   d->sign};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    }
    free(w->rows);
    free(w->rows_t);
    free(w->head_x);
    free(w->head_v);
    free(w->head_e);
    memset(w, 0, sizeof *w);
}

static void fill_encoder(weights *w, const real *theta, int k) {
    const encoder_at *at = &w->sh->enc[k];
    encoder_weights *e = &w->enc[k];
    int H = w->sh->s.hidden, O = w->sh->s.encoder_out, in = at->in;
    for (int h = 0; h < H; h++) {
        const real *row = theta + at->weight1 + (size_t)h * at->columns;
        for (int side = 0; side < 2; side++) {
            const real *from = row + side * in;
            int col = side * w->H + h;
            real *to = packed_at(e->first, in, 0, col);
            for (int c = 0; c < in; c++) to[(size_t)c * PANEL] = from[c];
            if (e->first_t)
                for (int c = 0; c < in; c++) *packed_at(e->first_t, 2 * w->H, col, c) = from[c];
        }
        for (int r = 0; r < at->columns - 2 * in; r++) e->related[(size_t)r * w->H + h] = row[2 * in + r];
    }
    memcpy(e->bias1, theta + at->bias1, (size_t)H * sizeof(real));
    for (int o = 0; o < O; o++) {
        for (int h = 0; h < H; h++) e->second[(size_t)h * w->O + o] = theta[at->weight2 + (size_t)o * H + h];
        e->bias2[o] = theta[at->bias2 + o];
        e->sign[o] = theta[at->norm2.gamma + o] < 0 ? -1 : 1;
    }
}

static void fill_decoder(weights *w, const real *theta, int m) {
    const decoder_at *at = &w->sh->dec[m];
    decoder_weights *d = &w->dec[m];
    int C = w->sh->s.decoder_out, D = w->sh->D, P = w->C, E = w->E;
    for (int c = 0; c < C; c++) {
        const real *from = theta + at->weight + (size_t)c * at->in * 3; /* [in, 3] */
        for (int side = 0; side < 2; side++)
            for (int l = 0; l < 3; l++) {
                int col = ((m * 2 + side) * 3 + l) * P + c;
                const real *f = from + (size_t)side * D * 3 + (2 - l);
                real *to = packed_at(w->rows, D, 0, col);
                for (int x = 0; x < D; x++) to[(size_t)x * PANEL] = f[(size_t)x * 3];
                if (w->rows_t)
                    for (int x = 0; x < D; x++) *packed_at(w->rows_t, w->Q, col, x) = f[(size_t)x * 3];
            }
        for (int e = 0; e < w->sh->s.relations; e++)
            for (int l = 0; l < 3; l++) {
                real f = from[((size_t)2 * D + e) * 3 + (2 - l)];
                d->v[((size_t)l * P + e) * P + c] = f;
                if (d->v_t) d->v_t[((size_t)l * P + c) * P + e] = f;
            }
        for (int b = 0; b < m; b++)
            for (int e = 0; e < C; e++)
                for (int l = 0; l < 3; l++) {
                    const real *f = from + ((size_t)w->sh->base + (size_t)2 * C * b + e) * 3 + (2 - l);
                    d->v[(((size_t)(E + b) * 3 + l) * P + e) * P + c] = *f;
                    real p = f[(size_t)C * 3];
                    d->p[((size_t)l * m * P + (size_t)b * P + e) * P + c] = p;
                    if (d->v_t) d->v_t[(((size_t)(E + b) * 3 + l) * P + c) * P + e] = *f;
                    if (d->p_t) d->p_t[((size_t)l * P + c) * m * P + (size_t)b * P + e] = p;
                }
        d->bias[c] = theta[at->bias + c];
        d->sign[c] = theta[at->norm.gamma + c] < 0 ? -1 : 1;
    }
}

void weights_fill(weights *w, const real *theta, int task) {
    int M = w->sh->s.encoder_blocks, N = w->sh->s.decoder_blocks, C = w->sh->s.decoder_out;
    if (task < M)
        fill_encoder(w, theta, task);
    else if (task < M + N)
        fill_decoder(w, theta, task - M);
    else {
        const real *head = theta + w->sh->head_weight;
        memcpy(w->head_x, head, (size_t)w->sh->D * sizeof(real));
        for (int m = 0; m < N; m++)
            memcpy(w->head_v + (size_t)m * w->C, head + w->sh->base + 2 * C * m, (size_t)C * sizeof(real));
        memcpy(w->head_e, head + 2 * w->sh->D, (size_t)w->sh->s.relations * sizeof(real));
    }
}

bool norm_new(norm *b, int width) {
    return real_new(&b->mean, (size_t)width) && real_new(&b->inv, (size_t)width) &&
           real_new(&b->g, (size_t)width) && real_new(&b->e, (size_t)width);
}

void norm_free(norm *b) {
    free(b->mean);
    free(b->inv);
    free(b->g);
    free(b->e);
    *b = (norm){0};
}

void norm_frozen(norm *b, const shape *sh, const real *theta, const real *statistics, norm_at at, int width) {
    const real *mean = statistics + (at.mean - sh->trained), *var = statistics + (at.var - sh->trained);
    for (int c = 0; c < width; c++) {
        double inv = 1 / sqrt((double)var[c] + NORM_EPSILON), g = (double)theta[at.gamma + c] * inv;
        b->mean[c] = mean[c];
        b->inv[c] = (real)inv;
        b->g[c] = (real)g;
        b->e[c] = (real)((double)theta[at.beta + c] - (double)mean[c] * g);
    }
}

void fold_second(const encoder_weights *e, const norm *b, int H, int O, real *wf, real *bf, real *wf_t) {
    for (int o = 0; o < O; o++) bf[o] = e->bias2[o];
    for (int h = 0; h < H; h++)
        for (int o = 0; o < O; o++) {
            real w = e->second[(size_t)h * O + o];
            wf[(size_t)h * O + o] = w * b->g[h];
            bf[o] += w * b->e[h];
            if (wf_t) wf_t[(size_t)o * H + h] = w * b->g[h];
        }
}

void fold_conv(const decoder_weights *d, const norm *earlier, int E, int m, int C, real *wf, real *bias) {
    for (int c = 0; c < 3 * C; c++) bias[c] = d->bias[c % C];
    memcpy(wf, d->v, 3 * (size_t)(E * C * C) * sizeof *wf); /* relations have no norm */
    for (int b = 0; b < m; b++)
        for (int l = 0; l < 3; l++)
            for (int e = 0; e < C; e++) {
                size_t at = (((size_t)(E + b) * 3 + l) * C + e) * C;
                real g = earlier[b].g[e], shift = earlier[b].e[e];
                for (int c = 0; c < C; c++) {
                    real w = d->v[at + c];
                    wf[at + c] = w * g;
                    /* Before step 0 the norm's output is zero, its shift too: lag l counts from t = l on. */
                    for (int t = l; t < 3; t++) bias[t * C + c] += w * shift;
                }
            }
}
